// SPDX-License-Identifier: Apache-2.0
// Adds the nodes of one time step of RNN, GRU or LSTM, by formulas: the equations of ONNX's
// operator pages.
#include <string.h>

#include "graph/formats/onnx/ops/onnx_recurrent.h"

enum { MOST_TEXT = 1024, MOST_STEP_TERMS = 28 };

//---- Formulas ---------------------------------------------------------------

// Gates are clipped after peepholes are added to them.
static bool clips_gates(const qdq_onnx_direction *d) { return d->clips && d->peephole[0].id; }

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

// Copies a formula with $0(...), $1(...), $2(...) and @(...) replaced by the formulas that they
// stand for. These are constants of this program, so the depth is bounded.
static void expand(const qdq_onnx_direction *d, const char *from, const char *end, expansion *out) {
    for (; from < end; from++) {
        if (*from != '$' && *from != '@') {
            put(out, *from);
            continue;
        }
        const char *formula = clips_gates(d) ? "Minimum(Maximum(%, low), clip)" : "%";
        char place = '0';
        if (*from == '$') {
            place = *++from;
            formula = d->activations[place - '0'].formula;
        }
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

static qdq_value clipped(const qdq_onnx_direction *d, qdq_value value) {
    const qdq_onnx_term terms[] = {{.name = "gate", .value = value}};
    return d->clips && !clips_gates(d)
               ? qdq_onnx_compute(d, "clipped = Minimum(Maximum(gate, low), clip)", terms, 1)
               : value;
}

// Returns a gate's product with a peephole; id 0: it has none.
static qdq_value peek(const qdq_onnx_direction *d, int gate) {
    const qdq_onnx_term terms[] = {{.name = "p", .value = d->peephole[gate]}};
    return d->peephole[gate].id ? qdq_onnx_compute(d, "peep = Multiply(c, p)", terms, 1)
                                : (qdq_value){0};
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

// Returns the product of the state and R.
static qdq_value recur(const qdq_onnx_direction *d) {
    return d->quantized ? qdq_onnx_dynamic_product(d, d->h, &d->quantized_r)
                        : qdq_onnx_compute(d, "product = MatMul(h, r, transpose_b: 1)", NULL, 0);
}

// Gates: i, o, f, c.
static void step_lstm(qdq_onnx_direction *d, qdq_value x, bool input_forget) {
    qdq_onnx_term terms[4] = {{.name = "xt", .value = x}, {.name = "hr", .value = recur(d)}};
    qdq_value sum = qdq_onnx_compute(d, "sum = Add(xt, Add(hr, rb?))", terms, 2);
    terms[0] = (qdq_onnx_term){.name = "sum", .value = clipped(d, sum)};
    terms[1] = (qdq_onnx_term){.name = "p", .value = peek(d, 0)};
    terms[1].value = qdq_onnx_compute(
        d, "i = $0(@(Add(Slice(sum, starts: g0, ends: g1, axes: [2]), p?)))", terms, 2);
    terms[1].name = "i";
    terms[2] = (qdq_onnx_term){.name = "p", .value = peek(d, 2)};
    terms[2].value =
        input_forget
            ? qdq_onnx_compute(d, "f = Subtract(1, i)", terms, 2)
            : qdq_onnx_compute(d, "f = $0(@(Add(Slice(sum, starts: g2, ends: g3, axes: [2]), p?)))",
                               terms, 3);
    terms[2].name = "f";
    d->c = qdq_onnx_compute(
        d,
        "cell = Add(Multiply(f, c), Multiply(i, $1(@(Slice(sum, starts: g3, ends: g4, "
        "axes: [2])))))",
        terms, 3);
    terms[1] = (qdq_onnx_term){.name = "p", .value = peek(d, 1)};
    d->h = qdq_onnx_compute(
        d,
        "hidden = Multiply($0(@(Add(Slice(sum, starts: g1, ends: g2, axes: [2]), p?))), "
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
