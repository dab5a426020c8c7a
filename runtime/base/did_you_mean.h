// SPDX-License-Identifier: Apache-2.0
// Finds the existing name that a misspelled one probably means.
#ifndef QDQ_RUNTIME_BASE_DID_YOU_MEAN_H
#define QDQ_RUNTIME_BASE_DID_YOU_MEAN_H

#include <stddef.h>

// "Did you mean": the candidate with the fewest edits from `name`, the first of them; NULL if none
// is close: at most two edits, at most one for each three bytes of `name` (but one is always
// allowed), and fewer than `name` has bytes. An edit inserts, drops or changes a byte or swaps two
// neighbours; changing only the case counts half. Names over 64 bytes never match; at most 1000
// candidates are looked at, so the time is bounded. NULL among the candidates is skipped;
// a NULL `name`, or NULL `candidates`, match nothing.
const char *qdq_did_you_mean(const char *name, const char *const *candidates, size_t count);

#endif
