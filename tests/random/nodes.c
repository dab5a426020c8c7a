// SPDX-License-Identifier: Apache-2.0
// Random nodes, made from the description of an op. Ports and attributes get likely values;
// graphs.c tries the node and drops it if the op refuses it.
#include <string.h>

#include "runtime/base/words.h"
#include "runtime/numerics/dtype.h"
#include "tests/random/random.h"

typedef struct maker {
    random_graph *g;
    random_source *r;
    random_node *node;
    qdq_shape x;  // the shape of the first input
    qdq_dtype dtype;
    size_t length;  // the length of most list attributes
    size_t lists;
    size_t count;  // the number of scales
} maker;

static size_t below(maker *m, size_t n) { return random_below(m->r, n); }
static bool chance(maker *m, size_t percent) { return random_in(m->r, percent); }

static bool ends_with(const char *text, const char *end) {
    size_t length = strlen(text), wanted = strlen(end);
    return length >= wanted && strcmp(text + length - wanted, end) == 0;
}

//---- Ports ------------------------------------------------------------------

static qdq_shape random_shape(maker *m) {
    static const int64_t dims[] = {1, 2, 3, 4, 5, 7, 8, 16, 33, 65};
    qdq_shape s = {.rank = chance(m, 10) ? (int)below(m, 7) : (int)below(m, 4) + 1};
    int64_t count = 1;
    for (int i = 0; i < s.rank; i++) {
        do s.dims[i] = dims[below(m, sizeof dims / sizeof dims[0])];
        while (count * s.dims[i] > RANDOM_MAX_ELEMENTS);
        count *= s.dims[i];
    }
    return s;
}

// A shape that goes with the shape of x: the same, a broadcast one, one element a channel, one
// element, or a mix of the dims of x and small ones.
static qdq_shape fitting_shape(maker *m, bool is_parameter) {
    qdq_shape s = m->x;
    int64_t any = s.rank ? s.dims[below(m, (size_t)s.rank)] : 1;
    size_t way = below(m, is_parameter ? 4 : 9);
    if (way == 0) return (qdq_shape){0};
    if (way == 1) return QDQ_SHAPE(any);
    if (way == 2) return QDQ_SHAPE(s.rank ? s.dims[s.rank - 1] : 1);
    if (way == 3) return QDQ_SHAPE(s.rank > 1 ? s.dims[1] : 1);
    if (way == 4) return s;
    if (way == 5) {
        for (int i = 0; i < s.rank; i++)
            if (chance(m, 40)) s.dims[i] = 1;
        return s;
    }
    if (chance(m, 30)) s.rank = s.rank > 1 ? 2 : 1;
    int64_t count = 1;
    for (int i = 0; i < s.rank; i++) {
        int64_t dim = chance(m, 50) && m->x.rank ? m->x.dims[below(m, (size_t)m->x.rank)]
                                                 : (int64_t)below(m, 5) + 1;
        s.dims[i] = count * dim > RANDOM_MAX_ELEMENTS ? 1 : dim;
        count *= s.dims[i];
    }
    return s;
}

static qdq_dtype random_dtype(maker *m, qdq_dtype_set set) {
    qdq_dtype dtype;
    if (qdq_set_has(set, m->dtype) && chance(m, 60)) return m->dtype;
    if (qdq_set_has(set, QDQ_FLOAT32) && chance(m, 50)) return QDQ_FLOAT32;
    do dtype = (qdq_dtype)(1 + below(m, QDQ_DTYPE_COUNT - 1));
    while (!qdq_set_has(set, dtype));
    return dtype;
}

// A value of the graph that the port accepts; none if a few tries find none.
static qdq_value existing(maker *m, const qdq_port_desc *port) {
    for (int i = 0; i < 4 && m->g->value_count; i++) {
        qdq_value v = m->g->values[below(m, m->g->value_count)];
        qdq_dtype dtype;
        qdq_shape shape;
        if (qdq_value_type(m->g->graph, v, &dtype, &shape) && qdq_set_has(port->dtypes, dtype))
            return v;
    }
    return (qdq_value){0};
}

static void connect(maker *m, const qdq_port_desc *port, random_operand *o) {
    bool first = o == m->node->operands;
    qdq_fill fill = qdq_fill_of(m->node->op->name, port->name);
    bool is_parameter = fill == QDQ_FILL_SCALE || fill == QDQ_FILL_ZERO_POINT;
    bool is_table = strcmp(port->name, "table") == 0;
    *o = (random_operand){.fill = fill, .seed = random_next(m->r)};
    if (port->optional && chance(m, is_parameter ? 75 : 50)) return;
    if (chance(m, is_table ? 0 : first ? 70 : is_parameter ? 10 : 35)) o->value = existing(m, port);
    if (o->value.id) {
        (void)qdq_value_type(m->g->graph, o->value, &o->dtype, &o->shape);
    } else {
        o->dtype = random_dtype(m, port->dtypes);
        o->shape = is_table ? QDQ_SHAPE(256)
                   : first  ? random_shape(m)
                            : fitting_shape(m, is_parameter);
        o->constant = chance(m, first ? 10 : 60);
        // Constant indices must be in range; these are chosen before the dim is known.
        if (strcmp(port->name, "indices") == 0) o->constant = false;
    }
    if (first) m->x = o->shape, m->dtype = o->dtype;
}

static void connect_all(maker *m) {
    const qdq_op *op = m->node->op;
    size_t single = op->input_count - (op->variadic ? 1 : 0);
    size_t more = op->variadic ? below(m, 4) + 1 : 0;
    m->node->operand_count = single + more;
    for (size_t i = 0; i < m->node->operand_count; i++)
        connect(m, qdq_op_port(op, i), &m->node->operands[i]);
}

//---- Attributes -------------------------------------------------------------

static int64_t list_entry(maker *m, const char *name, size_t i) {
    int64_t dim = i < (size_t)m->x.rank ? m->x.dims[i] : 1;
    if (strcmp(name, "group_shape") == 0)
        return chance(m, 30) ? -1 : chance(m, 40) ? dim : (int64_t)below(m, (size_t)dim) + 1;
    if (strcmp(name, "shape") == 0) return chance(m, 20) ? -1 : chance(m, 20) ? 0 : dim;
    if (strcmp(name, "axes") == 0) return (int64_t)i;
    if (strcmp(name, "sizes") == 0) return (int64_t)below(m, 9) + 1;
    if (strcmp(name, "starts") == 0) return (int64_t)below(m, 4) - 2;
    if (strcmp(name, "ends") == 0) return chance(m, 50) ? INT64_MAX : dim - (int64_t)below(m, 2);
    if (strcmp(name, "pads") == 0) return (int64_t)below(m, 5) - 1;
    if (strncmp(name, "pads", 4) == 0 || ends_with(name, "padding")) return (int64_t)below(m, 2);
    return (int64_t)below(m, strcmp(name, "kernel") == 0 ? 3 : 2) + 1;
}

static qdq_ints random_ints(maker *m, const char *name) {
    int64_t *list = m->node->ints[m->lists++];
    size_t rank = (size_t)m->x.rank, n = m->length;
    bool of_x = !strcmp(name, "order") || !strcmp(name, "group_shape") || !strcmp(name, "shape") ||
                !strcmp(name, "repeats");
    if (strcmp(name, "pads") == 0 && chance(m, 90)) n = 2 * rank;
    if (of_x) n = chance(m, 85) ? rank : below(m, 9);
    if (strcmp(name, "axes") == 0) n = below(m, rank + 1);
    for (size_t i = 0; i < n; i++) list[i] = list_entry(m, name, i);
    for (size_t i = 0; i < n && strcmp(name, "order") == 0; i++) {
        size_t other = below(m, i + 1);
        list[i] = list[other], list[other] = (int64_t)i;
    }
    if (strcmp(name, "axes") == 0)
        for (size_t i = n; i-- > 0;) list[i] += (int64_t)(i + 1 == n ? below(m, rank - i) : 0);
    return (qdq_ints){list, n};
}

// How many scales a node has: one, or one for each index of a dim of x.
static size_t parameter_count(maker *m) {
    int64_t dim = m->x.rank ? m->x.dims[below(m, (size_t)m->x.rank)] : 1;
    size_t n = chance(m, 50) ? 1 : (size_t)dim;
    return n > RANDOM_MAX_LIST ? 1 : n;
}

static void set_word(maker *m, const qdq_attr_desc *attr, void *field) {
    size_t count = 0;
    while (attr->words[count]) count++;
    int word = (int)below(m, count);
    const qdq_maybe_word maybe = {QDQ_GIVEN, word};
    if (attr->kind == QDQ_ATTR_MAYBE_WORD)
        memcpy(field, &maybe, sizeof maybe);
    else
        memcpy(field, &word, sizeof word);
}

static int64_t random_int(maker *m, const char *name) {
    size_t rank = (size_t)m->x.rank;
    if (strstr(name, "axis")) return (int64_t)below(m, 2 * rank + 1) - (int64_t)rank;
    if (strcmp(name, "quant_min") == 0) return (int64_t)below(m, 9) - 8;
    if (strcmp(name, "quant_max") == 0) return (int64_t)below(m, 7) + 1;
    return (int64_t)below(m, 4) + 1;
}

static void set_floats(maker *m, const char *name, qdq_floats *out) {
    float *list = m->node->floats[m->lists++];
    bool sizes = strcmp(m->node->op->name, "Interpolate") == 0;
    size_t n = sizes ? m->length : m->count;
    qdq_fill fill = sizes ? QDQ_FILL_NEAR_ONE : QDQ_FILL_SCALE;
    if (strncmp(name, "global", 6) == 0) n = 1;
    random_elements(m->r, m->g->taste, QDQ_FLOAT32, fill, list, n);
    for (size_t i = 0; sizes && i < n; i++) list[i] *= (float)below(m, 3) + 0.5F;
    *out = (qdq_floats){list, n, n == 1 && chance(m, 80)};
}

static void set_numbers(maker *m, const char *name, qdq_numbers *out) {
    double *list = m->node->numbers[m->lists++];
    size_t n = chance(m, 50) ? 1 : m->count;
    bool multiplier = strcmp(name, "multiplier") == 0, shift = strcmp(name, "shift") == 0;
    for (size_t i = 0; i < n; i++) {
        list[i] = chance(m, 40) ? 0 : (double)below(m, 4);
        if (multiplier) list[i] = (double)(below(m, 16777216) + 1);
        if (shift) list[i] = (double)(18 + below(m, 16));
    }
    *out = (qdq_numbers){list, n, n == 1 && chance(m, 80)};
}

static void set_attr(maker *m, const qdq_attr_desc *attr) {
    static const double reals[] = {1, 0.5, 0, -0.5, 2, 0x1p-20, 0.1, 3};
    void *field = m->node->attrs + attr->offset;
    switch (attr->kind) {
    case QDQ_ATTR_INT:
    case QDQ_ATTR_BOUND: *(qdq_int *)field = QDQ_INT(random_int(m, attr->name)); break;
    case QDQ_ATTR_FLOAT: *(qdq_float *)field = QDQ_FLOAT(reals[below(m, 8)]); break;
    case QDQ_ATTR_BOOL: *(qdq_bool *)field = chance(m, 50) ? QDQ_TRUE : QDQ_FALSE; break;
    case QDQ_ATTR_WORD:
    case QDQ_ATTR_MAYBE_WORD: set_word(m, attr, field); break;
    case QDQ_ATTR_DTYPE:
        *(qdq_dtype *)field = random_dtype(m, m->node->op->outputs[0].dtypes);
        break;
    case QDQ_ATTR_INTS: *(qdq_ints *)field = random_ints(m, attr->name); break;
    case QDQ_ATTR_FLOATS: set_floats(m, attr->name, field); break;
    case QDQ_ATTR_NUMBERS: set_numbers(m, attr->name, field); break;
    case QDQ_ATTR_VALUE: break;  // graphs.c chooses it by the type of the result
    }
}

void random_node_make(random_node *node, const qdq_op *op, random_graph *g) {
    maker m = {.g = g, .r = &g->source, .node = node};
    memset(node, 0, offsetof(random_node, ints));
    node->op = op;
    connect_all(&m);
    m.count = parameter_count(&m);
    m.length = m.x.rank > 2 && chance(&m, 90) ? (size_t)m.x.rank - 2 : below(&m, 4);
    // A Requantize has scales, or a multiplier and a shift.
    const char *others = chance(&m, 60) ? "multiplier shift rounding" : "in_scales out_scales";
    for (size_t i = 0; i < op->attr_count; i++) {
        const qdq_attr_desc *attr = &op->attrs[i];
        if (!strcmp(op->name, "Requantize") && qdq_has_word(others, attr->name)) continue;
        bool rare = strncmp(attr->name, "quant_m", 7) == 0 || strncmp(attr->name, "auto_", 5) == 0;
        bool needed = !*attr->default_text || !strcmp(attr->default_text, "required");
        if (chance(&m, rare ? 8 : needed ? 85 : 40)) set_attr(&m, attr);
    }
}
