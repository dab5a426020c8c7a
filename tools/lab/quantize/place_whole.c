// SPDX-License-Identifier: Apache-2.0
// Places codes for a target whose kernels read codes and give codes. Values that ops move or pool
// share the parameters of one value, their owner: of the first value, except before ops of several
// operands, where the result decides as far back as nothing else does. An operand whose parameters
// are decided otherwise is requantized. This is the order of TensorFlow Lite's converter.
#include <stdio.h>

#include "runtime/base/words.h"
#include "tools/lab/quantize/constants.h"
#include "tools/lab/quantize/placing.h"

typedef struct wholes {
    placing *p;
    const qdq_quantized_form *form;
    code_range codes;
    bool *runs_on_codes;    // [node]: it is an operator on codes
    uint32_t *owner;        // [value]: a value with its parameters, perhaps by another one's owner
    bool *claimed;          // [value]: an op of several operands has decided about its class
    chosen_params *params;  // [value]
} wholes;

//---- Operators --------------------------------------------------------------

// Reads a number among the attributes of a node; `otherwise` if it has its default.
static double attr_number(const placing *p, size_t node, const char *name, double otherwise) {
    char attrs[4096], key[64];
    (void)qdq_graph_node_attrs(p->list->graph, node, 8, attrs, sizeof attrs);
    snprintf(key, sizeof key, "\"%s\":", name);
    const char *at = strstr(attrs, key);
    return at ? strtod(at + strlen(key), NULL) : otherwise;
}

static bool is_op(const placing *p, size_t node, const char *op) {
    return strcmp(node_at(p, node).op, op) == 0;
}

// True if a node clips at bounds that kernels have.
static bool is_clip(const placing *p, size_t node) {
    if (is_op(p, node, "ReLU") || is_op(p, node, "ReLU6")) return true;
    if (!is_op(p, node, "Clamp")) return false;
    double least = attr_number(p, node, "min", 1), greatest = attr_number(p, node, "max", 0);
    return (least == 0.0 && greatest == 6.0) || (least == -1.0 && greatest == 1.0);
}

static bool is_computed(const placing *p, qdq_value v) {
    return is_float32(p, v) && !is_constant(p, v);
}

// True if the weights of a product are constant and have the dims of a kernel.
static bool has_weights(const placing *p, size_t node) {
    qdq_value w = input(p, node, WEIGHTS);
    int rank = is_op(p, node, "MatMul") ? 2 : 4;
    return is_constant(p, w) && is_float32(p, w) && shape_of(p, w).rank == rank &&
           is_computed(p, input(p, node, DATA)) && !attr_is(p, node, "\"transpose_a\":true");
}

// True if a target has a kernel on codes for a node, as far as the ops of its form say.
static bool is_operator(const placing *p, size_t node) {
    const qdq_quantized_form *form = p->choice->form;
    const char *op = node_at(p, node).op;
    size_t computed = 0, inputs = node_at(p, node).input_count;
    if (!is_float32(p, result(p, node)) || node_at(p, node).output_count != 1) return false;
    for (size_t i = 0; i < inputs; i++) computed += is_computed(p, input(p, node, i));
    if (!computed) return false;
    if (qdq_has_word(form->ops, op)) return has_weights(p, node);
    if (is_op(p, node, "Clamp")) return is_clip(p, node);
    bool other_mode = attr_is(p, node, "\"mode\":");  // of Pad and Interpolate
    if (is_op(p, node, "Pad")) return !other_mode && !is_computed(p, input(p, node, 1));
    if (is_op(p, node, "Interpolate")) return !attr_is(p, node, "\"mode\":\"nearest\"");
    return qdq_has_word(form->operators, op) || qdq_has_word(form->moves, op);
}

// True if only an activation reads a result, which the kernel clips itself.
static bool is_clipped(const wholes *w, qdq_value v) {
    size_t maker = w->p->list->maker[v.id], reader = only_reader(w->p, v);
    return maker != SIZE_MAX && reader != SIZE_MAX && w->runs_on_codes[maker] &&
           qdq_has_word(w->form->clips, node_at(w->p, maker).op) && is_clip(w->p, reader);
}

// True if a value becomes codes.
static bool becomes_codes(const wholes *w, qdq_value v) {
    return is_computed(w->p, v) && !is_clipped(w, v);
}

//---- Owners -----------------------------------------------------------------

static uint32_t owner_of(const wholes *w, uint32_t id) {
    while (w->owner[id] != id) id = w->owner[id];
    return id;
}

// Counts operands in float. The element of a Pad has the parameters of the image.
static size_t operands_of(const wholes *w, size_t node) {
    size_t count = 0, inputs = is_op(w->p, node, "Pad") ? 1 : node_at(w->p, node).input_count;
    for (size_t i = 0; i < inputs; i++) count += is_float32(w->p, input(w->p, node, i));
    return count;
}

static const qdq_fixed_codes *fixed_of(const wholes *w, uint32_t id) {
    size_t maker = w->p->list->maker[id];
    const qdq_fixed_codes *f = maker == SIZE_MAX ? NULL : w->form->fixed;
    for (; f && f->op; f++)
        if (is_op(w->p, maker, f->op)) return f;
    return NULL;
}

static bool shares(const wholes *w, size_t node) {
    return w->runs_on_codes[node] && qdq_has_word(w->form->shares, node_at(w->p, node).op);
}

// Gives the operands of an op the owner of its result, unless that is decided.
static void share_backwards(wholes *w, size_t node) {
    uint32_t owner = owner_of(w, result(w->p, node).id);
    w->claimed[owner] = true;
    for (size_t i = 0; i < node_at(w->p, node).input_count; i++) {
        qdq_value v = input(w->p, node, i);
        if (!becomes_codes(w, v)) continue;
        uint32_t other = owner_of(w, v.id);
        if (!w->claimed[other] && !fixed_of(w, other)) w->owner[other] = owner;
    }
}

static void find_owners(wholes *w) {
    size_t nodes = qdq_graph_node_count(w->p->list->graph);
    for (size_t n = 0; n < nodes; n++) {
        qdq_value x = input(w->p, n, DATA);
        if (shares(w, n) && operands_of(w, n) == 1 && becomes_codes(w, x))
            w->owner[result(w->p, n).id] = owner_of(w, x.id);
    }
    for (size_t n = nodes; n-- > 0;)
        if (shares(w, n) && operands_of(w, n) > 1) share_backwards(w, n);
}

//---- Codings ----------------------------------------------------------------

// Finds the parameters of an owner. False if it has no statistics.
static bool find_params(const wholes *w, uint32_t owner, chosen_params *out) {
    const qdq_fixed_codes *fixed = fixed_of(w, owner);
    statistics s;
    if (fixed) *out = (chosen_params){fixed->scale, fixed->zero_point};
    if (fixed) return true;
    if (!statistics_of(w->p, (qdq_value){owner}, &s)) return false;
    *out = activation_params(w->p, &s);
    return true;
}

static void add_codings(wholes *w) {
    coding_list *list = w->p->list;
    for (size_t i = 0; i < qdq_graph_value_count(list->graph); i++) {
        qdq_value v = qdq_graph_get_value(list->graph, i);
        if (v.id >= list->values || !becomes_codes(w, v) ||
            !find_params(w, owner_of(w, v.id), &w->params[v.id]))
            continue;
        size_t coding = add_activation(w->p, v, w->params[v.id]);
        if (list->failed) return;
        list->codings[coding].outputs = list->returned[v.id];
        list->of_value[v.id] = coding + 1;
    }
}

static bool same_params(chosen_params a, chosen_params b) {
    return a.scale == b.scale && a.zero_point == b.zero_point;
}

// Returns the coding of an operand with the parameters of another value.
static size_t requantized(wholes *w, qdq_value v, chosen_params params) {
    coding_list *list = w->p->list;
    size_t source = list->of_value[v.id];
    if (same_params(w->params[v.id], params)) return source - 1;
    size_t coding = add_activation(w->p, v, params);
    if (!list->failed) list->codings[coding].source = source;
    return coding;
}

//---- Nodes ------------------------------------------------------------------

static void read_coding(wholes *w, size_t coding, size_t node, size_t port) {
    if (coding != SIZE_MAX) coding_list_read(w->p->list, coding, node, port);
}

// Lets the ports of a node read the codes of computed values. False if one has none.
static bool place_computed(wholes *w, size_t node) {
    bool all = true;
    for (size_t i = 0; i < node_at(w->p, node).input_count; i++) {
        qdq_value v = input(w->p, node, i);
        size_t coding = v.id < w->p->list->values ? w->p->list->of_value[v.id] : 0;
        if (!is_computed(w->p, v)) continue;
        all &= coding != 0 || !becomes_codes(w, v);
        read_coding(w, coding - 1, node, i);
    }
    return all;
}

static void place_constants(wholes *w, size_t node, const chosen_params *params) {
    for (size_t i = 0; i < node_at(w->p, node).input_count; i++) {
        qdq_value v = input(w->p, node, i);
        if (is_float32(w->p, v) && is_constant(w->p, v))
            read_coding(w, code_elements(w->p->list, v, params, &w->codes), node, i);
    }
}

// Lets a node move codes. A Pad of zeros adds the zero point.
static void place_moved(wholes *w, size_t node) {
    enum { PAD_VALUE = 1 };
    coding_list *list = w->p->list;
    qdq_value y = result(w->p, node);
    const chosen_params params = w->params[y.id];
    for (size_t i = 0; i < node_at(w->p, node).input_count; i++) {
        qdq_value v = input(w->p, node, i);
        if (!is_computed(w->p, v)) continue;
        if (!list->of_value[v.id]) return;
        read_coding(w, requantized(w, v, params), node, i);
    }
    place_constants(w, node, &params);
    if (is_op(w->p, node, "Pad") && !input(w->p, node, PAD_VALUE).id && params.zero_point)
        read_coding(w, code_alone(list, &params, params.zero_point), node, PAD_VALUE);
    if (!list->failed) list->codings[list->of_value[y.id] - 1].moved = true;
}

static node_fate place_node(wholes *w, size_t node) {
    const char *op = node_at(w->p, node).op;
    qdq_value y = result(w->p, node);
    bool coded = y.id && y.id < w->p->list->values && w->p->list->of_value[y.id];
    if (w->runs_on_codes[node] && qdq_has_word(w->form->ops, op)) return place_product(w->p, node);
    if (w->runs_on_codes[node] && qdq_has_word(w->form->moves, op) && coded) {
        place_moved(w, node);
        (void)place_computed(w, node);
        return NODE_OTHER;
    }
    bool placed = place_computed(w, node);
    if (!w->runs_on_codes[node]) return is_float32(w->p, y) ? NODE_NO_OPERATOR : NODE_OTHER;
    if (!placed) return NODE_NO_STATISTICS;
    place_constants(w, node, NULL);
    bool clips = is_clip(w->p, node) && is_clipped(w, input(w->p, node, DATA));
    return clips ? NODE_OTHER : NODE_QUANTIZED;
}

void place_whole(placing *p) {
    coding_list *list = p->list;
    size_t nodes = qdq_graph_node_count(list->graph);
    wholes w = {.p = p, .form = p->choice->form, .codes = activation_codes(p)};
    w.runs_on_codes = coding_list_memory(list, nodes, sizeof *w.runs_on_codes);
    w.owner = coding_list_memory(list, list->values, sizeof *w.owner);
    w.claimed = coding_list_memory(list, list->values, sizeof *w.claimed);
    w.params = coding_list_memory(list, list->values, sizeof *w.params);
    if (list->failed) return;
    for (size_t n = 0; n < nodes; n++) w.runs_on_codes[n] = is_operator(p, n);
    for (size_t i = 0; i < list->values; i++) w.owner[i] = (uint32_t)i;
    find_owners(&w);
    add_codings(&w);
    for (size_t n = 0; !list->failed && n < nodes; n++) p->fates[n] = place_node(&w, n);
}
