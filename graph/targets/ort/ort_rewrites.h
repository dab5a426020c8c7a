// SPDX-License-Identifier: Apache-2.0
// The rewrites of ONNX Runtime's optimizer: patterns for graph/rewrite/, and the options of target
// ort that they depend on.
#ifndef QDQ_GRAPH_TARGETS_ORT_ORT_REWRITES_H
#define QDQ_GRAPH_TARGETS_ORT_ORT_REWRITES_H

#include <string.h>

#include "graph/rewrite/node_unit.h"
#include "graph/targets/onnx/runtime_versions.h"

// Options of the target, in the order of its table.
enum {
    ORT_LEVEL,
    ORT_QDQ_IS_INT8_ALLOWED,
    ORT_DISABLE_QUANT_QDQ,
    ORT_DISABLE_DOUBLE_QDQ_REMOVER,
    ORT_X64QUANTPRECISION,
    ORT_NBITS_ACCURACY_LEVEL,
    ORT_NBITS_BLOCK_SIZE,
    ORT_ENABLE_QUANT_QDQ_CLEANUP,
    ORT_THREADS,
    ORT_OPTION_COUNT
};
enum { ORT_ALL, ORT_EXTENDED, ORT_BASIC, ORT_DISABLED };  // words of ORT_LEVEL
enum { ORT_NBITS_INT8 };  // first word of ORT_NBITS_ACCURACY_LEVEL, "4"; the others are float

static inline bool ort_is_arm(const qdq_target_version *version) {
    return version->variant >= QDQ_RUNTIME_NEON;
}

// True if int8 codes become uint8.
bool ort_changes_s8(const qdq_target_version *version);

// True if constants are computed before a run.
bool ort_folds_constants(const qdq_target_version *version);

extern const qdq_pattern qdq_ort_patterns[];
extern const qdq_evidence_row ort_evidence[];  // up to a row of zeros

// True if the graph comes from a model whose opset is known and older than `opset`.
static inline bool ort_is_older(const qdq_rewriter *r, int64_t opset) {
    return r->from->opset && r->from->opset < opset;
}

// True if a pattern matches ops that an opset has changed, as it does from a release on.
static inline bool ort_knows_opset(const qdq_rewriter *r, int64_t opset, int release) {
    return r->from->opset < opset || r->version->release >= release;
}

// True if QuantizeLinear has output_dtype, and each Dequantize a block_size. An unknown opset
// counts as an older opset, because `qdq convert` writes the oldest that a graph can have.
static inline bool ort_has_output_dtype(const qdq_rewriter *r) { return r->from->opset >= 21; }

// True if a Quantize that propagation adds names the dtype of its codes; else the dtype is its zero
// point's, and uint8 without one.
static inline bool ort_names_dtype(const qdq_rewriter *r) {
    return ort_has_output_dtype(r) && r->version->release >= QDQ_RUNTIME_NAMES_DTYPE;
}

// True if `node` is known to be `op` in the model: "Flatten" for StaticReshape.
static inline bool ort_was(const qdq_node *node, const char *op) {
    return node->original_op && strcmp(node->original_op, op) == 0;
}

// Returns the number of nodes of the model that read a value: Slices that the reader adds for one
// Split count as one.
size_t ort_reader_count(const qdq_rewriter *r, uint32_t value);

// True if a Relu or Clamp changes no code of the Quantize behind it.
bool ort_is_redundant(const qdq_rewriter *r, size_t node, const qdq_coder *q);

//---- Pairs (ort_pairs.c) ----------------------------------------------------

bool ort_match_double_pair(const qdq_rewriter *r, qdq_match *m);
void ort_build_double_pair(qdq_rewriter *r, qdq_match *m);
bool ort_match_equal_pair(const qdq_rewriter *r, qdq_match *m);
void ort_build_equal_pair(qdq_rewriter *r, qdq_match *m);
bool ort_match_redundant(const qdq_rewriter *r, qdq_match *m);
void ort_build_redundant(qdq_rewriter *r, qdq_match *m);
bool ort_match_s8_to_u8(const qdq_rewriter *r, qdq_match *m);
void ort_build_s8_to_u8(qdq_rewriter *r, qdq_match *m);

bool ort_match_unread_codes(const qdq_rewriter *r, qdq_match *m);
void ort_build_unread_codes(qdq_rewriter *r, qdq_match *m);

//---- Equal nodes (ort_equal.c) -----------------------------------------------

bool ort_match_equal_node(const qdq_rewriter *r, qdq_match *m);
void ort_build_equal_node(qdq_rewriter *r, qdq_match *m);

//---- Constants (ort_constants.c) ----------------------------------------------

bool ort_match_moved_constant(const qdq_rewriter *r, qdq_match *m);
void ort_build_moved_constant(qdq_rewriter *r, qdq_match *m);
bool ort_match_moved_codes(const qdq_rewriter *r, qdq_match *m);
void ort_build_moved_codes(qdq_rewriter *r, qdq_match *m);

//---- Transposed operands (ort_transposed.c) -----------------------------------

// True if only Gemm reads the result of a Transpose of a matrix: it reads the matrix.
bool ort_joins_gemm(const qdq_rewriter *r, const qdq_node *transpose);
bool ort_match_gemm_operands(const qdq_rewriter *r, qdq_match *m);
bool ort_match_own_gemm_operands(const qdq_rewriter *r, qdq_match *m);
void ort_build_own_gemm_operands(qdq_rewriter *r, qdq_match *m);
void ort_build_gemm_operands(qdq_rewriter *r, qdq_match *m);
bool ort_match_gemm_result(const qdq_rewriter *r, qdq_match *m);
void ort_build_gemm_result(qdq_rewriter *r, qdq_match *m);
bool ort_match_matmul_operands(const qdq_rewriter *r, qdq_match *m);
void ort_build_matmul_operands(qdq_rewriter *r, qdq_match *m);

//---- Propagation (ort_propagation.c) ----------------------------------------

// Returns the dtype of the Quantize that ONNX Runtime adds beside a coder: it has the same zero
// point, and names the dtype if it can.
qdq_dtype ort_dtype_again(const qdq_rewriter *r, const qdq_coder *c);
// Returns the number of readers behind which propagation puts a pair: nodes, and an output of the
// graph. 0: none, as one of the nodes is a Quantize.
size_t ort_float_readers(const qdq_rewriter *r, uint32_t value);
// True if pairs behind constants stay before nodes that move elements.
bool ort_leaves_constants(const qdq_target_version *version);
extern const char *const ort_uint8_found;
bool ort_match_dequantize_later(const qdq_rewriter *r, qdq_match *m);
void ort_build_dequantize_later(qdq_rewriter *r, qdq_match *m);
bool ort_match_uint8_later(const qdq_rewriter *r, qdq_match *m);
void ort_build_uint8_later(qdq_rewriter *r, qdq_match *m);
bool ort_match_uint8_reshaped(const qdq_rewriter *r, qdq_match *m);
void ort_build_uint8_reshaped(qdq_rewriter *r, qdq_match *m);
bool ort_match_quantize_earlier(const qdq_rewriter *r, qdq_match *m);
void ort_build_quantize_earlier(qdq_rewriter *r, qdq_match *m);

//---- Tables (ort_tables.c) --------------------------------------------------

bool ort_match_table(const qdq_rewriter *r, qdq_match *m);
void ort_build_table(qdq_rewriter *r, qdq_match *m);
// True if a node and the Quantize behind it form a table group.
bool ort_is_table(const qdq_rewriter *r, size_t node);
bool ort_match_where_constant(const qdq_rewriter *r, qdq_match *m);
void ort_build_where_constant(qdq_rewriter *r, qdq_match *m);

//---- Weights (ort_weights.c) ------------------------------------------------

// True if a node is a MatMul with a bias and has operands other than matrices: a MatMul and an Add
// that became a Gemm, which takes matrices only.
bool ort_is_reshaped(const qdq_rewriter *r, const qdq_node *node);
bool ort_match_matmul_add(const qdq_rewriter *r, qdq_match *m);
void ort_build_matmul_add(qdq_rewriter *r, qdq_match *m);
bool ort_match_folded_codes(const qdq_rewriter *r, qdq_match *m);
void ort_build_folded_codes(qdq_rewriter *r, qdq_match *m);
bool ort_match_folded(const qdq_rewriter *r, qdq_match *m);
void ort_build_folded(qdq_rewriter *r, qdq_match *m);
bool ort_match_s8_constant(const qdq_rewriter *r, qdq_match *m);
void ort_build_s8_constant(qdq_rewriter *r, qdq_match *m);
bool ort_match_s8_factor(const qdq_rewriter *r, qdq_match *m);
void ort_build_s8_factor(qdq_rewriter *r, qdq_match *m);
bool ort_match_float_weight(const qdq_rewriter *r, qdq_match *m);
void ort_build_float_weight(qdq_rewriter *r, qdq_match *m);

//---- Folding (ort_folding.c) ------------------------------------------------

bool ort_match_folded_norm(const qdq_rewriter *r, qdq_match *m);
void ort_build_folded_norm(qdq_rewriter *r, qdq_match *m);
bool ort_match_folded_mul(const qdq_rewriter *r, qdq_match *m);
void ort_build_folded_mul(qdq_rewriter *r, qdq_match *m);
bool ort_match_folded_add(const qdq_rewriter *r, qdq_match *m);
void ort_build_folded_add(qdq_rewriter *r, qdq_match *m);

//---- Float ops (ort_floats.c) ------------------------------------------------

bool ort_match_scaled_product(const qdq_rewriter *r, qdq_match *m);
void ort_build_scaled_product(qdq_rewriter *r, qdq_match *m);
bool ort_match_gelu(const qdq_rewriter *r, qdq_match *m);
void ort_build_gelu(qdq_rewriter *r, qdq_match *m);
bool ort_match_turned_sum(const qdq_rewriter *r, qdq_match *m);
void ort_build_turned_sum(qdq_rewriter *r, qdq_match *m);
// True if an image lies in blocks of channels.
bool ort_is_in_blocks(const qdq_rewriter *r, uint32_t value);
// True if a convolution reads an image with few channels as it is, not in blocks.
bool ort_reads_channels(const qdq_rewriter *r, const qdq_node *conv);
// True if the model leaves the batch, the height or the width of an input open.
bool ort_leaves_open(const qdq_rewriter *r);
// True if ONNX Runtime knows that two images in blocks of one shape have the same dims, also where
// the model leaves them open.
bool ort_shapes_match(const qdq_rewriter *r, uint32_t a, uint32_t b);
// Returns the dim of the input of a Transpose that becomes dim `i` of its result.
int64_t ort_taken_dim(const qdq_node *transpose, int rank, int i);
bool ort_match_no_op(const qdq_rewriter *r, qdq_match *m);
void ort_build_no_op(qdq_rewriter *r, qdq_match *m);
bool ort_match_divided(const qdq_rewriter *r, qdq_match *m);
void ort_build_divided(qdq_rewriter *r, qdq_match *m);

//---- Norms (ort_norms.c) -----------------------------------------------------

bool ort_match_layer_norm(const qdq_rewriter *r, qdq_match *m);
void ort_build_layer_norm(qdq_rewriter *r, qdq_match *m);
bool ort_match_skip_norm(const qdq_rewriter *r, qdq_match *m);
void ort_build_skip_norm(qdq_rewriter *r, qdq_match *m);
bool ort_match_rms_norm(const qdq_rewriter *r, qdq_match *m);
void ort_build_rms_norm(qdq_rewriter *r, qdq_match *m);

//---- Groups (ort_groups.c, ort_products.c, ort_dynamic.c, ort_nbits.c) ------

bool ort_match_conv(const qdq_rewriter *r, qdq_match *m);
void ort_build_conv(qdq_rewriter *r, qdq_match *m);
bool ort_match_matmul(const qdq_rewriter *r, qdq_match *m);
void ort_build_matmul(qdq_rewriter *r, qdq_match *m);
bool ort_match_dynamic(const qdq_rewriter *r, qdq_match *m);
void ort_build_dynamic(qdq_rewriter *r, qdq_match *m);
bool ort_match_unblocked_matmul(const qdq_rewriter *r, qdq_match *m);
void ort_build_unblocked_matmul(qdq_rewriter *r, qdq_match *m);
bool ort_match_nbits(const qdq_rewriter *r, qdq_match *m);
void ort_build_nbits(qdq_rewriter *r, qdq_match *m);
bool ort_match_packed_floats(const qdq_rewriter *r, qdq_match *m);
void ort_build_packed_floats(qdq_rewriter *r, qdq_match *m);
bool ort_match_packed_bias(const qdq_rewriter *r, qdq_match *m);
void ort_build_packed_bias(qdq_rewriter *r, qdq_match *m);
bool ort_match_nbits_bias(const qdq_rewriter *r, qdq_match *m);
void ort_build_nbits_bias(qdq_rewriter *r, qdq_match *m);
bool ort_match_binary(const qdq_rewriter *r, qdq_match *m);
void ort_build_add(qdq_rewriter *r, qdq_match *m);
void ort_build_multiply(qdq_rewriter *r, qdq_match *m);
bool ort_match_one(const qdq_rewriter *r, qdq_match *m);
bool ort_match_global_pool(const qdq_rewriter *r, qdq_match *m);
void ort_build_average_pool(qdq_rewriter *r, qdq_match *m);
void ort_build_global_pool(qdq_rewriter *r, qdq_match *m);
bool ort_match_blocked_pool(const qdq_rewriter *r, qdq_match *m);
void ort_build_blocked_pool(qdq_rewriter *r, qdq_match *m);
bool ort_match_blocked_mean(const qdq_rewriter *r, qdq_match *m);
void ort_build_blocked_mean(qdq_rewriter *r, qdq_match *m);
void ort_build_softmax(qdq_rewriter *r, qdq_match *m);
bool ort_match_moved(const qdq_rewriter *r, qdq_match *m);
void ort_build_moved(qdq_rewriter *r, qdq_match *m);

//---- Layout (ort_layout.c) --------------------------------------------------

bool ort_match_conv_sum(const qdq_rewriter *r, qdq_match *m);
void ort_build_conv_sum(qdq_rewriter *r, qdq_match *m);
// True if ONNX Runtime computes a convolution on blocks of channels.
bool ort_is_blocked(const qdq_rewriter *r, const qdq_node *convolution);
// True if a ReduceMean was read from GlobalAveragePool.
bool ort_is_global_pool(const qdq_node *mean);
bool ort_match_blocked_conv(const qdq_rewriter *r, qdq_match *m);
void ort_build_blocked_conv(qdq_rewriter *r, qdq_match *m);
bool ort_match_blocked_norm(const qdq_rewriter *r, qdq_match *m);
void ort_build_blocked_norm(qdq_rewriter *r, qdq_match *m);

extern const char *const ort_thread_words[];
// Returns the number of threads that an option names; 0: none, for which one thread stands.
size_t ort_threads(const qdq_target_version *version);
// Finds nodes whose sums depend on the number of threads (ort_threads.c).
bool ort_match_threads(const qdq_rewriter *r, qdq_match *m);

//---- Rewrites that are not modelled (ort_unmodelled.c) ----------------------

bool ort_match_transposes(const qdq_rewriter *r, qdq_match *m);
bool ort_match_int8_gemm(const qdq_rewriter *r, qdq_match *m);
bool ort_match_old_move(const qdq_rewriter *r, qdq_match *m);
bool ort_match_dilated_pool(const qdq_rewriter *r, qdq_match *m);
bool ort_match_average_pool_ceil(const qdq_rewriter *r, qdq_match *m);
bool ort_match_other_bits(const qdq_rewriter *r, qdq_match *m);
bool ort_match_resized_codes(const qdq_rewriter *r, qdq_match *m);
bool ort_match_scaled_gemm(const qdq_rewriter *r, qdq_match *m);

#endif
