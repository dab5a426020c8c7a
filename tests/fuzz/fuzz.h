// SPDX-License-Identifier: Apache-2.0
// Shared by the libFuzzer targets: a bound on the memory that a reader takes, and a file to read.
#ifndef QDQ_TESTS_FUZZ_FUZZ_H
#define QDQ_TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// From here to fuzz_free_growth, the process may hold `fixed` bytes from malloc more than now, and
// `per_byte` for each byte of the input. It aborts in the call that takes more.
void fuzz_bound_growth(size_t input_bytes, size_t fixed, size_t per_byte);
void fuzz_free_growth(void);

// Writes an input to a file in memory and returns its path; the next call replaces the content.
const char *fuzz_file(const uint8_t *data, size_t size);

#endif
