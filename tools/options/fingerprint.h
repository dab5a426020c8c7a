// SPDX-License-Identifier: Apache-2.0
// The options of `qdq fingerprint` alone.
#ifndef QDQ_TOOLS_OPTIONS_FINGERPRINT_H
#define QDQ_TOOLS_OPTIONS_FINGERPRINT_H

typedef struct fingerprint_options {
    const char *seed, *expect_fingerprint;
} fingerprint_options;

#endif
