// SPDX-License-Identifier: Apache-2.0
// A plan: a list of steps, each a loop over blocks. The step loads a block, a chain of tile
// functions runs over it while it is in L1, and links store it. A step may instead begin with a
// tensor op, whose finished chunks take the place of blocks. The executor knows only the
// declarations of this file, no graphs and no ops.
//
// A block is a tile (of 32x32: 1024 elements in tile order) or a strip of up to 1024 consecutive
// elements in row-major order. A step of a tiled plan walks tiles if they are at least half full,
// no row of up to 4 tiles ends in the middle of one, and all its values are cut into tiles alike,
// else strips of elements that it collects from the tiles. A step with a block float always walks
// tiles.
#ifndef QDQ_RUNTIME_EXEC_PLAN_H
#define QDQ_RUNTIME_EXEC_PLAN_H

#include "include/qdq/exec.h"
#include "include/qdq/inspect.h"
#include "include/qdq/numerics.h"
#include "runtime/base/mempool.h"
#include "runtime/tiles/grid.h"

enum {
    QDQ_BLOCK_ELEMENTS = QDQ_TILE_ELEMENTS,
    QDQ_MAX_ELEMENT_BYTES = 8,  // in the form that tile functions take
    QDQ_MAX_STAGE_PARAMS = 4,
};

//---- Places -----------------------------------------------------------------

typedef enum qdq_place_kind {
    QDQ_PLACE_NONE = 0,  // in L1 only
    QDQ_PLACE_ARENA,     // tiles from byte `at` of the arena on
    QDQ_PLACE_ROWS,      // row-major: from byte `at` of the arena on
    QDQ_PLACE_INPUT,     // row-major: input number `at`
    QDQ_PLACE_OUTPUT,    // row-major: output number `at`
    QDQ_PLACE_CONSTANT,  // row-major: from byte `at` of the plan's constants on
} qdq_place_kind;

// The place of a value while the plan runs.
typedef struct qdq_place {
    qdq_place_kind kind;
    size_t at;
} qdq_place;

// A value in its place.
typedef struct qdq_located {
    qdq_dtype dtype;
    qdq_shape shape;  // in tiles: [rows, cols] if outer dims are folded into height
    qdq_place place;
    qdq_tile_shape tile;  // in tiles; zeros: 32x32
} qdq_located;

//---- Parameters -------------------------------------------------------------

// How a step gets the numbers of a parameter.
typedef enum qdq_fetch {
    QDQ_FETCH_KNOWN = 0,  // `values`
    QDQ_FETCH_LIST,       // decoded to a list in the exec before each run
    QDQ_FETCH_IN_PLACE,   // read from their place: row-major float32 or int32
    QDQ_FETCH_BLOCK,      // decoded from row-major memory for each block
    QDQ_FETCH_TILES,      // one for each element, from tiles of the arena, for each block
    QDQ_FETCH_CUT,        // one for each element, from row-major memory cut like x, for each block
    QDQ_FETCH_THROUGH,    // one for each element, computed from row-major memory by `through`
    QDQ_FETCH_BYTES,      // one for each element: row-major bytes, not decoded
} qdq_fetch;

// Numbers that go with the elements of x: scales (float), zero points (int32_t), the other operand
// of a sum; one for each block of the grid.
typedef struct qdq_param {
    bool is_int;
    const qdq_grid *grid;  // in the mempool of the plan, or qdq_grid_whole
    size_t count;          // 1 (for all elements), or grid->count
    qdq_fetch fetch;
    const uint32_t *values;  // QDQ_FETCH_KNOWN; also of another fetch, if it is one constant number
    qdq_located source;      // the others
    qdq_tiling tiling;       // of the source
    size_t exec_offset;      // QDQ_FETCH_LIST: where the exec keeps them
    // QDQ_FETCH_THROUGH: reads elements of the source. Its own parameters are known single numbers.
    const struct qdq_link *through;
} qdq_param;

//---- Chains -----------------------------------------------------------------

// Computes n elements of y from n elements of x; views[k] has parameter k. Never fails, allocates
// or keeps state; x and y do not overlap.
typedef void qdq_tile_fn(const void *params, const qdq_view *views, const void *x, void *y,
                         size_t n);

// Rows that share a parameter for each of their n elements, so many bytes apart.
typedef struct qdq_rows {
    const void *x;
    void *y;
    size_t count, n, x_pitch, y_pitch;
    bool past_cache;  // stores past the cache: y and its rows begin at cache lines
} qdq_rows;

// Does the work of a tile function on rows, and reads each parameter once for all of them.
typedef void qdq_rows_fn(const void *params, const qdq_view *views, const qdq_rows *rows);

// One tile function with its parameters. The result goes to the next link and to `store`.
typedef struct qdq_link {
    qdq_tile_fn *fn;  // NULL: the next link does this one's work too
    const void *params;
    qdq_dtype y_dtype;
    size_t stage_param_count;
    qdq_param *stage_params;
    qdq_place store;
    qdq_tiling tiling;                        // of y
    qdq_block_float_store block_float_store;  // if y is a block float
    float padding;                            // likewise: elements beyond the tensor
    bool copies;                              // y is x: `fn` computes nothing
    qdq_rows_fn *rows_fn;                     // NULL: `fn` takes row by row
    bool streams;  // stores past the cache, because the row-major result is larger than the cache
} qdq_link;

//---- Reductions -------------------------------------------------------------

enum { QDQ_MAX_REDUCED = 2 };

// Numbers computed from all elements of each block of a grid. States start zeroed; merging must be
// exact in any order, since blocks run in parallel, or `ordered`: then the grid is one block,
// elements come in row-major order, and a state is merged with the next one. States but the last
// have whole blocks of QDQ_BLOCK_ELEMENTS.
typedef struct qdq_reduce_fns {
    size_t state_bytes;
    void (*accumulate)(const void *params, void *state, const void *x, size_t n);
    // Element i goes to state i.
    void (*accumulate_each)(const void *params, void *states, const void *x, size_t n);
    void (*merge)(void *states, const void *others, size_t count);
    // Writes element number `index` of each result; y[k] has the dtype of result k. views[k] has
    // the single number of parameter k.
    void (*finish)(const void *params, const qdq_view *views, const void *state, size_t index,
                   void *const *y);
    bool ordered;
} qdq_reduce_fns;

typedef struct qdq_reduce {
    const qdq_reduce_fns *fns;
    const void *params;
    size_t stage_param_count;
    qdq_param stage_params[QDQ_MAX_STAGE_PARAMS];
    const qdq_grid *grid;
    size_t partials;       // parts of the blocks, each with grid->count states
    size_t states_offset;  // in the exec
    size_t result_count;
    qdq_located results[QDQ_MAX_REDUCED];
    size_t results_offset[QDQ_MAX_REDUCED];  // row-major copies, in the exec
} qdq_reduce;

//---- Tensor ops -------------------------------------------------------------

// Finished elements of the first result: `count` runs of n elements, one after the other in `data`;
// run i belongs at element at + i * stride, in row-major order. `data` has the dtype of the result
// and its alignment, and may be reused when the sink returns.
typedef struct qdq_chunk {
    size_t at, n, count, stride;
    const void *data;
} qdq_chunk;

// Takes a chunk. Several threads may call it at once.
typedef void qdq_sink_fn(void *self, const qdq_chunk *chunk);

// The operands of a tensor op, in the order of the op's ports, row-major or, for ports that the op
// also reads in tiles, in tiles. NULL: not connected, or the result is not wanted. If there is a
// sink, y[0] is NULL, and each element of the first result goes to the sink once.
typedef struct qdq_tensors {
    const void *const *x;
    const qdq_tiling *x_tiling;  // of each x in tiles; `tiles` is 0 for rows. NULL: all are rows
    void *const *y;
    qdq_sink_fn *sink;  // takes the chunks of the first result; NULL: y[0] is written
    void *sink_self;
    qdq_sink_fn *expect;  // if set, the sink only stores: chunks may be short, and announced by it
    const float *addend;  // of a tensor op that adds it to its first result, in its order; or NULL
    bool poison;          // for qdq_scratch_drop
} qdq_tensors;

// Computes units begin..end. Units are independent: no unit reads or writes the results of another.
// Never fails, allocates or keeps state. Drops scratch (runtime/base/scratch.h) before using it for
// another unit.
typedef void qdq_tensor_op_fn(const void *params, const qdq_tensors *tensors, size_t begin,
                              size_t end);

// Work that is not a chain over elements: a matrix product, a softmax, a transpose.
typedef struct qdq_tensor_op {
    qdq_tensor_op_fn *fn;
    const void *params;
    size_t units;
    size_t cost;  // of all units, in operations on elements; decides if threads are woken
    size_t x_count, y_count;
    qdq_located *x, *y;       // place NONE: not connected, or not wanted
    qdq_tiling *x_tiling;     // of qdq_tensors
    size_t *x_flat, *y_flat;  // of others in tiles: where in `flat` the row-major copies lie
    size_t flat_bytes;        // of these copies
    qdq_located addend;       // of qdq_tensors; place NONE: there is none
    size_t addend_flat;       // as x_flat
    bool sinks;               // the first result goes to a sink: to links, or to its tiles
} qdq_tensor_op;

//---- Steps ------------------------------------------------------------------

// How the executor runs a step. The compiler decides it once.
typedef enum qdq_step_shape {
    QDQ_STEP_BLOCKS = 0,  // block by block: load, run the chain, store
    QDQ_STEP_DIRECT,      // one link from row-major memory to row-major memory, without blocks
    QDQ_STEP_MOVE,        // one link that copies rows to tiles or tiles to rows
    QDQ_STEP_REDUCE,      // block by block, and the results of the chain are reduced
    QDQ_STEP_TENSOR_OP,   // a tensor op; the links take the chunks of its first result
} qdq_step_shape;

// One step. After a tensor op the links take its first result, which is then `x`; if it has a
// place, it is stored as well.
typedef struct qdq_step {
    qdq_step_shape shape;
    const qdq_tensor_op *tensor_op;  // QDQ_STEP_TENSOR_OP
    qdq_located x;                   // loaded block by block
    qdq_tiling tiling;               // of x if it lies in tiles, else of the tiles to cut
    bool tiled;                      // blocks are tiles
    bool computes_padding;  // a value shares bytes or an exponent with its neighbours in the tile
    // On a device padding has numbers: zeros where rows become tiles and in the results of tensor
    // ops and reductions, and the links compute it like any element. Elsewhere it is undefined.
    bool defines_padding;
    size_t elements, blocks;
    qdq_link *links;
    size_t link_count;
    const qdq_reduce *reduce;  // QDQ_STEP_REDUCE
} qdq_step;

// Returns "blocks", "direct", ...
const char *qdq_step_shape_name(qdq_step_shape shape);

// A value that stays readable after a run.
typedef struct qdq_kept {
    qdq_tensor_info info;
    qdq_place place;
    qdq_tile_shape tile;  // in tiles
    size_t buffer;        // number of its buffer on the plan's device; SIZE_MAX: it has none
} qdq_kept;

struct qdq_plan {
    const qdq_allocator *allocator;
    qdq_mempool mempool;  // owns everything below
    qdq_step *steps;
    qdq_plan_step *step_infos;
    size_t step_count;
    qdq_plan_value *values;
    size_t value_count;
    qdq_tensor_info *inputs, *outputs;
    size_t input_count, output_count;
    const qdq_tensor_info **inputs_by_name, **outputs_by_name;  // the same, sorted
    qdq_kept *kept;                                             // sorted by name
    size_t kept_count;
    const char **names;  // of all values of the graph, sorted
    size_t name_count;
    const char *constants;                   // 64-byte aligned
    const struct qdq_device_record *device;  // NULL: there is none
    qdq_plan_stats stats;
    size_t param_bytes;    // scratch of an exec: fetched parameters, states, results
    size_t flat_bytes;     // the most that row-major copies of the tiles of a step need
    size_t operand_count;  // the most operands that a tensor op reads
};

// Fills in inputs_by_name and outputs_by_name. False: memory runs out.
bool qdq_plan_sort_names(qdq_plan *plan);

#endif
