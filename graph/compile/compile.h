// SPDX-License-Identifier: Apache-2.0
// The state of compiling a graph: the draft from graph/compile/lower.c, and the place of each
// value.
#ifndef QDQ_GRAPH_COMPILE_COMPILE_H
#define QDQ_GRAPH_COMPILE_COMPILE_H

#include "graph/compile/lower.h"
#include "runtime/arena/memory_plan.h"

// Upper bounds on the partial states of a reduction: how many, and their total bytes.
enum { QDQ_REDUCE_PARTIALS = 64, QDQ_REDUCE_STATE_BYTES = 1 << 20 };

typedef struct qdq_compiler {
    qdq_budget budget;
    qdq_mempool scratch;  // for data that does not go into the plan
    qdq_draft draft;
    qdq_device_request memory;  // its device is NULL without one
    qdq_plan *plan;
    qdq_located *located;     // per graph value
    qdq_lifetime *lifetimes;  // per arena value
    size_t *slot_of;          // graph value -> arena value
    qdq_error *err;
} qdq_compiler;

// Lists the values that stay readable, and the names of all values, once every value has its place.
qdq_status qdq_compile_kept(qdq_compiler *c);

static inline size_t qdq_arena_aligned(size_t bytes) {
    size_t more = qdq_size_add(bytes, QDQ_ARENA_ALIGN - 1);
    return more == SIZE_MAX ? SIZE_MAX : more / QDQ_ARENA_ALIGN * QDQ_ARENA_ALIGN;
}

// True if a step that may choose walks these tiles. Tiles less than half full, and narrow rows of
// tiles with padding at the end, stop a step too often: it takes strips of elements from them.
bool qdq_suits_tiles(const qdq_tiling *t);

// Sets `tiling`, `tiled` and `blocks` of a step whose x and links are set.
void qdq_choose_blocks(const qdq_compiler *c, qdq_step *step);

// Gives values between steps their places in the arena, and outputs theirs.
qdq_status qdq_compile_arena(qdq_compiler *c);

// Turns the draft's steps into the plan's steps once every value has its place. `from` is a copy of
// the places taken before values were assigned to the arena.
qdq_status qdq_compile_steps(qdq_compiler *c, const qdq_located *from);

//---- Links of steps (step_links.c) -------------------------------------------

// Reserves exec scratch and returns its offset.
size_t qdq_reserve_scratch(qdq_compiler *c, size_t count, size_t size);
bool qdq_place_is_row_major(qdq_place place);
// Returns the place where a step stores its result. In a tiled plan a tile that only later links of
// the same step read, or the caller alone, is not stored: it stays in L1. Its slot is planned all
// the same, like the slot of an input whose tiles each reader cuts.
qdq_place qdq_place_of_made(const qdq_compiler *c, uint32_t id);
// Sets where the parameters of a stage come from; `x` is the value with the elements that they go
// with, 0 for a reduction, `through` NULL or, for each parameter, the link that recomputes it.
void qdq_set_params(qdq_compiler *c, const qdq_stage *stage, const uint32_t *sources,
                    const qdq_draft_link *const *through, uint32_t x, qdq_param *stage_params);
// Returns the plan's link for a draft link; `x` is the value that the link reads.
qdq_link qdq_link_of(qdq_compiler *c, const qdq_draft_link *draft, uint32_t x);
// Joins sums of codes (code_sums.c). False if memory runs out.
bool qdq_join_sums(qdq_compiler *c, const qdq_draft_step *draft, qdq_step *step);
// Strips read row-major parameters where they lie.
void qdq_read_params_by_strips(qdq_step *step);

#endif
