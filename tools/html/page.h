// SPDX-License-Identifier: Apache-2.0
// The page around the data of a report. page.py generates these bytes from the sources in this
// folder.
#ifndef QDQ_TOOLS_HTML_PAGE_H
#define QDQ_TOOLS_HTML_PAGE_H

#include <stddef.h>

extern const unsigned char html_page_begin[], html_page_end[];
extern const size_t html_page_begin_bytes, html_page_end_bytes;

#endif
