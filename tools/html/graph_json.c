// SPDX-License-Identifier: Apache-2.0
#include "tools/html/graph_json.h"

#include <stdlib.h>
#include <string.h>

#include "tools/common.h"
#include "tools/deployed.h"
#include "tools/io/tensor_io.h"

enum { SHOWN_ELEMENTS = 8, MOST_READ = 4096 };  // of a constant: larger constants may lie in a file

//---- Values -----------------------------------------------------------------

static void json_first_elements(qdq_json *json, const qdq_graph *graph, qdq_value value,
                                qdq_dtype dtype, size_t count) {
    double elements[SHOWN_ELEMENTS];
    const void *data = count <= MOST_READ ? qdq_value_data(graph, value) : NULL;
    if (!data) return;
    if (count > SHOWN_ELEMENTS) count = SHOWN_ELEMENTS;
    to_doubles(dtype, data, count, elements);
    qdq_json_key(json, "first");
    qdq_json_begin_line(json);
    for (size_t i = 0; i < count; i++) json_element(json, dtype, elements[i]);
    qdq_json_end_array(json);
}

// Writes a name, and the name in the file if it differs.
static void json_names(qdq_json *json, const char *name, const char *original) {
    json_string_key(json, "name", name);
    if (original && strcmp(original, name) != 0) json_string_key(json, "original", original);
}

static void json_graph_value(qdq_json *json, const qdq_graph *graph, qdq_value value) {
    qdq_dtype dtype;
    qdq_shape shape;
    qdq_json_begin_object(json);
    json_names(json, qdq_value_name(graph, value),
               qdq_value_original(graph, qdq_value_name(graph, value)));
    if (qdq_value_type(graph, value, &dtype, &shape)) {
        json_string_key(json, "dtype", qdq_dtype_name(dtype));
        qdq_json_key(json, "shape");
        json_shape(json, shape);
        if (qdq_value_is_constant(graph, value)) {
            qdq_json_key(json, "constant");
            qdq_json_bool(json, true);
            json_first_elements(json, graph, value, dtype, qdq_shape_count(shape));
        }
    }
    qdq_json_end_object(json);
}

//---- Nodes ------------------------------------------------------------------

// Writes {"x": 3, "scales": 4}: for each port the number of its value in the list of values.
// Entries of a variadic port are "NAME[0]", "NAME[1]", ...
static void json_inputs(qdq_json *json, const qdq_graph *graph, size_t node) {
    qdq_node_info info = qdq_graph_node(graph, node);
    size_t op = find_op(info.op), ports = qdq_op_get(op).input_count;
    qdq_json_key(json, "inputs");
    qdq_json_begin_object(json);
    for (size_t i = 0; i < info.input_count; i++) {
        char key[128];
        qdq_value value = qdq_graph_node_input(graph, node, i);
        qdq_port_info port = qdq_op_input(op, i < ports ? i : ports - 1);
        if (!value.id) continue;
        if (port.variadic)
            snprintf(key, sizeof key, "%s[%zu]", port.name, i + 1 - ports);
        else
            snprintf(key, sizeof key, "%s", port.name);
        json_uint_key(json, key, value.id);
    }
    qdq_json_end_object(json);
}

static void json_attrs(qdq_json *json, const qdq_graph *graph, size_t node) {
    size_t length = qdq_graph_node_attrs(graph, node, SHOWN_ELEMENTS, NULL, 0);
    char *text = malloc(length + 1);
    if (!text) return;
    (void)qdq_graph_node_attrs(graph, node, SHOWN_ELEMENTS, text, length + 1);
    json_string_key(json, "attrs", text);
    free(text);
}

static void json_graph_node(qdq_json *json, const qdq_graph *graph, size_t node) {
    qdq_node_info info = qdq_graph_node(graph, node);
    qdq_json_begin_object(json);
    json_names(json, info.name, info.original);
    json_string_key(json, "op", info.op);
    json_inputs(json, graph, node);
    qdq_json_key(json, "outputs");
    qdq_json_begin_line(json);
    for (size_t i = 0; i < info.output_count; i++)
        qdq_json_uint(json, qdq_graph_node_output(graph, node, i).id);
    qdq_json_end_array(json);
    json_attrs(json, graph, node);
    qdq_json_end_object(json);
}

void json_graph(qdq_json *json, const qdq_graph *graph) {
    size_t ids = count_values(graph);
    qdq_json_begin_object(json);
    json_string_key(json, "name", qdq_graph_name(graph));
    json_string_key(json, "target", qdq_graph_target(graph));
    qdq_json_key(json, "values");
    qdq_json_begin_array(json);
    for (size_t i = 0; i < ids; i++) json_graph_value(json, graph, (qdq_value){(uint32_t)i});
    qdq_json_end_array(json);
    qdq_json_key(json, "nodes");
    qdq_json_begin_array(json);
    for (size_t i = 0; i < qdq_graph_node_count(graph); i++) json_graph_node(json, graph, i);
    qdq_json_end_array(json);
    qdq_json_end_object(json);
}
