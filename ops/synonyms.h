// SPDX-License-Identifier: Apache-2.0
// Backends' words for our ops, ports and attributes, for "did you mean".
#ifndef QDQ_OPS_SYNONYMS_H
#define QDQ_OPS_SYNONYMS_H

#include <stddef.h>

// Returns the word of `known` that an unknown `name` probably means: our word for a backend's
// `name`, else the nearest word, else our word for the backend's word that is nearest. NULL: none
// is near.
const char *qdq_word_meant(const char *name, const char *const *known, size_t count);
// Tells why a backend's word has no counterpart, and the remedy ("leave it out: ..."); NULL for
// other words.
const char *qdq_word_without_counterpart(const char *name);

#endif
