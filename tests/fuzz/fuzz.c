// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "tests/fuzz/fuzz.h"

#include <sanitizer/allocator_interface.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

//---- Memory -----------------------------------------------------------------

static size_t held, most, bytes;  // more than at fuzz_bound_growth; modulo 2^64
static bool bounded;

static void on_malloc(const volatile void *pointer, size_t size) {
    (void)pointer;
    held += size;
    if (!bounded || (intptr_t)held <= (intptr_t)most) return;
    bounded = false;
    fprintf(stderr, "an input of %zu bytes takes %zu bytes of memory, wanted at most %zu\n", bytes,
            held, most);
    abort();
}

static void on_free(const volatile void *pointer) {
    if (pointer) held -= __sanitizer_get_allocated_size((const void *)pointer);
}

void fuzz_bound_growth(size_t input_bytes, size_t fixed, size_t per_byte) {
    static bool installed;
    if (!installed) installed = __sanitizer_install_malloc_and_free_hooks(on_malloc, on_free);
    if (!installed) abort();
    held = 0, bytes = input_bytes, most = fixed + per_byte * input_bytes;
    bounded = true;
}

void fuzz_free_growth(void) { bounded = false; }

//---- Files ------------------------------------------------------------------

const char *fuzz_file(const uint8_t *data, size_t size) {
    static char path[64];
    static int descriptor = -1;
    if (descriptor < 0) {
        descriptor = memfd_create("input", MFD_CLOEXEC);
        snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    }
    if (ftruncate(descriptor, 0) != 0 || pwrite(descriptor, data, size, 0) != (ssize_t)size)
        abort();
    return path;
}
