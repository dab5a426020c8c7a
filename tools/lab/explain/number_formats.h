// SPDX-License-Identifier: Apache-2.0
// Lists numerics and roundings of floats that a device may have used for a node.
#ifndef QDQ_TOOLS_LAB_EXPLAIN_NUMBER_FORMATS_H
#define QDQ_TOOLS_LAB_EXPLAIN_NUMBER_FORMATS_H

#include "tools/lab/explain/variant.h"

// Texts of a variant: the cause in the words of `qdq compare`, and the change. number_format sets
// them and variant `index` of a node, with its numerics or rounding; its strings are in `text` or
// constant. It returns false after the last variant.
typedef struct format_text {
    char cause[96], detail[96];
} format_text;
bool number_format(const replay *r, size_t node, size_t index, format_text *text, variant *out);
// Returns the number of formats, which is the same for every node. Most nodes skip some, with an
// empty cause.
size_t number_format_count(void);

// Writes the causes for which two numerics of a node differ, joined by " + ".
void numerics_cause(const qdq_numerics *from, const qdq_numerics *to, bool makes_int, char *out,
                    size_t capacity);

#endif
