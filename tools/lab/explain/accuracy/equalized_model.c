// SPDX-License-Identifier: Apache-2.0
// Reads the weights of a quantized graph from a run with their Dequantize nodes kept, and looks for
// powers of two between them and the weights of the float model.
#include "tools/lab/explain/accuracy/equalized_model.h"

#include <qdq/equalize.h>
#include <qdq/inspect.h>
#include <stdlib.h>
#include <string.h>

#include "tools/common.h"
#include "tools/elements.h"
#include "tools/failure.h"

typedef struct weights_reader {
    qdq_graph *quantized, *real;
    qdq_exec *exec;     // of the quantized graph after a run
    const char **kept;  // values that the run keeps
    size_t kept_count;
    float *elements;  // of the last constant
    const qdq_exec_options *options;
} weights_reader;

//---- The quantized graph ----------------------------------------------------

static qdq_value first_output(const qdq_graph *g, size_t node) {
    return qdq_graph_node_output(g, node, 0);
}

static bool is_dequantized_constant(const qdq_graph *g, size_t node) {
    return strcmp(qdq_graph_node(g, node).op, "Dequantize") == 0 &&
           qdq_value_is_constant(g, qdq_graph_node_input(g, node, 0));
}

static bool list_kept(weights_reader *r) {
    const qdq_graph *g = r->quantized;
    r->kept = calloc(qdq_graph_node_count(g) + 1, sizeof *r->kept);
    if (!r->kept) return false;
    for (size_t n = 0; n < qdq_graph_node_count(g); n++)
        if (is_dequantized_constant(g, n))
            r->kept[r->kept_count++] = qdq_value_name(g, first_output(g, n));
    return r->kept_count > 0;
}

// Runs the quantized graph on zeros. False if memory is short.
static bool run(weights_reader *r, const char *target, qdq_plan **plan) {
    const qdq_compile_options compile = {.target = target,
                                         .layout = QDQ_PLAN_ROWS,
                                         .device = qdq_device_find("none", NULL),
                                         .parallel = r->options->parallel,
                                         .keep = r->kept,
                                         .keep_count = r->kept_count};
    qdq_error err = {0};
    *plan = qdq_graph_compile(r->quantized, &compile, &err);
    r->exec = qdq_exec_create(*plan, r->options, &err);
    qdq_exec_run(r->exec);
    return r->exec != NULL;
}

//---- Weights ----------------------------------------------------------------

// Finds the node of the quantized graph with the result of a node of the float model. SIZE_MAX:
// none of the same op.
static size_t same_node(const weights_reader *r, size_t node) {
    const char *value = qdq_value_name(r->real, first_output(r->real, node));
    const char *name = qdq_value_original(r->real, value);
    qdq_value same = qdq_graph_find(r->quantized, qdq_value_name_of(r->quantized, name));
    const char *op = qdq_graph_node(r->real, node).op;
    for (size_t n = 0; same.id && n < qdq_graph_node_count(r->quantized); n++)
        if (first_output(r->quantized, n).id == same.id)
            return strcmp(qdq_graph_node(r->quantized, n).op, op) == 0 ? n : SIZE_MAX;
    return SIZE_MAX;
}

// Finds the port that reads a constant of the float model. False if there is none.
static bool reader_of(const qdq_graph *g, qdq_value constant, size_t *node, size_t *port) {
    for (*node = 0; *node < qdq_graph_node_count(g); ++*node)
        for (*port = 0; *port < qdq_graph_node(g, *node).input_count; ++*port)
            if (qdq_graph_node_input(g, *node, *port).id == constant.id) return true;
    return false;
}

static bool is_float32_like(const weights_reader *r, qdq_value v, qdq_value constant,
                            size_t *count) {
    qdq_dtype dtypes[2];
    qdq_shape shapes[2];
    if (!qdq_value_type(r->quantized, v, &dtypes[0], &shapes[0]) ||
        !qdq_value_type(r->real, constant, &dtypes[1], &shapes[1]) || dtypes[0] != QDQ_FLOAT32 ||
        dtypes[1] != QDQ_FLOAT32 || !qdq_shape_equal(shapes[0], shapes[1]))
        return false;
    *count = qdq_shape_count(shapes[0]);
    return true;
}

static const float *weights_of(void *self, qdq_value constant) {
    weights_reader *r = self;
    size_t node, port, count, same;
    qdq_error err = {0};
    if (!reader_of(r->real, constant, &node, &port) || (same = same_node(r, node)) == SIZE_MAX ||
        port >= qdq_graph_node(r->quantized, same).input_count)
        return NULL;
    qdq_value v = qdq_graph_node_input(r->quantized, same, port);
    if (!is_float32_like(r, v, constant, &count)) return NULL;
    if (qdq_value_is_constant(r->quantized, v)) return qdq_value_data(r->quantized, v);
    elements_free(r->elements);
    r->elements = elements_take(r->options->allocator, count * sizeof *r->elements);
    const char *name = qdq_value_name(r->quantized, v);
    bool read = r->elements &&
                qdq_exec_read(r->exec, name, QDQ_FLOAT32, r->elements, count, &err) == QDQ_OK;
    return read ? r->elements : NULL;
}

//---- The float model --------------------------------------------------------

static int replace(session *real, qdq_graph *graph, const options *opt) {
    qdq_error err = {0};
    const char *target = session_core_or(real, NULL);
    qdq_exec_destroy(real->exec);
    qdq_plan_destroy(real->plan);
    qdq_graph_destroy(real->graph);
    real->graph = graph;
    real->plan = NULL, real->exec = NULL;
    int code = session_compile_told(real, opt, target);
    if (code != EXIT_OK) return code;
    real->report = qdq_graph_validate(graph, target, &err);
    return real->report ? EXIT_OK : report_error(&err);
}

int equalized_model(const session *quantized, session *real, const options *opt) {
    qdq_error err = {0};
    weights_reader r = {
        .quantized = quantized->graph, .real = real->graph, .options = &quantized->exec_options};
    qdq_plan *plan = NULL;
    qdq_graph *graph = NULL;
    qdq_equalize_sites *sites = qdq_graph_equalize_sites(real->graph, &err);
    // Without memory for a run, or if a weight would leave the range of float32, graphs are
    // compared as they are.
    if (qdq_equalize_site_count(sites) && list_kept(&r) &&
        run(&r, session_core_or(quantized, NULL), &plan))
        graph = qdq_graph_equalized_like(sites, weights_of, &r, &err);
    qdq_equalize_sites_destroy(sites);
    elements_free(r.elements);
    qdq_exec_destroy(r.exec);
    qdq_plan_destroy(plan);
    free(r.kept);
    return graph ? replace(real, graph, opt) : EXIT_OK;
}
