// SPDX-License-Identifier: Apache-2.0
// Convolutions and products of codes: functions of rows in ort_rewrites.c.
#include <math.h>
#include <string.h>

#include "graph/core/copy.h"
#include "graph/targets/ort/ort_groups.h"
#include "include/qdq/ops/elementwise.h"
#include "include/qdq/ops/movement.h"
#include "include/qdq/ops/products.h"

enum { A, B, BIAS };  // ports of MatMul and Convolution

//---- Conditions -------------------------------------------------------------

// Returns why no kernel takes the operands' dtypes; NULL if a kernel does.
static const char *dtypes_differ(const qdq_rewriter *r, const ort_unit *u, bool gemm) {
    const qdq_coder *a = &u->qdq.x[A], *b = &u->qdq.x[B], *y = &u->qdq.y;
    bool arm = ort_is_arm(r->version) || r->version->options[ORT_QDQ_IS_INT8_ALLOWED];
    if (!ort_is_byte(a) || !ort_is_byte(b)) return "an operand has codes of other than 8 bits";
    if (y->given && y->dtype != a->dtype) return "the result has codes of another dtype";
    if (a->dtype == QDQ_UINT8) return NULL;
    if (b->dtype == QDQ_INT8 && (arm || gemm)) return NULL;
    return "int8 activations have no kernel on this CPU";
}

static const char *operands_missing(const qdq_rewriter *r, const ort_unit *u) {
    if (u->blocked) return "only a Relu or Clamp that changes codes reads the result";
    if (!u->qdq.x[A].given) return "the first operand does not come from Dequantize";
    if (!u->qdq.x[B].given) return "the weights do not come from Dequantize";
    if (!u->qdq.y.given && ort_is_quantized(r, r->from->nodes[u->last].outputs[0]))
        return "the result goes to a Quantize and elsewhere";
    return NULL;
}

// True if the bias has the scales of the sum, within a tolerance, and no zero points.
static bool bias_scale_within(const qdq_rewriter *r, const ort_unit *u, float absolute,
                              float relative) {
    const qdq_coder *x = &u->qdq.x[A], *w = &u->qdq.x[B], *b = &u->qdq.x[BIAS];
    if (!x->known || !w->known || !b->known) return false;
    for (size_t i = 0; i < b->count || i < w->count; i++) {
        float wanted = qdq_coder_scale(r, x, 0) * qdq_coder_scale(r, w, w->count == 1 ? 0 : i);
        float given = qdq_coder_scale(r, b, b->count == 1 ? 0 : i);
        if (!(fabsf(given - wanted) <= absolute + relative * fabsf(wanted))) return false;
        if (qdq_coder_zero(r, b, b->count == 1 ? 0 : i) != 0) return false;
    }
    return true;
}

static const char *bias_differs(const qdq_rewriter *r, const ort_unit *u, bool checks_scale) {
    if (!ort_has_input(u->qdq.node, BIAS)) return NULL;
    const qdq_coder *b = &u->qdq.x[BIAS];
    if (!b->given || b->dtype != QDQ_INT32) return "the bias is not int32 behind Dequantize";
    if (checks_scale && !bias_scale_within(r, u, 1e-6f, 1e-2f))
        return "the bias has another scale than the product of the operands' scales, or a zero "
               "point";
    return NULL;
}

// True if ONNX Runtime computes with another scale than the bias of the group has. The tolerance
// allows for products that were rounded in another order.
static bool bias_is_other(const qdq_rewriter *r, const ort_unit *u) {
    return ort_has_input(u->qdq.node, BIAS) && !bias_scale_within(r, u, 0, 0x1p-20f);
}

static const char bias_found[] =
    "has a bias whose scale is not the product of the operands' scales, or that has a zero point; "
    "ONNX Runtime uses its codes as they are";

// Checks the scales of weights: one, or one for each output channel. Returns false if ONNX Runtime
// fails. Reports a finding if ONNX Runtime takes scales of another dim as scales of the channels.
static bool takes_weight_scales(const qdq_rewriter *r, qdq_match *m, const ort_unit *u, int axis,
                                int rank) {
    const qdq_coder *w = &u->qdq.x[B];
    const qdq_shape *shape = &r->from->values[w->codes].type.shape;
    if (w->count == 1) return true;
    if (w->blocks || (rank && shape->rank != rank) || (int64_t)w->count != shape->dims[axis])
        return ort_fails(m, qdq_op_port(u->qdq.node->op, B)->name,
                         "has scales for other than the output channels of one matrix");
    if (w->axis != axis) {
        m->rule = "ort/weight-axis";
        m->port = qdq_op_port(u->qdq.node->op, B)->name;
        m->found = "has scales along another dim, as many as output channels, for which ONNX "
                   "Runtime takes them";
    }
    return true;
}

static void read_all(const qdq_rewriter *r, qdq_match *m, const ort_unit *u) {
    ort_read_input(r, m, &u->qdq.x[A]);
    ort_read_input(r, m, &u->qdq.x[B]);
    if (ort_has_input(u->qdq.node, BIAS)) qdq_match_reads(r, m, u->qdq.x[BIAS].codes);
    ort_replace_unit(r, m, u);
}

//---- Convolution ------------------------------------------------------------

// True if weights have zero points that are known to differ.
static bool has_unequal_zeros(const qdq_rewriter *r, const qdq_coder *w) {
    if (!w->zero_given || !w->known || w->blocks) return false;
    for (size_t i = 1; i < w->count; i++)
        if (qdq_coder_zero(r, w, i) != qdq_coder_zero(r, w, 0)) return true;
    return false;
}

// Reports weights that the kernel of a group refuses; returns false.
static bool refuses_zeros(qdq_match *m, const char *found) {
    m->rule = "ort/weight-zero-points";
    m->found = found;
    return false;
}

bool ort_match_conv(const qdq_rewriter *r, qdq_match *m) {
    ort_unit u;
    ort_unit_of(r, m->anchor, &u);
    const qdq_convolution_attrs *a = u.qdq.node->attrs;
    if (!u.qdq.x[A].given && !u.qdq.x[B].given) return false;
    const char *why = operands_missing(r, &u);
    if (!why && !u.qdq.y.given) why = "the result does not go to one Quantize alone";
    if (!why && (a->data_format != QDQ_NCX || a->weights_format != QDQ_OIX))
        why = "ONNX has channels in dim 1, and weights [O, I, spatial...]";
    if (!why) why = dtypes_differ(r, &u, false);
    if (!why) why = bias_differs(r, &u, r->version->release >= QDQ_RUNTIME_CHECKS_BIAS_SCALE);
    if (why) return ort_refuses(m, why);
    if (!ort_takes_scales(r, m, &u, A, A, ORT_ONE_SCALE) || !takes_weight_scales(r, m, &u, 0, 0))
        return false;
    if (r->version->release < QDQ_RUNTIME_TAKES_FILTER_ZEROS && has_unequal_zeros(r, &u.qdq.x[B]))
        return refuses_zeros(m, "has weights whose zero points differ between output channels, "
                                "which QLinearConv before 1.27 refuses");
    if (!m->found && bias_is_other(r, &u)) m->found = bias_found;
    read_all(r, m, &u);
    return true;
}

void ort_build_conv(qdq_rewriter *r, qdq_match *m) {
    ort_unit u;
    ort_unit_of(r, m->anchor, &u);
    const qdq_convolution_attrs *a = u.qdq.node->attrs;
    const qdq_coder *x = &u.qdq.x[A], *w = &u.qdq.x[B], *y = &u.qdq.y;
    m->made[0] = qdq_qlinear_conv(
        r->to, (qdq_qlinear_conv_attrs){.name = ort_unit_name(r, &u),
                                        .x = qdq_rewrite_value(r, x->codes),
                                        .x_scale = qdq_coder_scale_value(r, x),
                                        .x_zero_point = qdq_coder_zero_value(r, x),
                                        .w = qdq_rewrite_value(r, w->codes),
                                        .w_scale = qdq_coder_scale_value(r, w),
                                        .w_zero_point = qdq_coder_zero_value(r, w),
                                        .y_scale = qdq_coder_scale_value(r, y),
                                        .y_zero_point = qdq_coder_zero_value(r, y),
                                        .bias = ort_has_input(u.qdq.node, BIAS)
                                                    ? qdq_rewrite_value(r, u.qdq.x[BIAS].codes)
                                                    : (qdq_value){0},
                                        .strides = a->strides,
                                        .dilations = a->dilations,
                                        .pads_begin = a->pads_begin,
                                        .pads_end = a->pads_end,
                                        .auto_pad = a->auto_pad,
                                        .groups = a->groups});
}

//---- MatMul and Gemm --------------------------------------------------------

// The forms that replace a product.
enum { QLINEAR_MATMUL, TO_FLOAT, QGEMM };
static const char *const form_names[] = {"QLinearMatMul", "MatMulIntegerToFloat", "QGemm"};

// Returns the length of NAME if the node is named NAME/product, else 0: the reader of ONNX turns a
// Gemm whose alpha or beta is not 1 into the nodes NAME/product, NAME/scaled and NAME.
static size_t gemm_name(const qdq_node *node) {
    static const char ending[] = "/product";
    size_t length = strlen(node->name), size = sizeof ending - 1;
    return length > size && strcmp(node->name + length - size, ending) == 0 ? length - size : 0;
}

// Returns the node behind `index` that belongs to the same Gemm as `product`: "Multiply" by its
// alpha, then "Add" of its bias. SIZE_MAX: there is none.
static size_t part_behind(const qdq_rewriter *r, const qdq_node *product, size_t index,
                          const char *op) {
    size_t next = qdq_rewrite_only_reader(r, r->from->nodes[index].outputs[0]);
    size_t length = gemm_name(product);
    if (!length || !qdq_rewrite_is(r, next, op)) return SIZE_MAX;
    const char *name = r->from->nodes[next].name;
    bool same = strncmp(name, product->name, length) == 0;
    return same && (!name[length] || strcmp(name + length, "/scaled") == 0) ? next : SIZE_MAX;
}

// Finds the unit of a product, with the alpha of its Gemm; another node adds its bias.
static void product_of(const qdq_rewriter *r, size_t index, ort_unit *u) {
    ort_unit_of(r, index, u);
    size_t alpha = part_behind(r, u->qdq.node, index, "Multiply");
    if (alpha != SIZE_MAX) ort_unit_ends(r, alpha, u);
}

static bool has_alpha(const qdq_rewriter *r, const ort_unit *u) {
    return &r->from->nodes[u->last] != u->qdq.node;
}

static int form_of(const qdq_rewriter *r, const ort_unit *u) {
    if (ort_is_gemm(u->qdq.node) || has_alpha(r, u)) return QGEMM;
    return u->qdq.y.given ? QLINEAR_MATMUL : TO_FLOAT;
}

// Returns the last dim of weights, or the first one if they are transposed.
static int column_axis(const qdq_rewriter *r, const qdq_node *node) {
    const qdq_matmul_attrs *a = node->attrs;
    int rank = r->from->values[node->inputs[B].id].type.shape.rank;
    return rank < 1 || a->transpose_b == QDQ_TRUE ? 0 : rank - 1;
}

// Returns why the scales of a Gemm keep it float; NULL if they do not. QGemm takes several scales
// of the columns only.
static const char *gemm_scales_differ(const qdq_rewriter *r, const ort_unit *u) {
    const qdq_coder *a = &u->qdq.x[A], *b = &u->qdq.x[B], *y = &u->qdq.y;
    const qdq_shape *shape = &r->from->values[b->codes].type.shape;
    if (a->count > 1 || (y->given && y->count > 1))
        return "the activations have more than one scale";
    if (b->count > 1 &&
        (b->blocks || (int64_t)b->count != shape->dims[column_axis(r, u->qdq.node)]))
        return "the weights have scales for other than columns";
    return NULL;
}

// Returns why a product of codes does not form; NULL if it does.
static const char *product_differs(const qdq_rewriter *r, const ort_unit *u) {
    bool gemm = form_of(r, u) == QGEMM;
    const char *why = operands_missing(r, u);
    if (!why && part_behind(r, u->qdq.node, u->last, "Add") != SIZE_MAX)
        why = "alpha or beta of Gemm is not 1";
    if (!why) why = dtypes_differ(r, u, gemm);
    bool zeros = u->qdq.x[A].zero_given && u->qdq.x[B].zero_given;
    if (!why && gemm && !zeros && r->version->release >= QDQ_RUNTIME_GEMM_WANTS_ZERO_POINTS)
        why = "QGemm wants zero points of both operands";
    if (!why && gemm) why = bias_differs(r, u, false);
    if (!why && gemm) why = gemm_scales_differ(r, u);
    return why;
}

// Finds MatMul into which the reader turns a Gemm without bias. With int8 activations ONNX Runtime
// has kernels on x86-64 for Gemm only.
bool ort_match_int8_gemm(const qdq_rewriter *r, qdq_match *m) {
    ort_unit u;
    product_of(r, m->anchor, &u);
    const qdq_coder *a = &u.qdq.x[A], *b = &u.qdq.x[B];
    if (!a->given || !b->given || form_of(r, &u) == QGEMM) return false;
    int rank = r->from->values[a->codes].type.shape.rank;
    bool two = rank == 2 && r->from->values[b->codes].type.shape.rank == 2;
    bool int8 = a->dtype == QDQ_INT8 && b->dtype == QDQ_INT8;
    if (two && int8 && !u.qdq.node->original_op && dtypes_differ(r, &u, false) &&
        !dtypes_differ(r, &u, true))
        m->found = "multiplies int8 activations without a bias: ONNX Runtime makes QGemm of it if "
                   "it is a Gemm, and nothing if it is a MatMul";
    return false;
}

bool ort_match_matmul(const qdq_rewriter *r, qdq_match *m) {
    ort_unit u;
    product_of(r, m->anchor, &u);
    if ((!u.qdq.x[A].given && !u.qdq.x[B].given) || ort_was(u.qdq.node, "MatMulNBits"))
        return false;
    const char *why = product_differs(r, &u);
    m->form = form_of(r, &u);
    m->name = form_names[m->form];
    if (why) return ort_refuses(m, why);
    if (!ort_takes_scales(r, m, &u, A, A, ORT_ONE_SCALE) ||
        !takes_weight_scales(r, m, &u, column_axis(r, u.qdq.node), 2))
        return false;
    if (m->form == QGEMM && u.qdq.x[B].count > 1 && !u.qdq.x[B].zero_given)
        return refuses_zeros(m, "has weights with several scales and no zero points, which QGemm "
                                "before 1.28 refuses");
    if (!m->found && m->form == QGEMM && bias_is_other(r, &u)) m->found = bias_found;
    if (has_alpha(r, &u)) qdq_match_replaces(r, m, u.last);
    read_all(r, m, &u);
    return true;
}

static qdq_value add_qlinear_matmul(qdq_rewriter *r, const ort_unit *u) {
    const qdq_coder *a = &u->qdq.x[A], *b = &u->qdq.x[B], *y = &u->qdq.y;
    return qdq_qlinear_matmul(
        r->to, (qdq_qlinear_matmul_attrs){.name = ort_unit_name(r, u),
                                          .a = qdq_rewrite_value(r, a->codes),
                                          .a_scale = qdq_coder_scale_value(r, a),
                                          .a_zero_point = qdq_coder_zero_value(r, a),
                                          .b = qdq_rewrite_value(r, b->codes),
                                          .b_scale = qdq_coder_scale_value(r, b),
                                          .b_zero_point = qdq_coder_zero_value(r, b),
                                          .y_scale = qdq_coder_scale_value(r, y),
                                          .y_zero_point = qdq_coder_zero_value(r, y)});
}

static qdq_value add_to_float(qdq_rewriter *r, const ort_unit *u) {
    const qdq_coder *a = &u->qdq.x[A], *b = &u->qdq.x[B];
    return qdq_matmul_integer_to_float(
        r->to, (qdq_matmul_integer_to_float_attrs){.name = ort_unit_name(r, u),
                                                   .a = qdq_rewrite_value(r, a->codes),
                                                   .b = qdq_rewrite_value(r, b->codes),
                                                   .a_scale = qdq_coder_scale_value(r, a),
                                                   .b_scale = qdq_coder_scale_value(r, b),
                                                   .a_zero_point = qdq_coder_zero_value(r, a),
                                                   .b_zero_point = qdq_coder_zero_value(r, b)});
}

// Returns the factor of a Gemm, a constant of one element.
static qdq_float alpha_of(const qdq_rewriter *r, const ort_unit *u) {
    const float *alpha =
        has_alpha(r, u) ? qdq_rewrite_data(r, r->from->nodes[u->last].inputs[1].id) : NULL;
    return alpha ? QDQ_FLOAT((double)*alpha) : (qdq_float){0};
}

static qdq_value add_qgemm(qdq_rewriter *r, const ort_unit *u) {
    const qdq_coder *a = &u->qdq.x[A], *b = &u->qdq.x[B], *y = &u->qdq.y;
    const qdq_matmul_attrs *attrs = u->qdq.node->attrs;
    bool bias = ort_has_input(u->qdq.node, BIAS);
    return qdq_qgemm(r->to,
                     (qdq_qgemm_attrs){
                         .name = ort_unit_name(r, u),
                         .a = qdq_rewrite_value(r, a->codes),
                         .a_scale = qdq_coder_scale_value(r, a),
                         .a_zero_point = qdq_coder_zero_value(r, a),
                         .b = qdq_rewrite_value(r, b->codes),
                         .b_scale = qdq_coder_scale_value(r, b),
                         .b_zero_point = qdq_coder_zero_value(r, b),
                         .bias = bias ? qdq_rewrite_value(r, u->qdq.x[BIAS].codes) : (qdq_value){0},
                         .y_scale = y->given ? qdq_coder_scale_value(r, y) : (qdq_value){0},
                         .y_zero_point = y->given ? qdq_coder_zero_value(r, y) : (qdq_value){0},
                         .transpose_a = attrs->transpose_a,
                         .transpose_b = attrs->transpose_b,
                         .alpha = alpha_of(r, u)});
}

void ort_build_matmul(qdq_rewriter *r, qdq_match *m) {
    ort_unit u;
    product_of(r, m->anchor, &u);
    if (m->form == QGEMM) m->made[0] = add_qgemm(r, &u);
    if (m->form == TO_FLOAT) m->made[0] = add_to_float(r, &u);
    if (m->form == QLINEAR_MATMUL) m->made[0] = add_qlinear_matmul(r, &u);
}

// Passes run until nothing changes: a product whose Relu or Clamp no longer has a Quantize behind
// it forms a group then.
bool ort_match_unblocked_matmul(const qdq_rewriter *r, qdq_match *m) {
    if (ort_match_matmul(r, m)) return true;
    m->why = m->found = NULL;  // said before
    return false;
}

void ort_build_unblocked_matmul(qdq_rewriter *r, qdq_match *m) { ort_build_matmul(r, m); }
