// SPDX-License-Identifier: Apache-2.0
// The C program of docs/c.md that builds a graph. It includes installed headers only.
// clang-format off
#include <stdio.h>
#include <qdq/qdq.h>

int main(void) {
    float in[4 * 64], out[4 * 64];
    for (int i = 0; i < 4 * 64; i++) in[i] = (float)(i - 128) / 40.0f;

    qdq_graph *g = qdq_graph_create("quantize_dequantize", NULL);
    qdq_value x = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(4, 64));
    qdq_value q = qdq_quantize(g, x, (qdq_quantize_attrs){.dtype = QDQ_INT8, .scales = QDQ_SCALE(0.025f)});
    qdq_value y = qdq_dequantize(g, q, (qdq_dequantize_attrs){.scales = QDQ_SCALE(0.025f)});
    qdq_output(g, "y", y);

    qdq_error err = {0};
    qdq_plan *plan = qdq_graph_compile(g, NULL, &err);
    qdq_exec *exec = qdq_exec_create(plan, NULL, &err);
    if (!exec || qdq_exec_write(exec, "x", QDQ_FLOAT32, in, 4 * 64, &err)) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    qdq_exec_run(exec);
    if (qdq_exec_read(exec, "y", QDQ_FLOAT32, out, 4 * 64, &err)) return 1;
    printf("%g -> %g\n", in[200], out[200]);

    qdq_exec_destroy(exec), qdq_plan_destroy(plan), qdq_graph_destroy(g);
    return 0;
}
