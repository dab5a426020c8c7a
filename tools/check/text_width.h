// SPDX-License-Identifier: Apache-2.0
// How many columns of a terminal a text takes.
#ifndef QDQ_TOOLS_CHECK_TEXT_WIDTH_H
#define QDQ_TOOLS_CHECK_TEXT_WIDTH_H

#include <stddef.h>

// Of UTF-8: East Asian wide characters and emoji take two columns, combining marks none.
size_t text_width(const char *text);

// `text` in at most `columns`: what is longer has "..." for its middle. At most 511 bytes go to
// `out`.
void text_cut(const char *text, size_t columns, char out[512]);

#endif
