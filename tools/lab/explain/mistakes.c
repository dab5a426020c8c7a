// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/explain/mistakes.h"

#include <stdlib.h>

#include "tools/lab/explain/mistakes/trial.h"

// Every kind of mistake, in the order in which they are tried.
// clang-format off
static void (*const kinds[])(mistake_trial *t) = {
    try_axes,
    try_blocks,
    try_scales,
    try_zero_points,
    try_zero_pairs,
    try_exchanged_parameters,
    try_early_clamps,
    try_rescaling,
    try_attributes,
    try_borders,
    try_dropped_inputs,
    try_fitted_parameters,
    try_swapped_inputs,
    try_transposed,
    try_code_formats,
    try_layouts,
    try_moved_parameters,
    try_as_targets,
    try_skipped_node,
    try_other_ops,
};
// clang-format on

bool try_mistakes(node_document *d, const parameter_pool *pool, const mistake_taker *taker) {
    parameter_list list = parameters_of(d);
    size_t room = 1;
    for (size_t i = 0; i < list.count; i++) {
        if (list.pairs[i].scale.count > room) room = list.pairs[i].scale.count;
        if (list.pairs[i].zero.count > room) room = list.pairs[i].zero.count;
    }
    mistake_trial t = {d, pool, &list, taker, calloc(room, sizeof(double)), false};
    if (t.values && room <= MOST_PARAMETERS)
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds && !t.stopped; i++) kinds[i](&t);
    free(t.values);
    parameters_release(&list);
    return t.stopped;
}
