// SPDX-License-Identifier: Apache-2.0
// qdq inspect: lists the inputs, outputs, ops, dtypes and sizes of a graph, or the tensors of a
// file.
#include <inttypes.h>
#include <qdq/inspect.h>
#include <string.h>

#include "tools/commands.h"
#include "tools/common.h"
#include "tools/failure.h"
#include "tools/inspect/inventory.h"
#include "tools/inspect/tensor_list.h"
#include "tools/options.h"

// Returns "s" unless `count` is 1.
static const char *plural(uint64_t count) { return count == 1 ? "" : "s"; }

//---- Values -----------------------------------------------------------------

// A value under its own name, or under the name of an output.
typedef struct named_value {
    qdq_value value;
    const char *name, *original;
} named_value;

static named_value name_value(const qdq_graph *graph, qdq_value value) {
    const char *name = qdq_value_name(graph, value);
    return (named_value){value, name, qdq_value_original(graph, name)};
}

static named_value name_output(const qdq_graph *graph, size_t index) {
    const char *name = qdq_graph_get_output(graph, index);
    return (named_value){qdq_output_value(graph, name), name, qdq_output_original(graph, name)};
}

static void print_value(const qdq_graph *graph, named_value v) {
    qdq_dtype dtype;
    qdq_shape shape;
    char text[128];
    printf("  %s", v.original);
    if (strcmp(v.name, v.original) != 0) printf(" (%s)", v.name);
    if (qdq_value_type(graph, v.value, &dtype, &shape))
        printf(": %s %s, %" PRIu64 " byte%s\n", qdq_dtype_name(dtype),
               qdq_write_shape(shape, text, sizeof text), tensor_bytes(dtype, shape),
               plural(tensor_bytes(dtype, shape)));
    else
        printf(": no type, as its node has an error\n");
}

static void json_value(qdq_json *json, const qdq_graph *graph, named_value v) {
    qdq_dtype dtype;
    qdq_shape shape;
    qdq_json_begin_object(json);
    json_string_key(json, "name", v.name);
    json_original(json, v.name, v.original);
    if (qdq_value_type(graph, v.value, &dtype, &shape)) {
        json_string_key(json, "dtype", qdq_dtype_name(dtype));
        qdq_json_key(json, "shape");
        json_shape(json, shape);
        json_uint_key(json, "bytes", tensor_bytes(dtype, shape));
    }
    qdq_json_end_object(json);
}

// Lists the inputs (`constants` false) or the constants, after a title or key.
static void list_values(const qdq_graph *graph, const char *title, bool constants, qdq_json *json) {
    if (json) qdq_json_key(json, title), qdq_json_begin_array(json);
    if (!json) printf("%s:\n", title);
    for (size_t i = 0; i < qdq_graph_value_count(graph); i++) {
        qdq_value value = qdq_graph_get_value(graph, i);
        if (constants ? !qdq_value_is_constant(graph, value) : !qdq_value_is_input(graph, value))
            continue;
        if (json)
            json_value(json, graph, name_value(graph, value));
        else
            print_value(graph, name_value(graph, value));
    }
    if (json) qdq_json_end_array(json);
}

static void list_outputs(const qdq_graph *graph, qdq_json *json) {
    if (json) qdq_json_key(json, "outputs"), qdq_json_begin_array(json);
    if (!json) printf("outputs:\n");
    for (size_t i = 0; i < qdq_graph_output_count(graph); i++) {
        if (json)
            json_value(json, graph, name_output(graph, i));
        else
            print_value(graph, name_output(graph, i));
    }
    if (json) qdq_json_end_array(json);
}

//---- Counts -----------------------------------------------------------------

static void print_counts(const inventory *of) {
    printf("dtypes:\n");
    for (int d = 0; d < QDQ_DTYPE_COUNT; d++) {
        const dtype_count *n = &of->dtypes[d];
        if (!n->constants && !n->computed) continue;
        printf("  %s: ", qdq_dtype_name((qdq_dtype)d));
        if (n->constants)
            printf("%zu constant%s of %" PRIu64 " bytes%s", n->constants, plural(n->constants),
                   n->constant_bytes, n->computed ? ", " : "");
        if (n->computed)
            printf("%zu computed value%s of %" PRIu64 " bytes", n->computed, plural(n->computed),
                   n->computed_bytes);
        printf("\n");
    }
    printf("ops:\n");
    for (size_t i = 0; i < of->op_count; i++)
        printf("  %s: %zu\n", of->ops[i].op, of->ops[i].count);
}

static void json_counts(qdq_json *json, const inventory *of) {
    qdq_json_key(json, "dtypes");
    qdq_json_begin_array(json);
    for (int d = 0; d < QDQ_DTYPE_COUNT; d++) {
        const dtype_count *n = &of->dtypes[d];
        if (!n->constants && !n->computed) continue;
        qdq_json_begin_object(json);
        json_string_key(json, "dtype", qdq_dtype_name((qdq_dtype)d));
        json_uint_key(json, "constants", n->constants);
        json_uint_key(json, "constant_bytes", n->constant_bytes);
        json_uint_key(json, "computed", n->computed);
        json_uint_key(json, "computed_bytes", n->computed_bytes);
        qdq_json_end_object(json);
    }
    qdq_json_end_array(json);
    qdq_json_key(json, "ops");
    qdq_json_begin_array(json);
    for (size_t i = 0; i < of->op_count; i++) {
        qdq_json_begin_object(json);
        json_string_key(json, "op", of->ops[i].op);
        json_uint_key(json, "count", of->ops[i].count);
        qdq_json_end_object(json);
    }
    qdq_json_end_array(json);
}

//---- Nodes ------------------------------------------------------------------

static void print_nodes(const qdq_graph *graph) {
    printf("nodes:\n");
    for (size_t i = 0; i < qdq_graph_node_count(graph); i++) {
        char head[1300];
        qdq_node_info node = qdq_graph_node(graph, i);
        printf("  %s%s)\n", node_head(node.name, node.original, head, sizeof head), node.op);
    }
}

static void json_nodes(qdq_json *json, const qdq_graph *graph) {
    qdq_json_key(json, "nodes");
    qdq_json_begin_array(json);
    for (size_t i = 0; i < qdq_graph_node_count(graph); i++) {
        qdq_node_info node = qdq_graph_node(graph, i);
        qdq_json_begin_object(json);
        json_string_key(json, "name", node.name);
        json_original(json, node.name, node.original);
        json_string_key(json, "op", node.op);
        qdq_json_end_object(json);
    }
    qdq_json_end_array(json);
}

//---- The graph --------------------------------------------------------------

static void print_graph(const qdq_graph *graph, const inventory *of, size_t errors,
                        const options *opt) {
    const dtype_count *all = &of->all;
    const char *name = qdq_graph_name(graph);
    size_t nodes = qdq_graph_node_count(graph);
    printf("%s: ", opt->operands.items[0]);
    if (*name) printf("'%s', ", name);
    printf("target %s, %zu node%s, %zu constant%s of %" PRIu64 " bytes\n", qdq_graph_target(graph),
           nodes, plural(nodes), all->constants, plural(all->constants), all->constant_bytes);
    if (errors) printf("%zu error%s, which `qdq check` lists\n", errors, plural(errors));
    list_values(graph, "inputs", false, NULL);
    list_outputs(graph, NULL);
    print_counts(of);
    if (!opt->all) return;
    list_values(graph, "constants", true, NULL);
    print_nodes(graph);
}

static void json_graph_parts(const qdq_graph *graph, const inventory *of, size_t errors,
                             const options *opt) {
    qdq_json json;
    json_begin(&json);
    json_string_key(&json, "file", opt->operands.items[0]);
    json_string_key(&json, "kind", "graph");
    json_string_key(&json, "name", qdq_graph_name(graph));
    json_string_key(&json, "target", qdq_graph_target(graph));
    json_uint_key(&json, "errors", errors);
    list_values(graph, "inputs", false, &json);
    list_outputs(graph, &json);
    list_values(graph, "constants", true, &json);
    json_counts(&json, of);
    json_nodes(&json, graph);
    json_end(&json);
}

int run_inspect(const options *opt) {
    const char *path = opt->operands.items[0];
    inventory of;
    qdq_error err = {0};
    int code;
    if (is_tensor_list(path)) return print_tensor_list(path, opt);
    qdq_graph *graph = load_graph(path, opt, &code);
    if (!graph) return code;
    const qdq_report *report = qdq_graph_validate(graph, NULL, &err);
    if (!report)
        code = report_error(&err);
    else if (!inventory_take(&of, graph))
        code = tell_failure(QDQ_ERR_MEMORY, "no memory to count the nodes of %s", path);
    else if (opt->json)
        json_graph_parts(graph, &of, report->errors, opt);
    else
        print_graph(graph, &of, report->errors, opt);
    if (report) inventory_release(&of);
    qdq_graph_destroy(graph);
    return code;
}
