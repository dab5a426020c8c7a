// SPDX-License-Identifier: Apache-2.0
// Running a graph: compile it to a plan once, create execs from the plan, run them often.
#ifndef QDQ_EXEC_H
#define QDQ_EXEC_H

#include <qdq/graph.h>
#include <qdq/numerics.h>
#include <qdq/parallel.h>

#ifdef __cplusplus
extern "C" {
#endif

//---- Compiling --------------------------------------------------------------

typedef enum qdq_float_storage {
    QDQ_FLOAT_DECLARED = 0,  // every value has the dtype that the graph declares
    QDQ_FLOAT_BFLOAT16,      // float values other than inputs and outputs become bfloat16
} qdq_float_storage;

// How a plan holds values between steps. Results have the same bits.
typedef enum qdq_plan_layout {
    QDQ_PLAN_DEFAULT = 0,  // tiles for target core without `fast`; rows for other targets
    QDQ_PLAN_ROWS,         // row-major
    // Values between steps and outputs are tiles of the arena (qdq/tile.h), of 32x32 unless a value
    // has another tile (qdq_set_tile), and each step cuts tiles from the rows of an input.
    QDQ_PLAN_TILES,
} qdq_plan_layout;

typedef struct qdq_compile_options {
    const char *target;  // its rules and numerics apply; NULL: the graph's own
    // Used for every node, which may have constant parameters that only another target takes, such
    // as float64 scales; NULL: the target's.
    const qdq_numerics *numerics;
    qdq_float_storage float_storage;
    const char *isa;  // best instruction set to use ("portable", "avx2", ...); NULL: any
    qdq_plan_layout layout;
    // Values that are stored and stay readable until the next run (qdq_exec_read, qdq_exec_tiles):
    // all of them, or the values and the values of outputs that `keep` names, as in the graph or in
    // its file. An unknown name is QDQ_ERR_ARGUMENT.
    bool keep_all;
    const char *const *keep;
    size_t keep_count;
    bool materialize;  // QDQ_PLAN_TILES and `keep_all`: stores every value, and no nodes fuse
    // Integer execution: computes products of dequantized operands on their integers, which rounds
    // less than the graph says. Also scales sums of weight codes afterwards, and computes 3x3
    // convolutions of float32 by Winograd's algorithm (docs/ops_neural_network.md, section 10).
    // Combined with QDQ_PLAN_TILES, `keep_all`, `keep`, `materialize`, `device` or a
    // `float_storage` it is refused with QDQ_ERR_ARGUMENT.
    bool fast;
    // Gives every value a buffer in the memory of this device (qdq/device_plan.h), and runs node by
    // node on tiles, with each value's memory reused after its last use. NULL: the target's own
    // device, which only ttnn has; qdq_device_find("none"): no device. A graph that does not fit is
    // QDQ_ERR_UNSUPPORTED. Copied. `fast` or QDQ_PLAN_ROWS without a device mean none.
    const qdq_device *device;
    qdq_parallel parallel;  // packs large constants, and is not used later; all zero: serial
} qdq_compile_options;

// A compiled graph: steps in order, and a place for every value. Immutable: any number of threads
// and execs may use one plan at the same time. Independent of the graph, which may be destroyed.
typedef struct qdq_plan qdq_plan;

// Compiles a graph. NULL `options`: all defaults. Takes at most `bytes` of the graph's limits plus
// 64 MiB, the plan included. Returns NULL with `err` set on failure:
// * QDQ_ERR_GRAPH: the first error of the graph's report; QDQ_ERR_UNSUPPORTED if only the target
//   refuses the graph
// * QDQ_ERR_ARGUMENT: an unknown target or instruction set, an enumerator out of range, also in
//   the numerics, or a device that fails its check or is not of the target's chip
// * QDQ_ERR_IO: a file of constants cannot be read or has been written to
// * QDQ_ERR_MEMORY (also for a NULL graph), QDQ_ERR_LIMIT
QDQ_API qdq_plan *qdq_graph_compile(qdq_graph *graph, const qdq_compile_options *options,
                                    qdq_error *err);
// Destroys a plan, after all its execs. NULL is allowed.
QDQ_API void qdq_plan_destroy(qdq_plan *plan);

//---- Inputs and outputs -----------------------------------------------------

// Counts are 0 for a NULL plan. An index out of range gives NULL.
QDQ_API size_t qdq_plan_input_count(const qdq_plan *plan);
QDQ_API size_t qdq_plan_output_count(const qdq_plan *plan);
QDQ_API const qdq_tensor_info *qdq_plan_input(const qdq_plan *plan, size_t index);
QDQ_API const qdq_tensor_info *qdq_plan_output(const qdq_plan *plan, size_t index);
// Returns the values that stay readable after a run (`keep_all`, `keep`), sorted by name.
QDQ_API size_t qdq_plan_kept_count(const qdq_plan *plan);
QDQ_API const qdq_tensor_info *qdq_plan_kept(const qdq_plan *plan, size_t index);

//---- Running ----------------------------------------------------------------

typedef struct qdq_exec_options {
    const qdq_allocator *allocator;  // NULL: the C library
    qdq_parallel parallel;           // all zero: serial
    bool poison;  // fill the arena before each run, and scratch before each reuse, with 0xFF
                  // (builds without NDEBUG always do)
} qdq_exec_options;

// An arena and the inputs and outputs bound to it. One thread at a time.
typedef struct qdq_exec qdq_exec;

// Returns NULL with `err` set when memory runs out (QDQ_ERR_MEMORY) or the plan is NULL
// (QDQ_ERR_ARGUMENT). An error that `err` already holds stays, so the caller learns why compiling
// failed. After this call nothing allocates and running cannot fail.
QDQ_API qdq_exec *qdq_exec_create(const qdq_plan *plan, const qdq_exec_options *options,
                                  qdq_error *err);
// Destroys an exec. NULL is allowed.
QDQ_API void qdq_exec_destroy(qdq_exec *exec);

// Makes runs read an input from the caller's row-major memory, or write an output to it. `data`
// holds elements of the tensor's own dtype, `bytes` must be the tensor's size, and the memory must
// stay valid and untouched during runs. NULL `data` goes back to the exec's own memory. Memory of
// an output must not overlap any other bound memory. As the caller may fill the memory later, its
// elements are not checked: for a byte that is no code of a dtype narrower than a byte, a run gives
// some number in place of each element that depends on it.
QDQ_API qdq_status qdq_exec_bind(qdq_exec *exec, const char *name, void *data, size_t bytes,
                                 qdq_error *err);

// Copies `count` elements of `dtype` into an input, bound memory if it is bound; NULL data and
// bytes that are no code of a narrower dtype are refused. `dtype` is the input's own, or float32
// for any float type (rounded half to even). Elements of a block float are float32 too; a run
// rounds them, bound or copied, to the form that a tile holds. Inputs that were neither written nor
// bound are zero.
QDQ_API qdq_status qdq_exec_write(qdq_exec *exec, const char *name, qdq_dtype dtype,
                                  const void *data, size_t count, qdq_error *err);

// Computes all outputs. Never fails: the numerics define the results of run-time scales that are
// zero, negative or NaN. Does nothing for a NULL exec.
QDQ_API void qdq_exec_run(qdq_exec *exec);

// Write the inputs of an exec that are state of `graph`, from which its plan was compiled: the
// first elements, and the elements that the last run left for the next one.
QDQ_API qdq_status qdq_exec_first_states(qdq_exec *exec, const qdq_graph *graph, qdq_error *err);
QDQ_API qdq_status qdq_exec_next_states(qdq_exec *exec, const qdq_graph *graph, qdq_error *err);

// Computes one step of the plan (qdq_plan_get_step), to time it or to show the progress of a run.
// Once every input is written or bound, computing all steps in order is the same as a run. Does
// nothing if `step` is out of range or `exec` is NULL.
QDQ_API void qdq_exec_run_step(qdq_exec *exec, size_t step);

// Copies an output or a kept value, as the last run left it, row-major to `data`: zeros before the
// first run. An output has precedence over a kept value of the same name. `dtype` is the tensor's
// own, or float32 for any float type. NULL data is refused.
QDQ_API qdq_status qdq_exec_read(const qdq_exec *exec, const char *name, qdq_dtype dtype,
                                 void *data, size_t count, qdq_error *err);

//---- Tiles ------------------------------------------------------------------

// The tiles of a value where they lie, one after the other in the order of qdq/tile.h. Padding
// is undefined, except on a device (docs/device_memory.md, section 9).
typedef struct qdq_tiles_view {
    const void *data;  // valid until the next run
    qdq_dtype dtype;
    qdq_shape shape, padded_shape;
    size_t tiles, tile_bytes;
    size_t pages, page_bytes;  // of the arena, which are 2048 bytes; of a device, its buffer's
    qdq_tile_shape tile;       // 32x32 unless the graph says otherwise
} qdq_tiles_view;

// Shows the tiles of a kept value. Fails with QDQ_ERR_ARGUMENT if the plan does not keep the value
// or it lies row-major.
QDQ_API qdq_status qdq_exec_tiles(const qdq_exec *exec, const char *value, qdq_tiles_view *view,
                                  qdq_error *err);

// One page of a kept value.
typedef struct qdq_page_info {
    const char *pool;  // "host": the plan has no device
    size_t bank;       // 0 on the host; for a device see qdq_page in qdq/device_plan.h
    uint64_t address;  // in its bank; on the host the offset in the arena
    size_t offset;     // in the arena; SIZE_MAX for a page of a device that is no such tile
    size_t bytes;
} qdq_page_info;

// Shows page 0 .. pages - 1 of a value that qdq_exec_tiles shows. A page out of range is
// QDQ_ERR_ARGUMENT.
QDQ_API qdq_status qdq_exec_page(const qdq_exec *exec, const char *value, size_t page,
                                 qdq_page_info *info, qdq_error *err);

#ifdef __cplusplus
}
#endif
#endif
