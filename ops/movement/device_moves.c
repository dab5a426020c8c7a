// SPDX-License-Identifier: Apache-2.0
// Ops that move a tensor to another place or layout of a device: ttnn's to_memory_config,
// interleaved_to_sharded, sharded_to_interleaved, reshard and to_layout. The elements do not
// change. The place is no attribute: it is the memory_config or the layout of y
// (graph/memory/given_layout.h).
#include <string.h>

#include "ops/movement/movement.h"
#include "runtime/tenstorrent/block_float.h"

// Block floats as well: no element leaves its row or the elements that share its exponent.
static const qdq_port_desc inputs[] = {{"x", offsetof(qdq_unary_attrs, x), false, QDQ_SET_ALL}};
static const qdq_port_desc outputs[] = {{"y", 0, false, QDQ_SET_ALL}};

static void infer(qdq_op_context *ctx) { ctx->outputs[0] = ctx->inputs[0].type; }

static void copy_floats(const void *params, const qdq_view *views, const void *x, void *y,
                        size_t n) {
    (void)params, (void)views;
    memcpy(y, x, n * sizeof(float));
}

// The rows of a block float input may hold any float32. As a link the copy runs over tiles, to
// which they are rounded.
static size_t lower(const qdq_op_context *ctx, const qdq_lowering *to, qdq_stage *stages) {
    if (!qdq_dtype_is_block_float(ctx->inputs[0].type.dtype))
        return qdq_lower_copy(ctx, to, stages);
    stages[0] = (qdq_stage){.fn = copy_floats};
    return 1;
}

static const qdq_op_fusion fusion = {.passes_quantized = qdq_same_quantized};

#define MOVE(id, op_name, op_summary)          \
    const qdq_op qdq_op_##id = {               \
        .name = (op_name),                     \
        .summary = (op_summary),               \
        .attrs_size = sizeof(qdq_unary_attrs), \
        .inputs = inputs,                      \
        .input_count = 1,                      \
        .outputs = outputs,                    \
        .output_count = 1,                     \
        .infer = infer,                        \
        .lower = lower,                        \
        .fusion = &fusion,                     \
    };

MOVE(to_memory_config, "ToMemoryConfig", "y = x, where the node's memory_config says")
MOVE(interleaved_to_sharded, "InterleavedToSharded", "y = x, cut into shards")
MOVE(sharded_to_interleaved, "ShardedToInterleaved", "y = x, interleaved over banks")
MOVE(reshard, "Reshard", "y = x, cut into other shards")
MOVE(to_layout, "ToLayout", "y = x, in tiles or in rows, as the node's layout says")
