// SPDX-License-Identifier: Apache-2.0
// Leaves sizes open in a model. The model is drafted for the sizes of the graph and for two sets of
// others, and the drafts are compared. They may differ in declared dims, and in one entry of the
// constant shape of a Reshape, which becomes -1.
#include "graph/formats/onnx/write/onnx_write_free.h"

#include <string.h>

#include "runtime/numerics/dtype.h"

// The drafts of all trials.
typedef struct trials {
    const qdq_graph *graph;
    qdq_mempool *mempool;
    qdq_graph graphs[QDQ_FREE_TRIALS];
    qdq_onnx_draft own[QDQ_FREE_TRIALS];
    qdq_onnx_draft *drafts[QDQ_FREE_TRIALS];  // the first one for a trial that is left out
    qdq_onnx_new_node **readers;  // of the constants of the first draft; `several`: more than one
    qdq_onnx_new_node several;
    const char *why;  // the end of a sentence: why no model holds for all sizes
} trials;

static bool misfits(trials *t, const char *name, const char *op) {
    t->why = qdq_text(t->drafts[0]->findings, "node '%.200s' (%s) depends on it", name, op);
    return false;
}

//---- Drafts -----------------------------------------------------------------

// True if a trial changes one of these sizes.
static bool changes(const trials *t, const bool *open, int trial) {
    bool change = false;
    for (size_t i = 0; i < t->graph->free_size_count; i++)
        change |= open[i] && qdq_free_size_in(t->graph, i, trial) != t->graph->free_sizes[i].size;
    return change;
}

static qdq_status make_draft(trials *t, const bool *open, int trial, qdq_findings *findings,
                             qdq_error *err) {
    qdq_onnx_draft *draft = t->drafts[trial] = &t->own[trial];
    qdq_graph *graph = &t->graphs[trial];
    const qdq_node *node = NULL;
    *draft = (qdq_onnx_draft){.graph = graph, .mempool = t->mempool, .findings = findings};
    memcpy(draft->open, open, sizeof draft->open);
    if (!qdq_resized_graph(t->graph, trial, open, t->mempool, findings, graph, &node)) {
        if (t->mempool->failed) return qdq_fail_memory(err, t->graph->value_count);
        t->why = "a node or a constant that depends on it was replaced";
        if (node)
            (void)misfits(t, node->original ? node->original : node->name,
                          node->original_op ? node->original_op : node->op->name);
        return QDQ_OK;
    }
    if (!qdq_onnx_open_names(draft, err)) return err->status;
    QDQ_TRY(qdq_onnx_make_draft(draft, err));
    if (findings->errors) t->why = qdq_text(findings, "%s", findings->items[0].message);
    return QDQ_OK;
}

// Makes the drafts with these sizes open; t->why tells why it cannot.
static qdq_status make_drafts(trials *t, const bool *open, qdq_findings *findings, qdq_error *err) {
    t->why = NULL;
    for (int k = 0; k < QDQ_FREE_TRIALS && !t->why; k++) {
        if (k && !changes(t, open, k))
            t->drafts[k] = t->drafts[0];
        else
            QDQ_TRY(make_draft(t, open, k, findings, err));
    }
    return QDQ_OK;
}

static void release_drafts(trials *t) {
    for (int k = 0; k < QDQ_FREE_TRIALS; k++)
        if (t->own[k].graph) qdq_onnx_close_names(&t->own[k]);
}

//---- Comparing --------------------------------------------------------------

static bool same_text(const char *a, const char *b) { return strcmp(a ? a : "", b ? b : "") == 0; }

static bool same_texts(const qdq_onnx_strings *a, const qdq_onnx_strings *b) {
    bool same = a->count == b->count;
    for (size_t i = 0; same && i < a->count; i++) same = same_text(a->items[i], b->items[i]);
    return same;
}

static bool same_attr(const qdq_onnx_attr *a, const qdq_onnx_attr *b) {
    bool same = a->type == b->type && a->i == b->i && same_text(a->name, b->name) &&
                same_text(a->s, b->s) && a->f == b->f && a->ints.count == b->ints.count;
    return same && (!a->ints.count || memcmp(a->ints.items, b->ints.items,
                                             a->ints.count * sizeof *a->ints.items) == 0);
}

static bool same_node(const qdq_onnx_new_node *a, const qdq_onnx_new_node *b) {
    bool same = same_text(a->op, b->op) && same_text(a->domain, b->domain) &&
                same_texts(&a->inputs, &b->inputs) && same_texts(&a->outputs, &b->outputs) &&
                a->attrs.count == b->attrs.count;
    for (size_t i = 0; same && i < a->attrs.count; i++)
        same = same_attr(&a->attrs.items[i], &b->attrs.items[i]);
    return same;
}

static bool same_nodes(trials *t, const qdq_onnx_draft *other) {
    const qdq_onnx_draft *draft = t->drafts[0];
    size_t count = draft->nodes.count;
    for (size_t i = 0; i < count && i < other->nodes.count; i++)
        if (!same_node(draft->nodes.items[i], other->nodes.items[i]))
            return misfits(t, draft->nodes.items[i]->name, draft->nodes.items[i]->op);
    return count == other->nodes.count || misfits(t, draft->graph->name, "graph");
}

//---- Constants --------------------------------------------------------------

// Finds the only reader of each constant of the first draft.
static bool find_readers(trials *t, qdq_error *err) {
    const qdq_onnx_draft *draft = t->drafts[0];
    qdq_symbols *names = qdq_symbols_create(t->graph->allocator, err);
    t->readers =
        qdq_mempool_array(t->mempool, draft->constants.count + 1, sizeof(qdq_onnx_new_node *));
    bool fine = names && t->readers;
    for (size_t i = 0; fine && i < draft->constants.count; i++) {
        const char *name = draft->constants.items[i].name;
        fine = qdq_symbols_add(names, name, strlen(name), (uint32_t)i, err) == QDQ_OK;
    }
    for (size_t i = 0; fine && i < draft->nodes.count; i++) {
        qdq_onnx_new_node *node = draft->nodes.items[i];
        for (size_t k = 0; k < node->inputs.count; k++) {
            const char *name = node->inputs.items[k];
            uint32_t at;
            if (qdq_symbols_find(names, name, strlen(name), &at))
                t->readers[at] = t->readers[at] ? &t->several : node;
        }
    }
    qdq_symbols_destroy(names);
    if (!fine && err->status == QDQ_OK) qdq_fail_memory(err, draft->constants.count);
    return fine;
}

static bool same_constant(const qdq_onnx_constant *a, const qdq_onnx_constant *b) {
    size_t bytes = qdq_shape_count(a->type.shape) * qdq_dtype_size(a->type.dtype);
    if (a->type.dtype != b->type.dtype || !qdq_shape_equal(a->type.shape, b->type.shape))
        return false;
    if (a->value || b->value)
        return a->value && b->value && a->value->data == b->value->data &&
               a->value->stored == b->value->stored;
    return memcmp(a->data, b->data, bytes) == 0;
}

// Merges the shapes of a Reshape: one entry may differ between drafts, and becomes -1. False: it
// is no Reshape, or several entries differ.
static bool merge_shape(trials *t, size_t index) {
    qdq_onnx_constant *first = &t->drafts[0]->constants.items[index];
    const qdq_onnx_new_node *reader = t->readers[index];
    size_t count = qdq_shape_count(first->type.shape), others = 0;
    bool reshape = reader && strcmp(reader->op ? reader->op : "", "Reshape") == 0 &&
                   strcmp(reader->inputs.items[1], first->name) == 0;
    if (!reshape || first->value) return false;
    int64_t *merged = qdq_mempool_copy(t->mempool, first->data, count, sizeof *merged);
    for (int k = 1; merged && k < QDQ_FREE_TRIALS; k++)
        if (!qdq_shape_equal(t->drafts[k]->constants.items[index].type.shape, first->type.shape))
            return false;
    for (size_t i = 0; merged && i < count; i++) {
        bool differs = false;
        for (int k = 1; k < QDQ_FREE_TRIALS; k++) {
            const int64_t *other = t->drafts[k]->constants.items[index].data;
            differs |= other[i] != merged[i];
        }
        if (differs) merged[i] = -1;
        others += merged[i] == -1;
    }
    if (!merged || others > 1) return false;
    first->data = merged;
    return true;
}

static bool same_constants(trials *t) {
    qdq_onnx_draft *draft = t->drafts[0];
    for (int k = 1; k < QDQ_FREE_TRIALS; k++)
        if (t->drafts[k]->constants.count != draft->constants.count)
            return misfits(t, draft->graph->name, "graph");
    for (size_t i = 0; i < draft->constants.count; i++) {
        bool same = true;
        for (int k = 1; k < QDQ_FREE_TRIALS; k++)
            same &= same_constant(&draft->constants.items[i], &t->drafts[k]->constants.items[i]);
        const qdq_onnx_new_node *reader = t->readers[i];
        if (same || merge_shape(t, i)) continue;
        return misfits(t, reader && reader->name ? reader->name : draft->constants.items[i].name,
                       reader && reader->op ? reader->op : "constant");
    }
    return true;
}

//---- Declared dims ----------------------------------------------------------

// Returns the name of a dim that has other sizes in other drafts.
static const char *name_of(const trials *t, const int64_t *sizes) {
    for (size_t i = 0; i < t->graph->free_size_count; i++) {
        bool equal = t->drafts[0]->open[i];
        for (int k = 0; k < QDQ_FREE_TRIALS; k++)
            equal &= sizes[k] == qdq_free_size_in(t->graph, i, k);
        if (equal) return t->graph->free_sizes[i].name;
    }
    return "";
}

// Opens the dims of a list of declared values. False: lists of other drafts have other values.
static bool open_dims(const trials *t, size_t offset) {
    qdq_onnx_declarations lists[QDQ_FREE_TRIALS];
    for (int k = 0; k < QDQ_FREE_TRIALS; k++)
        memcpy(&lists[k], (const char *)t->drafts[k] + offset, sizeof lists[k]);
    for (size_t i = 0; i < lists[0].count; i++) {
        qdq_onnx_declared *declared = &lists[0].items[i];
        for (int d = 0; d < declared->type.shape.rank; d++) {
            int64_t sizes[QDQ_FREE_TRIALS];
            bool equal = true;
            for (int k = 0; k < QDQ_FREE_TRIALS; k++) {
                if (lists[k].count != lists[0].count ||
                    lists[k].items[i].type.shape.rank != declared->type.shape.rank)
                    return false;
                sizes[k] = lists[k].items[i].type.shape.dims[d];
                equal &= sizes[k] == sizes[0];
            }
            if (!equal) declared->dims[d] = name_of(t, sizes);
        }
    }
    return true;
}

// Gives the open dims of inputs their own names; several may have equal sizes.
static void name_inputs(const trials *t) {
    const qdq_onnx_draft *draft = t->drafts[0];
    for (size_t i = 0; i < t->graph->free_size_count; i++) {
        const qdq_free_size *size = &t->graph->free_sizes[i];
        for (size_t k = 0; draft->open[i] && k < size->place_count; k++) {
            uint32_t id = qdq_graph_find(draft->graph, size->places[k].input).id;
            for (size_t n = 0; n < draft->inputs.count; n++)
                if (strcmp(draft->inputs.items[n].name, draft->names[id]) == 0)
                    draft->inputs.items[n].dims[size->places[k].dim] = size->name;
        }
    }
}

//---- The whole --------------------------------------------------------------

// Tries to open sizes. On success t->why is NULL, and the first draft holds for them.
static qdq_status try_open(trials *t, const bool *open, const qdq_findings *like, qdq_error *err) {
    qdq_findings findings = *like;
    static const size_t lists[] = {offsetof(qdq_onnx_draft, inputs),
                                   offsetof(qdq_onnx_draft, outputs),
                                   offsetof(qdq_onnx_draft, others)};
    findings.mempool = t->mempool, findings.items = NULL;
    findings.count = findings.capacity = findings.errors = findings.warnings = 0;
    QDQ_TRY(make_drafts(t, open, &findings, err));
    if (t->why) return QDQ_OK;
    if (!find_readers(t, err)) return err->status;
    bool same = true;
    for (int k = 1; same && k < QDQ_FREE_TRIALS; k++) same = same_nodes(t, t->drafts[k]);
    same = same && same_constants(t);
    for (size_t i = 0; same && i < 3; i++)
        if (!open_dims(t, lists[i])) same = misfits(t, t->graph->name, "graph");
    if (same) name_inputs(t);
    return t->mempool->failed ? qdq_fail_memory(err, t->graph->value_count) : QDQ_OK;
}

static size_t count_open(const trials *t, const char *const *fixed_by, bool *open) {
    size_t count = 0;
    for (size_t i = 0; i < QDQ_MOST_FREE; i++) {
        open[i] = i < t->graph->free_size_count && !fixed_by[i];
        count += open[i];
    }
    return count;
}

static bool in_group(const trials *t, size_t index, size_t group) {
    return index < t->graph->free_size_count && t->graph->free_sizes[index].group == group;
}

// Finds the sizes that cannot be open, and leaves drafts of the others.
static qdq_status settle(trials *t, const char **fixed_by, const qdq_findings *like,
                         qdq_error *err) {
    bool open[QDQ_MOST_FREE];
    size_t count = count_open(t, fixed_by, open);
    if (!count) return QDQ_OK;
    QDQ_TRY(try_open(t, open, like, err));
    if (!t->why) return QDQ_OK;
    for (size_t i = 0; i < t->graph->free_size_count && count > 1; i++) {
        if (fixed_by[i] || t->graph->free_sizes[i].group != i) continue;
        for (size_t k = 0; k < QDQ_MOST_FREE; k++) open[k] = in_group(t, k, i);
        release_drafts(t);
        QDQ_TRY(try_open(t, open, like, err));
        for (size_t k = 0; k < QDQ_MOST_FREE; k++)
            if (open[k]) fixed_by[k] = t->why;
    }
    release_drafts(t);
    if (count == 1 || !count_open(t, fixed_by, open))
        open[0] = false;
    else
        QDQ_TRY(try_open(t, open, like, err));
    for (size_t i = 0; t->why && i < t->graph->free_size_count; i++)
        if (!fixed_by[i]) fixed_by[i] = t->why;
    return QDQ_OK;
}

qdq_status qdq_onnx_open_draft(qdq_onnx_draft *draft, qdq_error *err) {
    const qdq_graph *graph = draft->graph;
    const char *fixed_by[QDQ_MOST_FREE] = {NULL};
    bool open[QDQ_MOST_FREE];
    if (!graph->free_size_count) return QDQ_OK;
    trials *t = QDQ_MEMPOOL_NEW(draft->mempool, trials);
    if (!t) return qdq_fail_memory(err, sizeof *t);
    t->graph = graph, t->mempool = draft->mempool;
    for (size_t i = 0; i < graph->free_size_count; i++) fixed_by[i] = graph->free_sizes[i].fixed_by;
    qdq_status status = settle(t, fixed_by, draft->findings, err);
    if (status == QDQ_OK && count_open(t, fixed_by, open)) {
        qdq_findings *findings = draft->findings;
        qdq_onnx_close_names(draft);
        *draft = *t->drafts[0];
        t->drafts[0]->taken = t->drafts[0]->taken_nodes = NULL;
        draft->findings = findings;
    }
    memcpy(draft->fixed_by, fixed_by, sizeof fixed_by);
    release_drafts(t);
    return status;
}
