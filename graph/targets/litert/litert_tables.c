// SPDX-License-Identifier: Apache-2.0
// Functions of one operand of 8 bits as tables: LOGISTIC, TANH, HARD_SWISH, LEAKY_RELU, and the new
// parameters of an operand of CONCATENATION.
#include <math.h>
#include <string.h>

#include "graph/targets/litert/litert_vectors.h"
#include "include/qdq/ops/elementwise.h"
#include "runtime/numerics/dtype.h"
#include "runtime/numerics/elementary.h"
#include "runtime/numerics/elementary64.h"
#include "runtime/numerics/fixed_functions.h"

enum { X, CODES = 256 };

// The parameters of a function from codes to codes.
typedef struct code_map {
    float x_scale, y_scale;
    int32_t x_zero, y_zero;
    int32_t lo, hi;  // codes
} code_map;

static code_map map_of(const qdq_rewriter *r, const qdq_coder *x, const qdq_coder *y) {
    const qdq_dtype_info *info = qdq_dtype_get(y->dtype);
    return (code_map){.x_scale = qdq_coder_scale(r, x, 0),
                      .y_scale = qdq_coder_scale(r, y, 0),
                      .x_zero = qdq_coder_zero(r, x, 0),
                      .y_zero = qdq_coder_zero(r, y, 0),
                      .lo = (int32_t)info->least,
                      .hi = (int32_t)info->greatest};
}

static int32_t within(const code_map *p, int64_t code) {
    return (int32_t)(code < p->lo ? p->lo : code > p->hi ? p->hi : code);
}

//---- LOGISTIC and TANH ------------------------------------------------------

// Returns t moved by a number of floats. t is finite.
static float moved_by(float t, int ulps) {
    for (; ulps > 0; ulps--) t = nextafterf(t, INFINITY);
    for (; ulps < 0; ulps++) t = nextafterf(t, -INFINITY);
    return t;
}

// Returns the value of a function at a real x, with its libm's results moved by `ulps`.
static float value_of(bool logistic, bool delegated, float x, int ulps) {
    if (!logistic) {
        float t = moved_by(qdq_tanhf(x), ulps);
        return t > 1.0f ? 1.0f : t < -1.0f ? -1.0f : t;
    }
    if (delegated) {
        double e = qdq_exp64((double)x);
        return x > 100.0f ? 1.0f : x < -100.0f ? 0.0f : (float)(e / (1.0 + e));
    }
    float e = qdq_expf(-x);
    return 1.0f / (1.0f + (isinf(e) ? e : moved_by(e, ulps)));
}

static int32_t code_of(const code_map *p, bool delegated, float t) {
    float inverse = 1.0f / p->y_scale, zero = (float)p->y_zero;
    float code = delegated ? t * inverse + zero : roundf(t * inverse) + zero;
    float lo = (float)p->lo, hi = (float)p->hi;
    code = code < lo ? lo : code > hi ? hi : code;
    return (int32_t)(delegated ? rintf(code) : code);
}

// Fills a table. Returns false if the last bits of the libm that the backend is linked to decide a
// code: results of glibc's tanhf and expf are at most 2 floats from the nearest one.
static bool fill_sigmoid(const code_map *p, bool logistic, bool delegated, litert_table *t) {
    enum { LIBM = 3 };
    bool decided = true;
    for (int i = 0; i < CODES; i++) {
        float x = p->x_scale * (float)(p->lo + i - p->x_zero);
        t->results[i] = code_of(p, delegated, value_of(logistic, delegated, x, 0));
        for (int ulps = -LIBM; ulps <= LIBM; ulps++)
            decided &=
                code_of(p, delegated, value_of(logistic, delegated, x, ulps)) == t->results[i];
    }
    return decided;
}

// Returns the exponent of a scale of x in steps of 2^-27, which TFLM shifts by.
static int micro_exponent(const code_map *p) {
    int exponent;
    (void)frexpf(p->x_scale, &exponent);
    return exponent + 27;
}

// TFLM's, in fixed point. It takes y to have the scale 1/256 or 1/128, and from +-radius on codes
// have the bounds of the function.
static void fill_micro_sigmoid(const code_map *p, bool logistic, litert_table *t) {
    qdq_fixed_scale by = qdq_quantize_multiplier((double)p->x_scale * 0x1p27, 62);
    int32_t radius = (int32_t)floor(ldexp(15.0, 27 - micro_exponent(p)));
    for (int i = 0; i < CODES; i++) {
        int32_t x = p->lo + i - p->x_zero, y = 0;
        if (x <= -radius || x >= radius) {
            t->results[i] = x <= -radius ? p->lo : p->hi;
            continue;
        }
        x = qdq_fixed_twice(x, by.multiplier, by.shift, false);
        if (logistic)
            y = qdq_shifted_away(qdq_fixed_logistic(x), 23) + p->lo;
        else
            y = qdq_shifted_away(qdq_fixed_tanh(x), 24);
        t->results[i] = within(p, y);
    }
}

// XNNPACK takes the product of a tensor with itself as a function of one operand.
void litert_fill_square(const qdq_rewriter *r, const qdq_coder *x, const qdq_coder *y,
                        litert_range range, litert_table *t) {
    code_map p = map_of(r, x, y);
    for (int i = 0; i < CODES; i++) {
        float real = p.x_scale * (float)(p.lo + i - p.x_zero);
        int32_t code = code_of(&p, true, real * real);
        t->results[i] = (int32_t)(code < range.lo ? range.lo : code > range.hi ? range.hi : code);
    }
}

//---- HARD_SWISH -------------------------------------------------------------

static int32_t clamp16(int64_t v) {
    return v < INT16_MIN ? INT16_MIN : v > INT16_MAX ? INT16_MAX : (int32_t)v;
}

static int32_t product16(int32_t a, int32_t b) { return (a * b + (1 << 14)) >> 15; }

// A multiplier of 15 bits and the exponent of a scale.
typedef struct small_scale {
    int32_t multiplier;
    int exponent;
} small_scale;

static small_scale small_scale_of(float scale) {
    qdq_fixed_scale s = qdq_quantize_multiplier((double)scale, 31);
    bool most = s.multiplier >= INT32_MAX - (1 << 15);
    return (small_scale){most ? INT16_MAX : (s.multiplier + (1 << 15)) >> 16, 31 - s.shift};
}

// `vectors`: rounds half up, and down to whole steps, as the vectors of aarch64 do.
static int32_t hard_swish_of(const code_map *p, small_scale out, small_scale gate, int32_t code,
                             bool vectors) {
    int32_t a = (code - p->x_zero) * 128, g = a;
    if (gate.exponent > 0) g = clamp16((int64_t)g * (1 << (gate.exponent - 1)));
    g = product16(g, gate.multiplier);
    if (gate.exponent > 0) g = clamp16(g * 2);
    if (gate.exponent < 0)
        g = vectors ? qdq_shifted_up(g, -gate.exponent) : qdq_shifted_away(g, -gate.exponent);
    g = (g + 32768) >> 1;
    int right = out.exponent < 0 ? -out.exponent : 0;  // no other scale loads
    int32_t product = g * product16(a, out.multiplier);
    if (!vectors)
        return within(p, (int64_t)qdq_shifted_away(product / (1 << 15), right) + p->y_zero);
    int32_t y = qdq_shifted_up(product >> 15, right) + p->y_zero;
    return within(p, y > INT16_MAX ? y - (1 << 16) : y);
}

// True if the operator loads with these scales. Sets `defined` unless the shift of a gate leaves
// int32.
static bool hard_swish_loads(const code_map *p, bool *defined) {
    float step = p->x_scale * (1.0f / 128.0f);
    *defined = small_scale_of(step / (3.0f / 32768.0f)).exponent < 31;
    return step / p->y_scale < 1.0f;
}

static void fill_hard_swish(const code_map *p, bool vectors, litert_table *t) {
    float step = p->x_scale * (1.0f / 128.0f);
    small_scale out = small_scale_of(step / p->y_scale),
                gate = small_scale_of(step / (3.0f / 32768.0f));
    for (int i = 0; i < CODES; i++) t->results[i] = hard_swish_of(p, out, gate, p->lo + i, vectors);
}

//---- LEAKY_RELU -------------------------------------------------------------

static bool leaky_is_delegated(const code_map *p, float alpha) {
    float positive = p->x_scale / p->y_scale, negative = positive * alpha;
    return positive >= 0x1p-8f && positive <= 128.0f && fabsf(negative) >= 0x1p-8f &&
           negative >= -127.99609375f && negative <= 128.0f;
}

static void fill_leaky(const code_map *p, float alpha, bool delegated, litert_table *t) {
    float scale = p->x_scale / p->y_scale;
    qdq_fixed_scale positive = qdq_quantize_multiplier((double)scale, 31),
                    negative =
                        qdq_quantize_multiplier((double)(p->x_scale * alpha / p->y_scale), 31);
    int32_t above = (int32_t)rintf(256.0f * scale),
            below = (int32_t)rintf(256.0f * (scale * alpha));
    for (int i = 0; i < CODES; i++) {
        int32_t v = p->lo + i - p->x_zero, y;
        if (delegated)
            y = (v * (v >= 0 ? above : below) + 128) >> 8;
        else if (v >= 0)
            y = qdq_fixed_twice(v, positive.multiplier, positive.shift, false);
        else if (negative.multiplier < 0)
            y = -qdq_fixed_twice(v, -negative.multiplier, negative.shift, false);
        else
            y = qdq_fixed_twice(v, negative.multiplier, negative.shift, false);
        t->results[i] = within(p, (int64_t)y + p->y_zero);
    }
}

//---- The pattern ------------------------------------------------------------

// The operators that are tables.
typedef enum table_op { LOGISTIC, TANH, HARD_SWISH, LEAKY_RELU } table_op;

static table_op op_of(const qdq_node *node) {
    const char *name = node->op->name;
    if (strcmp(name, "Sigmoid") == 0) return LOGISTIC;
    if (strcmp(name, "Tanh") == 0) return TANH;
    return strcmp(name, "HardSwish") == 0 ? HARD_SWISH : LEAKY_RELU;
}

static float alpha_of(const qdq_node *node) {
    const qdq_alpha_attrs *a = node->attrs;
    return (float)a->alpha.value;
}

// Fills the table of an operator. False if libm decides a code.
static bool fill_table(const qdq_rewriter *r, const litert_unit *u, litert_engine engine,
                       litert_table *t) {
    code_map p = map_of(r, &u->qdq.x[X], &u->qdq.y);
    bool delegated = engine == LITERT_XNNPACK;
    table_op op = op_of(u->qdq.node);
    switch (op) {
    case HARD_SWISH: fill_hard_swish(&p, false, t); return true;
    case LEAKY_RELU: fill_leaky(&p, alpha_of(u->qdq.node), delegated, t); return true;
    case LOGISTIC:
    case TANH:
    default: break;
    }
    if (engine != LITERT_TFLM) return fill_sigmoid(&p, op == LOGISTIC, delegated, t);
    fill_micro_sigmoid(&p, op == LOGISTIC, t);
    return true;
}

// True if TFLM's fixed point has the parameters.
static bool micro_sigmoid_fits(qdq_match *m, const code_map *p, table_op op) {
    int exponent = micro_exponent(p);
    if (exponent < 0 || exponent > 62)
        return litert_refuses(m, "the scale of x is beyond the shifts that C defines");
    if (op == LOGISTIC && p->y_zero != p->lo)
        return litert_refuses(m, "codes of LOGISTIC have the least code for 0");
    return true;
}

// Finds the engine of an operator. False if the model does not load, or the scales were not
// compared.
static bool find_engine(const qdq_rewriter *r, qdq_match *m, const litert_unit *u,
                        litert_engine *engine) {
    code_map p = map_of(r, &u->qdq.x[X], &u->qdq.y);
    table_op op = op_of(u->qdq.node);
    bool leaky = op == LEAKY_RELU && !leaky_is_delegated(&p, alpha_of(u->qdq.node));
    *engine = litert_engine_of(r->version);
    if (*engine == LITERT_XNNPACK && (op == HARD_SWISH || leaky)) *engine = LITERT_BUILTIN;
    bool defined;
    if (op == HARD_SWISH && !hard_swish_loads(&p, &defined))
        return litert_fails(m, "litert/hard-swish-scale",
                            "has a scale of x that is 128 times the scale of y, or more");
    if (op == HARD_SWISH && !defined)
        return litert_refuses(m, "the scale of x is beyond the shifts that C defines");
    if (*engine == LITERT_TFLM && (op == LOGISTIC || op == TANH))
        return micro_sigmoid_fits(m, &p, op);
    if (op == LOGISTIC && *engine != LITERT_XNNPACK && p.y_scale != 1.0f / 256.0f)
        return litert_fails(m, "litert/logistic-scale", "has another scale of y than 1/256");
    return true;
}

static bool match_table(const qdq_rewriter *r, qdq_match *m) {
    static const char *const names[][4] = {LITERT_NAMES("LOGISTIC"), LITERT_NAMES("TANH"),
                                           LITERT_NAMES("HARD_SWISH"), LITERT_NAMES("LEAKY_RELU")};
    litert_unit u;
    litert_table t;
    litert_engine engine;
    litert_unit_of(r, m->anchor, &u);
    if (!u.qdq.x[X].given) return false;
    const char *why = litert_bytes_differ(r, &u, 1);
    if (!why && u.clip != SIZE_MAX) why = "an activation follows";
    if (why) return litert_refuses(m, why);
    if (!find_engine(r, m, &u, &engine)) return false;
    litert_run_by(m, engine, names[op_of(u.qdq.node)]);
    bool decided = fill_table(r, &u, engine, &t);
    if (!decided) {
        m->rule = "litert/libm";
        m->found = "has a result halfway between two codes, which the last bits of tanhf or expf "
                   "decide";
    }
    qdq_match_reads(r, m, u.qdq.x[X].codes);
    litert_replace(r, m, &u);
    return true;
}

// True for LEAKY_RELU of XNNPACK, which has multipliers with 8 bits of fraction.
static bool has_fraction(const qdq_rewriter *r, const qdq_match *m) {
    return m->form == LITERT_XNNPACK && op_of(&r->from->nodes[m->anchor]) == LEAKY_RELU;
}

bool litert_match_function(const qdq_rewriter *r, qdq_match *m) {
    return match_table(r, m) && !has_fraction(r, m);
}

bool litert_match_fraction(const qdq_rewriter *r, qdq_match *m) {
    return match_table(r, m) && has_fraction(r, m);
}

enum { BLOCK = 8 };  // elements that vectors of aarch64 compute

// Adds tables: one of whole blocks of elements, one of the rest.
static qdq_value add_tables(const qdq_rewriter *r, const char *name, const litert_unit *u,
                            const litert_table *vectors, const litert_table *rest) {
    qdq_value x = qdq_rewrite_value(r, u->qdq.x[X].codes);
    int64_t count = (int64_t)qdq_shape_count(litert_shape(r->to, x)), split = count / BLOCK * BLOCK;
    qdq_dtype dtype = u->qdq.y.dtype;
    if (split == 0 || memcmp(vectors, rest, sizeof *rest) == 0)
        return litert_add_table(r, name, x, dtype, rest);
    if (split == count) return litert_add_table(r, name, x, dtype, vectors);
    qdq_value a = litert_add_table(r, litert_part(r, name, "/blocks"), x, dtype, vectors),
              b = litert_add_table(r, litert_part(r, name, "/rest"), x, dtype, rest);
    return litert_join_blocks(r, name, a, b, count, split);
}

void litert_build_function(qdq_rewriter *r, qdq_match *m) {
    litert_unit u;
    litert_table t, vectors;
    litert_unit_of(r, m->anchor, &u);
    litert_engine engine = (litert_engine)m->form;
    (void)fill_table(r, &u, engine, &t);
    vectors = t;
    if (engine == LITERT_BUILTIN && litert_is_arm(r->version) && op_of(u.qdq.node) == HARD_SWISH) {
        code_map p = map_of(r, &u.qdq.x[X], &u.qdq.y);
        fill_hard_swish(&p, true, &vectors);
    }
    m->made[0] = add_tables(r, litert_name(r, &u), &u, &vectors, &t);
}

void litert_build_fraction(qdq_rewriter *r, qdq_match *m) { litert_build_function(r, m); }

//---- An operand of CONCATENATION with other parameters ----------------------

// Matches the Quantize behind a Dequantize whose codes of uint8 only a Concat reads.
bool litert_match_joined(const qdq_rewriter *r, qdq_match *m) {
    static const char *const names[] = LITERT_NAMES("CONCATENATION");
    qdq_coder y = qdq_coder_of(r, m->anchor, "Quantize"), x = {0};
    if (!y.given) return false;
    x = qdq_coder_before(r, y.reals);
    size_t reader = qdq_rewrite_only_reader(r, y.codes);
    if (!x.given || reader == SIZE_MAX || !qdq_rewrite_is(r, reader, "Concat")) return false;
    if (!litert_share_operator(&r->from->nodes[x.node], &r->from->nodes[reader])) return false;
    litert_engine engine = litert_engine_of(r->version);
    if (!litert_is_byte(&x) || !litert_is_byte(&y) || x.dtype != QDQ_UINT8 ||
        y.dtype != QDQ_UINT8 || engine == LITERT_TFLM)
        return litert_refuses(m,
                              "operands of CONCATENATION share parameters, unless they are uint8");
    litert_run_by(m, engine == LITERT_XNNPACK ? LITERT_BUILTIN : engine, names);
    qdq_match_reads(r, m, x.codes);
    qdq_match_makes(r, m, y.codes);
    return true;
}

void litert_build_joined(qdq_rewriter *r, qdq_match *m) {
    qdq_coder y = qdq_coder_of(r, m->anchor, "Quantize"), x = qdq_coder_before(r, y.reals);
    code_map p = map_of(r, &x, &y);
    float inverse = 1.0f / p.y_scale, scale = p.x_scale * inverse, bias = (float)-p.x_zero * scale;
    litert_table t;
    for (int i = 0; i < CODES; i++) {
        float code = roundf((float)i * scale + bias);
        t.results[i] = within(&p, (int64_t)code + p.y_zero);
    }
    m->made[0] = litert_add_table(r, r->from->nodes[m->anchor].name, qdq_rewrite_value(r, x.codes),
                                  QDQ_UINT8, &t);
}
