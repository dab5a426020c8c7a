// SPDX-License-Identifier: Apache-2.0
// Runs the nodes of a cone one after another. If the deployed graph shifts the codes of a value,
// they are shifted on the way in and back on the way out.
#include "tools/lab/compare/units/piece.h"

#include <stdlib.h>
#include <string.h>

#include "tools/common.h"
#include "tools/elements.h"
#include "tools/failure.h"

static int no_memory(const char *name) {
    return tell_failure(QDQ_ERR_MEMORY, "no memory to compute '%s'", name);
}

int piece_open(piece *p, const deployed *of, const bool *cut, const node_value *outputs,
               size_t count, const qdq_exec_options *exec_options, const char *isa) {
    *p = (piece){.of = of, .outputs = outputs, .output_count = count};
    qdq_value *values = calloc(count + 1, sizeof *values);
    for (size_t i = 0; values && i < count; i++) values[i] = outputs[i].value;
    bool found = values && cone_find(of, cut, values, count, &p->cone);
    free(values);
    if (found) p->runs = calloc(p->cone.node_count + 1, sizeof *p->runs);
    if (!p->runs) return no_memory(count ? outputs[0].info.name : "");
    qdq_error err = {0};
    for (size_t i = 0; err.status == QDQ_OK && i < p->cone.node_count; i++, p->open++)
        (void)node_open(&p->runs[i], of->graph, p->cone.nodes[i], exec_options, isa, &err);
    return err.status == QDQ_OK ? EXIT_OK : report_error(&err);
}

void piece_close(piece *p) {
    for (size_t i = 0; i < p->open; i++) node_close(&p->runs[i]);
    free(p->runs);
    cone_release(&p->cone);
    *p = (piece){0};
}

bool piece_can_run(const piece *p, const feed *from) {
    for (size_t i = 0; i < p->output_count; i++) {
        qdq_value given = p->outputs[i].value;
        if (given.id && !p->of->own[given.id].id) return false;
    }
    for (size_t i = 0; i < p->cone.input_count; i++)
        if (!from->data(from->with, p->cone.inputs[i])) return false;
    return true;
}

//---- Memory of values -------------------------------------------------------

// A value of the deployed graph.
typedef struct held {
    uint32_t id;
    void *data;
    bool owned;
} held;

typedef struct bench {
    const piece *piece;
    const feed *from;
    void *const *results;
    held *items;
    size_t count;
    const qdq_allocator *allocator;
} bench;

static void *find(const bench *b, qdq_value value) {
    for (size_t i = 0; i < b->count; i++)
        if (b->items[i].id == value.id) return b->items[i].data;
    return NULL;
}

static void *hold(bench *b, qdq_value value, void *data, bool owned) {
    if (data) b->items[b->count++] = (held){value.id, data, owned};
    return data;
}

static void shift(void *data, size_t bytes, int32_t offset) {
    unsigned char *codes = data;
    for (size_t i = 0; i < bytes; i++) codes[i] = (unsigned char)(codes[i] + (unsigned)offset);
}

static void *shifted(const qdq_allocator *from, const void *data, size_t bytes, int32_t offset) {
    void *copy = elements_take(from, bytes);
    if (!copy) return NULL;
    memcpy(copy, data, bytes);
    shift(copy, bytes, offset);
    return copy;
}

static void *input(bench *b, const node_value *v) {
    void *data = find(b, v->value);
    if (data) return data;
    qdq_value_source source = b->piece->of->sources[v->value.id];
    data = b->from->data(b->from->with, source.value);
    if (!data || !source.offset) return hold(b, v->value, data, false);
    return hold(b, v->value, shifted(b->allocator, data, v->info.bytes, source.offset), true);
}

// Returns the caller's memory of an output, into which its node writes directly.
static void *output(bench *b, const node_value *v) {
    const piece *p = b->piece;
    for (size_t i = 0; i < p->output_count; i++) {
        qdq_value given = p->outputs[i].value;
        if (given.id && p->of->own[given.id].id == v->value.id)
            return hold(b, v->value, b->results[i], false);
    }
    return hold(b, v->value, elements_take(b->allocator, v->info.bytes), true);
}

static bool make_bench(bench *b) {
    size_t room = 0;
    for (size_t i = 0; i < b->piece->open; i++)
        room += b->piece->runs[i].input_count + b->piece->runs[i].output_count;
    b->items = calloc(room + 1, sizeof *b->items);
    return b->items != NULL;
}

static void release_bench(bench *b) {
    for (size_t i = 0; i < b->count; i++)
        if (b->items[i].owned) elements_free(b->items[i].data);
    free(b->items);
}

//---- Running ----------------------------------------------------------------

static int compute_node(bench *b, size_t at, const qdq_numerics *numerics) {
    const node_run *run = &b->piece->runs[at];
    const piece_watch *watch = &b->piece->watch;
    void **inputs = calloc(run->input_count + run->output_count + 1, sizeof *inputs);
    if (!inputs) return no_memory(qdq_graph_name(run->graph));
    void **outputs = inputs + run->input_count;
    bool ready = true;
    for (size_t i = 0; i < run->input_count; i++)
        ready = (inputs[i] = input(b, &run->inputs[i])) && ready;
    for (size_t i = 0; i < run->output_count; i++)
        ready = (outputs[i] = output(b, &run->outputs[i])) && ready;
    if (ready && watch->before) watch->before(watch->with, at, inputs);
    int code = ready ? node_compute(run, numerics, inputs, outputs)
                     : no_memory(qdq_graph_name(run->graph));
    free(inputs);
    return code;
}

static void shift_results(const bench *b) {
    const piece *p = b->piece;
    for (size_t i = 0; i < p->output_count; i++) {
        qdq_value given = p->outputs[i].value;
        int32_t offset = given.id ? p->of->sources[p->of->own[given.id].id].offset : 0;
        if (offset) shift(b->results[i], p->outputs[i].info.bytes, -offset);
    }
}

// Copies outputs that the deployed graph has as constants.
static void copy_constants(const bench *b) {
    const piece *p = b->piece;
    for (size_t i = 0; i < p->output_count; i++) {
        qdq_value given = p->outputs[i].value, own = given.id ? p->of->own[given.id] : given;
        const void *data = own.id && qdq_value_is_constant(p->of->graph, own)
                               ? qdq_value_data(p->of->graph, own)
                               : NULL;
        if (data) memcpy(b->results[i], data, p->outputs[i].info.bytes);
    }
}

int piece_compute(const piece *p, const qdq_numerics *numerics, const feed *from,
                  void *const *results) {
    bench b = {.piece = p, .from = from, .results = results};
    if (p->open) b.allocator = p->runs[0].exec_options.allocator;
    int code = make_bench(&b) ? EXIT_OK : no_memory(p->output_count ? p->outputs[0].info.name : "");
    for (size_t i = 0; code == EXIT_OK && i < p->open; i++)
        code = compute_node(&b, i, &numerics[i]);
    if (code == EXIT_OK) copy_constants(&b);
    if (code == EXIT_OK) shift_results(&b);
    release_bench(&b);
    return code;
}
