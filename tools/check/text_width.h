// SPDX-License-Identifier: Apache-2.0
// Measures text by the columns that it takes on a terminal.
#ifndef QDQ_TOOLS_CHECK_TEXT_WIDTH_H
#define QDQ_TOOLS_CHECK_TEXT_WIDTH_H

#include <stddef.h>

// Returns the columns of a UTF-8 text: East Asian wide characters and emoji take two, combining
// marks none.
size_t text_width(const char *text);

// Shortens `text` to `columns`, with "..." in place of its middle. At most 511 bytes go to `out`.
void text_cut(const char *text, size_t columns, char out[512]);

#endif
