// SPDX-License-Identifier: Apache-2.0
// Formats numbers as text, the same in every locale. No other file formats them.
#ifndef QDQ_RUNTIME_BASE_NUMBER_H
#define QDQ_RUNTIME_BASE_NUMBER_H

#include <stdbool.h>

enum { QDQ_NUMBER_BYTES = 48 };

// Writes the fewest digits that read back as `value`, as a float32 (`is_float32`) or a double, with
// an exponent where there would be many zeros; "NaN", "Infinity", "-Infinity". Returns the text,
// which may be in `out`.
const char *qdq_number_text(char out[QDQ_NUMBER_BYTES], double value, bool is_float32);

#endif
