// SPDX-License-Identifier: Apache-2.0
// Stages: the lowered form of a node. graph/compile/ fuses them into the steps of a plan.
#ifndef QDQ_OPS_STAGE_H
#define QDQ_OPS_STAGE_H

#include "include/qdq/numerics.h"
#include "ops/kernels/bounds.h"
#include "runtime/exec/plan.h"

enum { QDQ_MAX_STAGES = 2 };  // of a node

// The compiler's input to an op's `lower`.
typedef struct qdq_lowering {
    qdq_numerics numerics;  // how the target computes this node
    uint32_t isas;          // instruction sets, of runtime/base/cpu.h
    qdq_mempool *mempool;   // owns everything that stages point to
    bool fast;              // bits may differ from the bits of the graph
    // The stage only describes its computation, for writers of C (graph/formats/c/): nothing is
    // packed or tabulated, and products stay a qdq_gemm or qdq_conv.
    bool plain;
    const qdq_parallel *parallel;  // packs large constants; NULL: serial
    struct qdq_shared *shared;     // ops/shared_constants.h; NULL: none
    // The operand that the node's link should take as x, because the chain that computes it can be
    // extended. 0 by convention if every operand will do.
    size_t follows;
} qdq_lowering;

// True if float ops have the operations of ONNX Runtime.
static inline bool qdq_by_onnx_runtime(const qdq_lowering *to) {
    qdq_float_ops ops = to->numerics.float_ops;
    return ops != QDQ_FLOAT_OPS_CORE && ops != QDQ_FLOAT_OPS_ONEDNN;
}

typedef enum qdq_origin { QDQ_FROM_NUMBERS, QDQ_FROM_INPUT, QDQ_FROM_OUTPUT } qdq_origin;

// A parameter of a stage (a scale, a zero point, ...): known numbers, or the elements of a port.
typedef struct qdq_stage_param {
    bool is_int;
    const qdq_grid *grid;  // in the mempool of the lowering, or qdq_grid_whole
    size_t count;
    qdq_origin origin;
    const uint32_t *values;  // QDQ_FROM_NUMBERS: bits of float32 or int32
    size_t port;             // QDQ_FROM_INPUT, QDQ_FROM_OUTPUT
} qdq_stage_param;

// A Quantize to bytes, with one known scale and zero point, that a tensor op computes on its first
// result while it lies in registers or in L1. The op then hands over codes.
typedef struct qdq_stage_quantize {
    qdq_tile_fn *fn;  // NULL: the op hands over its results
    const void *params;
    qdq_view views[2];
    qdq_dtype dtype;  // of the codes
} qdq_stage_quantize;

// The epilogue that a tensor op applies to its first result, float32, in registers, in place of
// links: the sum with an operand of the same size (qdq_tensors), then the bounds.
typedef struct qdq_stage_finish {
    bool finishes;  // false: the op hands over its results
    bool adds, bounded;
    qdq_bounds bounds;
} qdq_stage_finish;

// One of three: a link (`fn`) from input port `x` to output port `y`; a reduction (`reduce`) of
// input port `x` to the output ports `results`; a tensor op (`tensor_op`) on all inputs and
// outputs, in `units`.
typedef struct qdq_stage {
    size_t x;
    const void *params;
    qdq_tile_fn *fn;
    size_t y;
    qdq_block_float_store block_float_store;  // if y is a block float
    float padding;  // the result of a zero, if y is a block float that a chip packs with it
    qdq_stage_param stage_params[QDQ_MAX_STAGE_PARAMS];
    size_t stage_param_count;
    const qdq_reduce_fns *reduce;
    const qdq_grid *grid;  // of a reduction
    size_t results[QDQ_MAX_REDUCED];
    size_t result_count;
    qdq_tensor_op_fn *tensor_op;
    size_t units, cost;  // of the tensor op; runtime/exec/plan.h has their meaning
    // A bit for each port that `params` holds packed, in packed_bytes altogether: the function
    // does not read these inputs.
    uint64_t packed;
    size_t packed_bytes;
    // Set by the compiler if the tensor op can compute a Quantize. NULL: it cannot.
    qdq_stage_quantize *quantize;
    qdq_stage_finish *finish;  // likewise
    uint64_t reads_tiles;      // a bit for each port that the tensor op also reads in tiles
    bool chunks;        // the tensor op hands output 0 to a sink in chunks if it is given one
    bool scales_later;  // `fast`: the tensor op multiplies codes and scales their sums
    bool winograd;      // `fast`: it is a Winograd convolution
} qdq_stage;

#endif
