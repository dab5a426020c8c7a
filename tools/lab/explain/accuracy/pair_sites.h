// SPDX-License-Identifier: Apache-2.0
// Says which pairs `qdq quantize --equalize` can help: its sites are of the float model.
#ifndef QDQ_TOOLS_LAB_EXPLAIN_ACCURACY_PAIR_SITES_H
#define QDQ_TOOLS_LAB_EXPLAIN_ACCURACY_PAIR_SITES_H

#include <qdq/equalize.h>

#include "tools/lab/explain/accuracy/channels.h"
#include "tools/lab/explain/accuracy/reference.h"

// True if a site multiplies the channels of the value that a pair rounds, or, for weights, of the
// value that their product reads.
bool pair_has_site(const qdq_equalize_sites *sites, const reference *ref, size_t node,
                   const summed_operand *operand);

#endif
