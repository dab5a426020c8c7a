// SPDX-License-Identifier: Apache-2.0
// The words that backends use for our ops, ports and attributes, for "did you mean".
#ifndef QDQ_OPS_SYNONYMS_H
#define QDQ_OPS_SYNONYMS_H

#include <stddef.h>

// The one of `known` that is ours for `name`; NULL if there is none.
const char *qdq_synonym_of(const char *name, const char *const *known, size_t count);
// Why a backend's word has no counterpart and what to do ("leave it out: ..."); NULL: it is no such
// word.
const char *qdq_word_without_counterpart(const char *name);

#endif
