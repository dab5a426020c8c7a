// SPDX-License-Identifier: Apache-2.0
// Links that a tensor op computes on its results in registers: sums with another operand, and
// bounds.
#include <math.h>

#include "ops/elementwise/elementwise.h"

static bool add_operand(const qdq_link *link, qdq_stage_finish *to) {
    const qdq_param *other = &link->stage_params[0];
    if (to->adds || to->bounded || link->stage_param_count != 1 ||
        other->fetch != QDQ_FETCH_IN_PLACE || other->source.dtype != QDQ_FLOAT32)
        return false;
    return to->adds = true;
}

static bool set_bounds(qdq_stage_finish *to, float least, float most, bool no_minus) {
    if (to->bounded || isnan(least) || isnan(most)) return false;
    to->bounds = (qdq_bounds){least, most, no_minus};
    return to->bounded = true;
}

bool qdq_elements_finish(const qdq_link *link, qdq_stage_finish *to) {
    qdq_elementwise_numbers numbers;
    switch ((int)qdq_elements_plain(link, &numbers)) {
    case QDQ_ELEMENTWISE_add: return add_operand(link, to);
    case QDQ_ELEMENTWISE_relu: return set_bounds(to, 0, INFINITY, true);
    case QDQ_ELEMENTWISE_relu_ort: return set_bounds(to, 0, INFINITY, false);
    case QDQ_ELEMENTWISE_relu6: return set_bounds(to, 0, 6, true);
    case QDQ_ELEMENTWISE_clamp: return set_bounds(to, numbers.alpha, numbers.beta, false);
    default: return false;
    }
}
