// SPDX-License-Identifier: Apache-2.0
// Numerics and roundings of floats that a device may have used for a node.
#ifndef QDQ_TOOLS_EXPLAIN_NUMBER_FORMATS_H
#define QDQ_TOOLS_EXPLAIN_NUMBER_FORMATS_H

#include "tools/lab/explain/variant.h"

// Variant `index` of a node: the cause in the words of `qdq compare`, what is changed, and the
// numerics or the rounding. False if there are no more. Strings are in `text` or constant.
typedef struct format_text {
    char cause[96], detail[96];
} format_text;
bool number_format(const replay *r, size_t node, size_t index, format_text *text, variant *out);
// How many there are, the same for every node; fewer make sense for most nodes.
size_t number_format_count(void);

// The causes for which two numerics of a node differ, joined by " + ".
void numerics_cause(const qdq_numerics *from, const qdq_numerics *to, bool makes_int, char *out,
                    size_t capacity);

#endif
