// SPDX-License-Identifier: Apache-2.0
// Compares what two targets run in place of the same nodes.
#ifndef QDQ_TOOLS_LAB_COMPARE_UNITS_SAME_CONE_H
#define QDQ_TOOLS_LAB_COMPARE_UNITS_SAME_CONE_H

#include "tools/deployed.h"

// True if the parts of both graphs that compute some values of the given graph, back to `cut`, have
// equal ops, attributes and constants; false also if memory runs out.
bool same_cone(const deployed *a, const deployed *b, const bool *cut, const qdq_value *outputs,
               size_t count);

#endif
