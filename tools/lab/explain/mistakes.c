// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/explain/mistakes.h"

#include "tools/elements.h"
#include "tools/lab/explain/mistakes/trial.h"

typedef void mistake_kind(mistake_trial *t);

// Every kind of mistake, in the order in which they are tried.
// clang-format off
static mistake_kind *const likely[] = {
    try_axes,
    try_scales,
    try_zero_points,
    try_zero_pairs,
    try_exchanged_parameters,
    try_fitted_parameters,
    try_early_clamps,
    try_rescaling,
    try_blocks,
    try_swapped_inputs,
    try_transposed,
    NULL,
};
static mistake_kind *const rare[] = {
    try_attributes,
    try_borders,
    try_dropped_inputs,
    try_code_formats,
    try_layouts,
    try_moved_parameters,
    try_as_targets,
    try_skipped_node,
    try_other_ops,
    NULL,
};
// clang-format on

bool try_mistakes(node_document *d, const parameter_pool *pool, const mistake_taker *taker,
                  bool are_rare) {
    mistake_kind *const *kinds = are_rare ? rare : likely;
    parameter_list list = parameters_of(d);
    size_t room = 1;
    for (size_t i = 0; i < list.count; i++) {
        if (list.pairs[i].scale.count > room) room = list.pairs[i].scale.count;
        if (list.pairs[i].zero.count > room) room = list.pairs[i].zero.count;
    }
    const qdq_allocator *from = document_replay(d)->exec_options.allocator;
    mistake_trial t = {.d = d, .pool = pool, .list = &list, .taker = taker};
    if (room <= MOST_PARAMETERS) t.values = elements_take_numbers(from, room);
    if (t.values)
        for (size_t i = 0; kinds[i] && !t.stopped; i++) kinds[i](&t);
    elements_free(t.values);
    parameters_release(&list);
    return t.stopped;
}
