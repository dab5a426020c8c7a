// SPDX-License-Identifier: Apache-2.0
// qdq convert: reads a graph in any format and writes it as a qdq/1 file or an ONNX model.
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
        return tell_failure(QDQ_ERR_ARGUMENT,
                            "%zu files are given with -o, wanted one: -o OUT.json or -o OUT.onnx",
                            opt->outputs.count);
    const char *out = opt->outputs.items[0];
    qdq_graph *graph = load_graph(opt->operands.items[0], opt, &code);
    if (!graph) return code;
    code = check_to_write(graph, false);
    if (code == EXIT_OK && own->deployed) code = deploy(&graph, opt);
    if (code == EXIT_OK && has_ending(out, ".onnx")) code = check_to_write(graph, true);
    if (code == EXIT_OK) code = save_graph(graph, own->whole, opt);
    qdq_graph_destroy(graph);
    return code;
}
