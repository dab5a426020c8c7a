// SPDX-License-Identifier: Apache-2.0
#include "graph/memory/given_layout.h"

#include "runtime/base/error.h"
#include "runtime/base/fp_environment.h"
#include "runtime/tenstorrent/page_layout.h"
#include "runtime/tenstorrent/shard_cores.h"

//---- The table --------------------------------------------------------------

const qdq_given_layout *qdq_graph_given_layout(const qdq_graph *graph, uint32_t id) {
    return id < graph->given_layout_count ? graph->given_layouts[id] : NULL;
}

// Makes the table long enough for every value that the graph has room for now.
static bool make_room(qdq_graph *graph) {
    size_t count = graph->value_capacity;
    qdq_given_layout **table =
        qdq_mempool_array(&graph->mempool, count, sizeof(qdq_given_layout *));
    if (!table) return false;
    for (size_t i = 0; i < graph->given_layout_count; i++) table[i] = graph->given_layouts[i];
    graph->given_layouts = table;
    graph->given_layout_count = count;
    return true;
}

qdq_given_layout *qdq_graph_give_layout(qdq_graph *graph, uint32_t id) {
    if (id >= graph->given_layout_count && !make_room(graph)) return NULL;
    qdq_given_layout **given = &graph->given_layouts[id];
    if (!*given) *given = QDQ_MEMPOOL_NEW(&graph->mempool, qdq_given_layout);
    return *given;
}

//---- Checks -----------------------------------------------------------------

static void report(qdq_graph *graph, qdq_value value, const char *port, const char *found,
                   const char *wanted) {
    const qdq_graph_value *v = &graph->values[value.id];
    bool is_made = v->kind == QDQ_VALUE_MADE;
    const qdq_op *op = is_made && v->node < graph->node_count ? graph->nodes[v->node].op : NULL;
    const char *kind = is_made ? NULL : v->kind == QDQ_VALUE_CONSTANT ? "constant" : "input";
    qdq_graph_report_core(graph, QDQ_RULE_MEMORY_CONFIG,
                          (qdq_subject){v->name, op ? op->name : NULL, port, kind}, found, wanted);
}

// True if `value` can be given a `what`. Invalid values, which a finding already reports, cannot.
static bool takes_layout(qdq_graph *graph, qdq_value value, const char *what) {
    if (!graph || graph->mempool.failed || graph->broken.status) return false;
    if (!value.id || value.id >= graph->value_count) {
        qdq_graph_report_core(graph, QDQ_RULE_VALUE_UNKNOWN, (qdq_subject){.port = what},
                              "is for no value", "a value of this graph");
        return false;
    }
    const qdq_graph_value *v = &graph->values[value.id];
    if (v->kind == QDQ_VALUE_MADE && v->node < graph->node_count && v->port) {
        report(graph, value, what, "is given for another output", "the first output of the node");
        return false;
    }
    return v->valid;
}

// True if `number` is below `end`; reports a finding otherwise.
static bool check_word(qdq_graph *graph, qdq_value value, const char *port, unsigned number,
                       unsigned end) {
    if (number < end) return true;
    report(graph, value, port, qdq_text(&graph->findings, "is %u", number),
           qdq_text(&graph->findings, "0 to %u", end - 1));
    return false;
}

static bool check_words(qdq_graph *graph, qdq_value value, const qdq_memory_config *c) {
    const qdq_shard_spec *spec = &c->shard_spec;
    return check_word(graph, value, "buffer_type", (unsigned)c->buffer_type, QDQ_TRACE + 1) &&
           check_word(graph, value, "memory_layout", (unsigned)c->memory_layout,
                      QDQ_ND_SHARDED + 1) &&
           check_word(graph, value, "orientation", (unsigned)spec->orientation,
                      QDQ_SHARD_COL_MAJOR + 1) &&
           check_word(graph, value, "distribution", (unsigned)spec->distribution,
                      QDQ_CONTIGUOUS_1D + 1);
}

static bool check_shape(qdq_graph *graph, qdq_value value, const qdq_memory_config *c) {
    const qdq_shape *shape = &c->shard_spec.shape;
    qdq_findings *f = &graph->findings;
    bool nd = c->memory_layout == QDQ_ND_SHARDED;
    if (shape->rank < (nd ? 1 : 2) || shape->rank > (nd ? QDQ_MAX_RANK : 2)) {
        report(graph, value, "memory_config", qdq_text(f, "has a shard of rank %d", shape->rank),
               nd ? "rank 1 to 8" : "rank 2, or an nd_shard_spec");
        return false;
    }
    for (int i = 0; i < shape->rank; i++)
        if (shape->dims[i] < 1 || shape->dims[i] > INT32_MAX) {
            report(graph, value, "memory_config",
                   qdq_text(f, "has a shard with a dim of %lld", (long long)shape->dims[i]),
                   "1 to 2^31 - 1");
            return false;
        }
    return true;
}

static bool check_spec(qdq_graph *graph, qdq_value value, const qdq_memory_config *c) {
    const qdq_shard_spec *spec = &c->shard_spec;
    qdq_error err = {0};
    if (!spec->grid_count && !spec->shape.rank) return true;
    if (c->memory_layout == QDQ_INTERLEAVED) {
        report(graph, value, "memory_config", "has a shard_spec and is INTERLEAVED",
               "a memory_layout that is sharded");
        return false;
    }
    // The largest grid that there could be: target ttnn's rules know the device.
    if (qdq_shard_cores_check(spec, UINT16_MAX + 1, UINT16_MAX + 1, &err) != QDQ_MEMORY_FINE) {
        report(graph, value, "memory_config", qdq_text(&graph->findings, "cannot be: %s", err.text),
               NULL);
        return false;
    }
    if (spec->distribution && c->memory_layout != QDQ_ND_SHARDED) {
        report(graph, value, "memory_config", "has the distribution CONTIGUOUS_1D",
               "memory_layout ND_SHARDED for it");
        return false;
    }
    return check_shape(graph, value, c);
}

//---- Giving -----------------------------------------------------------------

void qdq_set_memory_config(qdq_graph *graph, qdq_value value, const qdq_memory_config *config) {
    QDQ_FIXED_ENVIRONMENT;
    if (!takes_layout(graph, value, "memory_config")) return;
    if (!config) {
        report(graph, value, "memory_config", "is NULL", "a qdq_memory_config");
        return;
    }
    if (!check_words(graph, value, config) || !check_spec(graph, value, config)) return;
    qdq_given_layout *given = qdq_graph_give_layout(graph, value.id);
    if (!given) return;
    given->has_config = true;
    given->as.memory_config = *config;
}

void qdq_set_layout(qdq_graph *graph, qdq_value value, qdq_layout layout) {
    QDQ_FIXED_ENVIRONMENT;
    if (!takes_layout(graph, value, "layout") ||
        !check_word(graph, value, "layout", (unsigned)layout, QDQ_LAYOUT_ROW_MAJOR + 1))
        return;
    qdq_given_layout *given = qdq_graph_give_layout(graph, value.id);
    if (!given) return;
    given->has_layout = true;
    given->as.layout = layout;
}

void qdq_set_tile(qdq_graph *graph, qdq_value value, qdq_tile_shape tile) {
    QDQ_FIXED_ENVIRONMENT;
    if (!takes_layout(graph, value, "tile")) return;
    if (!qdq_tile_shape_is_legal(qdq_tile_shape_or_default(tile))) {
        report(graph, value, "tile",
               qdq_text(&graph->findings, "is %ux%u%s", tile.height, tile.width,
                        tile.transpose ? ", transposed" : ""),
               "a height of 32, 16, 8, 4, 2 or 1 and a width of 32 or 16; transposed a height of "
               "32 or 16");
        return;
    }
    qdq_given_layout *given = qdq_graph_give_layout(graph, value.id);
    if (!given) return;
    given->has_tile = true;
    given->as.tile = tile;
}
