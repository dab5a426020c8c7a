// SPDX-License-Identifier: Apache-2.0
// Numbers as values of options.
#ifndef QDQ_TOOLS_OPTIONS_OPTION_NUMBER_H
#define QDQ_TOOLS_OPTIONS_OPTION_NUMBER_H

#include <stdbool.h>
#include <stddef.h>

// Parses a whole number of at least `least` for the option `name`. Sets `fallback` if `text` is
// NULL. False after a message.
bool options_number(const char *name, const char *text, size_t least, size_t fallback, size_t *out);

// Parses a finite number of at least 0 in the same way; 0 if `text` is NULL.
bool options_amount(const char *name, const char *text, double *out);

#endif
