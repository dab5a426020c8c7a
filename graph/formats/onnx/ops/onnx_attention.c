// SPDX-License-Identifier: Apache-2.0
// Converts Attention to MatMul, SoftMax, MatMul and the steps between them, as ONNX describes them.
// Heads that share keys are rows of one product. Positions that a causal mask, a window or a length
// forbids are compared as numbers, so that no mask is stored.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "graph/formats/onnx/ops/onnx_formula.h"

enum { MOST_POSITIONS = 1 << 20, MOST_TEXT = 240, TERMS = 21 };

enum { Q, K, V, MASK, PAST_KEY, PAST_VALUE, LENGTHS };  // the inputs

typedef struct attention {
    qdq_onnx_node *node;
    const qdq_onnx_op *row;
    int64_t batch, heads, kv_heads, queries, keys, past, depth, v_depth;
    bool flat;  // heads and elements are one dim: [batch, sequence, heads * depth]
    double scale, softcap;
    int64_t left, right;  // the window; -1: no bound
    int64_t mode;         // the step whose result is output 3
    qdq_value q, k, v, score;
    qdq_value rows, columns, lengths, allowed;  // positions; which of them go together
    qdq_onnx_value *mask;
} attention;

//---- Steps ------------------------------------------------------------------

static qdq_value compute(const attention *a, const char *text, qdq_value value) {
    const int64_t queries[] = {a->batch, a->queries, a->heads, a->depth};
    const int64_t keys[] = {a->batch, -1, a->kv_heads, a->depth};
    const int64_t values[] = {a->batch, -1, a->kv_heads, a->v_depth};
    const int64_t grouped[] = {a->batch, a->kv_heads, -1, a->depth};
    const int64_t shared[] = {a->batch, a->kv_heads, -1, a->keys};
    const int64_t scores[] = {a->batch, a->heads, a->queries, a->keys};
    const int64_t result[] = {a->batch, a->heads, a->queries, a->v_depth};
    const int64_t flat[] = {a->batch, a->queries, a->heads * a->v_depth};
    const int64_t batch[] = {a->batch, 1, 1, 1};
    const qdq_onnx_term terms[TERMS] = {{.name = "q", .value = a->q},
                                        {.name = "k", .value = a->k},
                                        {.name = "v", .value = a->v},
                                        {.name = "score", .value = a->score},
                                        {.name = "rows", .value = a->rows},
                                        {.name = "columns", .value = a->columns},
                                        {.name = "value", .value = value},
                                        {.name = "allowed", .value = a->allowed},
                                        {.name = "scale", .number = a->scale},
                                        {.name = "softcap", .number = a->softcap},
                                        {.name = "left", .number = (double)a->left},
                                        {.name = "right", .number = (double)a->right},
                                        {.name = "queries", .ints = {queries, 4}},
                                        {.name = "keys", .ints = {keys, 4}},
                                        {.name = "values", .ints = {values, 4}},
                                        {.name = "grouped", .ints = {grouped, 4}},
                                        {.name = "shared", .ints = {shared, 4}},
                                        {.name = "scores", .ints = {scores, 4}},
                                        {.name = "result", .ints = {result, 4}},
                                        {.name = "flat", .ints = {flat, 3}},
                                        {.name = "batch", .ints = {batch, 4}}};
    return qdq_onnx_formula(a->node, a->row, text, terms, TERMS);
}

// Adds a step; its result is output 3 if `mode` is its number.
static qdq_value step(const attention *a, int64_t number, const char *text, qdq_value value) {
    char whole[MOST_TEXT + 16];
    snprintf(whole, sizeof whole, "%s = %s", number == a->mode ? "out3" : "score", text);
    return compute(a, whole, value);
}

static bool failed(const attention *a, qdq_value value) { return a->node->refused || !value.id; }

//---- Shapes -----------------------------------------------------------------

static bool refuse_shapes(const attention *a, const char *wanted) {
    qdq_findings *f = &a->node->im->graph->findings;
    qdq_onnx_refuse(a->node, "Q",
                    qdq_text(f, "is %s, with K %s and V %s",
                             qdq_shape_text(f, a->node->inputs[Q]->shape),
                             qdq_shape_text(f, a->node->inputs[K]->shape),
                             qdq_shape_text(f, a->node->inputs[V]->shape)),
                    wanted);
    return false;
}

// Heads and sizes of [batch, heads, sequence, depth], or of [batch, sequence, heads * depth].
static bool read_shapes(attention *a) {
    qdq_shape q = a->node->inputs[Q]->shape, k = a->node->inputs[K]->shape;
    qdq_shape v = a->node->inputs[V]->shape;
    if (q.rank != k.rank || q.rank != v.rank || (q.rank != 3 && q.rank != 4))
        return refuse_shapes(a, "all of 3 or all of 4 dims");
    a->flat = q.rank == 3;
    a->heads = a->flat ? qdq_onnx_int(a->node, "q_num_heads", 0) : q.dims[1];
    a->kv_heads = a->flat ? qdq_onnx_int(a->node, "kv_num_heads", 0) : k.dims[1];
    if (a->heads < 1 || a->kv_heads < 1 || a->heads % a->kv_heads != 0)
        return refuse_shapes(a, "numbers of heads, the one for Q a multiple of the one for K");
    int last = q.rank - 1;
    a->batch = q.dims[0], a->queries = q.dims[last - 1], a->keys = k.dims[last - 1];
    a->depth = a->flat ? q.dims[last] / a->heads : q.dims[last];
    a->v_depth = a->flat ? v.dims[last] / a->kv_heads : v.dims[last];
    int64_t of_heads = a->flat ? a->heads : 1, of_keys = a->flat ? a->kv_heads : 1;
    if (a->depth < 1 || a->v_depth < 1 || q.dims[last] != a->depth * of_heads ||
        k.dims[last] != a->depth * of_keys || v.dims[last] != a->v_depth * of_keys)
        return refuse_shapes(a, "as many elements in each head of Q and K");
    if (a->queries > MOST_POSITIONS || a->keys > MOST_POSITIONS)
        return refuse_shapes(a, ONNX_TEXT(a->node, "at most %d positions", MOST_POSITIONS));
    return true;
}

// Reads Q, K and V as [batch, heads, sequence, depth], with past keys and values first.
static bool read_tensors(attention *a) {
    static const char *const flat[] = {
        "q = StaticTranspose(StaticReshape(q, shape: queries, special_zero: 0), order: [0, 2, 1, "
        "3])",
        "k = StaticTranspose(StaticReshape(k, shape: keys, special_zero: 0), order: [0, 2, 1, 3])",
        "v = StaticTranspose(StaticReshape(v, shape: values, special_zero: 0), order: [0, 2, 1, "
        "3])"};
    static const char *const joined[] = {"", "out1 = Concat(value, k, axis: 2)",
                                         "out2 = Concat(value, v, axis: 2)"};
    static const char *const kept[] = {"", "out1 = k", "out2 = v"};
    qdq_value *values[] = {&a->q, &a->k, &a->v};
    for (size_t i = 0; i < 3; i++) *values[i] = qdq_onnx_ref(a->node, a->node->inputs[i]);
    for (size_t i = 0; i < 3; i++) {
        if (a->flat && !failed(a, *values[i])) *values[i] = compute(a, flat[i], (qdq_value){0});
        if (i == 0 || failed(a, *values[i])) continue;
        qdq_onnx_value *past = qdq_onnx_input(a->node, PAST_KEY + i - 1);
        if (past && past->shape.rank == 4 && i == 1) a->past = past->shape.dims[2];
        *values[i] = past ? compute(a, joined[i], qdq_onnx_ref(a->node, past))
                          : compute(a, kept[i], (qdq_value){0});
    }
    a->keys += a->past;
    return !failed(a, a->q) && !failed(a, a->k) && !failed(a, a->v);
}

//---- Masks ------------------------------------------------------------------

static qdq_value positions(const attention *a, const char *name, int64_t first, int64_t count,
                           bool column) {
    double *numbers = qdq_mempool_array(a->node->im->mempool, (size_t)count, sizeof *numbers);
    if (!numbers) return (qdq_value){0};
    for (int64_t i = 0; i < count; i++) numbers[i] = (double)(first + i);
    qdq_onnx_value *value = qdq_onnx_list_value(a->node, name, ONNX_INT64, numbers, (size_t)count);
    if (!value) return (qdq_value){0};
    if (column) value->shape = (qdq_shape){2, {count, 1}};
    return qdq_onnx_ref(a->node, value);
}

static void allow(attention *a, const char *text, qdq_value value) {
    qdq_value made = compute(a, text, value);
    a->allowed = a->allowed.id ? compute(a, "allowed = And(allowed, value)", made) : made;
}

// Allows keys by their positions: the query after `past` keys has position `past`.
static void allow_places(attention *a) {
    qdq_onnx_value *lengths = qdq_onnx_input(a->node, LENGTHS);
    bool causal = qdq_onnx_int(a->node, "is_causal", 0) != 0, ends = lengths && !a->past;
    if (!causal && a->left < 0 && a->right < 0 && !lengths) return;
    a->columns = positions(a, "keys", 0, a->keys, false);
    a->rows = positions(a, "queries", ends ? -a->queries : a->past, a->queries, true);
    if (lengths)
        a->lengths = compute(a, "length = StaticReshape(value, shape: batch, special_zero: 0)",
                             qdq_onnx_ref(a->node, lengths));
    if (ends) a->rows = compute(a, "rows = Add(rows, value)", a->lengths);
    if (causal) allow(a, "causal = LessOrEqual(columns, rows)", (qdq_value){0});
    if (a->left >= 0) allow(a, "window = GreaterEqual(Add(columns, left), rows)", (qdq_value){0});
    if (a->right >= 0) allow(a, "window = LessOrEqual(columns, Add(rows, right))", (qdq_value){0});
    if (lengths) allow(a, "used = Less(columns, value)", a->lengths);
}

// Returns the mask in the dtype of the scores, or of bool; keys after its end are forbidden.
static qdq_value read_mask(const attention *a) {
    qdq_shape shape = a->mask->shape;
    qdq_value mask = qdq_onnx_ref(a->node, a->mask);
    bool logical = a->mask->elem == ONNX_BOOL;
    if (!logical && !failed(a, mask)) mask = compute(a, "mask = Cast(value, dtype: score)", mask);
    int64_t missing = shape.rank ? a->keys - shape.dims[shape.rank - 1] : 0;
    const int64_t pads[] = {0, missing}, axes[] = {shape.rank - 1};
    const qdq_onnx_term terms[] = {{.name = "mask", .value = mask},
                                   {.name = "pads", .ints = {pads, 2}},
                                   {.name = "axes", .ints = {axes, 1}}};
    if (missing <= 0 || failed(a, mask)) return mask;
    return qdq_onnx_formula(a->node, a->row,
                            logical ? "mask = Pad(mask, pads: pads, axes: axes)"
                                    : "mask = Pad(mask, -inf, pads: pads, axes: axes)",
                            terms, 3);
}

//---- Scores -----------------------------------------------------------------

// Sets `mode` to the number of the last existing step before the softmax whose result is output 3.
static void settle_mode(attention *a, bool biased) {
    a->mode = qdq_onnx_int(a->node, "qk_matmul_output_mode", 0);
    if (a->mode == 2 && !biased) a->mode = 1;
    if (a->mode == 1 && !(a->softcap > 0.0)) a->mode = 0;
}

static bool biases(const attention *a) {
    return a->mask || a->left >= 0 || a->right >= 0 || qdq_onnx_input(a->node, LENGTHS) ||
           qdq_onnx_int(a->node, "is_causal", 0);
}

static void make_scores(attention *a) {
    bool shared = a->heads != a->kv_heads;
    qdq_value none = {0}, mask = {0};
    a->score = step(a, 0,
                    shared ? "StaticReshape(MatMul(StaticReshape(Multiply(q, scale), shape: "
                             "grouped, special_zero: 0), Multiply(k, scale), transpose_b: 1), "
                             "shape: scores, special_zero: 0)"
                           : "MatMul(Multiply(q, scale), Multiply(k, scale), transpose_b: 1)",
                    none);
    if (a->softcap > 0.0 && !failed(a, a->score))
        a->score = step(a, 1, "Multiply(Tanh(Divide(score, softcap)), softcap)", none);
    if (failed(a, a->score)) return;
    if (a->mask) mask = read_mask(a);
    if (a->mask && failed(a, mask)) return;
    bool added = a->mask && a->mask->elem != ONNX_BOOL;
    if (a->mask && !added) a->allowed = mask;
    allow_places(a);
    if (added)
        a->score = a->allowed.id ? compute(a, "score = Add(score, value)", mask)
                                 : step(a, 2, "Add(score, value)", mask);
    if (a->allowed.id && !failed(a, a->score))
        a->score = step(a, 2, "Select(allowed, score, -inf)", none);
}

// Adds the attention weights (softmax of the scores). A fully masked query gets zeros.
static void make_shares(attention *a) {
    int64_t elem = qdq_onnx_int(a->node, "softmax_precision", 0);
    qdq_dtype dtype = elem ? qdq_onnx_dtype((int)elem) : QDQ_DTYPE_NONE;
    char text[MOST_TEXT];
    if (dtype == QDQ_FLOAT64) dtype = QDQ_FLOAT32;
    if (elem && dtype != QDQ_FLOAT32 && dtype != QDQ_FLOAT16 && dtype != QDQ_BFLOAT16) {
        qdq_onnx_refuse(a->node, "softmax_precision",
                        ONNX_TEXT(a->node, "is %lld", (long long)elem), "a float dtype");
        return;
    }
    const char *mode = a->mask || a->allowed.id ? ", mode: inf_as_zero" : "";
    if (elem && dtype != qdq_onnx_dtype(a->node->inputs[Q]->elem))
        snprintf(text, sizeof text, "Cast(SoftMax(Cast(score, dtype: %s), axis: -1%s), dtype: q)",
                 qdq_dtype_name(dtype), mode);
    else
        snprintf(text, sizeof text, "SoftMax(score, axis: -1%s)", mode);
    a->score = step(a, 3, text, (qdq_value){0});
}

static void make_result(const attention *a) {
    bool shared = a->heads != a->kv_heads;
    const char *text = shared ? "MatMul(StaticReshape(score, shape: shared, special_zero: 0), v)"
                              : "MatMul(score, v)";
    char whole[2 * MOST_TEXT];
    if (a->flat)
        snprintf(whole, sizeof whole,
                 shared ? "StaticReshape(StaticTranspose(StaticReshape(%s, shape: result, "
                          "special_zero: 0), order: [0, 2, 1, 3]), shape: flat, special_zero: 0)"
                        : "StaticReshape(StaticTranspose(%s, order: [0, 2, 1, 3]), shape: flat, "
                          "special_zero: 0)",
                 text);
    else
        snprintf(whole, sizeof whole,
                 shared ? "StaticReshape(%s, shape: result, special_zero: 0)" : "%s", text);
    qdq_onnx_bind(a->node, 0, compute(a, whole, (qdq_value){0}));
}

void qdq_onnx_attention(qdq_onnx_node *node, const qdq_onnx_op *row) {
    attention a = {.node = node,
                   .row = row,
                   .softcap = qdq_onnx_float(node, "softcap", 0),
                   .left = qdq_onnx_int(node, "left_window_size", -1),
                   .right = qdq_onnx_int(node, "right_window_size", -1),
                   .mask = qdq_onnx_input(node, MASK)};
    if (!read_shapes(&a) || !read_tensors(&a)) return;
    double scale = qdq_onnx_float(node, "scale", 0);
    a.scale = sqrt(scale != 0.0 ? scale : 1.0 / sqrt((double)a.depth));
    settle_mode(&a, biases(&a));
    make_scores(&a);
    if (!failed(&a, a.score)) make_shares(&a);
    if (!failed(&a, a.score)) make_result(&a);
}
