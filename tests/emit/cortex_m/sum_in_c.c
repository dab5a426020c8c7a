// SPDX-License-Identifier: Apache-2.0
// A MatMul on a Cortex-M; one of its sums is wrong if a multiply-add rounds twice: the second with
// newlib's fmaf, the first with musl's where there are no rounding modes. Prints the bits. Products
// take more RAM than graph_in_c.c has; nothing is given back here.
#include <qdq/qdq.h>
#include <string.h>

#include "startup.h"

enum { HEAP_BYTES = 1 << 20 };

static _Alignas(64) char heap[HEAP_BYTES];
static size_t used;

static void *take(void *self, size_t size, size_t align) {
    (void)self;
    size_t at = (used + align - 1) / align * align;
    if (size > HEAP_BYTES - at) return NULL;
    used = at + size;
    return heap + at;
}

static void give(void *self, void *ptr, size_t size) { (void)self, (void)ptr, (void)size; }

int main(void) {
    static const qdq_allocator allocator = {take, give, NULL};
    static const float a[4] = {3.007044254509203e-15f, 1.4577981902462638e31f,
                               -3.007044254509203e-15f, 1.4577981902462638e31f};
    static const float b[2] = {1, -0.0002662211190909147f};
    float y[2] = {0};
    qdq_error err = {0};
    qdq_graph_options options = {.allocator = &allocator};
    qdq_graph *g = qdq_graph_create("sum", &options);
    qdq_value left = qdq_input(g, "a", QDQ_FLOAT32, QDQ_SHAPE(2, 2));
    qdq_value right = qdq_input(g, "b", QDQ_FLOAT32, QDQ_SHAPE(2, 1));
    qdq_output(g, "y", qdq_matmul(g, left, right, (qdq_matmul_attrs){0}));
    qdq_plan *plan = qdq_graph_compile(g, NULL, &err);
    qdq_exec *exec = qdq_exec_create(plan, &(qdq_exec_options){.allocator = &allocator}, &err);
    if (!exec) {
        print(err.text);
        return 1;
    }
    qdq_exec_bind(exec, "a", (void *)a, sizeof a, &err);
    qdq_exec_bind(exec, "b", (void *)b, sizeof b, &err);
    qdq_exec_bind(exec, "y", y, sizeof y, &err);
    qdq_exec_run(exec);
    print("sums");
    for (int i = 0; i < 2; i++) {
        uint32_t bits;
        memcpy(&bits, &y[i], sizeof bits);
        print(" ");
        print_hex(bits, 8);
    }
    print("\n");
    return 0;
}
