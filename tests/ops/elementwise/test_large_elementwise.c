// SPDX-License-Identifier: Apache-2.0
// Elementwise ops with broadcast operands, quantizing per tensor, axis and group, and computed
// parameters, on shapes larger than every strip, tile, unit and chunk. Each element is checked
// against the formulas of docs/ops_neural_network.md and docs/numerics.md.
#include "graph/compile/compile.h"
#include "ops/blocking.h"
#include "ops/elementwise/philox.h"
#include "runtime/exec/exec_block.h"
#include "tests/ops/large_links.h"

//---- Two and three operands -------------------------------------------------

typedef enum binary {
    ADD,
    SUBTRACT,
    MULTIPLY,
    DIVIDE,
    MINIMUM,
    MAXIMUM,
    GREATER_EQUAL,
    SELECT,
    PRELU,
    BINARIES
} binary;

static const char *const names[BINARIES] = {
    "Add",     "Subtract",     "Multiply", "Divide", "Minimum",
    "Maximum", "GreaterEqual", "Select",   "PReLU",
};

static double element(binary op, float a, float b, bool condition) {
    switch (op) {
    case ADD: return (double)(a + b);
    case SUBTRACT: return (double)(a - b);
    case MULTIPLY: return (double)(a * b);
    case DIVIDE: return (double)(a / b);
    case MINIMUM: return (double)(a < b ? a : b);
    case MAXIMUM: return (double)(a > b ? a : b);
    case GREATER_EQUAL: return a >= b;
    case SELECT: return (double)(condition ? a : b);
    default: return (double)(a > 0 ? a : b * a);
    }
}

static qdq_value add_node(large_graph *c, binary op, const qdq_value *v) {
    if (op == SELECT) return qdq_select(c->graph, v[2], v[0], v[1], (qdq_select_attrs){0});
    if (op == PRELU)
        return qdq_prelu(c->graph, v[0], v[1],
                         (qdq_prelu_attrs){.per_channel_broadcast = QDQ_FALSE});
    qdq_binary_attrs attrs = {.a = v[0], .b = v[1]};
    return qdq_add_node(c->graph, names[op], &attrs, sizeof attrs);
}

// Keeps the dims of `shape` whose bit is set in `keep`; the others become 1.
static qdq_shape kept(qdq_shape shape, size_t keep) {
    for (int i = 0; i < shape.rank; i++)
        if (!(keep >> i & 1)) shape.dims[i] = 1;
    return shape;
}

// The operands broadcast to the shape together, or one of them has it alone.
static void check_binary(binary op, qdq_shape shape, uint64_t seed) {
    static const qdq_dtype dtypes[] = {QDQ_FLOAT32, QDQ_BFLOAT16, QDQ_FLOAT16};
    uint64_t state = large_state(seed);
    size_t all = ((size_t)1 << shape.rank) - 1, keep = large_pick(&state, all + 1);
    qdq_shape shapes[3] = {kept(shape, op == PRELU ? all : keep),
                           kept(shape, op == PRELU ? keep : all & ~keep),
                           large_broadcast(&state, shape)};
    if (op != PRELU && large_pick(&state, 2)) shapes[1] = shape;
    if (op == SELECT && large_pick(&state, 2)) shapes[2] = kept(shape, all & ~keep);
    qdq_dtype dtype = dtypes[large_pick(&state, 3)];
    large_graph c;
    tensor *in[3] = {0};
    qdq_value v[3] = {{0}};
    large_graph_begin(&c, names[op]);
    for (size_t i = 0; i < (op == SELECT ? 3 : 2); i++) {
        large_say(&c, " ", shapes[i], i < 2 ? dtype : QDQ_BOOL);
        v[i] = large_input(&c, i < 2 ? dtype : QDQ_BOOL, shapes[i], &in[i]);
        if (i < 2) large_fill_reals(in[i], &state);
        for (size_t k = 0; i == 2 && k < tensor_count(in[i]); k++)
            ((uint8_t *)in[i]->data)[k] = (uint8_t)large_pick(&state, 2);
    }
    tensor y = tensor_of(NULL, op == GREATER_EQUAL ? QDQ_BOOL : dtype, shape);
    for (size_t at = 0; at < tensor_count(&y); at++) {
        float a = (float)tensor_at(in[0], large_broadcast_at(shapes[0], shape, at));
        float b = (float)tensor_at(in[1], large_broadcast_at(shapes[1], shape, at));
        bool condition =
            in[2] && ((uint8_t *)in[2]->data)[large_broadcast_at(shapes[2], shape, at)];
        double r = element(op, a, b, condition);
        if (op == GREATER_EQUAL)
            ((uint8_t *)y.data)[at] = r != 0;
        else
            large_put(&y, at, r);
    }
    large_links(&c, &state, (large_value){add_node(&c, op, v), y}, 0);
    large_graph_check(&c, seed);
}

//---- Quantizing -------------------------------------------------------------

// Which elements share a parameter.
typedef struct grouping {
    qdq_qtype qtype;
    int axis;
    qdq_shape shape;
    int64_t extent[QDQ_MAX_RANK];
    size_t count;
} grouping;

static grouping grouping_of(uint64_t *state, qdq_shape shape, qdq_qtype qtype, int axis) {
    grouping g = {.qtype = qtype, .axis = axis, .shape = shape, .count = 1};
    for (int i = 0; i < shape.rank; i++) {
        int64_t part = 1 + (int64_t)large_pick(state, 40);
        while (shape.dims[i] % part) part--;
        if (large_pick(state, 3) == 0) part = shape.dims[i];
        g.extent[i] = shape.dims[i];
        if (qtype == QDQ_PER_GROUP) g.extent[i] = part;
        if (qtype == QDQ_PER_CHANNEL && i == axis) g.extent[i] = 1;
        g.count *= (size_t)(shape.dims[i] / g.extent[i]);
    }
    return g;
}

static grouping random_grouping(uint64_t *state, qdq_shape shape) {
    qdq_qtype qtype = (qdq_qtype)large_pick(state, 3);
    return grouping_of(state, shape, qtype, (int)large_pick(state, (size_t)shape.rank));
}

static size_t group_of(const grouping *g, size_t at) {
    size_t group = 0;
    for (int i = 0; i < g->shape.rank; i++) {
        size_t index = large_index(g->shape, i, at) / (size_t)g->extent[i];
        group = group * (size_t)(g->shape.dims[i] / g->extent[i]) + index;
    }
    return group;
}

static qdq_quantize_attrs attrs_of(const grouping *g, qdq_dtype dtype) {
    qdq_quantize_attrs a = {.qtype = g->qtype, .axis = QDQ_INT(g->axis), .dtype = dtype};
    if (g->qtype == QDQ_PER_GROUP) a.group_shape = (qdq_ints){g->extent, (size_t)g->shape.rank};
    return a;
}

// Quantize, and unless it is alone Dequantize and an Add that reads memory: a chain over strips, or
// over tiles when materialized. A Quantize alone goes from rows to rows.
static void check_quantize(grouping g, bool alone, uint64_t seed) {
    uint64_t state = large_state(seed);
    qdq_shape shape = g.shape;
    qdq_dtype to = large_pick(&state, 2) ? QDQ_INT8 : QDQ_UINT8;
    oracle_range range = oracle_range_of(to, &oracle_core);
    large_graph c;
    tensor *x;
    float *scales = oracle_memory(g.count * sizeof *scales);
    double *zps = oracle_memory(g.count * sizeof *zps);
    large_graph_begin(&c, g.qtype == QDQ_PER_GROUP ? "Quantize per group" : "Quantize");
    large_say(&c, " ", shape, to);
    qdq_value v = large_input(&c, QDQ_FLOAT32, shape, &x);
    large_fill_reals(x, &state);
    for (size_t i = 0; i < g.count; i++) {
        scales[i] = oracle_scale(large_pick(&state, ORACLE_SCALES));
        zps[i] =
            to == QDQ_INT8 ? (double)large_pick(&state, 9) - 4 : (double)large_pick(&state, 99);
    }
    tensor codes = large_like(x, to), reals = large_like(x, QDQ_FLOAT32);
    for (size_t at = 0; at < tensor_count(x); at++) {
        size_t b = group_of(&g, at);
        int64_t zp = (int64_t)zps[b], code = oracle_quantize(tensor_at(x, at), (double)scales[b],
                                                             zp, range, &oracle_core);
        large_put(&codes, at, (double)code);
        large_put(&reals, at, (double)((float)(code - zp) * scales[b]));
    }
    qdq_quantize_attrs a = attrs_of(&g, to);
    a.scales = (qdq_floats){scales, g.count, g.qtype == QDQ_PER_TENSOR};
    a.zps = (qdq_numbers){zps, g.count, g.qtype == QDQ_PER_TENSOR};
    v = qdq_quantize(c.graph, v, a);
    large_output(&c, v, codes);
    a.dtype = QDQ_FLOAT32;
    if (alone)
        free(reals.data);
    else
        large_links(&c, &state, (large_value){qdq_dequantize(c.graph, v, a), reals}, 0);
    free(scales), free(zps);
    large_graph_check(&c, seed);
}

// The parameters are computed from the least and the greatest element of each group.
static void check_dynamic(grouping g, uint64_t seed) {
    uint64_t state = large_state(seed);
    qdq_shape shape = g.shape;
    qdq_dtype to = large_pick(&state, 2) ? QDQ_INT8 : QDQ_UINT8;
    bool symmetric = to == QDQ_INT8 && large_pick(&state, 2);
    oracle_range range = oracle_range_of(to, &oracle_core);
    large_graph c;
    tensor *x;
    large_graph_begin(&c,
                      g.qtype == QDQ_PER_GROUP ? "DynamicQuantize per group" : "DynamicQuantize");
    large_say(&c, " ", shape, to);
    qdq_dtype from = large_pick(&state, 2) ? QDQ_FLOAT32 : QDQ_BFLOAT16;
    qdq_value v = large_input(&c, from, shape, &x);
    large_fill_reals(x, &state);
    large_put(x, seed % 2 ? tensor_count(x) - 1 : 0, 500);  // wrong if a partial is not merged
    large_put(x, seed % 4 / 2 ? tensor_count(x) / 2 : tensor_count(x) / 64, -700);
    double *lo = oracle_memory(2 * g.count * sizeof *lo), *hi = lo + g.count;
    memset(lo, 0, 2 * g.count * sizeof *lo);
    for (size_t at = 0; at < tensor_count(x); at++) {
        double value = tensor_at(x, at);
        size_t b = group_of(&g, at);
        if (value < lo[b]) lo[b] = value;
        if (value > hi[b]) hi[b] = value;
    }
    qdq_shape grid = {.rank = 0};
    if (g.qtype == QDQ_PER_CHANNEL) grid = QDQ_SHAPE((int64_t)g.count);
    for (int i = 0; g.qtype == QDQ_PER_GROUP && i < shape.rank; i++)
        grid.dims[grid.rank++] = shape.dims[i] / g.extent[i];
    tensor y = large_like(x, to), scale = tensor_of(NULL, QDQ_FLOAT32, grid);
    tensor zp = tensor_of(NULL, to, grid);
    qdq_scheme scheme = symmetric ? QDQ_SYMMETRIC : QDQ_ASYMMETRIC;
    for (size_t b = 0; b < g.count; b++) {
        oracle_side p = oracle_parameters(lo[b], hi[b], scheme, 0, range);
        large_put(&scale, b, p.scale), large_put(&zp, b, (double)p.zp);
    }
    for (size_t at = 0; at < tensor_count(x); at++) {
        size_t b = group_of(&g, at);
        large_put(&y, at,
                  (double)oracle_quantize(tensor_at(x, at), tensor_at(&scale, b),
                                          (int64_t)tensor_at(&zp, b), range, &oracle_core));
    }
    free(lo);
    qdq_dynamic_quantize_attrs a = {.quantize = attrs_of(&g, to), .scheme = scheme};
    v = qdq_dynamic_quantize(c.graph, v, a);
    large_output(&c, v, y);
    large_output(&c, qdq_port(c.graph, v, "scale"), scale);
    large_output(&c, qdq_port(c.graph, v, "zero_point"), zp);
    large_graph_check(&c, seed);
}

//---- Dropout ----------------------------------------------------------------

static tensor *number(large_graph *c, qdq_dtype dtype, qdq_value *v) {
    tensor *t;
    *v = large_input(c, dtype, (qdq_shape){0}, &t);
    return t;
}

static void check_dropout(qdq_shape shape, uint64_t seed) {
    uint64_t state = large_state(seed);
    large_graph c;
    tensor *x;
    qdq_dropout_attrs attrs = {.keep_mask = QDQ_TRUE};
    large_graph_begin(&c, "Dropout");
    large_say(&c, " ", shape, QDQ_FLOAT32);
    qdq_value in = large_input(&c, QDQ_FLOAT32, shape, &x), v;
    large_fill_reals(x, &state);
    int32_t key = (int32_t)large_pick(&state, 1000), offset = (int32_t)large_pick(&state, 3);
    *(int32_t *)number(&c, QDQ_INT32, &attrs.seed)->data = key;
    *(int32_t *)number(&c, QDQ_INT32, &attrs.offset)->data = offset;
    *(float *)number(&c, QDQ_FLOAT32, &attrs.probability)->data = 0.25f;
    tensor y = large_like(x, QDQ_FLOAT32), mask = large_like(x, QDQ_UINT8);
    for (size_t at = 0; at < tensor_count(x); at++) {
        uint32_t words[4];
        qdq_dropout_words((uint64_t)key, (uint64_t)offset, at / 4, words);
        bool is_kept = words[at % 4] > 0.25 * 4294967295.0;
        ((float *)y.data)[at] = is_kept ? ((float *)x->data)[at] * (1.0f / 0.75f) : 0.0f;
        ((uint8_t *)mask.data)[at] = is_kept;
    }
    v = qdq_dropout(c.graph, in, attrs);
    large_output(&c, qdq_port(c.graph, v, "mask"), mask);
    large_links(&c, &state, (large_value){v, y}, 0);
    large_graph_check(&c, seed);
}

//---- Tests ------------------------------------------------------------------

#define ACROSS(cut) ((int64_t)large_across(&state, (cut)))
enum { STRIP = QDQ_STRIP_BLOCKS * QDQ_BLOCK_ELEMENTS };

static void binary_ops_cross_their_units(void **unused) {
    (void)unused;
    for (uint64_t i = 0; i < 3 * BINARIES; i++) {
        uint64_t state = large_state(i);
        const qdq_shape shapes[] = {
            QDQ_SHAPE(5, 7, ACROSS(QDQ_ELEMENTS_PART)),
            QDQ_SHAPE(ACROSS(QDQ_ELEMENTS_UNIT / 9), 9, 2),
            QDQ_SHAPE(3, ACROSS(STRIP)),
        };
        check_binary((binary)(i / 3), shapes[i % 3], i);
    }
}

// Tiles are 32x32. A reduction has one partial for each range of blocks, fewer ranges if there are
// many groups.
static void quantizing_crosses_strips_tiles_and_chunks(void **unused) {
    (void)unused;
    for (uint64_t i = 0; i < 32; i++) {
        uint64_t state = large_state(i);
        const qdq_shape shapes[] = {
            QDQ_SHAPE(ACROSS(32), ACROSS(32), 3),
            QDQ_SHAPE(ACROSS(STRIP), 2),
            QDQ_SHAPE(2, ACROSS(32), ACROSS(32)),
            QDQ_SHAPE(QDQ_REDUCE_PARTIALS + 1, QDQ_BLOCK_ELEMENTS + 1),
        };
        qdq_shape shape = shapes[i % 4];
        qdq_qtype qtype = i / 4 % 4 < 3 ? (qdq_qtype)(i / 4 % 4) : QDQ_PER_CHANNEL;
        grouping g = grouping_of(&state, shape, qtype, i / 4 % 4 < 3 ? shape.rank - 1 : 0);
        check_dynamic(g, i);
        if (i < 16) check_quantize(g, false, i), check_quantize(g, true, i);
    }
}

static void dropouts_cross_their_units(void **unused) {
    (void)unused;
    for (uint64_t i = 0; i < 4; i++) {
        uint64_t state = large_state(i);
        check_dropout(QDQ_SHAPE(3, ACROSS(QDQ_DROPOUT_UNIT / 3)), i);
    }
}

static void random_elements_agree(void **unused) {
    static const size_t cuts[] = {1, 2, 3, 16, 32, QDQ_ELEMENTS_PART, QDQ_BLOCK_ELEMENTS, STRIP};
    enum { MOST = 30000 };
    (void)unused;
    for (size_t i = 0; i < large_cases.count; i++) {
        uint64_t seed = large_cases.seed + i, state = large_state(seed);
        int rank = 1 + (int)large_pick(&state, 4);
        qdq_shape shape = large_shape(&state, rank, cuts, UNIT_COUNT(cuts), MOST);
        size_t kind = large_pick(&state, 8);
        if (kind < 4) check_binary((binary)large_pick(&state, BINARIES), shape, seed);
        if (kind == 4 || kind == 5) check_quantize(random_grouping(&state, shape), kind == 5, seed);
        if (kind == 6) check_dynamic(random_grouping(&state, shape), seed);
        if (kind == 7) check_dropout(shape, seed);
    }
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(binary_ops_cross_their_units),
        cmocka_unit_test(quantizing_crosses_strips_tiles_and_chunks),
        cmocka_unit_test(dropouts_cross_their_units),
        cmocka_unit_test(random_elements_agree),
    };
    large_begin(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
