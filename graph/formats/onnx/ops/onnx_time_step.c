// SPDX-License-Identifier: Apache-2.0
// Adds the nodes of one time step of RNN, GRU or LSTM, by formulas: the equations of ONNX's
// operator pages.
#include <string.h>

#include "graph/formats/onnx/ops/onnx_recurrent.h"

enum { MOST_TEXT = 1024, MOST_STEP_TERMS = 28 };

//---- Formulas ---------------------------------------------------------------

typedef struct expansion {
    char *data;
    size_t n;
} expansion;

static void put(expansion *out, char c) {
    if (out->n + 1 < MOST_TEXT) out->data[out->n++] = c;
}

// Returns the end of the operand that begins after a parenthesis.
static const char *end_of(const char *at) {
    for (int depth = 1; *at; at++) {
        depth += (*at == '(') - (*at == ')');
        if (depth == 0) break;
    }
    return at;
}

// Copies a formula with $0(...), $1(...) and $2(...) replaced by the formulas that they stand for.
// These are constants of this program, so the depth is bounded.
static void expand(const qdq_onnx_direction *d, const char *from, const char *end, expansion *out) {
    for (; from < end; from++) {
        if (*from != '$') {
            put(out, *from);
            continue;
        }
        char place = *++from;
        const char *formula = d->activations[place - '0'].formula;
        const char *operand = from + 2, *last = end_of(operand);
        for (; *formula; formula++) {
            if (*formula == '%')
                expand(d, operand, last, out);
            else if (*formula == '#')
                put(out, place);
            else
                put(out, *formula);
        }
        from = last;
    }
}

qdq_value qdq_onnx_compute(const qdq_onnx_direction *d, const char *text, const qdq_onnx_term *more,
                           size_t count) {
    static const char *const ends[] = {"g0", "g1", "g2", "g3", "g4"};
    int64_t at[5], this = d->at, next = d->at + 1, rows[] = {-1, d->hidden};
    static const char *const names[][2] = {
        {"alpha0", "beta0"}, {"alpha1", "beta1"}, {"alpha2", "beta2"}};
    char expanded[MOST_TEXT];
    qdq_onnx_term terms[MOST_STEP_TERMS] = {
        {.name = "this", .ints = {&this, 1}}, {.name = "next", .ints = {&next, 1}},
        {.name = "rows", .ints = {rows, 2}},  {.name = "clip", .number = d->clip},
        {.name = "low", .number = -d->clip},  {.name = "h", .value = d->h},
        {.name = "c", .value = d->c},         {.name = "r", .value = d->r},
        {.name = "last", .value = d->r_last}, {.name = "lastb", .value = d->rb_last}};
    size_t n = 10;
    for (int i = 0; i < 5; i++) {
        at[i] = i * d->hidden;
        terms[n++] = (qdq_onnx_term){.name = ends[i], .ints = {&at[i], 1}};
    }
    for (size_t i = 0; i < QDQ_ONNX_MOST_ACTIVATIONS; i++) {
        terms[n++] = (qdq_onnx_term){.name = names[i][0], .number = d->activations[i].alpha};
        terms[n++] = (qdq_onnx_term){.name = names[i][1], .number = d->activations[i].beta};
    }
    for (size_t i = 0; i < count; i++) terms[n++] = more[i];
    expansion out = {expanded, 0};
    expand(d, text, text + strlen(text), &out);
    expanded[out.n] = '\0';
    return qdq_onnx_formula(d->node, d->row, expanded, terms, n);
}

//---- Parts of inputs --------------------------------------------------------

qdq_value qdq_onnx_part_of(const qdq_onnx_direction *d, size_t input) {
    const qdq_onnx_term terms[] = {{.name = "all", .input = d->node->inputs[input]}};
    return qdq_onnx_compute(d, "part = Slice(all, starts: this, ends: next, axes: [0])", terms, 1);
}

qdq_value qdq_onnx_rows_of(const qdq_onnx_direction *d, size_t input, int64_t begin, int64_t end) {
    qdq_onnx_value *all = d->node->inputs[input];
    int64_t columns = all->shape.dims[2], from = begin * d->hidden, to = end * d->hidden;
    int64_t matrix[] = {-1, columns}, first = (d->at * d->gates * d->hidden + from) * columns;
    qdq_value rows =
        qdq_onnx_constant_part(d->node, all, (size_t)first, (qdq_shape){2, {to - from, columns}});
    if (rows.id || d->node->refused) return rows;
    const qdq_onnx_term terms[] = {{.name = "part", .value = qdq_onnx_part_of(d, input)},
                                   {.name = "matrix", .ints = {matrix, 2}},
                                   {.name = "from", .ints = {&from, 1}},
                                   {.name = "to", .ints = {&to, 1}}};
    return qdq_onnx_compute(d,
                            to - from == d->gates * d->hidden
                                ? "rows = StaticReshape(part, shape: matrix, special_zero: 0)"
                                : "rows = Slice(StaticReshape(part, shape: matrix, special_zero: "
                                  "0), starts: from, ends: to, axes: [0])",
                            terms, 4);
}

//---- Steps ------------------------------------------------------------------

// Returns a sum plus its bias, clipped. With a bias, ONNX Runtime clips even without a clip, and
// NaN becomes the upper bound.
static qdq_value clipped(const qdq_onnx_direction *d, qdq_value sum, qdq_value bias) {
    const qdq_onnx_term terms[] = {{.name = "sum", .value = sum}, {.name = "b", .value = bias}};
    if (bias.id)
        return qdq_onnx_compute(
            d, "clipped = Clamp(Add(sum, b), min: low, max: clip, recurrent: 1)", terms, 2);
    return d->clips ? qdq_onnx_compute(d, "clipped = Clamp(sum, min: low, max: clip)", terms, 1)
                    : sum;
}

qdq_value qdq_onnx_dynamic_product(const qdq_onnx_direction *d, qdq_value a,
                                   const qdq_onnx_codes *weights) {
    qdq_onnx_call call;
    qdq_onnx_begin(&call, d->node, "DynamicQuantize", "codes");
    qdq_onnx_port_made(&call, "x", a);
    qdq_onnx_set_dtype(&call, "dtype", QDQ_UINT8);
    qdq_onnx_set_word(&call, "scheme", "asymmetric");
    qdq_value codes = qdq_onnx_end(&call);
    if (!codes.id) return codes;
    const qdq_onnx_term terms[] = {
        {.name = "a", .value = codes},
        {.name = "scale", .value = qdq_port(d->node->im->graph, codes, "scale")},
        {.name = "zero", .value = qdq_port(d->node->im->graph, codes, "zero_point")},
        {.name = "b", .value = weights->codes},
        {.name = "of_b", .value = weights->scale},
        {.name = "zero_b", .value = weights->zero_point}};
    return qdq_onnx_formula(d->node, d->row,
                            "product = Multiply(Cast(MatMulInteger(a, b, zero, zero_b), dtype: "
                            "float32), Multiply(scale, of_b))",
                            terms, 6);
}

// Returns x * W of a step plus the product of the state and R.
static qdq_value recur(const qdq_onnx_direction *d, qdq_value x) {
    qdq_onnx_term terms[2] = {{.name = "xt", .value = x}};
    if (!d->quantized)
        return qdq_onnx_compute(d, "sum = MatMul(h, r, xt, transpose_b: 1)", terms, 1);
    terms[1] =
        (qdq_onnx_term){.name = "hr", .value = qdq_onnx_dynamic_product(d, d->h, &d->quantized_r)};
    return qdq_onnx_compute(d, "sum = Add(xt, hr)", terms, 2);
}

// Returns a gate of LSTM, with its peephole; -1: it has none. Sums have their bias unless there are
// peepholes.
static qdq_value gate_of(const qdq_onnx_direction *d, qdq_value sums, int gate, int peephole) {
    int64_t from = gate * d->hidden, to = from + d->hidden;
    qdq_onnx_term terms[] = {
        {.name = "sums", .value = sums},
        {.name = "from", .ints = {&from, 1}},
        {.name = "to", .ints = {&to, 1}},
        {.name = "p", .value = peephole < 0 ? (qdq_value){0} : d->peephole[peephole]}};
    qdq_value part =
        qdq_onnx_compute(d, "part = Slice(sums, starts: from, ends: to, axes: [2])", terms, 3);
    if (d->peephole[0].id) {
        terms[0].value = part;
        if (peephole >= 0) part = qdq_onnx_compute(d, "part = Add(sums, Multiply(c, p))", terms, 4);
        part = clipped(d, part, d->gate_bias[gate]);
    }
    terms[0].value = part;
    return qdq_onnx_compute(d, gate == 3 ? "gate = $1(sums)" : "gate = $0(sums)", terms, 1);
}

// Gates: i, o, f, c.
static void step_lstm(qdq_onnx_direction *d, qdq_value x, bool input_forget) {
    qdq_value sums = recur(d, x);
    if (!d->peephole[0].id) sums = clipped(d, sums, d->bias);
    qdq_onnx_term terms[3] = {{.name = "i", .value = gate_of(d, sums, 0, 0)}};
    terms[1].value =
        input_forget ? qdq_onnx_compute(d, "f = Subtract(1, i)", terms, 1) : gate_of(d, sums, 2, 2);
    terms[1].name = "f";
    terms[2] = (qdq_onnx_term){.name = "new", .value = gate_of(d, sums, 3, -1)};
    d->c = qdq_onnx_compute(d, "cell = Add(Multiply(f, c), Multiply(i, new))", terms, 3);
    terms[0] = (qdq_onnx_term){.name = "o", .value = gate_of(d, sums, 1, 1)};
    d->h = qdq_onnx_compute(d, "hidden = Multiply(o, $2(c))", terms, 1);
}

// True if an activation of float32 has a formula.
static bool is_function(const qdq_onnx_direction *d, int activation, const char *formula) {
    return d->node->inputs[0]->elem == ONNX_FLOAT &&
           strcmp(d->activations[activation].formula, formula) == 0;
}

// Returns the reset gate, which ONNX Runtime, like the new state, computes by its second tanh.
static qdq_value reset_gate(const qdq_onnx_direction *d, const qdq_onnx_term *sum) {
    qdq_onnx_term part = {.name = "sum", .value = sum->value};
    part.value =
        qdq_onnx_compute(d, "part = Slice(sum, starts: g1, ends: g2, axes: [2])", &part, 1);
    const char *formula = "reset = $0(sum)";
    if (is_function(d, 0, "Sigmoid(%)"))
        formula = "reset = Multiply(Add(Tanh(Multiply(sum, 0.5), recurrent: 1), 1), 0.5)";
    else if (is_function(d, 0, "Tanh(%)"))
        formula = "reset = Tanh(sum, recurrent: 1)";
    return qdq_onnx_compute(d, formula, &part, 1);
}

// Gates: z, r, h.
static void step_gru(qdq_onnx_direction *d, qdq_value x, bool linear_before_reset) {
    qdq_onnx_term terms[4] = {{.name = "xt", .value = x}};
    qdq_value zr = qdq_onnx_compute(
        d, "zr = MatMul(h, r, Slice(xt, starts: g0, ends: g2, axes: [2]), transpose_b: 1)", terms,
        1);
    terms[1] = (qdq_onnx_term){.name = "zr", .value = clipped(d, zr, d->bias)};
    terms[2] = (qdq_onnx_term){.name = "reset", .value = reset_gate(d, &terms[1])};
    qdq_value new = qdq_onnx_compute(
        d,
        linear_before_reset
            ? "new = Add(Slice(xt, starts: g2, ends: g3, axes: [2]), Multiply(reset, MatMul(h, "
              "last, lastb?, transpose_b: 1)))"
            : "new = MatMul(Multiply(reset, h), last, Slice(xt, starts: g2, ends: g3, axes: [2]), "
              "transpose_b: 1)",
        terms, 3);
    terms[3] = (qdq_onnx_term){.name = "new", .value = clipped(d, new, d->last_bias)};
    const char *formula = "hidden = Add(Multiply(Subtract(1, z), $1(new)), Multiply(z, h))";
    if (is_function(d, 1, "Tanh(%)"))
        formula = "hidden = Add(Multiply(Subtract(1, z), Tanh(new, recurrent: 1)), Multiply(z, h))";
    else if (is_function(d, 1, "Sigmoid(%)"))
        formula =
            "hidden = Add(Multiply(Multiply(Subtract(1, z), 0.5), Add(Tanh(Multiply(new, 0.5), "
            "recurrent: 1), 1)), Multiply(z, h))";
    qdq_value z =
        qdq_onnx_compute(d, "z = $0(Slice(zr, starts: g0, ends: g1, axes: [2]))", terms, 2);
    terms[0] = (qdq_onnx_term){.name = "z", .value = z};
    d->h = qdq_onnx_compute(d, formula, terms, 4);
}

static void step_rnn(qdq_onnx_direction *d, qdq_value x) {
    qdq_onnx_term terms[] = {{.name = "xt", .value = x}};
    qdq_value sum = qdq_onnx_compute(d, "sum = Add(xt, MatMul(h, r, transpose_b: 1))", terms, 1);
    terms[0] = (qdq_onnx_term){.name = "sum", .value = clipped(d, sum, (qdq_value){0})};
    d->h = qdq_onnx_compute(d, "hidden = $0(sum)", terms, 1);
}

// Keeps the state of a sequence that has ended.
static void keep_state(qdq_onnx_direction *d, int64_t t, qdq_value h, qdq_value c) {
    const qdq_onnx_term terms[] = {{.name = "lengths", .value = d->lengths},
                                   {.name = "t", .number = (double)t},
                                   {.name = "before_h", .value = h},
                                   {.name = "before_c", .value = c}};
    if (!d->lengths.id || !d->h.id) return;
    d->h = qdq_onnx_compute(d, "state = Select(Greater(lengths, t), h, before_h)", terms, 4);
    bool last = t == (d->reverse ? 0 : d->steps - 1);
    bool used = !last || (d->node->output_count > 2 && d->node->outputs[2]);
    if (d->kind == QDQ_ONNX_LSTM && d->c.id && used)
        d->c = qdq_onnx_compute(d, "state = Select(Greater(lengths, t), c, before_c)", terms, 4);
}

void qdq_onnx_run_step(qdq_onnx_direction *d, int64_t t) {
    int64_t after = t + 1;
    const qdq_onnx_term terms[] = {{.name = "xw", .value = d->xw},
                                   {.name = "t", .ints = {&t, 1}},
                                   {.name = "after", .ints = {&after, 1}}};
    qdq_value h = d->h, c = d->c;
    qdq_value x =
        qdq_onnx_compute(d, "xt = Slice(xw, starts: t, ends: after, axes: [0])", terms, 3);
    if (d->kind == QDQ_ONNX_LSTM)
        step_lstm(d, x, qdq_onnx_int(d->node, "input_forget", 0) != 0);
    else if (d->kind == QDQ_ONNX_GRU)
        step_gru(d, x, qdq_onnx_int(d->node, "linear_before_reset", 0) != 0);
    else
        step_rnn(d, x);
    keep_state(d, t, h, c);
}
