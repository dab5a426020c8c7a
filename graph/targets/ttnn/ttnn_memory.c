// SPDX-License-Identifier: Apache-2.0
// Checks of ttnn's rules about memory_config, layout and tile. The memory model,
// runtime/tenstorrent/buffer_layout.c, finds the errors of a single buffer; a rule adds an id, a
// hint and a source.
#include "graph/targets/ttnn/ttnn_memory.h"

#include <string.h>

//---- One buffer -------------------------------------------------------------

static void report_buffer(const qdq_value_context *ctx, const qdq_rule *rule,
                          qdq_memory_rule broken) {
    if (ctx->broken == broken)
        qdq_report_value(ctx, rule, "memory_config",
                         qdq_text(ctx->findings, "cannot be: %s", ctx->why), NULL);
}

#define BUFFER_CHECK(name, broken)                                             \
    void qdq_ttnn_##name(const qdq_value_context *ctx, const qdq_rule *rule) { \
        report_buffer(ctx, rule, (broken));                                    \
    }

BUFFER_CHECK(shard_rank, QDQ_MEMORY_SPEC_RANK)
BUFFER_CHECK(shard_tiles, QDQ_MEMORY_SPEC_TILES)
BUFFER_CHECK(shard_width, QDQ_MEMORY_SPEC_WIDTH)
BUFFER_CHECK(shard_height, QDQ_MEMORY_SPEC_HEIGHT)
BUFFER_CHECK(shard_grid, QDQ_MEMORY_GRID)
BUFFER_CHECK(shard_cores, QDQ_MEMORY_GRID_CORES)
BUFFER_CHECK(shard_rectangle, QDQ_MEMORY_GRID_SQUARE)
BUFFER_CHECK(shard_distribution, QDQ_MEMORY_DISTRIBUTION)

void qdq_ttnn_buffer_type(const qdq_value_context *ctx, const qdq_rule *rule) {
    if (ctx->broken == QDQ_MEMORY_POOL)
        qdq_report_value(ctx, rule, "memory_config",
                         qdq_text(ctx->findings, "has buffer_type %s",
                                  qdq_buffer_type_name(ctx->layout->memory_config.buffer_type)),
                         "DRAM, L1 or L1_SMALL");
}

void qdq_ttnn_shard_spec(const qdq_value_context *ctx, const qdq_rule *rule) {
    if (ctx->broken == QDQ_MEMORY_SPEC)
        qdq_report_value(ctx, rule, "memory_config",
                         qdq_text(ctx->findings, "is %s and has no shard_spec%s",
                                  qdq_memory_layout_name(ctx->layout->memory_config.memory_layout),
                                  ctx->node ? ", and no operand has one to take" : ""),
                         NULL);
}

void qdq_ttnn_block_float_layout(const qdq_value_context *ctx, const qdq_rule *rule) {
    if (ctx->broken == QDQ_MEMORY_DTYPE)
        qdq_report_value(ctx, rule, "layout",
                         qdq_text(ctx->findings, "is ROW_MAJOR, and %s lies in tiles only",
                                  qdq_dtype_name(ctx->value->type.dtype)),
                         NULL);
}

void qdq_ttnn_float8_layout(const qdq_value_context *ctx, const qdq_rule *rule) {
    const qdq_dtype_info *info = qdq_dtype_get(ctx->value->type.dtype);
    bool is_float8 = info->kind == QDQ_KIND_SMALL_FLOAT && info->bits == 8;
    bool says = ctx->given->has_config || ctx->given->has_layout || ctx->given->has_tile;
    if (is_float8 && says && ctx->layout->layout == QDQ_LAYOUT_TILE)
        qdq_report_value(ctx, rule, "layout",
                         qdq_text(ctx->findings, "is TILE, and %s lies in rows only", info->name),
                         NULL);
}

// Returns the bytes of a row of a shard.
static uint64_t row_bytes(const qdq_value_context *ctx) {
    const qdq_shape *shard = &ctx->layout->memory_config.shard_spec.shape;
    if (!shard->rank) return 0;
    return (uint64_t)shard->dims[shard->rank - 1] * qdq_dtype_size(ctx->value->type.dtype);
}

static void report_row_bytes(const qdq_value_context *ctx, const qdq_rule *rule, const char *why) {
    if (ctx->layout->layout == QDQ_LAYOUT_ROW_MAJOR && ctx->given->has_config &&
        ctx->broken == QDQ_MEMORY_FINE && row_bytes(ctx) % ctx->device->l1_alignment)
        qdq_report_value(ctx, rule, "memory_config",
                         qdq_text(ctx->findings, "has rows of %llu bytes in a shard",
                                  (unsigned long long)row_bytes(ctx)),
                         qdq_text(ctx->findings, "a multiple of %llu%s",
                                  (unsigned long long)ctx->device->l1_alignment, why));
}

void qdq_ttnn_shard_row_bytes(const qdq_value_context *ctx, const qdq_rule *rule) {
    report_row_bytes(ctx, rule, ", to which they are padded");
}

void qdq_ttnn_move_row_bytes(const qdq_value_context *ctx, const qdq_rule *rule) {
    report_row_bytes(ctx, rule, "");
}

//---- Tiles ------------------------------------------------------------------

static bool is_square(const qdq_tensor_layout *layout) {
    qdq_tile_shape tile = qdq_tile_shape_or_default(layout->tile);
    return layout->layout != QDQ_LAYOUT_TILE || (tile.height == 32 && tile.width == 32);
}

static const char *tile_text(const qdq_value_context *ctx, const qdq_tensor_layout *layout) {
    return qdq_text(ctx->findings, "is %ux%u", layout->tile.height, layout->tile.width);
}

// Returns the node that computes an input; NULL: an input or a constant of the graph.
static const qdq_node *maker_of(const qdq_value_context *ctx, size_t input) {
    const qdq_graph_value *v = &ctx->graph->values[ctx->node->inputs[input].id];
    bool is_made = v->kind == QDQ_VALUE_MADE && v->node < ctx->graph->node_count;
    return is_made ? &ctx->graph->nodes[v->node] : NULL;
}

// Checks the operands of a node; a tensor itself may have these tiles. A computed operand has the
// tile of its producer's operand.
void qdq_ttnn_tile_height(const qdq_value_context *ctx, const qdq_rule *rule) {
    bool is_product = ctx->node && strcmp(ctx->node->op->name, "MatMul") == 0;
    for (size_t i = is_product; ctx->node && !ctx->value->port && i < ctx->node->input_count; i++) {
        const qdq_tensor_layout *in = qdq_input_layout(ctx, i);
        if (!in || in->layout != QDQ_LAYOUT_TILE ||
            qdq_tile_shape_is_general(qdq_tile_shape_or_default(in->tile)))
            continue;
        const qdq_node *maker = maker_of(ctx, i);
        if (maker && strcmp(maker->op->name, "ToLayout") != 0) continue;
        qdq_report_value(
            ctx, rule, qdq_op_port(ctx->node->op, i)->name,
            qdq_text(ctx->findings, "has tiles of %ux%u", in->tile.height, in->tile.width),
            "32x32, 32x16, 16x32 or 16x16");
        return;
    }
}

// True if qdq_ttnn_tile_height has no finding about these tiles.
static bool is_general(const qdq_tensor_layout *layout) {
    return layout->layout != QDQ_LAYOUT_TILE || qdq_tile_shape_is_general(layout->tile);
}

void qdq_ttnn_tile_matmul(const qdq_value_context *ctx, const qdq_rule *rule) {
    const qdq_tensor_layout *a = qdq_input_layout(ctx, 0), *b = qdq_input_layout(ctx, 1);
    if (!a || !b || a->layout != QDQ_LAYOUT_TILE || !is_general(b)) return;
    qdq_tile_shape of_a = qdq_product_tile(ctx->layouts, ctx->node, 0);
    qdq_tile_shape of_b = qdq_product_tile(ctx->layouts, ctx->node, 1);
    if (of_a.width != QDQ_TILE_DIM)
        qdq_report_value(
            ctx, rule, "a",
            qdq_text(ctx->findings, "is read in tiles of %ux%u", of_a.height, of_a.width),
            "a width of 32");
    else if (of_b.height != QDQ_TILE_DIM)
        qdq_report_value(
            ctx, rule, "b",
            qdq_text(ctx->findings, "is read in tiles of %ux%u", of_b.height, of_b.width),
            "a height of 32");
}

void qdq_ttnn_tile_binary(const qdq_value_context *ctx, const qdq_rule *rule) {
    for (size_t i = 0; i < ctx->node->input_count; i++) {
        const qdq_tensor_layout *in = qdq_input_layout(ctx, i);
        if (!in || is_square(in) || !is_general(in)) continue;
        qdq_report_value(
            ctx, rule, qdq_op_port(ctx->node->op, i)->name,
            qdq_text(ctx->findings, "has tiles of %ux%u", in->tile.height, in->tile.width),
            "32x32");
        return;
    }
}

void qdq_ttnn_tile_transpose(const qdq_value_context *ctx, const qdq_rule *rule) {
    const qdq_tensor_layout *x = qdq_input_layout(ctx, 0);
    if (!x || is_square(x) || !is_general(x)) return;
    qdq_shape padded =
        qdq_padded_shape_in(ctx->graph->values[ctx->node->inputs[0].id].type.shape, x->tile);
    if (padded.rank < 2) return;
    int64_t rows = padded.dims[padded.rank - 2], cols = padded.dims[padded.rank - 1];
    if (rows % QDQ_TILE_DIM == 0 && cols % QDQ_TILE_DIM == 0) return;
    qdq_report_value(ctx, rule, "x",
                     qdq_text(ctx->findings, "is %lldx%lld with the padding of its tiles of %ux%u",
                              (long long)rows, (long long)cols, x->tile.height, x->tile.width),
                     "multiples of 32");
}

void qdq_ttnn_tile_transposed(const qdq_value_context *ctx, const qdq_rule *rule) {
    qdq_dtype dtype = ctx->value->type.dtype;
    if (ctx->given->has_tile && ctx->given->as.tile.transpose &&
        qdq_dtype_get(dtype)->kind == QDQ_KIND_BLOCK_FLOAT)
        qdq_report_value(
            ctx, rule, "tile",
            qdq_text(ctx->findings, "is transposed, and the dtype is %s", qdq_dtype_name(dtype)),
            NULL);
}

void qdq_ttnn_tile_quantize(const qdq_value_context *ctx, const qdq_rule *rule) {
    const qdq_tensor_layout *x = qdq_input_layout(ctx, 0);
    if (x && !is_square(x)) qdq_report_value(ctx, rule, "tile of x", tile_text(ctx, x), "32x32");
}

void qdq_ttnn_tile_to_sharded(const qdq_value_context *ctx, const qdq_rule *rule) {
    const qdq_tensor_layout *x = qdq_input_layout(ctx, 0);
    if (x && !is_square(x)) qdq_report_value(ctx, rule, "tile of x", tile_text(ctx, x), "32x32");
}

//---- Nodes ------------------------------------------------------------------

static const char *layout_name(qdq_layout layout) {
    return layout == QDQ_LAYOUT_TILE ? "TILE" : "ROW_MAJOR";
}

void qdq_ttnn_operand_layout(const qdq_value_context *ctx, const qdq_rule *rule) {
    for (size_t i = 0; i < ctx->node->input_count; i++) {
        const qdq_tensor_layout *in = qdq_input_layout(ctx, i);
        if (!in || in->layout == QDQ_LAYOUT_TILE) continue;
        const qdq_node *maker = maker_of(ctx, i);
        const qdq_op_context of_maker = {.op = maker ? maker->op : NULL};
        if (maker && qdq_rule_applies(rule, &of_maker)) continue;  // it has the finding
        qdq_report_value(ctx, rule, qdq_op_port(ctx->node->op, i)->name, "has layout ROW_MAJOR",
                         "TILE");
        return;
    }
}

void qdq_ttnn_layout_of_op(const qdq_value_context *ctx, const qdq_rule *rule) {
    const qdq_tensor_layout *x = qdq_input_layout(ctx, 0);
    if (!x || strcmp(ctx->node->op->name, "ToLayout") == 0) return;
    if (ctx->given->has_layout && ctx->layout->layout != x->layout)
        qdq_report_value(ctx, rule, "layout",
                         qdq_text(ctx->findings, "is %s", layout_name(ctx->layout->layout)),
                         qdq_text(ctx->findings, "%s, as %s has", layout_name(x->layout),
                                  ctx->node->op->inputs[0].name));
    else if (ctx->given->has_tile &&
             !qdq_tile_shape_equal(ctx->layout->tile, qdq_result_tile(ctx->layouts, ctx->node)))
        qdq_report_value(
            ctx, rule, "tile", tile_text(ctx, ctx->layout),
            strcmp(ctx->node->op->name, "MatMul") == 0
                ? "the height of the tile of a and the width of that of b"
                : qdq_text(ctx->findings, "the tile of %s", ctx->node->op->inputs[0].name));
}

static bool is_sharded(const qdq_tensor_layout *layout) {
    return layout->memory_config.memory_layout != QDQ_INTERLEAVED;
}

void qdq_ttnn_shard_unequal(const qdq_value_context *ctx, const qdq_rule *rule) {
    const qdq_tensor_layout *a = qdq_input_layout(ctx, 0);
    for (size_t i = 1; a && is_sharded(a) && i < ctx->node->input_count; i++) {
        const qdq_tensor_layout *b = qdq_input_layout(ctx, i);
        if (!b || !is_sharded(b) || qdq_memory_config_equal(&a->memory_config, &b->memory_config))
            continue;
        qdq_report_value(ctx, rule, qdq_op_port(ctx->node->op, i)->name,
                         qdq_text(ctx->findings,
                                  "has another sharded memory_config than %s, which "
                                  "older releases refuse",
                                  ctx->node->op->inputs[0].name),
                         NULL);
        return;
    }
}

void qdq_ttnn_output_tensor(const qdq_value_context *ctx, const qdq_rule *rule) {
    uint32_t into = qdq_output_tensor_of(ctx->node);
    const qdq_graph_value *t = &ctx->graph->values[into];
    const qdq_type *y = &ctx->value->type;
    const char *found = NULL, *wanted = NULL;
    if (!into || !t->valid) return;
    qdq_layout layout = qdq_tensor_layout_of(ctx->layouts, into)->layout;
    if (t->type.dtype != y->dtype) {
        found = qdq_text(ctx->findings, "is %s", qdq_dtype_name(t->type.dtype));
        wanted = qdq_text(ctx->findings, "%s, as the result", qdq_dtype_name(y->dtype));
    } else if (!qdq_shape_equal(t->type.shape, y->shape)) {
        found = qdq_text(ctx->findings, "has the shape %s",
                         qdq_shape_text(ctx->findings, t->type.shape));
        wanted =
            qdq_text(ctx->findings, "%s, as the result", qdq_shape_text(ctx->findings, y->shape));
    } else if (layout != ctx->layout->layout) {
        found = qdq_text(ctx->findings, "has layout %s", layout_name(layout));
        wanted = qdq_text(ctx->findings, "%s, as the result", layout_name(ctx->layout->layout));
    }
    if (found) qdq_report_value(ctx, rule, "output_tensor", found, wanted);
}

void qdq_ttnn_output_tensor_read(const qdq_value_context *ctx, const qdq_rule *rule) {
    uint32_t into = qdq_output_tensor_of(ctx->node);
    if (!into || !ctx->graph->values[into].valid) return;
    bool is_output = ctx->graph->values[into].returned;
    if (!is_output && ctx->last_reader[into] <= ctx->value->node) return;
    qdq_report_value(ctx, rule, "output_tensor",
                     qdq_text(ctx->findings, "is '%s', %s", ctx->graph->values[into].name,
                              is_output ? "an output of the graph"
                                        : qdq_text(ctx->findings, "which node '%s' reads later",
                                                   ctx->graph->nodes[ctx->last_reader[into]].name)),
                     NULL);
}

void qdq_ttnn_move_where(const qdq_value_context *ctx, const qdq_rule *rule) {
    bool is_layout = strcmp(ctx->node->op->name, "ToLayout") == 0;
    if (is_layout ? !ctx->given->has_layout : !ctx->given->has_config)
        qdq_report_value(ctx, rule, is_layout ? "layout" : "memory_config", "is missing", NULL);
}

void qdq_ttnn_move_sharded(const qdq_value_context *ctx, const qdq_rule *rule) {
    const qdq_tensor_layout *x = qdq_input_layout(ctx, 0);
    bool from = strcmp(ctx->node->op->name, "Reshard") == 0;
    bool to = strcmp(ctx->node->op->name, "ShardedToInterleaved") != 0;
    if (to && x && is_sharded(x) != from)
        qdq_report_value(ctx, rule, "x", from ? "is interleaved" : "is sharded",
                         from ? "shards" : "an interleaved tensor");
    else if (is_sharded(ctx->layout) != to && ctx->given->has_config)
        qdq_report_value(ctx, rule, "memory_config", to ? "is interleaved" : "is sharded",
                         to ? "shards" : "an interleaved one");
}

void qdq_ttnn_move_nothing(const qdq_value_context *ctx, const qdq_rule *rule) {
    const qdq_tensor_layout *x = qdq_input_layout(ctx, 0);
    if (x && !is_sharded(x)) qdq_report_value(ctx, rule, "x", "is interleaved", NULL);
}

void qdq_ttnn_move_nd(const qdq_value_context *ctx, const qdq_rule *rule) {
    if (ctx->layout->memory_config.memory_layout == QDQ_ND_SHARDED)
        qdq_report_value(ctx, rule, "memory_config", "is ND_SHARDED", NULL);
}

static bool is_dram_block(const qdq_tensor_layout *layout) {
    return layout->memory_config.memory_layout == QDQ_BLOCK_SHARDED &&
           layout->memory_config.buffer_type == QDQ_DRAM;
}

void qdq_ttnn_move_dram_block(const qdq_value_context *ctx, const qdq_rule *rule) {
    const qdq_tensor_layout *x = qdq_input_layout(ctx, 0);
    if (x && is_dram_block(x))
        qdq_report_value(ctx, rule, "x", "is BLOCK_SHARDED in DRAM", NULL);
    else if (is_dram_block(ctx->layout))
        qdq_report_value(ctx, rule, "memory_config", "is BLOCK_SHARDED in DRAM", NULL);
}
