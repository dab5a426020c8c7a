// SPDX-License-Identifier: Apache-2.0
// Text in the fragment of a link: deflated with zlib's header and checksum, in base64url without
// padding, behind "qdq1=".
#ifndef QDQ_TOOLS_LINK_FRAGMENT_H
#define QDQ_TOOLS_LINK_FRAGMENT_H

#include <qdq/base.h>

// Most characters of a link that is written, and of a fragment that is read; most bytes of the text
// in it.
enum { LINK_BUDGET = 8192, FRAGMENT_LIMIT = 65536, LINK_TEXT_LIMIT = 1 << 20 };

// Returns the fragment of a text, from malloc. NULL with `err` set if memory runs out or this build
// cannot deflate.
char *fragment_write(const char *text, qdq_error *err);

// Returns the text in a link, or in its fragment alone, from malloc. NULL with `err` set.
char *fragment_read(const char *link, qdq_error *err);

#endif
