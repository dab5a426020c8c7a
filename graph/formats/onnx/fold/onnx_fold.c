// SPDX-License-Identifier: Apache-2.0
// The arithmetic of shapes: computes ops on numbers that are known before a run, in the integers or
// floats of their type. onnx_fold_move.c has the ops that move numbers.
#include "graph/formats/onnx/fold/onnx_fold.h"

#include <math.h>
#include <string.h>

#include "graph/formats/onnx/fold/onnx_fold_move.h"
#include "graph/formats/onnx/onnx_tensor.h"

enum {
    FEW = 8,           // floats of an op that graphs have are computed here up to this count
    FEW_MOVED = 1024,  // and moved up to this count
};

//---- Results ----------------------------------------------------------------

qdq_onnx_value *qdq_onnx_make_numbers(qdq_onnx_node *node, size_t i, int elem, qdq_shape shape) {
    qdq_onnx_import *im = node->im;
    size_t count = 1;
    bool fits = shape.rank <= QDQ_MAX_RANK;
    for (int k = 0; fits && k < shape.rank; k++)
        fits = shape.dims[k] >= 0 &&
               !__builtin_mul_overflow(count, (size_t)shape.dims[k], &count) &&
               count <= QDQ_ONNX_MOST_NUMBERS;
    if (i >= node->output_count || !node->outputs[i]) return NULL;
    if (!fits || !qdq_onnx_take_numbers(im, count)) {
        node->unfolded = ONNX_TEXT(node, "would compute %s numbers while the model is read",
                                   qdq_shape_text(&im->graph->findings, shape));
        return NULL;
    }
    bool real = qdq_onnx_elem_is_real(elem);
    int64_t *ints = real ? NULL : qdq_mempool_array(im->mempool, count, sizeof *ints);
    double *reals = real ? qdq_mempool_array(im->mempool, count, sizeof *reals) : NULL;
    if (!ints && !reals) return NULL;
    qdq_onnx_bind_numbers(node, i, elem, shape, ints, reals);
    return node->outputs[i];
}

// Stores an integer as its type holds it.
static int64_t wrapped(int elem, int64_t value) {
    switch (elem) {
    case ONNX_INT32: return (int32_t)(uint32_t)(uint64_t)value;
    case ONNX_UINT32: return (int64_t)(uint32_t)(uint64_t)value;
    case ONNX_INT16: return (int16_t)(uint16_t)(uint64_t)value;
    case ONNX_UINT16: return (uint16_t)(uint64_t)value;
    case ONNX_INT8: return (int8_t)(uint8_t)(uint64_t)value;
    case ONNX_UINT8: return (uint8_t)(uint64_t)value;
    case ONNX_BOOL: return value != 0;
    default: return value;
    }
}

void qdq_onnx_put_int(const qdq_onnx_value *out, size_t i, int64_t value) {
    int64_t *ints = (int64_t *)(uintptr_t)out->ints;  // allocated by qdq_onnx_make_numbers
    ints[i] = wrapped(out->elem, value);
}

void qdq_onnx_put_real(const qdq_onnx_value *out, size_t i, double value) {
    double *reals = (double *)(uintptr_t)out->reals;
    reals[i] = out->elem == ONNX_DOUBLE ? value : (double)(float)value;
}

//---- One number, or two -----------------------------------------------------

typedef enum arithmetic {
    ADD,
    SUB,
    MUL,
    DIV,
    MOD,
    MIN,
    MAX,
    EQUAL,
    LESS,
    LESS_EQUAL,
    AND,
    OR
} arithmetic;

static bool int_pair(arithmetic op, int64_t a, int64_t b, int64_t *out) {
    uint64_t ua = (uint64_t)a, ub = (uint64_t)b;
    switch (op) {
    case ADD: *out = (int64_t)(ua + ub); break;
    case SUB: *out = (int64_t)(ua - ub); break;
    case MUL: *out = (int64_t)(ua * ub); break;
    case DIV:
        if (b == 0 || (a == INT64_MIN && b == -1)) return false;
        *out = a / b;
        break;
    case MOD:
        if (b == 0 || (a == INT64_MIN && b == -1)) return false;
        *out = a % b;
        if (*out != 0 && (*out < 0) != (b < 0)) *out += b;
        break;
    case MIN: *out = a < b ? a : b; break;
    case MAX: *out = a > b ? a : b; break;
    case EQUAL: *out = a == b; break;
    case LESS: *out = a < b; break;
    case LESS_EQUAL: *out = a <= b; break;
    case AND: *out = a && b; break;
    case OR: *out = a || b; break;
    }
    return true;
}

static bool real_pair(arithmetic op, double a, double b, double *out) {
    switch (op) {
    case ADD: *out = a + b; break;
    case SUB: *out = a - b; break;
    case MUL: *out = a * b; break;
    case DIV: *out = a / b; break;
    case MIN: *out = a < b ? a : b; break;
    case MAX: *out = a > b ? a : b; break;
    case EQUAL: *out = a == b; break;
    case LESS: *out = a < b; break;
    case LESS_EQUAL: *out = a <= b; break;
    default: return false;
    }
    return !isnan(a) && !isnan(b);
}

static const struct pair_row {
    const char *name;
    arithmetic op;
    bool swapped, makes_bool;
} pairs[] = {
    {"Add", ADD, false, false},    {"Sub", SUB, false, false},
    {"Mul", MUL, false, false},    {"Div", DIV, false, false},
    {"Mod", MOD, false, false},    {"Min", MIN, false, false},
    {"Max", MAX, false, false},    {"Equal", EQUAL, false, true},
    {"Less", LESS, false, true},   {"LessOrEqual", LESS_EQUAL, false, true},
    {"Greater", LESS, true, true}, {"GreaterOrEqual", LESS_EQUAL, true, true},
    {"And", AND, false, true},     {"Or", OR, false, true},
};

// Compares integers, or reals; out of a comparison comes a bool.
static bool fold_pair(qdq_onnx_node *node, const struct pair_row *row) {
    const qdq_onnx_value *a = node->inputs[row->swapped ? 1 : 0];
    const qdq_onnx_value *b = node->inputs[row->swapped ? 0 : 1];
    qdq_shape shape;
    if (a->elem != b->elem || !qdq_onnx_broadcast(a->shape, b->shape, &shape)) return false;
    if (row->op == MOD && qdq_onnx_int(node, "fmod", 0)) return false;
    const qdq_onnx_value *out =
        qdq_onnx_make_numbers(node, 0, row->makes_bool ? ONNX_BOOL : a->elem, shape);
    size_t count = out ? qdq_onnx_count(shape) : 0;
    for (size_t i = 0; i < count; i++) {
        size_t ia = qdq_onnx_broadcast_at(shape, a->shape, i);
        size_t ib = qdq_onnx_broadcast_at(shape, b->shape, i);
        int64_t whole = 0;
        double real = 0;
        if (a->ints) {
            if (!int_pair(row->op, a->ints[ia], b->ints[ib], &whole)) return false;
            qdq_onnx_put_int(out, i, whole);
        } else {
            if (!real_pair(row->op, a->reals[ia], b->reals[ib], &real)) return false;
            if (row->makes_bool)
                qdq_onnx_put_int(out, i, real != 0.0);
            else
                qdq_onnx_put_real(out, i, real);
        }
    }
    return out != NULL;
}

typedef enum function { NEG, ABS, FLOOR, CEIL, SQRT, NOT } function;

static const struct single_row {
    const char *name;
    function op;
} singles[] = {
    {"Neg", NEG}, {"Abs", ABS}, {"Floor", FLOOR}, {"Ceil", CEIL}, {"Sqrt", SQRT}, {"Not", NOT},
};

static int64_t int_function(function op, int64_t v) {
    if (op == NOT) return !v;
    return op == NEG || v < 0 ? (int64_t)(0 - (uint64_t)v) : v;
}

static double real_function(function op, double v) {
    switch (op) {
    case NEG: return -v;
    case ABS: return fabs(v);
    case FLOOR: return floor(v);
    case CEIL: return ceil(v);
    default: return sqrt(v);
    }
}

static bool fold_single(qdq_onnx_node *node, function op) {
    const qdq_onnx_value *x = node->inputs[0];
    if (x->ints && (op == FLOOR || op == CEIL || op == SQRT)) return false;
    if (x->reals && op == NOT) return false;
    const qdq_onnx_value *out = qdq_onnx_make_numbers(node, 0, x->elem, x->shape);
    size_t count = out ? qdq_onnx_count(x->shape) : 0;
    for (size_t i = 0; i < count; i++) {
        if (x->ints)
            qdq_onnx_put_int(out, i, int_function(op, qdq_onnx_int_at(x, i)));
        else
            qdq_onnx_put_real(out, i, real_function(op, qdq_onnx_real_at(x, i)));
    }
    return out != NULL;
}

static bool fold_cast(qdq_onnx_node *node) {
    const qdq_onnx_value *x = node->inputs[0];
    int to = (int)qdq_onnx_int(node, "to", 0);
    bool real = qdq_onnx_elem_is_real(to);
    bool taken = to == ONNX_FLOAT || to == ONNX_DOUBLE || to == ONNX_INT64 || to == ONNX_INT32 ||
                 to == ONNX_BOOL || to == ONNX_UINT32;
    const qdq_onnx_value *out = taken ? qdq_onnx_make_numbers(node, 0, to, x->shape) : NULL;
    size_t count = out ? qdq_onnx_count(x->shape) : 0;
    for (size_t i = 0; i < count; i++) {
        double v = qdq_onnx_real_at(x, i);
        if (real)
            qdq_onnx_put_real(out, i, v);
        else if (x->ints)
            qdq_onnx_put_int(out, i, x->ints[i]);
        else if (to == ONNX_BOOL)
            qdq_onnx_put_int(out, i, v != 0.0);
        else if (v > -9e18 && v < 9e18)
            qdq_onnx_put_int(out, i, (int64_t)v);
        else
            return false;
    }
    return out != NULL;
}

static bool fold_shape(qdq_onnx_node *node) {
    qdq_shape x = node->inputs[0]->shape;
    int64_t start = qdq_onnx_int(node, "start", 0), end = qdq_onnx_int(node, "end", x.rank);
    bool size = strcmp(node->proto->op, "Size") == 0;
    if (start < 0) start += x.rank;
    if (end < 0) end += x.rank;
    start = start < 0 ? 0 : start > x.rank ? x.rank : start;
    end = end < start ? start : end > x.rank ? x.rank : end;
    qdq_shape list = {1, {end - start}};
    const qdq_onnx_value *out =
        qdq_onnx_make_numbers(node, 0, ONNX_INT64, size ? (qdq_shape){0} : list);
    if (out && size) qdq_onnx_put_int(out, 0, (int64_t)qdq_onnx_count(x));
    for (int64_t i = start; out && !size && i < end; i++)
        qdq_onnx_put_int(out, (size_t)(i - start), x.dims[i]);
    return out != NULL;
}

//---- The choice -------------------------------------------------------------

static const struct pair_row *find_pair(const char *op) {
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        if (strcmp(pairs[i].name, op) == 0) return &pairs[i];
    return NULL;
}

static const struct single_row *find_single(const char *op) {
    for (size_t i = 0; i < sizeof singles / sizeof singles[0]; i++)
        if (strcmp(singles[i].name, op) == 0) return &singles[i];
    return NULL;
}

static bool reads_types(const char *op) {
    return strcmp(op, "Shape") == 0 || strcmp(op, "Size") == 0;
}

bool qdq_onnx_folds(const char *op) {
    return find_pair(op) || find_single(op) || reads_types(op) || strcmp(op, "Cast") == 0 ||
           qdq_onnx_find_move(op);
}

// True if a uint64 is 2^63 or more. Arithmetic here is on int64_t, so it stays in the graph.
static bool is_beyond(const qdq_onnx_value *value) {
    if (value->elem != ONNX_UINT64) return false;
    for (size_t i = 0; i < qdq_onnx_count(value->shape); i++)
        if (value->ints[i] < 0) return true;
    return false;
}

// True if all given inputs are known, and the result is better computed here than in the graph.
static bool should_fold(const qdq_onnx_node *node, bool has_op, bool moves) {
    size_t most = has_op ? (moves ? FEW_MOVED : FEW) : QDQ_ONNX_MOST_NUMBERS;
    for (size_t i = 0; i < node->input_count; i++) {
        qdq_onnx_value *value = node->inputs[i];
        if (!value) continue;
        size_t count = qdq_onnx_count(value->shape);
        bool real = qdq_onnx_elem_is_real(value->elem);
        bool exact = value->elem == ONNX_FLOAT || value->elem == ONNX_DOUBLE;
        if (real && !moves && !exact) return false;
        if (real && count > most) return false;
        if (!qdq_onnx_known(node->im, value) || (!moves && is_beyond(value))) return false;
    }
    return true;
}

bool qdq_onnx_fold(qdq_onnx_node *node, bool has_op) {
    const char *op = node->proto->op;
    const struct pair_row *pair = find_pair(op);
    const struct single_row *single = find_single(op);
    const qdq_onnx_move *move = qdq_onnx_find_move(op);
    if (!node->input_count || !node->inputs[0]) return false;
    if (reads_types(op)) return fold_shape(node);
    if (!should_fold(node, has_op, move != NULL)) return false;
    if (move) return move->fold(node);
    if (pair) return node->input_count == 2 && node->inputs[1] && fold_pair(node, pair);
    return single ? fold_single(node, single->op) : fold_cast(node);
}
