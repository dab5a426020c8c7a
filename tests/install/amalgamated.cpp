// SPDX-License-Identifier: Apache-2.0
// Runs graphs with the qdq.c of tools/amalgamate.py: amalgamated GRAPH INPUTS OUTPUTS ... Each
// graph runs by rows and by tiles, and both must give the same bits; OUTPUTS gets them. Says why a
// graph cannot run, and goes on with the next. Without graphs: says why numerics are refused.
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "qdq.h"

using bytes = std::vector<unsigned char>;

static void fill_inputs(qdq_exec *exec, const qdq_plan *plan, const char *path, qdq_error *err) {
    qdq_tensor_file *file = qdq_tensor_file_open(path, nullptr, err);
    for (size_t i = 0; i < qdq_plan_input_count(plan); i++) {
        const qdq_tensor_info *info = qdq_plan_input(plan, i);
        const qdq_tensor_info *from = qdq_tensor_file_find(file, info->name);
        bytes data(info->bytes);
        qdq_tensor_file_read(file, from, data.data(), err);
        qdq_exec_write(exec, info->name, info->dtype, data.data(), qdq_shape_count(info->shape),
                       err);
    }
    qdq_tensor_file_close(file);
}

// The outputs of a run, one after the other. Written to `path` unless it is NULL.
static bytes run(qdq_graph *graph, bool tiled, const char *inputs, const char *path,
                 qdq_error *err) {
    qdq_compile_options options{};
    options.layout = tiled ? QDQ_PLAN_TILES : QDQ_PLAN_ROWS;
    qdq_plan *plan = qdq_graph_compile(graph, &options, err);
    qdq_exec *exec = qdq_exec_create(plan, nullptr, err);
    std::vector<bytes> results;
    std::vector<qdq_tensor> tensors;
    bytes all;
    if (exec) fill_inputs(exec, plan, inputs, err);
    qdq_exec_run(exec);
    for (size_t i = 0; i < qdq_plan_output_count(plan); i++) {
        const qdq_tensor_info *out = qdq_plan_output(plan, i);
        results.emplace_back(out->bytes);
        qdq_exec_read(exec, out->name, out->dtype, results[i].data(), qdq_shape_count(out->shape),
                      err);
        tensors.push_back({out->name, out->dtype, out->shape, results[i].data()});
        all.insert(all.end(), results[i].begin(), results[i].end());
    }
    if (path && !err->status)
        qdq_tensor_file_write(path, tensors.data(), tensors.size(), nullptr, err);
    qdq_exec_destroy(exec);
    qdq_plan_destroy(plan);
    return all;
}

static const char *first_finding(qdq_graph *graph) {
    const qdq_report *report = qdq_graph_validate(graph, nullptr, nullptr);
    return report && report->errors ? report->findings[0].message : "";
}

// Prints why a plan by ONNX Runtime's float operations is refused.
static void try_float_ops() {
    qdq_error err{};
    qdq_graph *graph = qdq_graph_create("sum", nullptr);
    qdq_reduce_attrs attrs{};
    const int64_t axis = 0;
    qdq_value x = qdq_input(graph, "x", QDQ_FLOAT32, QDQ_SHAPE(4, 4));
    attrs.axes.data = &axis, attrs.axes.count = 1;
    qdq_output(graph, "y", qdq_reduce_sum(graph, x, attrs));
    qdq_numerics numerics{};
    numerics.float_ops = QDQ_FLOAT_OPS_ONNX_RUNTIME;
    qdq_compile_options options{};
    options.numerics = &numerics;
    qdq_plan_destroy(qdq_graph_compile(graph, &options, &err));
    std::printf("%s\n", err.text);
    qdq_graph_destroy(graph);
}

int main(int argc, char **argv) {
    if (argc == 1) try_float_ops();
    for (int i = 1; i + 2 < argc; i += 3) {
        qdq_error err{};
        qdq_graph *graph = qdq_graph_load(argv[i], nullptr, &err);
        const std::string finding = graph ? first_finding(graph) : "";
        if (finding.empty() && !err.status) {
            const bytes rows = run(graph, false, argv[i + 1], argv[i + 2], &err);
            if (rows != run(graph, true, argv[i + 1], nullptr, &err) && !err.status)
                std::printf("%s: tiles give other bits\n", argv[i]);
        }
        std::printf("%s\n", err.status ? err.text : finding.empty() ? "run" : finding.c_str());
        qdq_graph_destroy(graph);
    }
    return 0;
}
