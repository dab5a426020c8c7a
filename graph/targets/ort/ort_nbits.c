// SPDX-License-Identifier: Apache-2.0
// Products of float activations with constant codes, which become MatMulNBits.
#include "graph/core/copy.h"
#include "graph/targets/ort/ort_groups.h"
#include "include/qdq/ops/products.h"

enum { A, B, BIAS };  // ports of MatMul

enum { SCALE = 1 };  // port of Dequantize

enum { LEAST_BLOCK = 16 };  // of k

// By the words of the option.
static const int64_t block_sizes[] = {32, 16, 64, 128, 256};

static bool has_two_bits(qdq_dtype dtype) { return dtype == QDQ_INT2 || dtype == QDQ_UINT2; }

static bool has_four_bits(qdq_dtype dtype) { return dtype == QDQ_INT4 || dtype == QDQ_UINT4; }

static bool is_small_int(qdq_dtype dtype) {
    return has_two_bits(dtype) || has_four_bits(dtype) || dtype == QDQ_INT8 || dtype == QDQ_UINT8;
}

// True if the kernel for codes of a dtype in blocks multiplies floats.
static bool multiplies_floats(const qdq_target_version *version, qdq_dtype codes, int64_t block) {
    return version->options[ORT_NBITS_ACCURACY_LEVEL] != ORT_NBITS_INT8 ||
           (has_two_bits(codes) && (block < 32 || block > 128));
}

// Returns the number of k that share a scale: the block size along k, else the block size of the
// activations. 0: the scales lie in another way.
static int64_t block_of(const qdq_rewriter *r, const qdq_coder *w) {
    const qdq_ints *group = &w->attrs->group_shape;
    int64_t depth = r->from->values[w->reals].type.shape.dims[0], one = LEAST_BLOCK;
    if (!w->blocks)
        return w->count == 1 || w->axis == 1
                   ? block_sizes[r->version->options[ORT_NBITS_BLOCK_SIZE]]
                   : 0;
    int64_t block = group->count == 2 && group->data[1] == 1 ? group->data[0] : 0;
    // The only block of a column ends with it here, and has the size of the model there.
    int64_t given = r->from->nodes[w->node].block_size;
    while (one < depth) one *= 2;
    if (block == depth || block == -1)
        return given >= one && (given & (given - 1)) == 0 ? given : one;
    return block >= LEAST_BLOCK && (block & (block - 1)) == 0 ? block : 0;
}

// True if the node has no bias, or a bias with one element for each column.
static bool fits_bias(const qdq_rewriter *r, const qdq_node *node) {
    if (node->input_count <= BIAS || !node->inputs[BIAS].id) return true;
    const qdq_shape *bias = &r->from->values[node->inputs[BIAS].id].type.shape;
    const qdq_shape *w = &r->from->values[node->inputs[B].id].type.shape;
    return bias->rank == 1 && bias->dims[0] == w->dims[1];
}

// True if no other node reads the weights' codes or scales, or the release does not care.
static bool reads_alone(const qdq_rewriter *r, const qdq_coder *w) {
    if (r->version->release < QDQ_RUNTIME_PACKS_ALONE) return true;
    uint32_t scale = r->from->nodes[w->node].inputs[SCALE].id;
    return ort_has_one_node(r, w->codes) && (!scale || ort_has_one_node(r, scale));
}

static bool is_wide(const qdq_coder *c) {
    return c->given && (c->dtype == QDQ_UINT16 || c->dtype == QDQ_INT16);
}

// True if the activations and the result are floats; from 1.32 on both may have codes of 16 bits.
static bool takes_ends(const qdq_rewriter *r, const ort_unit *u) {
    bool takes_wide = r->version->release >= QDQ_RUNTIME_1_32;
    if (u->qdq.x[A].given && !(takes_wide && is_wide(&u->qdq.x[A]))) return false;
    return u->qdq.y.given ? takes_wide && is_wide(&u->qdq.y)
                          : !ort_is_quantized(r, u->qdq.node->outputs[0]);
}

// True if the release packs codes of these dtypes and scales for a node.
static bool packs(const qdq_rewriter *r, const qdq_node *node, const qdq_coder *w) {
    return r->version->release >= QDQ_RUNTIME_PACKS_ALL_CODES ||
           (has_four_bits(w->dtype) && w->blocks && !ort_is_gemm(node));
}

bool ort_match_nbits(const qdq_rewriter *r, qdq_match *m) {
    const qdq_node *node = &r->from->nodes[m->anchor];
    const qdq_matmul_attrs *a = node->attrs;
    qdq_coder w = qdq_coder_before(r, node->inputs[B].id);
    const qdq_graph_value *x = &r->from->values[node->inputs[A].id];
    if (!w.given || !w.known || !is_small_int(w.dtype) || !ort_is_constant(r, w.codes) ||
        x->constant || x->type.dtype != QDQ_FLOAT32)
        return false;
    ort_unit u;
    ort_unit_of(r, m->anchor, &u);
    if (!takes_ends(r, &u)) return false;
    if (u.blocked)
        return ort_refuses(m, "a Relu or Clamp with one reader is the only reader of the result");
    if (r->from->values[w.reals].type.shape.rank != 2 || a->transpose_a == QDQ_TRUE ||
        a->transpose_b == QDQ_TRUE || !block_of(r, &w) || !fits_bias(r, node))
        return ort_refuses(m, "MatMulNBits takes a matrix [K, N] with one scale, scales of columns "
                              "or of blocks of 16 or more k, and a bias of the columns");
    if (!packs(r, node, &w))
        return ort_refuses(m,
                           "MatMulNBits before 1.25 takes codes of 4 bits in blocks, for MatMul");
    if (!reads_alone(r, &w))
        return ort_refuses(m, "MatMulNBits takes codes and scales that no other node reads, nor "
                              "equal scales of up to 8 elements");
    if (has_two_bits(w.dtype) && r->from->values[w.reals].type.shape.dims[1] % 4 != 0) {
        m->rule = "ort/two-bit-columns";
        m->found = "has codes of 2 bits in columns that fill no whole bytes, which ONNX Runtime "
                   "reads beyond their end: its results change from run to run";
        return false;
    }
    if (multiplies_floats(r->version, w.dtype, block_of(r, &w)) && !has_four_bits(w.dtype)) {
        const qdq_shape *shape = &x->type.shape;
        bool row = qdq_shape_count(*shape) == (size_t)shape->dims[shape->rank - 1];
        if (row || r->from->values[w.reals].type.shape.dims[1] == 1)
            m->found = "multiplies a vector and a matrix, floats and constant codes, in an order "
                       "of sums of its own";
        return ort_refuses(m, "MatMulNBits multiplies floats, as MatMul does");
    }
    m->name = "MatMulNBits";
    qdq_match_reads(r, m, node->inputs[A].id);
    ort_read_input(r, m, &w);
    if (node->input_count > BIAS) qdq_match_reads(r, m, node->inputs[BIAS].id);
    qdq_match_makes(r, m, node->outputs[0]);
    return true;
}

void ort_build_nbits(qdq_rewriter *r, qdq_match *m) {
    const qdq_node *node = &r->from->nodes[m->anchor];
    qdq_coder w = qdq_coder_before(r, node->inputs[B].id);
    int64_t block = block_of(r, &w);
    bool middle =
        !w.zero_given && (w.dtype == QDQ_INT2 || w.dtype == QDQ_INT4 || w.dtype == QDQ_INT8);
    m->made[0] = qdq_matmul_nbits(
        r->to,
        (qdq_matmul_nbits_attrs){
            .name = node->name,
            .a = qdq_rewrite_value(r, node->inputs[A].id),
            .b = qdq_rewrite_value(r, w.codes),
            .b_scale = qdq_coder_scale_value(r, &w),
            .b_zero_point = middle ? (qdq_value){0} : qdq_coder_zero_value(r, &w),
            .bias = node->input_count > BIAS ? qdq_rewrite_value(r, node->inputs[BIAS].id)
                                             : (qdq_value){0},
            .block_size = QDQ_INT(block),
            .accuracy_level = QDQ_INT(multiplies_floats(r->version, w.dtype, block) ? 0 : 4)});
}

//---- MatMulNBits of the model ------------------------------------------------

enum { X };  // port of Slice

// Returns the Dequantize of the packed weights of a MatMulNBits below accuracy level 4, for which
// the reader adds a Dequantize, a Slice if k ends within a block, and a MatMul.
static qdq_coder packed_weights(const qdq_rewriter *r, const qdq_node *node) {
    size_t maker = qdq_rewrite_maker(r, node->inputs[B].id);
    if (!ort_was(node, "MatMulNBits")) return (qdq_coder){0};
    if (qdq_rewrite_is(r, maker, "Slice"))
        maker = qdq_rewrite_maker(r, r->from->nodes[maker].inputs[X].id);
    return qdq_coder_of(r, maker, "Dequantize");
}

// Matches such a MatMul with weights of 4 bits, for which ONNX Runtime has kernels.
bool ort_match_packed_floats(const qdq_rewriter *r, qdq_match *m) {
    const qdq_node *node = &r->from->nodes[m->anchor];
    qdq_coder w = packed_weights(r, node);
    if (!w.given || !w.blocks || !ort_is_constant(r, w.codes) || w.dtype != QDQ_UINT4 ||
        r->from->values[node->inputs[A].id].type.dtype != QDQ_FLOAT32)
        return false;
    qdq_match_reads(r, m, node->inputs[A].id);
    ort_read_input(r, m, &w);
    qdq_match_makes(r, m, node->outputs[0]);
    return true;
}

void ort_build_packed_floats(qdq_rewriter *r, qdq_match *m) {
    const qdq_node *node = &r->from->nodes[m->anchor];
    qdq_coder w = packed_weights(r, node);
    m->made[0] = qdq_matmul_nbits(
        r->to, (qdq_matmul_nbits_attrs){.name = node->name,
                                        .a = qdq_rewrite_value(r, node->inputs[A].id),
                                        .b = qdq_rewrite_value(r, w.codes),
                                        .b_scale = qdq_coder_scale_value(r, &w),
                                        .b_zero_point = qdq_coder_zero_value(r, &w),
                                        .transpose_b = QDQ_TRUE,
                                        .block_size = QDQ_INT(w.attrs->group_shape.data[1]),
                                        .accuracy_level = QDQ_INT(0)});
}

//---- Biases ------------------------------------------------------------------

enum { NBITS_BIAS = 4 };  // port of MatMulNBits

// Returns the Add behind a product that adds a constant of its columns; SIZE_MAX: none.
static size_t bias_behind(const qdq_rewriter *r, const qdq_node *node) {
    uint32_t y = node->outputs[0];
    size_t add = qdq_rewrite_only_reader(r, y);
    const qdq_shape *shape = &r->from->values[y].type.shape;
    if (!qdq_rewrite_is(r, add, "Add")) return SIZE_MAX;
    const qdq_value *in = r->from->nodes[add].inputs;
    uint32_t bias = in[in[0].id == y].id;
    const qdq_shape *of = &r->from->values[bias].type.shape;
    bool fits = ort_is_float_constant(r, bias) && of->rank == 1 &&
                of->dims[0] == shape->dims[shape->rank - 1];
    return fits ? add : SIZE_MAX;
}

// Finds the Add behind a product without a bias.
static bool match_bias(const qdq_rewriter *r, qdq_match *m, size_t port) {
    const qdq_node *node = &r->from->nodes[m->anchor];
    size_t add = ort_has_input(node, port) ? SIZE_MAX : bias_behind(r, node);
    if (add == SIZE_MAX) return false;
    qdq_match_replaces(r, m, add);
    for (size_t i = 0; i < node->input_count; i++) qdq_match_reads(r, m, node->inputs[i].id);
    const qdq_value *in = r->from->nodes[add].inputs;
    qdq_match_reads(r, m, in[in[0].id == node->outputs[0]].id);
    qdq_match_makes(r, m, r->from->nodes[add].outputs[0]);
    return true;
}

static void build_bias(qdq_rewriter *r, qdq_match *m, size_t port) {
    const qdq_node *node = &r->from->nodes[m->anchor];
    qdq_value inputs[QDQ_MAX_PORTS] = {{0}};
    for (size_t i = 0; i < node->input_count; i++)
        inputs[i] = qdq_rewrite_value(r, node->inputs[i].id);
    inputs[port] = qdq_rewrite_value(r, m->reads.items[m->reads.count - 1]);
    m->made[0] = qdq_copy_node(r->to, node, r->from->nodes[m->nodes.items[1]].name, inputs);
}

bool ort_match_nbits_bias(const qdq_rewriter *r, qdq_match *m) {
    return match_bias(r, m, NBITS_BIAS);
}

void ort_build_nbits_bias(qdq_rewriter *r, qdq_match *m) { build_bias(r, m, NBITS_BIAS); }

// Matches weights of 2 and 8 bits, whose floats are multiplied as by Gemm: chunks of k are added to
// the bias.
bool ort_match_packed_bias(const qdq_rewriter *r, qdq_match *m) {
    const qdq_node *node = &r->from->nodes[m->anchor];
    return packed_weights(r, node).given && match_bias(r, m, BIAS);
}

void ort_build_packed_bias(qdq_rewriter *r, qdq_match *m) { build_bias(r, m, BIAS); }
