// SPDX-License-Identifier: Apache-2.0
// qdq convert: reads a graph in any format and writes it as a qdq/1 file, an ONNX model or a
// TensorFlow Lite model.
#include <qdq/inspect.h>
#include <string.h>

#include "tools/commands.h"
#include "tools/common.h"
#include "tools/failure.h"
#include "tools/io/tensor_io.h"
#include "tools/options.h"
#include "tools/options/convert.h"

// Replaces a graph by the graph that the target runs.
static int deploy(qdq_graph **graph, const options *opt) {
    qdq_error err = {0};
    qdq_graph *deployed = qdq_graph_deployed(*graph, opt->load.target, &err);
    if (!deployed) return report_error(&err);
    qdq_graph_destroy(*graph);
    *graph = deployed;
    return EXIT_OK;
}

int run_convert(const options *opt) {
    const convert_options *own = opt->own;
    int code;
    if (opt->outputs.count != 1)
        return tell_failure(
            QDQ_ERR_ARGUMENT,
            "%zu files are given with -o, wanted one: -o OUT.json, OUT.onnx or OUT.tflite",
            opt->outputs.count);
    const char *out = opt->outputs.items[0];
    qdq_graph *graph = load_graph(opt->operands.items[0], opt, &code);
    if (!graph) return code;
    code = check_to_write(graph, NULL);
    if (code == EXIT_OK && own->deployed) code = deploy(&graph, opt);
    if (code == EXIT_OK && names_model(out)) code = check_to_write(graph, out);
    if (code == EXIT_OK) code = save_graph(graph, own->whole, opt);
    qdq_graph_destroy(graph);
    return code;
}
