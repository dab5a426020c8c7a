// SPDX-License-Identifier: Apache-2.0
#include "tools/link/fragment.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/base64.h"
#include "runtime/base/profile.h"
#include "tools/io/zip/byte_source.h"

#ifdef QDQ_ZLIB
#include "tools/io/zip/deflate.h"

static const char head[] = "qdq1=";

char *fragment_write(const char *text, qdq_error *err) {
    size_t bytes;
    unsigned char *packed = deflate_bytes(text, strlen(text), &bytes);
    char *out = packed ? malloc(sizeof head + QDQ_BASE64_SIZE(bytes)) : NULL;
    if (out) memcpy(out, head, sizeof head);
    if (out) qdq_base64_encode("-_", packed, bytes, out + strlen(head));
    free(packed);
    if (!out) (void)source_fail(err, QDQ_ERR_MEMORY, "no memory for a link");
    return out;
}

char *fragment_read(const char *link, qdq_error *err) {
    const char *at = strchr(link, '#');
    at = at ? at + 1 : link;
    if (strncmp(at, head, strlen(head)) != 0 || strlen(at) > FRAGMENT_LIMIT) {
        (void)source_fail(err, QDQ_ERR_PARSE,
                          "the link has no fragment '#%s...' of at most %d characters, as "
                          "`qdq link` prints it",
                          head, FRAGMENT_LIMIT);
        return NULL;
    }
    at += strlen(head);
    unsigned char *packed = malloc(strlen(at) + 1);
    size_t bytes = packed ? qdq_base64_decode("-_", at, strlen(at), packed) : 0;
    char *text = packed && bytes != SIZE_MAX ? inflate_text(packed, bytes, LINK_TEXT_LIMIT) : NULL;
    free(packed);
    if (!text)
        (void)source_fail(err, QDQ_ERR_PARSE,
                          "the link is damaged or cut off: its fragment is no deflated text of at "
                          "most %d bytes",
                          LINK_TEXT_LIMIT);
    return text;
}
#else
static char *refuse(qdq_error *err) {
    (void)source_fail(
        err, QDQ_ERR_UNSUPPORTED,
        "links are deflated, and this build has no zlib; " QDQ_BUILD_WITH("-Dzlib=enabled"));
    return NULL;
}

char *fragment_write(const char *text, qdq_error *err) {
    (void)text;
    return refuse(err);
}

char *fragment_read(const char *link, qdq_error *err) {
    (void)link;
    return refuse(err);
}
#endif
