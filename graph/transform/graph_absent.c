// SPDX-License-Identifier: Apache-2.0
// Stands in for the files of graph/ that the profile core lacks: patterns of targets, passes that
// only make plans faster, fingerprints, and graphs from graphs.
#include "graph/compile/compile.h"
#include "graph/core/copy.h"
#include "graph/core/names.h"
#include "graph/rewrite/rewrite.h"
#include "include/qdq/coding.h"
#include "include/qdq/equalize.h"
#include "include/qdq/fingerprint.h"
#include "runtime/base/profile.h"

static qdq_status refuse(qdq_error *err, const char *part) {
    return qdq_fail(err, QDQ_ERR_UNSUPPORTED, "this build of qdq has no %s: %s", part,
                    QDQ_BUILD_WITH("-Dprofile=full"));
}

//---- Graphs from graphs -----------------------------------------------------

qdq_graph *qdq_graph_quantized(qdq_graph *graph, const qdq_coding *codings, size_t count,
                               qdq_error *err) {
    (void)graph, (void)codings, (void)count;
    refuse(err, "qdq_graph_quantized");
    return NULL;
}

qdq_graph *qdq_graph_channels_last(qdq_graph *graph, qdq_error *err) {
    (void)graph;
    refuse(err, "qdq_graph_channels_last");
    return NULL;
}

qdq_equalize_sites *qdq_graph_equalize_sites(qdq_graph *graph, qdq_error *err) {
    (void)graph;
    refuse(err, "qdq_graph_equalize_sites");
    return NULL;
}

void qdq_equalize_sites_destroy(qdq_equalize_sites *sites) { (void)sites; }

size_t qdq_equalize_site_count(const qdq_equalize_sites *sites) {
    (void)sites;
    return 0;
}

const qdq_equalize_site *qdq_equalize_site_get(const qdq_equalize_sites *sites, size_t index) {
    (void)sites, (void)index;
    return NULL;
}

qdq_graph *qdq_graph_equalized(const qdq_equalize_sites *sites, const qdq_equalize_factors *factors,
                               size_t count, qdq_error *err) {
    (void)sites, (void)factors, (void)count;
    refuse(err, "qdq_graph_equalized");
    return NULL;
}

qdq_graph *qdq_graph_equalized_like(const qdq_equalize_sites *sites, qdq_other_constant other,
                                    void *self, qdq_error *err) {
    (void)sites, (void)other, (void)self;
    refuse(err, "qdq_graph_equalized_like");
    return NULL;
}

qdq_graph *qdq_graph_mended(qdq_graph *graph, const char *target, qdq_error *err) {
    (void)graph, (void)target;
    refuse(err, "mends");
    return NULL;
}

qdq_status qdq_graph_fingerprint(qdq_graph *graph, const char *target, qdq_exec *exec,
                                 uint64_t seed, qdq_fingerprint *out, qdq_error *err) {
    (void)graph, (void)target, (void)exec, (void)seed, (void)out;
    return refuse(err, "fingerprints");
}

//---- Rewriting --------------------------------------------------------------

// Copies a value and its name in the file.
static void keep_identity(qdq_graph *to, const qdq_graph *from, uint32_t id, qdq_value copy) {
    const char *original = from->values[id].original;
    if (!copy.id) return;
    if (original) qdq_graph_set_original(to, copy, original);
    to->values[copy.id].source = id;
}

static bool copy_node(qdq_graph *to, const qdq_graph *from, const qdq_node *node, qdq_value *copies,
                      qdq_mempool *pool) {
    qdq_value *inputs = qdq_mempool_array(pool, node->input_count, sizeof *inputs);
    for (size_t i = 0; inputs && i < node->input_count; i++)
        if (node->inputs[i].id) inputs[i] = copies[node->inputs[i].id];
    if (!inputs || !qdq_copy_whole_node(to, node, inputs, copies)) return false;
    for (size_t i = 0; i < node->output_count; i++)
        keep_identity(to, from, node->outputs[i], copies[node->outputs[i]]);
    return true;
}

static bool copy_all(qdq_graph *to, const qdq_graph *from, qdq_mempool *pool) {
    qdq_value *copies = qdq_mempool_array(pool, from->value_count, sizeof *copies);
    if (!copies) return false;
    for (uint32_t id = 1; id < from->value_count; id++) {
        const qdq_graph_value *v = &from->values[id];
        if (v->kind == QDQ_VALUE_MADE) continue;
        copies[id] = qdq_copy_given(to, v->name, v);
        keep_identity(to, from, id, copies[id]);
    }
    for (size_t i = 0; i < from->node_count; i++)
        if (!copy_node(to, from, &from->nodes[i], copies, pool)) return false;
    for (size_t i = 0; i < from->output_count; i++) {
        const qdq_graph_output *out = &from->outputs[i];
        qdq_output(to, out->name, copies[out->value.id]);
        if (out->original) qdq_graph_set_output_original(to, i, out->original);
    }
    qdq_copy_states(to, from);
    return !to->mempool.failed && !to->broken.status && !to->findings.errors;
}

// No target of this build has a pattern, so the graph that it runs is a copy.
qdq_status qdq_rewrite_between(const qdq_graph *graph, const qdq_rewrite_choice *choice,
                               qdq_findings *findings, qdq_graph **out, qdq_error *err) {
    (void)choice, (void)findings;
    qdq_mempool pool;
    qdq_mempool_init(&pool, graph->allocator);
    *out = qdq_copy_empty(graph);
    bool done = *out && copy_all(*out, graph, &pool);
    qdq_mempool_release(&pool);
    if (done) return QDQ_OK;
    qdq_graph_destroy(*out);
    *out = NULL;
    return qdq_fail(err, QDQ_ERR_MEMORY, "out of memory while copying the graph");
}

qdq_status qdq_rewrite(const qdq_graph *graph, const qdq_target_version *version,
                       qdq_findings *findings, qdq_graph **out, qdq_error *err) {
    qdq_rewrite_choice choice = {.a = version, .b = version};
    return qdq_rewrite_between(graph, &choice, findings, out, err);
}

//---- Passes that are left out -----------------------------------------------

bool qdq_draft_integer_execution(qdq_draft *draft) {
    (void)draft;
    return true;
}

bool qdq_draft_may_read_transposed(const qdq_draft *draft) {
    (void)draft;
    return false;
}

bool qdq_draft_read_transposed(qdq_draft *draft) {
    (void)draft;
    return true;
}

bool qdq_draft_join_bytes(qdq_draft *draft) {
    (void)draft;
    return true;
}

bool qdq_draft_recompute(qdq_draft *draft) {
    (void)draft;
    return true;
}

bool qdq_join_sums(qdq_compiler *c, const qdq_draft_step *draft, qdq_step *step) {
    (void)c, (void)draft, (void)step;
    return true;
}
