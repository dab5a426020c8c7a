// SPDX-License-Identifier: Apache-2.0
#include "tools/options/option_number.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "tools/failure.h"

bool options_number(const char *name, const char *text, size_t least, size_t fallback,
                    size_t *out) {
    *out = fallback;
    if (!text) return true;
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    bool whole = *end == '\0' && *text >= '0' && *text <= '9';
    if (errno == 0 && whole && value >= least && value <= SIZE_MAX) {
        *out = (size_t)value;
        return true;
    }
    if (whole && value > least)
        (void)tell_failure(QDQ_ERR_ARGUMENT, "--%s is '%s', wanted a whole number of %zu to %zu",
                           name, text, least, SIZE_MAX);
    else
        (void)tell_failure(QDQ_ERR_ARGUMENT, "--%s is '%s', wanted a whole number of at least %zu",
                           name, text, least);
    return false;
}

bool options_amount(const char *name, const char *text, double *out) {
    char *end = NULL;
    *out = text ? strtod(text, &end) : 0;
    if (!text || (end != text && *end == '\0' && *out >= 0 && isfinite(*out))) return true;
    (void)tell_failure(QDQ_ERR_ARGUMENT, "--%s is '%s', wanted a number of at least 0", name, text);
    return false;
}
