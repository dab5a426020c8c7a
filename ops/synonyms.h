// SPDX-License-Identifier: Apache-2.0
// Backends' words for our ops, ports and attributes, for "did you mean".
#ifndef QDQ_OPS_SYNONYMS_H
#define QDQ_OPS_SYNONYMS_H

#include <stddef.h>

// Our word for a backend's `name`, if it is in `known`; else NULL.
const char *qdq_synonym_of(const char *name, const char *const *known, size_t count);
// Why a backend's word has no counterpart and what to do ("leave it out: ..."); NULL for other
// words.
const char *qdq_word_without_counterpart(const char *name);

#endif
