// SPDX-License-Identifier: Apache-2.0
// Converts RNN, GRU and LSTM to the nodes of their time steps (onnx_time_step.c). All products with
// x are one MatMul before the first step.
#include "graph/formats/onnx/ops/onnx_recurrent.h"

#include <float.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { MOST_TEXT = 256 };

enum {
    X,
    W,
    R,
    B,
    LENGTHS,
    INITIAL_H,
    INITIAL_C,
    PEEPHOLES,
    W_SCALE,
    W_ZERO,
    R_SCALE,
    R_ZERO
};  // the inputs

//---- Weights and states -----------------------------------------------------

// Columns begin to end, in gates, of the direction's part of B or P, as a list.
static qdq_value gates_of(const qdq_onnx_direction *d, qdq_value part, int64_t begin, int64_t end) {
    int64_t from = begin * d->hidden, to = end * d->hidden;
    const qdq_onnx_term terms[] = {{.name = "part", .value = part},
                                   {.name = "from", .ints = {&from, 1}},
                                   {.name = "to", .ints = {&to, 1}}};
    return qdq_onnx_compute(
        d,
        "gates = StaticReshape(Slice(part, starts: from, ends: to, axes: [1]), shape: "
        "[-1], special_zero: 0)",
        terms, 3);
}

// Returns the state before the first step: an input, transposed if the batch comes first, or zeros.
static qdq_value initial(const qdq_onnx_direction *d, size_t input) {
    qdq_onnx_value *given = qdq_onnx_input(d->node, input);
    qdq_shape x = d->node->inputs[X]->shape;
    int64_t dims[] = {1, x.dims[d->batch_first ? 0 : 1], d->hidden};
    const qdq_onnx_term none = {.name = "dims", .ints = {dims, 3}};
    if (!given) return qdq_onnx_compute(d, "zeros = Expand(0, shape: dims)", &none, 1);
    const qdq_onnx_term terms[] = {{.name = "all", .input = given}};
    return qdq_onnx_compute(d,
                            d->batch_first
                                ? "part = Slice(StaticTranspose(all, order: [1, 0, 2]), starts: "
                                  "this, ends: next, axes: [0])"
                                : "part = Slice(all, starts: this, ends: next, axes: [0])",
                            terms, 1);
}

// Returns codes, scale and zero point of the direction's part of W or R.
static qdq_onnx_codes codes_of(const qdq_onnx_direction *d, size_t input, size_t scale) {
    static const char *const texts[] = {
        "part = StaticReshape(Slice(all, starts: this, ends: next, axes: [0]), shape: one, "
        "special_zero: 0)",
        "part = StaticReshape(Slice(all, starts: this, ends: next, axes: [0]), shape: [-1], "
        "special_zero: 0)"};
    qdq_onnx_codes made = {{0}, {0}, {0}};
    qdq_value *values[] = {&made.codes, &made.scale, &made.zero_point};
    const size_t inputs[] = {input, scale, scale + 1};
    int64_t matrix[] = {d->node->inputs[input]->shape.dims[1], d->gates * d->hidden};
    for (size_t i = 0; i < 3; i++) {
        qdq_onnx_value *given = qdq_onnx_input(d->node, inputs[i]);
        if (!given) {
            qdq_onnx_refuse(d->node, i == 1 ? "scale" : "zero_point", "is not given", "a tensor");
            return made;
        }
        const qdq_onnx_term terms[] = {{.name = "all", .input = given},
                                       {.name = "one", .ints = {matrix, i ? 0 : 2}}};
        *values[i] = qdq_onnx_compute(d, texts[i > 0 && given->shape.rank > 1], terms, 2);
    }
    return made;
}

static void set_recurrence(qdq_onnx_direction *d) {
    if (d->quantized) {
        d->quantized_r = codes_of(d, R, R_SCALE);
        return;
    }
    int64_t most = d->kind == QDQ_ONNX_GRU ? d->gates - 1 : d->gates;
    d->r = qdq_onnx_rows_of(d, R, 0, most);
    if (most < d->gates) d->r_last = qdq_onnx_rows_of(d, R, most, d->gates);
}

// Returns the sum of the biases of W and R for gates begin to end.
static qdq_value bias_of(const qdq_onnx_direction *d, qdq_value part, int64_t begin, int64_t end) {
    int64_t behind = d->gates;  // B has the bias of W, then the bias of R
    const qdq_onnx_term terms[] = {
        {.name = "wb", .value = gates_of(d, part, begin, end)},
        {.name = "rb", .value = gates_of(d, part, behind + begin, behind + end)}};
    return qdq_onnx_compute(d, "bias = Add(wb, rb)", terms, 2);
}

static void set_biases(qdq_onnx_direction *d) {
    bool linear = qdq_onnx_int(d->node, "linear_before_reset", 0) != 0;
    int64_t gates = d->gates, most = d->kind == QDQ_ONNX_GRU ? gates - 1 : gates;
    if (!qdq_onnx_input(d->node, B)) return;
    qdq_value part = qdq_onnx_part_of(d, B);
    bool peeps = d->kind == QDQ_ONNX_LSTM && qdq_onnx_input(d->node, PEEPHOLES);
    for (int i = 0; peeps && i < QDQ_ONNX_MOST_GATES; i++)
        d->gate_bias[i] = bias_of(d, part, i, i + 1);
    if (!peeps) d->bias = bias_of(d, part, 0, most);
    if (most == gates) return;
    d->last_bias = linear ? gates_of(d, part, most, gates) : bias_of(d, part, most, gates);
    if (linear) d->rb_last = gates_of(d, part, gates + most, 2 * gates);
}

static void prepare(qdq_onnx_direction *d, qdq_value x) {
    set_biases(d);
    qdq_value w = d->quantized ? (qdq_value){0} : qdq_onnx_rows_of(d, W, 0, d->gates);
    const qdq_onnx_codes codes =
        d->quantized ? codes_of(d, W, W_SCALE) : (qdq_onnx_codes){{0}, {0}, {0}};
    const qdq_onnx_term terms[] = {
        {.name = "x", .value = x},
        {.name = "w", .value = w},
        {.name = "wb", .value = d->kind == QDQ_ONNX_RNN ? d->bias : (qdq_value){0}},
        {.name = "product",
         .value = d->quantized ? qdq_onnx_dynamic_product(d, x, &codes) : (qdq_value){0}}};
    d->xw = qdq_onnx_compute(
        d, d->quantized ? "xw = product" : "xw = MatMul(x, w, wb?, transpose_b: 1)", terms, 4);
    set_recurrence(d);
    d->h = initial(d, INITIAL_H);
    if (d->kind != QDQ_ONNX_LSTM) return;
    d->c = initial(d, INITIAL_C);
    if (!qdq_onnx_input(d->node, PEEPHOLES)) return;
    qdq_value all = qdq_onnx_part_of(d, PEEPHOLES);
    for (int i = 0; i < 3; i++) d->peephole[i] = gates_of(d, all, i, i + 1);
}

// Makes the hidden states of all steps.
static void run_direction(qdq_onnx_direction *d, qdq_value x, qdq_value *y) {
    prepare(d, x);
    for (int64_t i = 0; i < d->steps && !d->node->refused; i++) {
        size_t before = d->node->im->graph->node_count;
        int64_t t = d->reverse ? d->steps - 1 - i : i;
        qdq_onnx_run_step(d, t);
        const qdq_onnx_term terms[] = {{.name = "lengths", .value = d->lengths},
                                       {.name = "t", .number = (double)t}};
        y[t] = d->lengths.id
                   ? qdq_onnx_compute(d, "y = Select(Greater(lengths, t), h, 0)", terms, 2)
                   : d->h;
        size_t made = d->node->im->graph->node_count - before;
        if (i == 0 && !qdq_onnx_has_room(d->node, made * (size_t)(d->steps - 1))) return;
    }
}

//---- Outputs ----------------------------------------------------------------

static bool is_read(const qdq_onnx_node *node, size_t i) {
    return i < node->output_count && node->outputs[i];
}

// Makes output i, with these dims, of the values of all directions. The batch comes first if the
// node says so.
static void bind(const qdq_onnx_direction *d, size_t i, qdq_value *parts, size_t count,
                 const qdq_ints *dims) {
    if (!is_read(d->node, i)) return;
    const qdq_onnx_term terms[] = {
        {.name = "all", .value = qdq_onnx_join(d->node, "all", parts, count, i == 0 ? 1 : 0)},
        {.name = "dims", .ints = *dims}};
    static const char *const orders[] = {"[2, 0, 1, 3]", "[1, 0, 2]", "[1, 0, 2]"};
    char text[MOST_TEXT];
    if (d->batch_first)
        snprintf(
            text, sizeof text,
            "out%zu = StaticTranspose(StaticReshape(all, shape: dims, special_zero: 0), order: "
            "%s)",
            i, orders[i]);
    else
        snprintf(text, sizeof text, "out%zu = StaticReshape(all, shape: dims, special_zero: 0)", i);
    (void)qdq_onnx_compute(d, text, terms, 2);
}

// Returns the hidden states of all steps of a direction: [steps, 1, batch, H].
static qdq_value series_of(const qdq_onnx_direction *d, qdq_value *y) {
    int64_t dims[] = {d->steps, 1, -1, d->hidden};
    const qdq_onnx_term terms[] = {
        {.name = "all", .value = qdq_onnx_join(d->node, "all", y, (size_t)d->steps, 0)},
        {.name = "dims", .ints = {dims, 4}}};
    return qdq_onnx_compute(d, "all = StaticReshape(all, shape: dims, special_zero: 0)", terms, 2);
}

// Binds the outputs; `y` has the hidden states of all steps of all directions, [1, batch, H] each.
static void bind_outputs(const qdq_onnx_direction *all, size_t count, qdq_value *y) {
    const qdq_onnx_direction *d = &all[0];
    int64_t states[] = {(int64_t)count, -1, d->hidden};
    int64_t series[] = {d->steps, (int64_t)count, -1, d->hidden};
    const qdq_ints some = {series, 4}, last = {states, 3};
    qdq_value parts[2] = {{0}, {0}}, h[2], c[2];
    for (size_t k = 0; k < count; k++) {
        if (is_read(d->node, 0)) parts[k] = series_of(&all[k], y + k * (size_t)d->steps);
        h[k] = all[k].h, c[k] = all[k].c;
    }
    bind(d, 0, parts, count, &some);
    bind(d, 1, h, count, &last);
    if (d->kind == QDQ_ONNX_LSTM) bind(d, 2, c, count, &last);
}

//---- Nodes ------------------------------------------------------------------

// Activations with their numbers. The node lists as many numbers as each activation has.
static const struct known_activation {
    const char *name;
    qdq_onnx_activation is;
    bool has_alpha, has_beta;
} known_activations[] = {
    {"Sigmoid", {"Sigmoid(%)", 0, 0}, false, false},
    {"Tanh", {"Tanh(%)", 0, 0}, false, false},
    {"Relu", {"ReLU(%)", 0, 0}, false, false},
    {"Affine", {"Add(Multiply(%, alpha#), beta#)", 1, 0}, true, true},
    {"LeakyRelu", {"LeakyReLU(%, alpha: alpha#)", 0.01, 0}, true, false},
    {"ThresholdedRelu", {"Select(Greater(%, alpha#), %, 0)", 1, 0}, true, false},
    {"ScaledTanh", {"Multiply(Tanh(Multiply(%, beta#)), alpha#)", 1.7159, 0.6667}, true, true},
    {"HardSigmoid", {"HardSigmoid(%, alpha: alpha#, beta: beta#)", 0.2, 0.5}, true, true},
    {"Elu", {"Elu(%, alpha: alpha#)", 1, 0}, true, false},
    {"Softsign", {"Divide(%, Add(Abs(%), 1))", 0, 0}, false, false},
    {"Softplus", {"Softplus(%)", 0, 0}, false, false}};

static const struct known_activation *find_activation(const char *name) {
    for (size_t i = 0; i < sizeof known_activations / sizeof known_activations[0]; i++)
        if (strcasecmp(name, known_activations[i].name) == 0) return &known_activations[i];
    return NULL;
}

static void take_number(const qdq_onnx_attr *list, size_t *at, double *number) {
    if (list && *at < list->floats.count) *number = (double)list->floats.items[*at];
    ++*at;
}

// Finds the activation named `i` in the node's list; all before it take their numbers first.
static bool named_activation(const qdq_onnx_direction *d, const qdq_onnx_attr *names, size_t i,
                             qdq_onnx_activation *out) {
    const qdq_onnx_attr *alpha = qdq_onnx_attr_find(d->node, "activation_alpha");
    const qdq_onnx_attr *beta = qdq_onnx_attr_find(d->node, "activation_beta");
    size_t alphas = 0, betas = 0;
    for (size_t k = 0; k <= i; k++) {
        const struct known_activation *known = find_activation(names->strings.items[k]);
        if (!known) return false;
        *out = known->is;
        if (known->has_alpha) take_number(alpha, &alphas, &out->alpha);
        if (known->has_beta) take_number(beta, &betas, &out->beta);
    }
    return true;
}

static qdq_onnx_recurrence kind_of(const qdq_onnx_op *row) {
    if (strstr(row->name, "LSTM")) return QDQ_ONNX_LSTM;
    return strcmp(row->name, "GRU") == 0 ? QDQ_ONNX_GRU : QDQ_ONNX_RNN;
}

// Reads the activations of a direction; false after a refusal.
static bool read_activations(qdq_onnx_direction *d, size_t directions) {
    static const char *const usual[][QDQ_ONNX_MOST_ACTIVATIONS] = {
        {"Tanh"}, {"Sigmoid", "Tanh"}, {"Sigmoid", "Tanh", "Tanh"}};
    size_t count = (size_t)d->kind + 1;
    const qdq_onnx_attr *given = qdq_onnx_attr_find(d->node, "activations");
    bool named = given && given->strings.count;
    if (named && given->strings.count != count * directions) {
        qdq_onnx_refuse(d->node, "activations",
                        ONNX_TEXT(d->node, "has %zu names", given->strings.count),
                        ONNX_TEXT(d->node, "%zu", count * directions));
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        size_t place = (size_t)d->at * count + i;
        bool fine = true;
        if (named)
            fine = named_activation(d, given, place, &d->activations[i]);
        else
            d->activations[i] = find_activation(usual[d->kind][i])->is;
        if (fine) continue;
        qdq_onnx_refuse(d->node, "activations",
                        ONNX_TEXT(d->node, "has '%.40s'", given->strings.items[place]),
                        "an activation of ONNX");
        return false;
    }
    return true;
}

// True if an activation may differ at an infinity and at FLT_MAX, to which ONNX Runtime clips the
// gates of LSTM and GRU.
static bool tells_infinity(const qdq_onnx_direction *d) {
    bool tells = false;
    for (int i = 0; i <= (int)d->kind; i++)
        tells |= strcmp(d->activations[i].formula, "Sigmoid(%)") != 0 &&
                 strcmp(d->activations[i].formula, "Tanh(%)") != 0;
    return tells && d->kind != QDQ_ONNX_RNN;
}

// Lengths of sequences as [1, batch, 1]; none if all are known to be as long as x.
static bool read_lengths(qdq_onnx_direction *all, size_t count, int64_t steps) {
    qdq_onnx_node *node = all[0].node;
    qdq_onnx_value *lengths = qdq_onnx_input(node, LENGTHS);
    if (!lengths) return true;
    bool full = qdq_onnx_known(node->im, lengths);
    for (size_t i = 0; full && i < qdq_onnx_count(lengths->shape); i++)
        full = qdq_onnx_int_at(lengths, i) == steps;
    if (full) return true;
    const qdq_onnx_term terms[] = {{.name = "all", .input = lengths}};
    qdq_value made = qdq_onnx_compute(
        &all[0], "lengths = StaticReshape(all, shape: [1, -1, 1], special_zero: 0)", terms, 1);
    for (size_t k = 0; k < count; k++) all[k].lengths = made;
    return made.id != 0;
}

// True if the shapes of X, W and R, and of optional inputs, agree.
static bool read_shapes(qdq_onnx_direction *d, int64_t directions) {
    qdq_onnx_node *node = d->node;
    qdq_shape x = node->inputs[X]->shape, w = node->inputs[W]->shape, r = node->inputs[R]->shape;
    d->gates = d->kind == QDQ_ONNX_LSTM ? 4 : d->kind == QDQ_ONNX_GRU ? 3 : 1;
    if (d->quantized && w.rank == 3 && r.rank == 3) {
        w.dims[1] = node->inputs[W]->shape.dims[2], w.dims[2] = node->inputs[W]->shape.dims[1];
        r.dims[1] = node->inputs[R]->shape.dims[2], r.dims[2] = node->inputs[R]->shape.dims[1];
    }
    bool fit = x.rank == 3 && w.rank == 3 && r.rank == 3 && r.dims[0] == directions &&
               w.dims[0] == directions && w.dims[2] == x.dims[2] && r.dims[2] > 0 &&
               r.dims[2] <= INT32_MAX && r.dims[1] == d->gates * r.dims[2] &&
               w.dims[1] == r.dims[1];
    if (!fit)
        qdq_onnx_refuse(node, "R",
                        ONNX_TEXT(node, "is %s, with W %s and X %s",
                                  qdq_shape_text(&node->im->graph->findings, r),
                                  qdq_shape_text(&node->im->graph->findings, w),
                                  qdq_shape_text(&node->im->graph->findings, x)),
                        "[directions, gates * hidden, hidden], W [directions, gates * hidden, "
                        "inputs] and X of three dims, the last one inputs");
    if (fit) d->hidden = r.dims[2];
    int64_t sizes[] = {2 * d->gates * d->hidden, 3 * d->hidden};
    for (size_t i = 0; fit && i < 2; i++) {
        qdq_onnx_value *input = qdq_onnx_input(node, i ? PEEPHOLES : B);
        if (!input || (d->kind != QDQ_ONNX_LSTM && i)) continue;
        fit = input->shape.rank == 2 && input->shape.dims[0] == directions &&
              input->shape.dims[1] == sizes[i];
        if (!fit)
            qdq_onnx_refuse(
                node, i ? "P" : "B",
                ONNX_TEXT(node, "is %s", qdq_shape_text(&node->im->graph->findings, input->shape)),
                ONNX_TEXT(node, "[%lld, %lld]", (long long)directions, (long long)sizes[i]));
    }
    return fit;
}

// Reads the attributes of the node and of each direction; false after a refusal.
static bool read_directions(qdq_onnx_node *node, const qdq_onnx_op *row, qdq_onnx_direction *all,
                            size_t count) {
    bool batch_first = qdq_onnx_int(node, "layout", 0) != 0;
    bool reverse = strcmp(qdq_onnx_word(node, "direction", "forward"), "reverse") == 0;
    qdq_shape x = node->inputs[X]->shape;
    int64_t steps = x.rank == 3 ? x.dims[batch_first] : 1;
    if (steps < 1) {
        qdq_onnx_refuse(node, "X", ONNX_TEXT(node, "has %lld steps", (long long)steps),
                        "1 or more");
        return false;
    }
    if (!qdq_onnx_has_room(node, (size_t)steps)) return false;  // each becomes at least a node
    for (size_t k = 0; k < count; k++) {
        all[k] = (qdq_onnx_direction){.node = node,
                                      .row = row,
                                      .kind = kind_of(row),
                                      .at = (int64_t)k,
                                      .steps = steps,
                                      .reverse = k == 1 || reverse,
                                      .batch_first = batch_first,
                                      .clip = qdq_onnx_float(node, "clip", 0),
                                      .quantized = strcmp(row->name, "DynamicQuantizeLSTM") == 0};
        all[k].clips = all[k].clip > 0.0;
        if (!all[k].clips) all[k].clip = (double)FLT_MAX;
        if (!read_shapes(&all[k], (int64_t)count) || !read_activations(&all[k], count))
            return false;
        all[k].clips |= tells_infinity(&all[k]);
    }
    return read_lengths(all, count, steps);
}

void qdq_onnx_recurrent(qdq_onnx_node *node, const qdq_onnx_op *row) {
    const char *way = qdq_onnx_word(node, "direction", "forward");
    size_t count = strcmp(way, "bidirectional") == 0 ? 2 : 1;
    qdq_onnx_direction all[2];
    if (!read_directions(node, row, all, count)) return;
    const qdq_onnx_direction *d = &all[0];
    qdq_value *y = qdq_mempool_array(node->im->mempool, count * (size_t)d->steps, sizeof *y);
    const qdq_onnx_term terms[] = {{.name = "x", .input = node->inputs[X]}};
    qdq_value x = d->batch_first
                      ? qdq_onnx_compute(d, "x = StaticTranspose(x, order: [1, 0, 2])", terms, 1)
                      : qdq_onnx_ref(node, node->inputs[X]);
    if (!y || !x.id) return;
    for (size_t k = 0; k < count; k++) run_direction(&all[k], x, y + k * (size_t)d->steps);
    if (!node->refused) bind_outputs(all, count, y);
}
