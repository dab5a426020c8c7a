// SPDX-License-Identifier: Apache-2.0
// The C++ program of the README. It includes installed headers only.
// clang-format off
#include <cstdio>
#include <qdq/qdq.h>

int main() {
    float in[4 * 64], out[4 * 64];
    for (int i = 0; i < 4 * 64; i++) in[i] = static_cast<float>(i - 128) / 40.0f;

    qdq_graph *g = qdq_graph_create("quantize_dequantize", nullptr);
    qdq_value x = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(4, 64));
    qdq_value q = qdq_quantize(g, x, {.scales = QDQ_SCALE(0.025f), .dtype = QDQ_INT8});
    qdq_value y = qdq_dequantize(g, q, {.scales = QDQ_SCALE(0.025f)});
    qdq_output(g, "y", y);

    qdq_error err{};
    qdq_plan *plan = qdq_graph_compile(g, nullptr, &err);
    qdq_exec *exec = qdq_exec_create(plan, nullptr, &err);
    if (!exec || qdq_exec_write(exec, "x", QDQ_FLOAT32, in, 4 * 64, &err)) {
        std::fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    qdq_exec_run(exec);
    if (qdq_exec_read(exec, "y", QDQ_FLOAT32, out, 4 * 64, &err)) return 1;
    std::printf("%g -> %g\n", in[200], out[200]);

    qdq_exec_destroy(exec), qdq_plan_destroy(plan), qdq_graph_destroy(g);
    return 0;
}
