// SPDX-License-Identifier: Apache-2.0
// RESIZE_BILINEAR of codes. Each row and column of y blends two of x by constant weights: integers
// of 10 bits in the kernels of int8, of 11 bits in XNNPACK, and float32 in the kernels of uint8.
#include <math.h>

#include "graph/targets/litert/litert_wide.h"
#include "include/qdq/ops/elementwise.h"
#include "include/qdq/ops/movement.h"
#include "include/qdq/ops/spatial.h"
#include "runtime/numerics/fma.h"

enum { X, IMAGE_RANK = 4, SPATIAL = 2, CORNERS = 4 };
enum { MOST_ROWS = 1 << 15 };  // positions and images stay within int32

//---- Rows and columns -------------------------------------------------------

typedef struct resize_axis {
    int dim;
    int32_t in, out;
    bool align, half_pixel;
} resize_axis;

// The rows (or columns) of x that a row of y blends: (one - weight) * lower + weight * upper.
typedef struct resize_tap {
    int32_t lower, upper;
    float weight;
} resize_tap;

// How a kernel blends.
typedef enum resize_rule {
    RULE_FIXED,      // weights of 10 bits
    RULE_DELEGATED,  // weights of 11 bits
    RULE_FLOAT,      // weights of float32
    RULE_FUSED,      // the same, contracted to multiply-adds
} resize_rule;

enum { FIXED_ONE = 1024, DELEGATED_ONE = 2048 };

static int32_t least(int32_t a, int32_t b) { return a < b ? a : b; }
static int32_t above_0(int32_t a) { return a < 0 ? 0 : a; }

static resize_tap fixed_tap(const resize_axis *a, int32_t o) {
    int32_t scale = (a->in * FIXED_ONE + a->out / 2) / a->out;
    if (a->align && a->out > 1) scale = ((a->in - 1) * FIXED_ONE + (a->out - 1) / 2) / (a->out - 1);
    int64_t place = (int64_t)o * scale + (a->half_pixel ? scale / 2 - FIXED_ONE / 2 : 0);
    int32_t at = (int32_t)place, lower = above_0(at / FIXED_ONE);
    return (resize_tap){lower, least((at + FIXED_ONE - 1) / FIXED_ONE, a->in - 1),
                        (float)(at - FIXED_ONE * lower)};
}

static resize_tap delegated_tap(const resize_axis *a, int32_t o) {
    int32_t less = a->align && a->out != 1;
    float scale = (float)(a->in - less) / (float)(a->out - less), at = (float)o * scale;
    if (a->half_pixel) at += 0.5f * scale - 0.5f;
    at = fminf(fmaxf(at, 0.0f), (float)(a->in - 1));
    int32_t lower = (int32_t)at;
    return (resize_tap){lower, least(lower + 1, a->in - 1),
                        rintf((at - (float)lower) * DELEGATED_ONE)};
}

static resize_tap float_tap(const resize_axis *a, int32_t o, bool fused) {
    bool corners = a->align && a->out > 1;
    float scale = corners ? (float)(a->in - 1) / (float)(a->out - 1) : (float)a->in / (float)a->out;
    float middle = ((float)o + 0.5f) * scale, at = (float)o * scale;
    if (a->half_pixel) at = fused ? qdq_fmaf((float)o + 0.5f, scale, -0.5f) : middle - 0.5f;
    int32_t lower = above_0((int32_t)floorf(at));
    return (resize_tap){lower, least((int32_t)ceilf(at), a->in - 1), at - (float)lower};
}

static resize_tap tap_of(const resize_axis *a, resize_rule rule, int32_t o) {
    if (rule == RULE_FIXED) return fixed_tap(a, o);
    if (rule == RULE_DELEGATED) return delegated_tap(a, o);
    return float_tap(a, o, rule == RULE_FUSED);
}

// Returns the float32 weight of the lower or the upper row.
static float side_of(const resize_axis *a, resize_rule rule, int32_t o, bool upper) {
    float weight = tap_of(a, rule, o).weight;
    return upper ? weight : 1.0f - weight;
}

//---- Units ------------------------------------------------------------------

static resize_rule rule_of(const qdq_rewriter *r, litert_engine engine, qdq_dtype dtype) {
    if (engine == LITERT_XNNPACK) return RULE_DELEGATED;
    if (dtype == QDQ_INT8) return RULE_FIXED;
    return litert_is_arm(r->version) ? RULE_FUSED : RULE_FLOAT;
}

static resize_axis axis_of(const qdq_rewriter *r, const litert_unit *u, int i) {
    const qdq_interpolate_attrs *a = u->qdq.node->attrs;
    int dim = (a->data_format == QDQ_NXC ? 1 : 2) + i;
    return (resize_axis){.dim = dim,
                         .in = (int32_t)r->from->values[u->qdq.x[X].codes].type.shape.dims[dim],
                         .out =
                             (int32_t)r->from->values[u->qdq.node->outputs[0]].type.shape.dims[dim],
                         .align = a->coordinate_transformation_mode == QDQ_ALIGN_CORNERS,
                         .half_pixel = a->coordinate_transformation_mode == QDQ_HALF_PIXEL};
}

// Returns why an axis is none that was compared; NULL if it is one.
static const char *axis_differs(const resize_axis *a, resize_rule rule) {
    if (a->in > MOST_ROWS || a->out > MOST_ROWS) return "an image has more than 2^15 rows";
    for (int32_t o = 0; o < a->out; o++)
        if (tap_of(a, rule, o).lower >= a->in) return "positions of 10 bits lie beyond x";
    return NULL;
}

static const char *resize_differs(const qdq_rewriter *r, const litert_unit *u,
                                  litert_engine engine) {
    const qdq_interpolate_attrs *a = u->qdq.node->attrs;
    const qdq_coder *x = &u->qdq.x[X];
    const char *why = litert_bytes_differ(r, u, 1);
    if (why) return why;
    if (!litert_same_params(r, x, &u->qdq.y)) return "x and y of RESIZE_BILINEAR share parameters";
    if (u->clip != SIZE_MAX) return "an activation follows";
    if (r->from->values[x->codes].type.shape.rank != IMAGE_RANK) return "x is no image";
    if (a->mode.value == QDQ_NEAREST) return "RESIZE_NEAREST_NEIGHBOR is a Gather";
    if (a->sizes.count != SPATIAL) return "RESIZE_BILINEAR has sizes, no scales";
    resize_axis rows = axis_of(r, u, 0), columns = axis_of(r, u, 1);
    resize_rule rule = rule_of(r, engine, x->dtype);
    why = axis_differs(&rows, rule);
    return why ? why : axis_differs(&columns, rule);
}

bool litert_match_resize(const qdq_rewriter *r, qdq_match *m) {
    static const char *const names[] = LITERT_NAMES("RESIZE_BILINEAR");
    litert_unit u;
    litert_unit_of(r, m->anchor, &u);
    litert_engine engine = litert_engine_of(r->version);
    if (!u.qdq.x[X].given) return false;
    const char *why = resize_differs(r, &u, engine);
    if (why) return litert_refuses(m, why);
    litert_run_by(m, engine, names);
    qdq_match_reads(r, m, u.qdq.x[X].codes);
    litert_replace(r, m, &u);
    return true;
}

//---- New nodes --------------------------------------------------------------

// Adds the lower or the upper rows of x for each row of y.
static qdq_value add_rows(const qdq_rewriter *r, const char *name, qdq_value x,
                          const resize_axis *a, resize_rule rule, bool upper) {
    int32_t *indices = qdq_mempool_array(r->mempool, (size_t)a->out, sizeof *indices);
    if (!indices) return (qdq_value){0};
    for (int32_t o = 0; o < a->out; o++) {
        resize_tap tap = tap_of(a, rule, o);
        indices[o] = upper ? tap.upper : tap.lower;
    }
    qdq_value list = litert_int32(r, name, "_indices", (qdq_shape){1, {a->out}}, indices);
    return qdq_gather(r->to, x, list, (qdq_gather_attrs){.name = name, .axis = QDQ_INT(a->dim)});
}

static qdq_value cast(const qdq_rewriter *r, const char *name, const char *part, qdq_value x,
                      qdq_dtype dtype) {
    return qdq_cast(r->to, x, (qdq_cast_attrs){.name = litert_part(r, name, part), .dtype = dtype});
}

//---- Integers ---------------------------------------------------------------

// Returns the int32 weights of the lower or the upper rows, along their dim.
static qdq_value whole_weights(const qdq_rewriter *r, const char *name, const resize_axis *a,
                               resize_rule rule, bool upper) {
    int32_t *weights = qdq_mempool_array(r->mempool, (size_t)a->out, sizeof *weights);
    int32_t one = rule == RULE_FIXED ? FIXED_ONE : DELEGATED_ONE;
    qdq_shape shape = {IMAGE_RANK - a->dim, {a->out, 1, 1}};
    if (!weights) return (qdq_value){0};
    for (int32_t o = 0; o < a->out; o++) {
        int32_t weight = (int32_t)tap_of(a, rule, o).weight;
        weights[o] = upper ? weight : one - weight;
    }
    return litert_int32(r, name, "_weights", shape, weights);
}

// Blends int32 along a dim.
static qdq_value blend(const qdq_rewriter *r, const char *name, qdq_value x, const resize_axis *a,
                       resize_rule rule) {
    static const char *const parts[] = {"_lower", "_upper"};
    qdq_value sides[2];
    for (int i = 0; i < 2; i++) {
        const char *part = litert_part(r, name, parts[i]);
        sides[i] =
            litert_binary(r, "Multiply", litert_part(r, part, "_scaled"),
                          add_rows(r, part, x, a, rule, i), whole_weights(r, part, a, rule, i));
    }
    return litert_binary(r, "Add", name, sides[0], sides[1]);
}

// Sums of four codes, with twice the bits of the weights, half away from zero or half up.
static qdq_value add_whole(const qdq_rewriter *r, const litert_unit *u, resize_rule rule) {
    const char *name = litert_name(r, u);
    resize_axis rows = axis_of(r, u, 0), columns = axis_of(r, u, 1);
    qdq_value x = cast(r, name, "/x", qdq_rewrite_value(r, u->qdq.x[X].codes), QDQ_INT32);
    x = blend(r, litert_part(r, name, "/rows"), x, &rows, rule);
    x = blend(r, litert_part(r, name, "/columns"), x, &columns, rule);
    litert_scaling s = {.rounding = rule == RULE_FIXED ? QDQ_FIXED_FLOAT64 : QDQ_FIXED_SINGLE};
    if (!litert_new_scaling(r, &s, 1)) return (qdq_value){0};
    litert_ends_in(r, &s, LITERT_REFERENCE, u);
    s.out_zero = 0;
    s.multiplier[0] = 1, s.shift[0] = rule == RULE_FIXED ? 20 : 22;
    return litert_requantize(r, name, x, &s);
}

//---- Float32 ----------------------------------------------------------------

// The weights of one corner: of its row, and of its column.
typedef struct corner_weights {
    const qdq_rewriter *r;
    const resize_axis *rows, *columns;
    resize_rule rule;
    bool upper_row, upper_column;
} corner_weights;

static float weight_of(const corner_weights *c, bool of_row, int32_t o) {
    return of_row ? side_of(c->rows, c->rule, o, c->upper_row)
                  : side_of(c->columns, c->rule, o, c->upper_column);
}

// Adds the products of both weights of a corner.
static qdq_value add_products(const corner_weights *c, const char *name) {
    int32_t rows = c->rows->out, columns = c->columns->out;
    qdq_shape shape = {3, {rows, columns, 1}};
    if (c->rows->dim == 2) shape = (qdq_shape){2, {rows, columns}};
    double *all = qdq_mempool_array(c->r->mempool, qdq_shape_count(shape), sizeof *all);
    if (!all) return (qdq_value){0};
    for (int32_t i = 0; i < rows * columns; i++) {
        float product = weight_of(c, true, i / columns) * weight_of(c, false, i % columns);
        all[i] = (double)product;
    }
    return qdq_rewrite_constant(c->r, name, "_weights", QDQ_FLOAT64, shape, all);
}

// Adds the weights of the rows or the columns of a corner.
static qdq_value add_weights(const corner_weights *c, const char *name, bool of_row) {
    const resize_axis *a = of_row ? c->rows : c->columns;
    double *all = qdq_mempool_array(c->r->mempool, (size_t)a->out, sizeof *all);
    qdq_shape shape = {IMAGE_RANK - a->dim, {a->out, 1, 1}};
    if (!all) return (qdq_value){0};
    for (int32_t o = 0; o < a->out; o++) all[o] = (double)weight_of(c, of_row, o);
    return qdq_rewrite_constant(c->r, name, of_row ? "_row_weights" : "_column_weights",
                                QDQ_FLOAT64, shape, all);
}

// Adds the codes of a corner.
static qdq_value add_corner(const corner_weights *c, const litert_wide *w, qdq_value x) {
    x = add_rows(c->r, litert_part(c->r, w->name, "_row"), x, c->rows, c->rule, c->upper_row);
    x = add_rows(c->r, litert_part(c->r, w->name, "_column"), x, c->columns, c->rule,
                 c->upper_column);
    return litert_widened(w, x);
}

// Adds a corner times the weights of its row and of its column, in this order, to a sum, if there
// is one.
static qdq_value add_term(const corner_weights *c, const litert_wide *w, qdq_value x,
                          qdq_value sum) {
    x = litert_singly(w, "Multiply", add_corner(c, w, x), add_weights(c, w->name, true));
    if (sum.id && c->rule == RULE_FUSED)
        return litert_fused(w, x, add_weights(c, w->name, false), sum);
    x = litert_singly(w, "Multiply", x, add_weights(c, w->name, false));
    return sum.id ? litert_singly(w, "Add", sum, x) : x;
}

// Adds the sum of the corners in the order of the reference kernel: columns outside. A sum of
// multiply-adds begins with the product of the second corner.
static qdq_value add_by_columns(const qdq_rewriter *r, const litert_unit *u, resize_rule rule) {
    resize_axis rows = axis_of(r, u, 0), columns = axis_of(r, u, 1);
    qdq_value x = qdq_rewrite_value(r, u->qdq.x[X].codes), sum = {0};
    for (int i = 0; i < CORNERS; i++) {
        const litert_wide w = {r, litert_part(r, litert_name(r, u), "/corner")};
        int corner = rule == RULE_FUSED && i < 2 ? 1 - i : i;
        corner_weights c = {r, &rows, &columns, rule, corner % 2, corner / 2};
        sum = add_term(&c, &w, x, sum);
    }
    return sum;
}

// The same as the optimized kernel: both weights of a corner multiplied first, rows outside.
static qdq_value add_by_rows(const qdq_rewriter *r, const litert_unit *u, resize_rule rule) {
    resize_axis rows = axis_of(r, u, 0), columns = axis_of(r, u, 1);
    qdq_value x = qdq_rewrite_value(r, u->qdq.x[X].codes), sum = {0};
    for (int i = 0; i < CORNERS; i++) {
        int corner = rule == RULE_FUSED && i < 2 ? 1 - i : i;
        const litert_wide w = {r, litert_part(r, litert_name(r, u), "/corner")};
        corner_weights c = {r, &rows, &columns, rule, corner / 2, corner % 2};
        qdq_value codes = add_corner(&c, &w, x), weights = add_products(&c, w.name);
        if (i && rule == RULE_FUSED) {
            sum = litert_fused(&w, codes, weights, sum);
            continue;
        }
        qdq_value term = litert_singly(&w, "Multiply", codes, weights);
        sum = i ? litert_singly(&w, "Add", sum, term) : term;
    }
    return sum;
}

// Sums of four codes, plus a half, without their fraction.
static qdq_value add_float(const qdq_rewriter *r, const litert_unit *u, litert_engine engine,
                           resize_rule rule) {
    const litert_wide w = {r, litert_name(r, u)};
    qdq_value sum =
        engine == LITERT_REFERENCE ? add_by_columns(r, u, rule) : add_by_rows(r, u, rule);
    sum = litert_singly(&w, "Add", sum, litert_number(&w, 0.5));
    sum = cast(r, w.name, "/whole", sum, QDQ_INT32);
    return qdq_cast(r->to, sum, (qdq_cast_attrs){.name = w.name, .dtype = u->qdq.y.dtype});
}

void litert_build_resize(qdq_rewriter *r, qdq_match *m) {
    litert_unit u;
    litert_unit_of(r, m->anchor, &u);
    litert_engine engine = (litert_engine)m->form;
    resize_rule rule = rule_of(r, engine, u.qdq.y.dtype);
    bool whole = rule == RULE_FIXED || rule == RULE_DELEGATED;
    m->made[0] = whole ? add_whole(r, &u, rule) : add_float(r, &u, engine, rule);
}
