// SPDX-License-Identifier: Apache-2.0
// Runs a graph literally and with --fast, and prints the nodes whose results differ.
#include "tools/lab/compare/compare_fast.h"

#include <math.h>
#include <qdq/inspect.h>
#include <stdio.h>
#include <stdlib.h>

#include "tools/check/bits.h"
#include "tools/common.h"
#include "tools/failure.h"
#include "tools/io/tensor_io.h"
#include "tools/lab/compare/closeness.h"
#include "tools/options.h"
#include "tools/session.h"

// Returns the largest |a - b|, without elements that are NaN on one side, which are counted
// separately.
static double largest_of(const double *a, const double *b, size_t count) {
    double largest = 0;
    for (size_t i = 0; i < count; i++) {
        double far = a[i] == b[i] ? 0 : fabs(a[i] - b[i]);
        if (far > largest) largest = far;
    }
    return largest;
}

//---- Compared values --------------------------------------------------------

// How --fast computes a node.
typedef enum fast_way { LITERALLY = 0, ON_INTEGERS, SCALES_LATER, BY_WINOGRAD } fast_way;

// The name of the cause in JSON, and its words in text.
static const struct {
    const char *cause, *text;
} ways[] = {[ON_INTEGERS] = {"integer execution", "computed on integers"},
            [SCALES_LATER] = {"scales of sums", "sums of codes are scaled"},
            [BY_WINOGRAD] = {"Winograd convolution", "computed by Winograd's algorithm"}};

// A value to compare in both runs. `given`: an input of its node already differs.
typedef struct look {
    size_t node;
    qdq_value value;
    fast_way way;
    bool given;
} look;

// The nodes that --fast does not compute literally, and the values that depend on them.
typedef struct fast_nodes {
    size_t values;
    fast_way *ways;  // [node]
    bool *read;      // [value]: read by a node on integers, so it may be integers itself
    bool *reached;   // [value]
    bool *differs;   // [value]: compared and different, or depends on a different value
    look *looks;
    size_t count;
} fast_nodes;

static void release_nodes(fast_nodes *n) {
    free(n->ways), free(n->read), free(n->reached), free(n->differs), free(n->looks);
}

static bool any_input(const qdq_graph *graph, size_t node, const bool *flags) {
    bool any = false;
    for (size_t k = 0; k < qdq_graph_node(graph, node).input_count; k++)
        any |= flags[qdq_graph_node_input(graph, node, k).id];
    return any;
}

static bool make_nodes(fast_nodes *n, const qdq_graph *graph) {
    size_t nodes = qdq_graph_node_count(graph), outputs = 0;
    for (size_t i = 0; i < nodes; i++) {
        qdq_node_info info = qdq_graph_node(graph, i);
        for (size_t k = 0; k < info.input_count + info.output_count; k++) {
            size_t id = k < info.input_count
                            ? qdq_graph_node_input(graph, i, k).id
                            : qdq_graph_node_output(graph, i, k - info.input_count).id;
            if (id >= n->values) n->values = id + 1;
        }
        outputs += info.output_count;
    }
    n->ways = calloc(nodes + 1, sizeof *n->ways);
    n->read = calloc(n->values + 1, sizeof *n->read);
    n->reached = calloc(n->values + 1, sizeof *n->reached);
    n->differs = calloc(n->values + 1, sizeof *n->differs);
    n->looks = calloc(outputs + 1, sizeof *n->looks);
    return n->ways && n->read && n->reached && n->differs && n->looks;
}

static bool is_integer(const qdq_graph *graph, qdq_value value) {
    qdq_dtype dtype;
    return qdq_value_type(graph, value, &dtype, NULL) && !qdq_dtype_is_real(dtype);
}

// Chooses the values to compare: results of nodes that --fast computes in another way, and integers
// computed from them, unless a node on integers reads them. Adding outputs for these values changes
// no bit of the run; an output for a dequantized value would.
static void find_looks(fast_nodes *n, const qdq_graph *graph, const qdq_plan *plan) {
    for (size_t i = 0; i < qdq_plan_get_stats(plan).step_count; i++) {
        const qdq_plan_step *step = qdq_plan_get_step(plan, i);
        if (step->scales_later) n->ways[step->node] = SCALES_LATER;
        if (step->winograd) n->ways[step->node] = BY_WINOGRAD;
        if (!step->on_integers) continue;
        n->ways[step->node] = ON_INTEGERS;
        for (size_t k = 0; k < qdq_graph_node(graph, step->node).input_count; k++)
            n->read[qdq_graph_node_input(graph, step->node, k).id] = true;
    }
    for (size_t i = 0; i < qdq_graph_node_count(graph); i++) {
        bool reached = n->ways[i] || any_input(graph, i, n->reached);
        for (size_t k = 0; reached && k < qdq_graph_node(graph, i).output_count; k++) {
            qdq_value value = qdq_graph_node_output(graph, i, k);
            n->reached[value.id] = true;
            if (!n->read[value.id] && (n->ways[i] || is_integer(graph, value)))
                n->looks[n->count++] = (look){i, value, n->ways[i], false};
        }
    }
}

static void add_looks(const fast_nodes *n, qdq_graph *graph) {
    char name[40];
    for (size_t i = 0; i < n->count; i++) {
        snprintf(name, sizeof name, "compare_fast_%zu", i);
        qdq_output(graph, name, n->looks[i].value);
    }
}

//---- Telling ----------------------------------------------------------------

typedef struct measured {
    difference difference;
    closeness closeness;
    double largest;
} measured;

static void print_measured(const char *name, qdq_dtype dtype, const measured *m) {
    const difference *d = &m->difference;
    if (!d->different) {
        printf("%s: all %zu elements equal", name, d->elements);
        if (d->within) printf(", %zu within the tolerance", d->within);
        return;
    }
    printf("%s: %zu of %zu elements differ", name, d->different, d->elements);
    print_closeness(stdout, dtype, d, &m->closeness);
    printf("; largest |difference| %.6g", m->largest);
    if (d->nan_count) printf(", %zu NaN on one side", d->nan_count);
    if (d->within) printf(", %zu within the tolerance", d->within);
}

static void json_measured(qdq_json *json, const char *name, const qdq_tensor_info *info,
                          const measured *m) {
    json_string_key(json, "name", name);
    json_string_key(json, "dtype", qdq_dtype_name(info->dtype));
    qdq_json_key(json, "shape");
    json_shape(json, info->shape);
    json_uint_key(json, "elements", m->difference.elements);
    json_uint_key(json, "different", m->difference.different);
    json_uint_key(json, "within", m->difference.within);
    json_uint_key(json, "steps", (size_t)m->difference.steps);
    json_uint_key(json, "nan_count", m->difference.nan_count);
    json_closeness(json, info->dtype, &m->difference, &m->closeness);
    qdq_json_key(json, "largest");
    qdq_json_double(json, m->largest);
}

static void print_look(const qdq_graph *graph, const look *l, qdq_dtype dtype, const measured *m) {
    char name[1400], head[1300];
    qdq_node_info info = qdq_graph_node(graph, l->node);
    snprintf(name, sizeof name, "%s%s)", node_head(info.name, info.original, head, sizeof head),
             info.op);
    print_measured(name, dtype, m);
    const char *reads = l->given || !l->way ? "what it reads differs" : "";
    printf("; %s%s%s\n", l->way ? ways[l->way].text : "", l->way && l->given ? ", and " : "",
           reads);
}

static void json_look(qdq_json *json, const qdq_graph *graph, const look *l,
                      const qdq_tensor_info *info, const measured *m) {
    qdq_node_info node = qdq_graph_node(graph, l->node);
    qdq_json_begin_object(json);
    json_string_key(json, "node", node.name);
    json_original(json, node.name, node.original);
    json_string_key(json, "op", node.op);
    json_measured(json, qdq_value_name(graph, l->value), info, m);
    qdq_json_key(json, "causes");
    qdq_json_begin_line(json);
    if (m->difference.different && l->way) qdq_json_string(json, ways[l->way].cause);
    if (m->difference.different && l->given) qdq_json_string(json, "inputs");
    qdq_json_end_array(json);
    qdq_json_end_object(json);
}

//---- Comparing --------------------------------------------------------------

// Measures the difference between both results of an output, in its dtype and as doubles.
static int measure_output(qdq_exec *const execs[2], const qdq_tensor_info *info,
                          const tolerances *tolerance, measured *m) {
    size_t count = qdq_shape_count(info->shape);
    qdq_error err = {0};
    char *data = calloc(2, info->bytes);
    double *numbers = calloc(2 * count, sizeof *numbers);
    int code = EXIT_OK;
    if (!data || !numbers)
        code = tell_failure(QDQ_ERR_MEMORY, "no memory to compare '%s'", info->name);
    for (size_t k = 0; code == EXIT_OK && k < 2; k++) {
        char *own = data + k * info->bytes;
        if (qdq_exec_read(execs[k], info->name, info->dtype, own, count, &err) != QDQ_OK)
            code = report_error(&err);
        else
            to_doubles(info->dtype, own, count, numbers + k * count);
    }
    if (code == EXIT_OK)
        *m = (measured){measure_difference(info, data, data + info->bytes, tolerance),
                        measure_closeness(info, data, data + info->bytes),
                        largest_of(numbers, numbers + count, count)};
    free(data), free(numbers);
    return code;
}

typedef struct comparison_run {
    session literal, fast;
    fast_nodes nodes;
    size_t outputs;  // outputs of the graph; compared values follow them
    const tolerances *tolerance;
    bool differs;
} comparison_run;

static int compare_outputs(comparison_run *r, qdq_exec *const execs[2], qdq_json *json) {
    int code = EXIT_OK;
    for (size_t i = 0; code == EXIT_OK && i < r->outputs; i++) {
        const qdq_tensor_info *info = qdq_plan_output(r->literal.plan, i);
        measured m = {0};
        code = measure_output(execs, info, r->tolerance, &m);
        r->differs |= m.difference.different > 0;
        if (code == EXIT_OK && json) {
            qdq_json_begin_object(json);
            json_measured(json, info->name, info, &m);
            qdq_json_end_object(json);
        } else if (code == EXIT_OK) {
            print_measured(info->name, info->dtype, &m);
            printf("\n");
        }
    }
    return code;
}

// Compares values in the order of the nodes, so that `differs` is known for the inputs of each
// node.
static int compare_looks(comparison_run *r, const qdq_graph *graph, qdq_exec *const execs[2],
                         qdq_json *json) {
    fast_nodes *n = &r->nodes;
    size_t next = 0;
    for (size_t i = 0; i < qdq_graph_node_count(graph); i++) {
        bool given = any_input(graph, i, n->differs);
        for (size_t k = 0; given && k < qdq_graph_node(graph, i).output_count; k++)
            n->differs[qdq_graph_node_output(graph, i, k).id] = true;
        for (; next < n->count && n->looks[next].node == i; next++) {
            look *l = &n->looks[next];
            const qdq_tensor_info *info = qdq_plan_output(r->literal.plan, r->outputs + next);
            measured m = {0};
            int code = measure_output(execs, info, r->tolerance, &m);
            if (code != EXIT_OK) return code;
            l->given = given;
            n->differs[l->value.id] = m.difference.different > 0;
            if (json)
                json_look(json, graph, l, info, &m);
            else if (m.difference.different)
                print_look(graph, l, info->dtype, &m);
        }
    }
    return EXIT_OK;
}

static int compare_runs(comparison_run *r, qdq_graph *graph, const options *opt) {
    const char *target = opt->load.target ? opt->load.target : qdq_graph_target(graph);
    qdq_exec *const execs[2] = {r->literal.exec, r->fast.exec};
    qdq_json json, *to = opt->json ? &json : NULL;
    session_run(&r->literal, opt);
    session_run(&r->fast, opt);
    if (to) {
        json_begin(to);
        json_string_key(to, "graph", opt->operands.items[0]);
        qdq_json_key(to, "nodes");
        qdq_json_begin_array(to);
    }
    int code = compare_looks(r, graph, execs, to);
    if (to) {
        qdq_json_end_array(to);
        qdq_json_key(to, "outputs");
        qdq_json_begin_array(to);
    }
    if (code == EXIT_OK) code = compare_outputs(r, execs, to);
    if (to) {
        qdq_json_end_array(to);
        if (code == EXIT_OK) code = json_bits_of(to, graph, target, device_of_plan(opt));
        json_end(to);
    }
    return code != EXIT_OK ? code : r->differs ? EXIT_FINDINGS : EXIT_OK;
}

// Chooses the values to compare by the plan of the original graph, and runs a graph that returns
// them as well.
static int compare_session(comparison_run *r, const session *s, const options *opt) {
    if (!make_nodes(&r->nodes, s->graph))
        return tell_failure(QDQ_ERR_MEMORY, "no memory for the nodes of the graph");
    r->outputs = qdq_plan_output_count(s->plan);
    find_looks(&r->nodes, s->graph, s->plan);
    add_looks(&r->nodes, s->graph);
    int code = session_open_mode(&r->literal, s, opt, false);
    if (code == EXIT_OK) code = session_open_mode(&r->fast, s, opt, true);
    return code == EXIT_OK ? compare_runs(r, s->graph, opt) : code;
}

int compare_fast(const options *opt, const tolerances *tolerance) {
    session s;
    comparison_run r = {.tolerance = tolerance};
    int code = session_start(&s, opt);
    if (code == EXIT_OK) code = compare_session(&r, &s, opt);
    release_nodes(&r.nodes);
    session_close(&r.fast);
    session_close(&r.literal);
    session_close(&s);
    return code;
}
