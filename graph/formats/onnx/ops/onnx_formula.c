// SPDX-License-Identifier: Apache-2.0
// Reads formulas (onnx_formula.h) and adds the nodes that they stand for. The texts are constants
// of this program, so a mistake in one is a bug: it refuses the node and names the place.
#include "graph/formats/onnx/ops/onnx_formula.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "include/qdq/ops/quantize.h"
#include "runtime/numerics/dtype.h"

enum { MOST_OPERANDS = 8, MOST_NAME = 32, MOST_LIST = 8, MOST_DEPTH = 16 };

typedef struct formula {
    qdq_onnx_node *node;
    const char *at;  // text not yet read
    const char *statement;
    qdq_onnx_term terms[QDQ_ONNX_MOST_TERMS];
    size_t count;
    int depth;
    bool failed;
} formula;

typedef struct operand {
    double number;
    qdq_value value;
    bool is_number, is_absent;
} operand;

//---- Words ------------------------------------------------------------------

static void fail(formula *f) {
    if (!f->failed && !f->node->refused)
        qdq_onnx_refuse(f->node, NULL, ONNX_TEXT(f->node, "has a wrong formula at '%.40s'", f->at),
                        NULL);
    f->failed = true;
}

static bool skips(formula *f, char wanted) {
    while (*f->at == ' ') f->at++;
    if (*f->at != wanted) return false;
    f->at++;
    return true;
}

static void expect(formula *f, char wanted) {
    if (!skips(f, wanted)) fail(f);
}

static bool read_name(formula *f, char name[MOST_NAME]) {
    size_t n = 0;
    while (*f->at == ' ') f->at++;
    if (!isalpha((unsigned char)*f->at)) return false;
    while ((isalnum((unsigned char)f->at[n]) || f->at[n] == '_') && n + 1 < MOST_NAME) n++;
    memcpy(name, f->at, n);
    name[n] = '\0';
    f->at += n;
    return true;
}

static double read_number(formula *f) {
    char *end;
    double number = strtod(f->at, &end);
    if (end == f->at) fail(f);
    f->at = end;
    return number;
}

static qdq_onnx_term *find_term(formula *f, const char *name) {
    for (size_t i = f->count; i-- > 0;)
        if (strcmp(f->terms[i].name, name) == 0) return &f->terms[i];
    return NULL;
}

static void add_term(formula *f, qdq_onnx_term term) {
    if (f->count < QDQ_ONNX_MOST_TERMS)
        f->terms[f->count++] = term;
    else
        fail(f);
}

//---- Operands ---------------------------------------------------------------

static operand read_call(formula *f, const char *op, const char *helper, size_t output);

static operand operand_of(formula *f, const char *name) {
    qdq_onnx_term *term = find_term(f, name);
    bool optional = skips(f, '?');
    operand o = {0};
    if (!term) {
        fail(f);
    } else if (term->value.id) {
        o.value = term->value;
    } else if (term->input) {
        o.value = term->value = qdq_onnx_ref(f->node, term->input);
        if (!o.value.id) f->failed = true;
    } else if (optional) {
        o.is_absent = true;
    } else {
        o.is_number = true;
        o.number = term->number;
    }
    return o;
}

static operand read_operand(formula *f) {
    char name[MOST_NAME];
    if (!read_name(f, name)) return (operand){.is_number = true, .number = read_number(f)};
    if (skips(f, '(')) return read_call(f, name, name, 0);
    return operand_of(f, name);
}

static qdq_dtype dtype_of(const formula *f, qdq_value value) {
    qdq_dtype dtype = QDQ_DTYPE_NONE;
    (void)qdq_value_type(f->node->im->graph, value, &dtype, NULL);
    return dtype;
}

//---- Attributes -------------------------------------------------------------

static qdq_ints read_list(formula *f, int64_t *list) {
    size_t n = 0;
    while (!f->failed && n < MOST_LIST && !skips(f, ']')) {
        list[n++] = (int64_t)read_number(f);
        (void)skips(f, ',');
    }
    return (qdq_ints){list, n};
}

static void set_number(qdq_onnx_call *call, const qdq_attr_desc *desc, double number) {
    if (desc->kind == QDQ_ATTR_BOOL)
        qdq_onnx_set_bool(call, desc->name, number != 0.0);
    else if (desc->kind == QDQ_ATTR_INT)
        qdq_onnx_set_int(call, desc->name, (int64_t)number);
    else
        qdq_onnx_set_real(call, desc->name, number);
}

static void set_word(formula *f, qdq_onnx_call *call, const qdq_attr_desc *desc, const char *name) {
    qdq_onnx_term *term = find_term(f, name);
    qdq_dtype dtype = QDQ_DTYPE_NONE;
    if (desc->kind == QDQ_ATTR_DTYPE) {
        if (!term)
            dtype = qdq_dtype_from_name(name);
        else
            dtype = term->input ? qdq_onnx_dtype(term->input->elem) : dtype_of(f, term->value);
        qdq_onnx_set_dtype(call, desc->name, dtype);
    } else if (!term || term->word) {
        qdq_onnx_set_word(call, desc->name, term ? term->word : name);
    } else if (desc->kind == QDQ_ATTR_INTS) {
        qdq_onnx_set_ints(call, desc->name, term->ints.data, term->ints.count);
    } else {
        set_number(call, desc, term->number);
    }
}

static const qdq_attr_desc *find_attr(const qdq_op *op, const char *name) {
    for (size_t i = 0; i < op->attr_count; i++)
        if (strcmp(op->attrs[i].name, name) == 0) return &op->attrs[i];
    return NULL;
}

static void read_attr(formula *f, qdq_onnx_call *call, const char *attr) {
    char name[MOST_NAME];
    int64_t list[MOST_LIST];
    const qdq_attr_desc *desc = call->op ? find_attr(call->op, attr) : NULL;
    if (!desc) {
        fail(f);
    } else if (skips(f, '[')) {
        qdq_ints ints = read_list(f, list);
        qdq_onnx_set_ints(call, attr, ints.data, ints.count);
    } else if (read_name(f, name)) {
        set_word(f, call, desc, name);
    } else {
        set_number(call, desc, read_number(f));
    }
}

//---- Calls ------------------------------------------------------------------

// Reads operands up to the first attribute, whose name goes to `attr`, or to the end.
static size_t read_operands(formula *f, operand *operands, char attr[MOST_NAME]) {
    size_t n = 0;
    attr[0] = '\0';
    do {
        const char *before = f->at;
        if (read_name(f, attr) && skips(f, ':')) return n;
        f->at = before, attr[0] = '\0';
        if (n == MOST_OPERANDS) fail(f);
        if (!f->failed) operands[n++] = read_operand(f);
    } while (!f->failed && skips(f, ','));
    return n;
}

static void set_operands(formula *f, qdq_onnx_call *call, const operand *operands, size_t n) {
    qdq_dtype dtype = qdq_onnx_dtype(f->node->inputs[0]->elem);
    for (size_t i = n; i-- > 0;)
        if (operands[i].value.id && dtype_of(f, operands[i].value) != QDQ_BOOL)
            dtype = dtype_of(f, operands[i].value);
    for (size_t i = 0; i < n && call->op && !f->failed; i++) {
        size_t last = call->op->input_count - 1;
        if (operands[i].is_absent) continue;
        qdq_value value = operands[i].value;
        if (operands[i].is_number)
            value = qdq_onnx_scalar(f->node, "number", dtype, operands[i].number);
        if (i > last && !call->op->variadic) fail(f);
        qdq_onnx_port_made(call, call->op->inputs[i < last ? i : last].name, value);
    }
}

// Returns the only operand that is given, if another is absent; else NULL.
static const operand *left_over(const operand *operands, size_t n) {
    const operand *left = NULL;
    bool absent = false;
    for (size_t i = 0; i < n; i++) {
        absent = absent || operands[i].is_absent;
        if (!operands[i].is_absent) left = &operands[i];
    }
    return absent && n == 2 ? left : NULL;
}

static operand finish_call(formula *f, qdq_onnx_call *call) {
    operand made = {.value = qdq_onnx_end(call)};
    if (!made.value.id) f->failed = true;
    return made;
}

// Reads the rest of a call after "Op(". `helper` NULL: the call computes the output.
static operand read_call(formula *f, const char *op, const char *helper, size_t output) {
    operand operands[MOST_OPERANDS] = {{0}};
    char attr[MOST_NAME];
    qdq_onnx_call call;
    if (++f->depth > MOST_DEPTH) fail(f);
    size_t n = f->failed ? 0 : read_operands(f, operands, attr);
    if (f->failed) return (operand){0};
    const operand *left = left_over(operands, n);
    if (helper)
        qdq_onnx_begin(&call, f->node, op, helper);
    else
        qdq_onnx_begin_output(&call, f->node, op, output);
    if (!left) set_operands(f, &call, operands, n);
    while (!f->failed && attr[0]) {
        read_attr(f, &call, attr);
        attr[0] = '\0';
        if (!f->failed && skips(f, ',') && (!read_name(f, attr) || !skips(f, ':'))) fail(f);
    }
    expect(f, ')');
    f->depth--;
    if (left || f->failed) return left ? *left : (operand){0};
    bool same = strcmp(op, "Cast") == 0 && call.fields &&
                ((const qdq_cast_attrs *)(const void *)call.fields)->dtype ==
                    dtype_of(f, operands[0].value);
    return same ? operands[0] : finish_call(f, &call);
}

//---- Statements -------------------------------------------------------------

// True if a statement with this name computes an output; sets *output to its number.
static bool makes_output(const char *name, size_t *output) {
    if (strncmp(name, "out", 3) != 0 || !isdigit((unsigned char)name[3])) return false;
    *output = (size_t)(name[3] - '0');
    return true;
}

static const char *copy_name(formula *f, const char *name) {
    return qdq_mempool_copy(f->node->im->mempool, name, strlen(name) + 1, 1);
}

// Reads "name = " before a call.
static bool read_target(formula *f, char name[MOST_NAME]) {
    const char *before = f->at;
    if (read_name(f, name) && skips(f, '=')) return true;
    f->at = before;
    return false;
}

static qdq_value read_statement(formula *f) {
    char target[MOST_NAME] = "", op[MOST_NAME];
    bool named = read_target(f, target);
    size_t output = 0;
    bool to_output = !named || makes_output(target, &output);
    bool wanted = output < f->node->output_count && f->node->outputs[output];
    operand made;
    const char *before = f->at;
    if (read_name(f, op) && skips(f, '(')) {
        made = read_call(f, op, to_output && wanted ? NULL : named ? target : op, output);
    } else {
        f->at = before;
        made = read_operand(f);
    }
    if (f->failed) return (qdq_value){0};
    if (to_output && named && wanted) qdq_onnx_bind(f->node, output, made.value);
    if (named) add_term(f, (qdq_onnx_term){.name = copy_name(f, target), .value = made.value});
    return made.value;
}

// Adds the ports and attributes of a row. The list of its axes is `axes`.
static void add_row(formula *f, const qdq_onnx_op *row) {
    qdq_onnx_node *node = f->node;
    for (size_t i = 0; i < QDQ_ONNX_MOST_PORTS && row->ports[i]; i++)
        add_term(f, (qdq_onnx_term){.name = row->ports[i], .input = qdq_onnx_input(node, i)});
    for (size_t i = 0; i < QDQ_ONNX_MOST_ATTRS && row->attrs[i].kind; i++) {
        const qdq_onnx_attr_row *attr = &row->attrs[i];
        qdq_onnx_term term = {.name = attr->name};
        if (attr->kind == 'f')
            term.number = qdq_onnx_float(node, attr->name, attr->otherwise);
        else if (attr->kind == 'w')
            term.word = qdq_onnx_word(node, attr->name, attr->ours);
        else
            term.number = (double)qdq_onnx_int(node, attr->name, (int64_t)attr->otherwise);
        add_term(f, term);
    }
}

qdq_value qdq_onnx_formula(qdq_onnx_node *node, const qdq_onnx_op *row, const char *text,
                           const qdq_onnx_term *terms, size_t count) {
    formula f = {.node = node, .at = text};
    qdq_value made = {0};
    add_row(&f, row);
    for (size_t i = 0; i < count; i++) add_term(&f, terms[i]);
    do {
        made = read_statement(&f);
    } while (!f.failed && skips(&f, ';'));
    if (!f.failed && *f.at) fail(&f);
    return f.failed ? (qdq_value){0} : made;
}

qdq_onnx_value *qdq_onnx_list_value(qdq_onnx_node *node, const char *name, int elem,
                                    const double *numbers, size_t count) {
    qdq_onnx_value *value =
        qdq_onnx_new_value(node->im, ONNX_TEXT(node, "%s/%s", node->name, name));
    bool real = qdq_onnx_elem_is_real(elem);
    if (!value) return NULL;
    value->elem = elem;
    value->shape = (qdq_shape){1, {(int64_t)count}};
    int64_t *ints = real ? NULL : qdq_mempool_array(node->im->mempool, count, sizeof *ints);
    for (size_t i = 0; ints && i < count; i++) ints[i] = (int64_t)numbers[i];
    value->ints = ints;
    if (real) value->reals = qdq_mempool_copy(node->im->mempool, numbers, count, sizeof *numbers);
    return value->ints || value->reals ? value : NULL;
}

qdq_onnx_term qdq_onnx_exponent(qdq_onnx_node *node, double p) {
    qdq_shape x = node->inputs[0]->shape;
    size_t count = x.rank ? (size_t)x.dims[x.rank - 1] : 1;
    double *all = qdq_mempool_array(node->im->mempool, count, sizeof *all);
    for (size_t i = 0; all && i < count; i++) all[i] = p;
    qdq_onnx_term term = {.name = "p", .number = p};
    if (all) term.input = qdq_onnx_list_value(node, "p", node->inputs[0]->elem, all, count);
    return term;
}

void qdq_onnx_compose(qdq_onnx_node *node, const qdq_onnx_op *row) {
    qdq_onnx_bind(node, 0, qdq_onnx_formula(node, row, row->ours, NULL, 0));
}
