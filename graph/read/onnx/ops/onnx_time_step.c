// SPDX-License-Identifier: Apache-2.0
// Adds the nodes of one time step of RNN, GRU or LSTM, by formulas: the equations of ONNX's
// operator pages.
#include <string.h>

#include "graph/read/onnx/ops/onnx_recurrent.h"

enum { MOST_TEXT = 256, MOST_STEP_TERMS = 20 };

//---- Formulas ---------------------------------------------------------------

// Copies a text with $0, $1 and $2 replaced by the names of the activations.
static void expand(const qdq_onnx_direction *d, const char *text, char *out) {
    size_t n = 0;
    for (; *text && n + 1 < MOST_TEXT; text++) {
        if (*text != '$') {
            out[n++] = *text;
            continue;
        }
        const char *name = d->activations[*++text - '0'];
        for (; *name && n + 1 < MOST_TEXT; name++) out[n++] = *name;
    }
    out[n] = '\0';
}

qdq_value qdq_onnx_compute(const qdq_onnx_direction *d, const char *text, const qdq_onnx_term *more,
                           size_t count) {
    static const char *const ends[] = {"g0", "g1", "g2", "g3", "g4"};
    int64_t at[5], this = d->at, next = d->at + 1, rows[] = {-1, d->hidden};
    char expanded[MOST_TEXT];
    qdq_onnx_term terms[MOST_STEP_TERMS] = {
        {.name = "this", .ints = {&this, 1}},  {.name = "next", .ints = {&next, 1}},
        {.name = "rows", .ints = {rows, 2}},   {.name = "clip", .number = d->clip},
        {.name = "low", .number = -d->clip},   {.name = "h", .value = d->h},
        {.name = "c", .value = d->c},          {.name = "r", .value = d->r},
        {.name = "rb", .value = d->rb},        {.name = "last", .value = d->r_last},
        {.name = "lastb", .value = d->rb_last}};
    size_t n = 11;
    for (int i = 0; i < 5; i++) {
        at[i] = i * d->hidden;
        terms[n++] = (qdq_onnx_term){.name = ends[i], .ints = {&at[i], 1}};
    }
    for (size_t i = 0; i < count; i++) terms[n++] = more[i];
    expand(d, text, expanded);
    return qdq_onnx_formula(d->node, d->row, expanded, terms, n);
}

static qdq_value clipped(const qdq_onnx_direction *d, qdq_value value) {
    const qdq_onnx_term terms[] = {{.name = "gate", .value = value}};
    return d->clips ? qdq_onnx_compute(d, "clipped = Minimum(Maximum(gate, low), clip)", terms, 1)
                    : value;
}

//---- Steps ------------------------------------------------------------------

// A gate's product with a peephole; id 0: it has none.
static qdq_value peek(const qdq_onnx_direction *d, int gate) {
    const qdq_onnx_term terms[] = {{.name = "p", .value = d->peephole[gate]}};
    return d->peephole[gate].id ? qdq_onnx_compute(d, "peep = Multiply(c, p)", terms, 1)
                                : (qdq_value){0};
}

// Gates: i, o, f, c.
static void step_lstm(qdq_onnx_direction *d, qdq_value x, bool input_forget) {
    qdq_onnx_term terms[4] = {{.name = "xt", .value = x}};
    qdq_value sum =
        qdq_onnx_compute(d, "sum = Add(xt, Add(MatMul(h, r, transpose_b: 1), rb?))", terms, 1);
    terms[0] = (qdq_onnx_term){.name = "sum", .value = clipped(d, sum)};
    terms[1] = (qdq_onnx_term){.name = "p", .value = peek(d, 0)};
    terms[1].value = qdq_onnx_compute(
        d, "i = $0(Add(Slice(sum, starts: g0, ends: g1, axes: [2]), p?))", terms, 2);
    terms[1].name = "i";
    terms[2] = (qdq_onnx_term){.name = "p", .value = peek(d, 2)};
    terms[2].value =
        input_forget
            ? qdq_onnx_compute(d, "f = Subtract(1, i)", terms, 2)
            : qdq_onnx_compute(d, "f = $0(Add(Slice(sum, starts: g2, ends: g3, axes: [2]), p?))",
                               terms, 3);
    terms[2].name = "f";
    d->c = qdq_onnx_compute(
        d,
        "cell = Add(Multiply(f, c), Multiply(i, $1(Slice(sum, starts: g3, ends: g4, "
        "axes: [2]))))",
        terms, 3);
    terms[1] = (qdq_onnx_term){.name = "p", .value = peek(d, 1)};
    d->h = qdq_onnx_compute(
        d,
        "hidden = Multiply($0(Add(Slice(sum, starts: g1, ends: g2, axes: [2]), p?)), "
        "$2(c))",
        terms, 2);
}

// Gates: z, r, h.
static void step_gru(qdq_onnx_direction *d, qdq_value x, bool linear_before_reset) {
    qdq_onnx_term terms[3] = {{.name = "xt", .value = x}};
    qdq_value sum = qdq_onnx_compute(d,
                                     "sum = Add(Slice(xt, starts: g0, ends: g2, axes: [2]), "
                                     "Add(MatMul(h, r, transpose_b: 1), rb?))",
                                     terms, 1);
    terms[1] = (qdq_onnx_term){.name = "sum", .value = clipped(d, sum)};
    terms[1].value = qdq_onnx_compute(d, "zr = $0(sum)", terms, 2);
    terms[1].name = "zr";
    terms[2].value = qdq_onnx_compute(
        d,
        linear_before_reset
            ? "new = Add(Slice(xt, starts: g2, ends: g3, axes: [2]), Multiply(Slice(zr, starts: "
              "g1, ends: g2, axes: [2]), Add(MatMul(h, last, transpose_b: 1), lastb?)))"
            : "new = Add(Slice(xt, starts: g2, ends: g3, axes: [2]), Add(MatMul(Multiply(Slice(zr, "
              "starts: g1, ends: g2, axes: [2]), h), last, transpose_b: 1), lastb?))",
        terms, 2);
    terms[2] = (qdq_onnx_term){.name = "new", .value = clipped(d, terms[2].value)};
    d->h = qdq_onnx_compute(d,
                            "z = Slice(zr, starts: g0, ends: g1, axes: [2]); hidden = "
                            "Add(Multiply(Subtract(1, z), $1(new)), Multiply(z, h))",
                            terms, 3);
}

static void step_rnn(qdq_onnx_direction *d, qdq_value x) {
    qdq_onnx_term terms[] = {{.name = "xt", .value = x}};
    qdq_value sum =
        qdq_onnx_compute(d, "sum = Add(xt, Add(MatMul(h, r, transpose_b: 1), rb?))", terms, 1);
    terms[0] = (qdq_onnx_term){.name = "sum", .value = clipped(d, sum)};
    d->h = qdq_onnx_compute(d, "hidden = $0(sum)", terms, 1);
}

void qdq_onnx_run_step(qdq_onnx_direction *d, int64_t t) {
    int64_t after = t + 1;
    const qdq_onnx_term terms[] = {{.name = "xw", .value = d->xw},
                                   {.name = "t", .ints = {&t, 1}},
                                   {.name = "after", .ints = {&after, 1}}};
    qdq_value x =
        qdq_onnx_compute(d, "xt = Slice(xw, starts: t, ends: after, axes: [0])", terms, 3);
    if (d->kind == QDQ_ONNX_LSTM)
        step_lstm(d, x, qdq_onnx_int(d->node, "input_forget", 0) != 0);
    else if (d->kind == QDQ_ONNX_GRU)
        step_gru(d, x, qdq_onnx_int(d->node, "linear_before_reset", 0) != 0);
    else
        step_rnn(d, x);
}
