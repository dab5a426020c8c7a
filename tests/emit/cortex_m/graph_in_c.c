// SPDX-License-Identifier: Apache-2.0
// Builds a graph in C on a Cortex-M and runs it: Quantize, Dequantize, ReLU. Prints the bits of y,
// and the memory that it took. The heap is an array; blocks are given back, and a block at the end
// of the used part is used again.
#include <qdq/qdq.h>
#include <string.h>

#include "startup.h"

enum { HEAP_BYTES = 17 << 10, COUNT = 8 };

static _Alignas(64) char heap[HEAP_BYTES];
static size_t used, most;

static void *take(void *self, size_t size, size_t align) {
    (void)self;
    size_t at = (used + sizeof(size_t) + align - 1) / align * align;
    if (at + size > HEAP_BYTES) return NULL;
    memcpy(heap + at - sizeof at, &used, sizeof used);  // where the used part ended before
    used = at + size;
    if (used > most) most = used;
    return heap + at;
}

// Only the last block is given back at once; blocks below it wait for it.
static void give(void *self, void *ptr, size_t size) {
    (void)self;
    if (!ptr || (char *)ptr + size != heap + used) return;
    memcpy(&used, (char *)ptr - sizeof used, sizeof used);
}

static void report(const char *what, size_t bytes) {
    print(what);
    print_hex((uint32_t)bytes, 8);
    print("\n");
}

int main(void) {
    static const qdq_allocator allocator = {take, give, NULL};
    static const float x[COUNT] = {-1.0f, 0.25f, 0.75f, 1.25f, 63.5f, 1e9f, -0.25f, 0.0f};
    float y[COUNT] = {0};
    qdq_error err = {0};
    qdq_graph_options options = {.allocator = &allocator, .target = "onnx"};
    qdq_graph *g = qdq_graph_create("small", &options);
    qdq_value in = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(COUNT));
    qdq_value q =
        qdq_quantize(g, in, (qdq_quantize_attrs){.scales = QDQ_SCALE(0.5f), .dtype = QDQ_INT8});
    qdq_value d =
        qdq_dequantize(g, q, (qdq_quantize_attrs){.scales = QDQ_SCALE(0.5f), .dtype = QDQ_FLOAT32});
    qdq_output(g, "y", qdq_relu(g, d, (qdq_unary_attrs){0}));
    report("graph ", used);
    qdq_plan *plan = qdq_graph_compile(g, NULL, &err);
    report("plan ", most);
    qdq_exec *exec = qdq_exec_create(plan, &(qdq_exec_options){.allocator = &allocator}, &err);
    if (!exec) {
        print(err.text);
        print("\n");
        return 1;
    }
    qdq_exec_bind(exec, "x", (void *)x, sizeof x, &err);
    qdq_exec_bind(exec, "y", y, sizeof y, &err);
    qdq_exec_run(exec);
    for (int i = 0; i < COUNT; i++) {
        uint32_t bits;
        memcpy(&bits, &y[i], sizeof bits);
        print_hex(bits, 8);
        print(" ");
    }
    print("\n");
    report("heap ", most);
    report("stack ", stack_used());
    return 0;
}
