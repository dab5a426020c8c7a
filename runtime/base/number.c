// SPDX-License-Identifier: Apache-2.0
// Formats numbers with as few digits as read back exactly. The digits come from snprintf("%e"); the
// point is the only part of its output that depends on the locale, and it is skipped.
#if defined(QDQ_BARE)
#undef snprintf  // bare_format.c has no floats
#endif
#include "runtime/base/number.h"

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

static bool same_double(const char *text, double value) { return strtod(text, NULL) == value; }

// Readers of JSON go through double, so rounding the text to double and then to float32 must give
// the same float32 too.
static bool same_float32(const char *text, double value) {
    return strtof(text, NULL) == (float)value && (float)strtod(text, NULL) == (float)value;
}

static char digit_at(const char *digits, int count, int i) {
    if (i < 0 || i >= count) return '0';
    return digits[i];
}

// Rewrites "-d.ddde+XX" without the exponent if the result is readable; returns `out`.
static const char *lay_out(const char *scientific, char out[QDQ_NUMBER_BYTES]) {
    char digits[32];
    int count = 0;
    const char *next = scientific;
    for (; *next != 'e'; next++)
        if (*next >= '0' && *next <= '9') digits[count++] = *next;
    int exponent = (int)strtol(next + 1, NULL, 10);
    while (count > 1 && digits[count - 1] == '0') count--;

    bool plain = exponent >= -5 && exponent <= 16;
    int point = plain ? exponent + 1 : 1;  // digits before the point
    size_t used = 0;
    if (scientific[0] == '-') out[used++] = '-';
    if (point <= 0) out[used++] = '0';
    for (int i = 0; i < point; i++) out[used++] = digit_at(digits, count, i);
    if (count > point) out[used++] = '.';
    for (int i = point; i < count; i++) out[used++] = digit_at(digits, count, i);
    out[used] = '\0';
    if (!plain) (void)snprintf(out + used, QDQ_NUMBER_BYTES - used, "e%d", exponent);
    return out;
}

// The search starts at FLT_DIG or DBL_DIG digits: if fewer digits are enough for a normal value,
// the others are zeros at the end, which lay_out drops. A subnormal value has fewer digits to begin
// with.
const char *qdq_number_text(char out[QDQ_NUMBER_BYTES], double value, bool is_float32) {
    if (isnan(value)) return "NaN";
    if (isinf(value)) return value < 0 ? "-Infinity" : "Infinity";
    int digits = is_float32 ? FLT_DIG : DBL_DIG,
        most = is_float32 ? FLT_DECIMAL_DIG : DBL_DECIMAL_DIG;
    if (fabs(value) < (is_float32 ? (double)FLT_MIN : DBL_MIN)) digits = 1;
    char scientific[QDQ_NUMBER_BYTES];
    for (;; digits++) {
        (void)snprintf(scientific, sizeof scientific, "%.*e", digits - 1, value);
        if (digits == most || (is_float32 ? same_float32 : same_double)(scientific, value)) break;
    }
    return lay_out(scientific, out);
}
