// SPDX-License-Identifier: Apache-2.0
// Converts GridSample to arithmetic on the grid and GatherND of pixels, in ONNX Runtime's order.
// Pixels are rows of all channels: x is [N, pixels, C] here, and each number of the grid [N, P, 1]
// for P positions.
#include <stdio.h>
#include <string.h>

#include "graph/formats/onnx/ops/onnx_formula.h"

enum { MOST_SPATIAL = 3, MOST_TAPS = 4, MOST_TERMS = 8 };

// Along a spatial dim: the pixels that are read, a condition that each is inside x, and its weight.
typedef struct sample_taps {
    size_t count;
    qdq_value index[MOST_TAPS], inside[MOST_TAPS], weight[MOST_TAPS];
} sample_taps;

typedef struct grid_sample {
    qdq_onnx_node *node;
    const qdq_onnx_op *row;
    const char *padding;
    int spatial;
    bool nearest, cubic, align;
    int64_t size[MOST_SPATIAL];  // of x
    qdq_value pixels;
    qdq_value at[MOST_SPATIAL];  // positions in x
    sample_taps taps[MOST_SPATIAL];
} grid_sample;

//---- Formulas ---------------------------------------------------------------

// Adds a formula. `a`, `b` and `c` are values; `low` and `high` the ends of dim d of x, `size` its
// size.
static qdq_value compute(const grid_sample *g, int d, const char *text, qdq_value a, qdq_value b,
                         qdq_value c) {
    double size = (double)g->size[d], low = g->align ? 0.0 : -0.5;
    const qdq_onnx_term terms[MOST_TERMS] = {{.name = "a", .value = a},
                                             {.name = "b", .value = b},
                                             {.name = "c", .value = c},
                                             {.name = "low", .number = low},
                                             {.name = "high", .number = size - 1.0 - low},
                                             {.name = "range", .number = size - 1.0 - 2.0 * low},
                                             {.name = "size", .number = size},
                                             {.name = "last", .number = size - 1.0}};
    return g->node->refused || !a.id ? (qdq_value){0}
                                     : qdq_onnx_formula(g->node, g->row, text, terms, MOST_TERMS);
}

static qdq_value compute1(const grid_sample *g, int d, const char *text, qdq_value a) {
    return compute(g, d, text, a, (qdq_value){0}, (qdq_value){0});
}

//---- Positions --------------------------------------------------------------

// Reads the positions: the grid goes from -1 to 1, and its last number is for the first spatial
// dim.
static void read_positions(grid_sample *g, qdq_value grid) {
    for (int d = 0; d < g->spatial; d++) {
        int64_t begin = g->spatial - 1 - d, end = begin + 1;
        const qdq_onnx_term terms[] = {{.name = "grid", .value = grid},
                                       {.name = "begin", .ints = {&begin, 1}},
                                       {.name = "end", .ints = {&end, 1}}};
        qdq_value n = qdq_onnx_formula(
            g->node, g->row, "grid = Slice(grid, starts: begin, ends: end, axes: [2])", terms, 3);
        g->at[d] = compute1(g, d,
                            g->align ? "at = Multiply(Divide(Add(a, 1), 2), last)"
                                     : "at = Divide(Subtract(Multiply(Add(a, 1), size), 1), 2)",
                            n);
        if (g->nearest) g->at[d] = compute1(g, d, "at = Round(a)", g->at[d]);
    }
}

//---- Taps -------------------------------------------------------------------

// Mirrors pixels outside of x at its ends, as often as it takes.
static qdq_value reflected(const grid_sample *g, int d, qdq_value at) {
    if (g->align && g->size[d] == 1) return compute1(g, d, "at = Multiply(a, 0)", at);
    qdq_value beyond =
        compute1(g, d, "beyond = Select(Less(a, low), Subtract(low, a), Subtract(a, high))", at);
    qdq_value times = compute1(g, d, "times = Floor(Divide(a, range))", beyond);
    qdq_value rest =
        compute(g, d, "rest = Subtract(a, Multiply(b, range))", beyond, times, (qdq_value){0});
    qdq_value odd = compute1(g, d, "odd = Greater(Mod(a, 2), 0)", times);
    // At the low end an even number of mirrors leads to low + rest, at the high end an odd number.
    qdq_value up = compute(g, d, "up = Xor(a, Less(b, low))", odd, at, (qdq_value){0});
    qdq_value inner = compute(g, d, "inner = Select(a, Add(b, low), Subtract(high, b))", up, rest,
                              (qdq_value){0});
    return compute(g, d, "at = Select(Or(Less(a, low), Greater(a, high)), b, a)", at, inner,
                   (qdq_value){0});
}

static void set_tap(const grid_sample *g, int d, sample_taps *taps, qdq_value at) {
    size_t i = taps->count++;
    if (strcmp(g->padding, "reflection") == 0)
        at = reflected(g, d, at);
    else if (strcmp(g->padding, "border") != 0)
        taps->inside[i] =
            compute1(g, d, "inside = And(GreaterEqual(a, 0), LessOrEqual(a, last))", at);
    taps->index[i] = compute1(g, d, "index = Cast(Clamp(a, min: 0, max: last), dtype: int64)", at);
}

// Sets the weights of the four pixels around a position, at distance a from the second, as in
// Resize with cubic_coeff_a = -0.75.
static void set_cubic_weights(const grid_sample *g, int d, sample_taps *taps, qdq_value a) {
    static const char *const texts[] = {
        "s = Add(a, 1); w = Subtract(Multiply(Subtract(Multiply(Add(Multiply(s, -0.75), 3.75), s), "
        "6), s), -3)",
        "w = Add(Multiply(Multiply(Subtract(Multiply(a, 1.25), 2.25), a), a), 1)",
        "s = Subtract(1, a); w = Add(Multiply(Multiply(Subtract(Multiply(s, 1.25), 2.25), s), s), "
        "1)",
        "s = Subtract(2, a); w = Subtract(Multiply(Subtract(Multiply(Add(Multiply(s, -0.75), "
        "3.75), s), 6), s), -3)"};
    for (int i = 0; i < MOST_TAPS; i++) taps->weight[i] = compute1(g, d, texts[i], a);
}

static void find_taps(grid_sample *g, int d) {
    sample_taps *taps = &g->taps[d];
    qdq_value at = g->at[d], none = {0};
    if (g->nearest) {
        set_tap(g, d, taps, at);
        return;
    }
    qdq_value floor = compute1(g, d, "floor = Floor(a)", at);
    if (g->cubic) floor = compute1(g, d, "first = Subtract(a, 1)", floor);
    qdq_value pixel = floor;
    for (int i = 0; i < (g->cubic ? MOST_TAPS : 2); i++) {
        if (i > 0) pixel = compute1(g, d, "next = Add(a, 1)", pixel);
        set_tap(g, d, taps, pixel);
    }
    if (g->cubic) {
        set_cubic_weights(g, d, taps,
                          compute(g, d, "part = Subtract(Subtract(a, b), 1)", at, floor, none));
        return;
    }
    taps->weight[0] = compute(g, d, "w = Subtract(a, b)", pixel, at, none);
    taps->weight[1] = compute(g, d, "w = Subtract(a, b)", at, floor, none);
}

//---- Sums -------------------------------------------------------------------

// A tap of each of the first dims.
typedef struct corner {
    qdq_value index, inside, weight;
} corner;

static corner with_tap(const grid_sample *g, const corner *outer, int d, size_t tap) {
    const sample_taps *taps = &g->taps[d];
    corner c = {taps->index[tap], taps->inside[tap], taps->weight[tap]};
    qdq_value none = {0};
    if (d == 0) return c;
    c.index = compute(g, d, "index = Add(Multiply(a, size), b)", outer->index, c.index, none);
    if (c.inside.id) c.inside = compute(g, d, "inside = And(a, b)", outer->inside, c.inside, none);
    return c;
}

static qdq_value pixel_at(const grid_sample *g, const corner *c) {
    qdq_value none = {0};
    qdq_value pixel =
        compute(g, 0, "pixel = GatherND(b, a, batch_dims: 1)", c->index, g->pixels, none);
    return c->inside.id ? compute(g, 0, "pixel = Select(a, b, 0)", c->inside, pixel, none) : pixel;
}

// Returns the sum over the taps of dim d and the dims after it.
static qdq_value sum_taps(const grid_sample *g, int d, const corner *outer) {
    qdq_value sum = {0}, none = {0};
    if (d == g->spatial) return pixel_at(g, outer);
    for (size_t i = 0; i < g->taps[d].count && !g->node->refused; i++) {
        corner c = with_tap(g, outer, d, i);
        qdq_value part = sum_taps(g, d + 1, &c);
        if (c.weight.id) part = compute(g, d, "part = Multiply(a, b)", part, c.weight, none);
        sum = i ? compute(g, d, "sum = Add(a, b)", sum, part, none) : part;
    }
    return sum;
}

// True if ONNX Runtime multiplies the weights of both dims first.
static bool multiplies_weights(const grid_sample *g) {
    return g->spatial == 2 && !g->nearest && !g->cubic && !g->align &&
           strcmp(g->padding, "zeros") == 0;
}

static qdq_value sum_corners(const grid_sample *g) {
    qdq_value sum = {0}, none = {0};
    for (size_t i = 0; i < 2; i++)
        for (size_t j = 0; j < 2; j++) {
            corner row = with_tap(g, NULL, 0, i), c = with_tap(g, &row, 1, j);
            qdq_value part = compute(g, 1, "part = Multiply(a, Multiply(b, c))", pixel_at(g, &c),
                                     row.weight, c.weight);
            sum = sum.id ? compute(g, 1, "sum = Add(a, b)", sum, part, none) : part;
        }
    return sum;
}

//---- Nodes ------------------------------------------------------------------

static bool read_words(grid_sample *g) {
    const char *mode = qdq_onnx_word(g->node, "mode", g->node->opset < 20 ? "bilinear" : "linear");
    g->nearest = strcmp(mode, "nearest") == 0;
    g->cubic = strcmp(mode, "cubic") == 0 || strcmp(mode, "bicubic") == 0;
    bool linear = strcmp(mode, "linear") == 0 || strcmp(mode, "bilinear") == 0;
    g->padding = qdq_onnx_word(g->node, "padding_mode", "zeros");
    g->align = qdq_onnx_int(g->node, "align_corners", 0) != 0;
    bool pads = strcmp(g->padding, "zeros") == 0 || strcmp(g->padding, "border") == 0 ||
                strcmp(g->padding, "reflection") == 0;
    if (!linear && !g->cubic && !g->nearest)
        qdq_onnx_refuse(g->node, "mode", ONNX_TEXT(g->node, "is '%.40s'", mode),
                        "linear, nearest or cubic");
    else if (!pads)
        qdq_onnx_refuse(g->node, "padding_mode", ONNX_TEXT(g->node, "is '%.40s'", g->padding),
                        "zeros, border or reflection");
    return pads && (linear || g->cubic || g->nearest);
}

static bool read_shapes(grid_sample *g) {
    qdq_findings *f = &g->node->im->graph->findings;
    qdq_shape x = g->node->inputs[0]->shape, grid = g->node->inputs[1]->shape;
    g->spatial = x.rank - 2;
    bool fits = g->spatial >= 1 && g->spatial <= MOST_SPATIAL && grid.rank == x.rank &&
                grid.dims[0] == x.dims[0] && grid.dims[grid.rank - 1] == g->spatial;
    if (!fits)
        qdq_onnx_refuse(
            g->node, "grid",
            qdq_text(f, "is %s, with X %s", qdq_shape_text(f, grid), qdq_shape_text(f, x)),
            "[N, spatial..., dims] for X of [N, C, spatial...], at most 3 spatial dims");
    for (int d = 0; fits && d < g->spatial; d++) g->size[d] = x.dims[d + 2];
    return fits;
}

// Orders and shapes of x and y on the way to rows of channels and back.
static void convert(grid_sample *g) {
    qdq_shape x = g->node->inputs[0]->shape, grid = g->node->inputs[1]->shape;
    int64_t order[] = {0, 2, 3, 4, 1}, pixels[] = {x.dims[0], -1, x.dims[1]};
    int64_t rows[] = {x.dims[0], -1, g->spatial}, y[QDQ_MAX_RANK] = {x.dims[0], x.dims[1]};
    order[x.rank - 1] = 1;
    for (int d = 0; d < g->spatial; d++) y[d + 2] = grid.dims[d + 1];
    int elem = g->node->inputs[0]->elem;
    bool wide = elem == ONNX_DOUBLE;
    qdq_onnx_term terms[] = {{.name = "x", .input = g->node->inputs[0]},
                             {.name = "grid", .input = g->node->inputs[1]},
                             {.name = "order", .ints = {order, (size_t)x.rank}},
                             {.name = "pixels", .ints = {pixels, 3}},
                             {.name = "rows", .ints = {rows, 3}},
                             {.name = "dims", .ints = {y, (size_t)x.rank}},
                             {.name = "sum"}};
    qdq_value at = qdq_onnx_formula(
        g->node, g->row,
        wide ? "grid = StaticReshape(Cast(grid, dtype: float64), shape: rows, special_zero: 0)"
             : "grid = StaticReshape(Cast(grid, dtype: float32), shape: rows, special_zero: 0)",
        terms, 6);
    g->pixels = qdq_onnx_formula(
        g->node, g->row,
        wide || g->nearest
            ? "pixels = StaticReshape(StaticTranspose(x, order: order), shape: pixels, "
              "special_zero: 0)"
            : "pixels = StaticReshape(StaticTranspose(Cast(x, dtype: float32), order: order), "
              "shape: pixels, special_zero: 0)",
        terms, 6);
    if (!at.id || !g->pixels.id) return;
    read_positions(g, at);
    for (int d = 0; d < g->spatial; d++) find_taps(g, d);
    terms[6].value = multiplies_weights(g) ? sum_corners(g) : sum_taps(g, 0, NULL);
    if (!terms[6].value.id) return;
    qdq_onnx_bind(g->node, 0,
                  qdq_onnx_formula(g->node, g->row,
                                   "StaticReshape(StaticTranspose(Cast(sum, dtype: x), order: [0, "
                                   "2, 1]), shape: dims, special_zero: 0)",
                                   terms, 7));
}

void qdq_onnx_grid_sample(qdq_onnx_node *node, const qdq_onnx_op *row) {
    grid_sample g = {.node = node, .row = row};
    if (read_words(&g) && read_shapes(&g)) convert(&g);
}
