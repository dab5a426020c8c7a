// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/explain/reproduction.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/common.h"
#include "tools/elements.h"
#include "tools/failure.h"
#include "tools/io/tensor_io.h"
#include "tools/lab/compare/causes.h"
#include "tools/lab/explain/node_document.h"

enum { MOST_CUT = 64 };

// The elements that a reproduction keeps.
typedef struct cut {
    const node_value *y;
    const void *given;
    size_t at[MOST_CUT];
    size_t count, most;
    bool whole;               // all elements
    size_t channels, stride;  // of parameters; 0 channels: the same for all elements
    size_t channel;           // the only channel that is kept
} cut;

//---- Which elements ---------------------------------------------------------

// Returns the number of inputs with the shape of the result. SIZE_MAX if elements cannot be cut out
// one by one: another input has neither a single element nor one per channel.
static size_t full_inputs(const replay *r, size_t node, const cut *c, size_t *elements) {
    const qdq_graph *graph = r->form.graph;
    size_t full = 0;
    bool cuts = true;
    *elements = 0;
    for (size_t i = 0; i < qdq_graph_node(graph, node).input_count; i++) {
        qdq_shape shape;
        qdq_value value = qdq_graph_node_input(graph, node, i);
        if (!value.id || !qdq_value_type(graph, value, NULL, &shape)) continue;
        size_t count = qdq_shape_count(shape);
        *elements += count;
        if (qdq_shape_equal(shape, c->y->info.shape) && count > 1)
            full++;
        else if (count > 1 && count != c->channels)
            cuts = false;
    }
    return cuts && full ? full : SIZE_MAX;
}

static bool element_differs(const replay *r, const cut *c, size_t i) {
    size_t size = qdq_dtype_size(c->y->info.dtype);
    qdq_tensor_info one = {.dtype = c->y->info.dtype, .bytes = size};
    const char *a = (const char *)r->computed[c->y->value.id] + i * size;
    return measure_difference(&one, a, (const char *)c->given + i * size, NULL).different != 0;
}

static size_t channel_of(const cut *c, size_t i) {
    return c->channels ? i / c->stride % c->channels : 0;
}

// Chooses elements that differ, all of the channel of the first.
static void choose_elements(const replay *r, cut *c) {
    size_t total = qdq_shape_count(c->y->info.shape);
    for (size_t i = 0; i < total && c->count < c->most; i++) {
        if (!element_differs(r, c, i)) continue;
        if (!c->count) c->channel = channel_of(c, i);
        if (channel_of(c, i) == c->channel) c->at[c->count++] = i;
    }
}

static void find_channels(const node_document *d, cut *c) {
    size_t count = 0;
    if (strcmp(document_attr_word(d, "qtype"), "per_channel") != 0) return;
    double *given = document_attr_numbers(d, "axis", &count);
    double axis = given && count ? given[0] : 1;
    elements_free(given);
    const qdq_shape *shape = &c->y->info.shape;
    if (axis < 0) axis += shape->rank;
    if (!(axis >= 0 && axis < shape->rank)) return;
    c->channels = (size_t)shape->dims[(int)axis];
    c->stride = 1;
    for (int i = (int)axis + 1; i < shape->rank; i++) c->stride *= (size_t)shape->dims[i];
}

//---- Cutting ----------------------------------------------------------------

static bool cut_port(node_document *d, const replay *r, size_t node, size_t port, const cut *c) {
    const qdq_graph *graph = r->form.graph;
    qdq_value value = qdq_graph_node_input(graph, node, port);
    qdq_dtype dtype;
    qdq_shape shape;
    if (!value.id || !qdq_value_type(graph, value, &dtype, &shape)) return true;
    size_t count = qdq_shape_count(shape), kept = count;
    bool constant = qdq_value_is_constant(graph, value);
    const void *data = constant ? qdq_value_data(graph, value) : r->used[value.id];
    double *numbers = data ? elements_take_numbers(r->exec_options.allocator, count) : NULL;
    if (!numbers) return false;
    to_doubles(dtype, data, count, numbers);
    if (!c->whole && qdq_shape_equal(shape, c->y->info.shape) && count > 1) {
        for (size_t i = 0; i < c->count; i++) numbers[i] = numbers[c->at[i]];
        kept = c->count;
        shape = (qdq_shape){.rank = 1, .dims = {(int64_t)kept}};
    } else if (!c->whole && c->channels && count == c->channels) {
        numbers[0] = numbers[c->channel];
        kept = 1;
        shape = (qdq_shape){0};
    }
    bool done = document_set_constant(d, port, dtype, shape, numbers, kept);
    elements_free(numbers);
    return done;
}

// Cuts parameters in attributes to the channel that is kept.
static bool cut_attrs(node_document *d, const cut *c) {
    static const char *const attrs[] = {"scales", "zps"};
    bool done = true;
    if (c->whole || !c->channels) return true;
    for (size_t i = 0; done && i < 2; i++) {
        size_t count = 0;
        double *numbers = document_attr_numbers(d, attrs[i], &count);
        if (numbers && count == c->channels)
            done = document_set_attr(d, attrs[i], NULL, &numbers[c->channel], 1);
        elements_free(numbers);
    }
    document_drop_attr(d, "qtype");
    document_drop_attr(d, "axis");
    return done;
}

static bool cut_document(node_document *d, const replay *r, size_t node, const cut *c) {
    bool done = true;
    document_begin(d);
    for (size_t i = 0; done && i < qdq_graph_node(r->form.graph, node).input_count; i++)
        done = cut_port(d, r, node, i, c);
    return done && cut_attrs(d, c);
}

//---- Files ------------------------------------------------------------------

static int write_text(const char *path, const char *text) {
    FILE *file = fopen(path, "wb");
    bool done = file && fputs(text, file) >= 0 && fputc('\n', file) == '\n';
    if (file && fclose(file) != 0) done = false;
    return done ? EXIT_OK : tell_failure(QDQ_ERR_IO, "%s: cannot be written", path);
}

static int write_given(const char *path, const char *name, const cut *c) {
    qdq_error err = {0};
    size_t size = qdq_dtype_size(c->y->info.dtype);
    char *data = malloc(c->y->info.bytes + 1);
    if (!data) return tell_failure(QDQ_ERR_MEMORY, "no memory to write %s", path);
    qdq_tensor t = {name, c->y->info.dtype, c->y->info.shape, data};
    if (c->whole) memcpy(data, c->given, c->y->info.bytes);
    if (!c->whole) t.shape = (qdq_shape){.rank = 1, .dims = {(int64_t)c->count}};
    for (size_t i = 0; !c->whole && i < c->count; i++)
        memcpy(data + i * size, (const char *)c->given + c->at[i] * size, size);
    qdq_status status = qdq_tensor_file_write(path, &t, 1, NULL, &err);
    free(data);
    return status == QDQ_OK ? EXIT_OK : report_error(&err);
}

const char *reproduction_given(const char *path, char *out, size_t capacity) {
    snprintf(out, capacity, "%.*s.got.safetensors", (int)strlen(path) - 5, path);
    return out;
}

static int write_files(node_document *d, const cut *c, const char *target, const char *path,
                       char *command, size_t capacity) {
    char given[4096];
    char *text = document_text(d, target);
    if (!text) return tell_failure(QDQ_ERR_MEMORY, "no memory to write %s", path);
    int code = write_text(path, text);
    free(text);
    if (code == EXIT_OK)
        code = write_given(reproduction_given(path, given, sizeof given), document_output(d), c);
    if (code == EXIT_OK) snprintf(command, capacity, "qdq explain %s --got %s", path, given);
    return code;
}

static int cannot_cut(const explanation *e, const char *path, const char *why) {
    fprintf(stderr, "qdq: %s is not written: node '%s' (%s) %s\n", path, e->node, e->op, why);
    return EXIT_OK;
}

//---- The reproduction -------------------------------------------------------

static size_t node_called(const replay *r, const char *name) {
    size_t n = 0;
    while (n < r->node_count && strcmp(qdq_graph_node(r->form.graph, n).name, name) != 0) n++;
    return n;
}

static bool choose_cut(node_document *d, const replay *r, size_t node, cut *c) {
    size_t elements;
    find_channels(d, c);
    size_t full = full_inputs(r, node, c, &elements);
    c->whole = full == SIZE_MAX || elements <= MOST_CUT;
    if (c->whole) return elements <= MOST_CUT;
    c->most = MOST_CUT / (full + 1);
    choose_elements(r, c);
    return c->count > 0;
}

static int reproduce(node_document *d, const replay *r, const explanation *e, size_t node,
                     const char *target, const char *path, char *command, size_t capacity) {
    cut c = {.y = &r->nodes[node].run.outputs[0]};
    c.given = replay_given(r, c.y->value);
    if (!c.given) c.given = e->result;
    if (!c.given) return cannot_cut(e, path, "has a result that is not known");
    if (!choose_cut(d, r, node, &c))
        return cannot_cut(e, path, "has more than 64 elements and cannot be cut to less");
    if (!cut_document(d, r, node, &c))
        return cannot_cut(e, path, "has parameters that cannot be written");
    return write_files(d, &c, target, path, command, capacity);
}

int write_reproduction(const replay *r, const explanation *e, const char *target, const char *path,
                       char *command, size_t capacity) {
    char folder[4096];
    qdq_error err = {0};
    size_t node = node_called(r, e->node);
    if (node == r->node_count) return cannot_cut(e, path, "is made by a rewrite of the target");
    int code = make_folder(folder, sizeof folder);
    if (code != EXIT_OK) return code;
    node_document *d = document_open(r, node, folder, &err);
    code = d ? reproduce(d, r, e, node, target, path, command, capacity) : report_error(&err);
    document_close(d);
    (void)rmdir(folder);
    return code;
}
