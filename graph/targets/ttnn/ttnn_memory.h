// SPDX-License-Identifier: Apache-2.0
// ttnn's rules about memory_config, layout and tile, as rows of its table.
#ifndef QDQ_GRAPH_TARGETS_TTNN_TTNN_MEMORY_H
#define QDQ_GRAPH_TARGETS_TTNN_TTNN_MEMORY_H

#include "graph/memory/layout_rules.h"

#define QDQ_TTNN_VALUE_ROW(of_severity, rule_id, rule_summary, rule_hint, rule_source, rule_ops, \
                           fn)                                                                   \
    {                                                                                            \
        .id = "ttnn/" rule_id, .severity = QDQ_SEVERITY_##of_severity,                           \
        .status = QDQ_ERR_UNSUPPORTED, .summary = (rule_summary), .hint = (rule_hint),           \
        .source = "tt-metal " rule_source, .ops = (rule_ops), .check_value = (fn)                \
    }

#define QDQ_TTNN_FAMILY "Quantize Dequantize DynamicQuantize Requantize"
#define QDQ_TTNN_TWO_OPERANDS \
    "Add Subtract Multiply Divide Minimum Maximum GreaterEqual BiasAdd PReLU"
#define QDQ_TTNN_BINARY QDQ_TTNN_FAMILY " " QDQ_TTNN_TWO_OPERANDS

// clang-format off
#define QDQ_TTNN_MEMORY_ROWS                                                                       \
    QDQ_TTNN_VALUE_ROW(ERROR, "buffer-type", "a tensor of an op lies on the device",               \
                       "use DRAM or L1", "buffer.cpp", NULL, qdq_ttnn_buffer_type),                \
    QDQ_TTNN_VALUE_ROW(ERROR, "shard-spec-missing", "a sharded memory_config has a shard_spec, its own or that of an operand of an elementwise op", \
                       "give a shard_spec", "binary_ng_device_operation.cpp", NULL, qdq_ttnn_shard_spec),    \
    QDQ_TTNN_VALUE_ROW(ERROR, "shard-rank", "a shard has at most the rank of its tensor",          \
                       "leave out dims of 1", "buffer_distribution_spec.cpp", NULL, qdq_ttnn_shard_rank), \
    QDQ_TTNN_VALUE_ROW(ERROR, "shard-tiles", "a shard in TILE layout is whole tiles",              \
                       "round it up to tiles, or use layout ROW_MAJOR", "tensor_spec.cpp", NULL, qdq_ttnn_shard_tiles), \
    QDQ_TTNN_VALUE_ROW(ERROR, "shard-width", "a HEIGHT_SHARDED shard is as wide as its padded tensor", \
                       "give the shard this width, or use BLOCK_SHARDED", "tensor_spec.cpp", NULL, qdq_ttnn_shard_width), \
    QDQ_TTNN_VALUE_ROW(ERROR, "shard-height", "a WIDTH_SHARDED shard is as high as its padded tensor, all dims but the last folded", \
                       "give the shard this height, or use BLOCK_SHARDED", "tensor_spec.cpp", NULL, qdq_ttnn_shard_height), \
    QDQ_TTNN_VALUE_ROW(ERROR, "shard-grid", "the cores of a shard_spec lie on the device",         \
                       "use fewer rows or columns of cores; `--device` names another device", "tensor_spec.cpp", NULL, qdq_ttnn_shard_grid), \
    QDQ_TTNN_VALUE_ROW(ERROR, "shard-cores", "there are as many cores as shards",                  \
                       "use more cores", "tensor_spec.cpp", NULL, qdq_ttnn_shard_cores),           \
    QDQ_TTNN_VALUE_ROW(ERROR, "shard-rectangle", "the cores of a BLOCK_SHARDED tensor are one rectangle", \
                       "give one range of cores", "tensor_spec.cpp", NULL, qdq_ttnn_shard_rectangle), \
    QDQ_TTNN_VALUE_ROW(ERROR, "shard-distribution", "with CONTIGUOUS_1D each core has equally many shards", \
                       "use ROUND_ROBIN_1D", "buffer_distribution_spec.cpp", NULL, qdq_ttnn_shard_distribution), \
    QDQ_TTNN_VALUE_ROW(WARNING, "shard-row-bytes", "a row of a shard in ROW_MAJOR layout is a multiple of L1's alignment", \
                       "make the shard wider", "tensor_layout.cpp", NULL, qdq_ttnn_shard_row_bytes), \
    QDQ_TTNN_VALUE_ROW(WARNING, "shard-unequal", "two sharded operands have the same memory_config", \
                       "use Reshard for one of them", "binary_ng_device_operation.cpp", QDQ_TTNN_BINARY, qdq_ttnn_shard_unequal), \
    QDQ_TTNN_VALUE_ROW(ERROR, "block-float-layout", "a block float lies in tiles",                 \
                       "use layout TILE", "page_config.cpp", NULL, qdq_ttnn_block_float_layout),   \
    QDQ_TTNN_VALUE_ROW(ERROR, "float8-layout", "a float8 lies in rows",                            \
                       "use layout ROW_MAJOR", "tensor_spec.cpp", NULL, qdq_ttnn_float8_layout),   \
    QDQ_TTNN_VALUE_ROW(ERROR, "tile-height", "a tile on the device is 32 or 16 high; lower ones are for the first operand of a product", \
                       "use 32 x 32", "tile.cpp", NULL, qdq_ttnn_tile_height),                     \
    QDQ_TTNN_VALUE_ROW(ERROR, "tile-matmul", "the tiles of a product are 32 wide in a and 32 high in b, after transposing", \
                       "use 32 x 32", "matmul_device_operation.cpp, #42533", "MatMul", qdq_ttnn_tile_matmul), \
    QDQ_TTNN_VALUE_ROW(WARNING, "tile-binary", "the result of an op of two operands has tiles of 32 x 32, whatever tiles these have", \
                       "use 32 x 32, or try it on the device", "binary_ng_device_operation.cpp", QDQ_TTNN_TWO_OPERANDS, qdq_ttnn_tile_binary), \
    QDQ_TTNN_VALUE_ROW(ERROR, "tile-transpose", "transpose and permute take tensors that are whole tiles of 32 x 32 with their padding", \
                       "use 32 x 32", "transpose_device_operation.cpp, #42533", "StaticTranspose", qdq_ttnn_tile_transpose), \
    QDQ_TTNN_VALUE_ROW(WARNING, "tile-transposed-block-float", "a block float shares exponents along rows; in a transposed tile it does along columns", \
                       "leave out transpose_tile: bits are computed as if it were absent", "bfloat8.cpp", NULL, qdq_ttnn_tile_transposed), \
    QDQ_TTNN_VALUE_ROW(WARNING, "tile-quantize", "quantize, dequantize and requantize are tested with tiles of 32 x 32 only", \
                       "use 32 x 32, or try it on the device", "test_quantization.py", QDQ_TTNN_FAMILY, qdq_ttnn_tile_quantize), \
    QDQ_TTNN_VALUE_ROW(ERROR, "tile-to-sharded", "interleaved_to_sharded takes tiles of 32 x 32",  \
                       "use 32 x 32, or give the tensor its shards as it is made", "#48198", "InterleavedToSharded", qdq_ttnn_tile_to_sharded), \
    QDQ_TTNN_VALUE_ROW(ERROR, "operand-layout", "operands of quantize, dequantize, requantize and the binary ops lie in tiles", \
                       "use ToLayout before it", "binary_ng_device_operation.cpp", QDQ_TTNN_BINARY, qdq_ttnn_operand_layout), \
    QDQ_TTNN_VALUE_ROW(ERROR, "layout-of-op", "only ToLayout changes the layout and the tile of its input", \
                       "use ToLayout", "to_layout_op.cpp", NULL, qdq_ttnn_layout_of_op),           \
    QDQ_TTNN_VALUE_ROW(ERROR, "output-tensor", "output_tensor has the dtype, the shape and the layout of the result", \
                       "name such a value, or leave it out", "binary_ng_device_operation.cpp", QDQ_TTNN_BINARY, qdq_ttnn_output_tensor), \
    QDQ_TTNN_VALUE_ROW(WARNING, "output-tensor-read", "nothing reads an output_tensor after it was overwritten", \
                       "read the result instead: the device has the new elements there, qdq keeps the old ones", "binary_ng_device_operation.cpp", QDQ_TTNN_BINARY, qdq_ttnn_output_tensor_read), \
    QDQ_TTNN_VALUE_ROW(ERROR, "move-where", "ToMemoryConfig, InterleavedToSharded and Reshard have a memory_config, ToLayout has a layout", \
                       "say where it goes", "to_memory_config_op.hpp, to_layout_op.cpp", "ToMemoryConfig InterleavedToSharded Reshard ToLayout", qdq_ttnn_move_where), \
    QDQ_TTNN_VALUE_ROW(ERROR, "move-sharded", "InterleavedToSharded makes shards of an interleaved tensor, Reshard shards of shards, ShardedToInterleaved none", \
                       "use ToMemoryConfig, which takes all of them", "interleaved_to_sharded_op.cpp, reshard_device_operation.cpp", \
                       "InterleavedToSharded ShardedToInterleaved Reshard", qdq_ttnn_move_sharded),  \
    QDQ_TTNN_VALUE_ROW(WARNING, "move-nothing", "ShardedToInterleaved is for a sharded tensor; another one is returned as it is", \
                       "leave it out, or use ToMemoryConfig", "sharded_to_interleaved.cpp", "ShardedToInterleaved", qdq_ttnn_move_nothing), \
    QDQ_TTNN_VALUE_ROW(WARNING, "move-nd", "InterleavedToSharded makes ND shards only if they are those of a 2-D layout", \
                       "use ToMemoryConfig", "interleaved_to_sharded_op.cpp", "InterleavedToSharded", qdq_ttnn_move_nd), \
    QDQ_TTNN_VALUE_ROW(ERROR, "move-row-bytes", "InterleavedToSharded of a tensor in rows makes rows of a multiple of L1's alignment", \
                       "make the shard wider", "interleaved_to_sharded_op.cpp", "InterleavedToSharded", qdq_ttnn_move_row_bytes), \
    QDQ_TTNN_VALUE_ROW(ERROR, "move-dram-block", "InterleavedToSharded and Reshard have no BLOCK_SHARDED tensors in DRAM", \
                       "use L1, or an nd_shard_spec", "interleaved_to_sharded_op.cpp, reshard_device_operation.cpp", "InterleavedToSharded Reshard", qdq_ttnn_move_dram_block)
// clang-format on

void qdq_ttnn_buffer_type(const qdq_value_context *ctx, const qdq_rule *rule);
void qdq_ttnn_shard_spec(const qdq_value_context *ctx, const qdq_rule *rule);
void qdq_ttnn_shard_rank(const qdq_value_context *ctx, const qdq_rule *rule);
void qdq_ttnn_shard_tiles(const qdq_value_context *ctx, const qdq_rule *rule);
void qdq_ttnn_shard_width(const qdq_value_context *ctx, const qdq_rule *rule);
void qdq_ttnn_shard_height(const qdq_value_context *ctx, const qdq_rule *rule);
void qdq_ttnn_shard_grid(const qdq_value_context *ctx, const qdq_rule *rule);
void qdq_ttnn_shard_cores(const qdq_value_context *ctx, const qdq_rule *rule);
void qdq_ttnn_shard_rectangle(const qdq_value_context *ctx, const qdq_rule *rule);
void qdq_ttnn_shard_distribution(const qdq_value_context *ctx, const qdq_rule *rule);
void qdq_ttnn_shard_row_bytes(const qdq_value_context *ctx, const qdq_rule *rule);
void qdq_ttnn_shard_unequal(const qdq_value_context *ctx, const qdq_rule *rule);
void qdq_ttnn_block_float_layout(const qdq_value_context *ctx, const qdq_rule *rule);
void qdq_ttnn_float8_layout(const qdq_value_context *ctx, const qdq_rule *rule);
void qdq_ttnn_tile_height(const qdq_value_context *ctx, const qdq_rule *rule);
void qdq_ttnn_tile_matmul(const qdq_value_context *ctx, const qdq_rule *rule);
void qdq_ttnn_tile_binary(const qdq_value_context *ctx, const qdq_rule *rule);
void qdq_ttnn_tile_transpose(const qdq_value_context *ctx, const qdq_rule *rule);
void qdq_ttnn_tile_transposed(const qdq_value_context *ctx, const qdq_rule *rule);
void qdq_ttnn_tile_quantize(const qdq_value_context *ctx, const qdq_rule *rule);
void qdq_ttnn_tile_to_sharded(const qdq_value_context *ctx, const qdq_rule *rule);
void qdq_ttnn_operand_layout(const qdq_value_context *ctx, const qdq_rule *rule);
void qdq_ttnn_layout_of_op(const qdq_value_context *ctx, const qdq_rule *rule);
void qdq_ttnn_output_tensor(const qdq_value_context *ctx, const qdq_rule *rule);
void qdq_ttnn_output_tensor_read(const qdq_value_context *ctx, const qdq_rule *rule);
void qdq_ttnn_move_where(const qdq_value_context *ctx, const qdq_rule *rule);
void qdq_ttnn_move_sharded(const qdq_value_context *ctx, const qdq_rule *rule);
void qdq_ttnn_move_nothing(const qdq_value_context *ctx, const qdq_rule *rule);
void qdq_ttnn_move_nd(const qdq_value_context *ctx, const qdq_rule *rule);
void qdq_ttnn_move_row_bytes(const qdq_value_context *ctx, const qdq_rule *rule);
void qdq_ttnn_move_dram_block(const qdq_value_context *ctx, const qdq_rule *rule);

#endif
