// SPDX-License-Identifier: Apache-2.0
// "Did you mean": the known name that a misspelled one most resembles.
#ifndef QDQ_RUNTIME_NEAREST_H
#define QDQ_RUNTIME_NEAREST_H

#include <stddef.h>

// The first of the candidates with the fewest edits from `name`, NULL if none is close: at most two
// edits, at most one for each three bytes of `name` (but one is always allowed), and fewer than
// `name` has bytes. An edit inserts, drops or changes a byte or swaps two neighbours; changing only
// the case counts half. Names over 64 bytes never match; at most 1000 candidates are looked at, so
// the time is bounded. NULL among the candidates is skipped.
const char *qdq_nearest(const char *name, const char *const *candidates, size_t count);

#endif
