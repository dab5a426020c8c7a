// SPDX-License-Identifier: Apache-2.0
// Sums with an operand and bounds that follow a convolution of float32, which its tiles compute on
// their results: positions, channels and k cross their sizes, with borders, strides and groups.
#include <math.h>

#include "ops/conv/conv_lowering.h"
#include "tests/ops/products/run_convolutions.h"

enum { ADDEND = CONV_PORTS, PORTS, CHAINS = 8 };

// A convolution and what follows it.
typedef struct finished {
    window window;
    size_t chain;
    double least, most;
    tensor in[PORTS], want;
} finished;

static bool adds(size_t chain) { return chain % 2; }
static bool relu(size_t chain) { return chain / 2 == 1; }
static bool clamps(size_t chain) { return chain / 2 == 2; }
static bool relu6(size_t chain) { return chain / 2 == 3; }

static qdq_value finished_node(qdq_graph *g, const qdq_value *v, const void *self) {
    const finished *f = self;
    qdq_value operands[] = {v[X], v[W], v[BIAS]}, y = build(g, operands, &f->window.e);
    if (adds(f->chain))
        y = qdq_add(g, f->chain == 1 ? v[ADDEND] : y, f->chain == 1 ? y : v[ADDEND],
                    (qdq_binary_attrs){.name = "sum", .dtype = QDQ_FLOAT32});
    if (relu(f->chain)) y = qdq_relu(g, y, (qdq_unary_attrs){.name = "relu"});
    if (relu6(f->chain)) y = qdq_relu6(g, y, (qdq_unary_attrs){.name = "relu6"});
    if (clamps(f->chain))
        y = qdq_clamp(g, y,
                      (qdq_clamp_attrs){
                          .name = "clamp", .min = QDQ_FLOAT(f->least), .max = QDQ_FLOAT(f->most)});
    return y;
}

// Sums are whole numbers, so that each order of additions gives them.
static void finish(finished *f, uint64_t *random) {
    const tensor *made = &f->window.want;
    memcpy(f->in, f->window.in, sizeof f->window.in);
    f->in[ADDEND] = tensor_of("addend", QDQ_FLOAT32, made->shape);
    f->want = tensor_of("y", QDQ_FLOAT32, made->shape);
    f->least = -5, f->most = 17;
    for (size_t i = 0; i < tensor_count(made); i++) {
        double addend = (double)large_pick(random, 64) - 32, v = tensor_at(made, i);
        large_put(&f->in[ADDEND], i, addend);
        if (adds(f->chain)) v += addend;
        if (relu(f->chain) && v <= 0) v = 0;
        if (relu6(f->chain)) v = v <= 0 ? 0 : fmin(v, 6);
        if (clamps(f->chain)) v = fmin(fmax(v, f->least), f->most);
        large_put(&f->want, i, v);
    }
}

static void set_sizes(window *p, size_t shape) {
    example *e = &p->e;
    e->batch = 2, p->block = 5, e->bias = shape % 3 != 1;
    set_image(e, 19, 2 * QDQ_CONV_PANELS_POSITIONS / 19 + 2, shape % 2 ? 3 : 1);
    set_channels(e, 1, shape % 2 ? 31 : 2 * 128 + 5, QDQ_GEMM_BLOCK_ROWS + 7);
    if (shape == 1) e->begin[0] = e->begin[1] = e->end[0] = e->end[1] = 1;
    if (shape == 2) set_image(e, 14, 14, 1), set_channels(e, 2, 64, 2 * QDQ_GEMM_ROWS + 1);
    if (shape == 3) set_image(e, 33, 65, 3), e->strides[0] = e->strides[1] = 2;
    if (shape == 4) set_image(e, 9, 9, 1), set_channels(e, 1, 3, 2 * QDQ_CONV_PANELS_ROWS + 5);
}

static void results_are_finished_in_order(void **unused) {
    (void)unused;
    const char *isas[32];
    size_t isa_count = large_isas(isas);
    for (size_t shape = 0; shape < 5; shape++)
        for (size_t chain = 1; chain < CHAINS; chain++) {
            uint64_t random = large_state(shape * CHAINS + chain);
            finished f = {.window = WINDOW_OF_FLOATS, .chain = chain};
            set_sizes(&f.window, shape);
            f.window.e.format = QDQ_NCX, f.window.e.spatial_last = true;
            f.window.after.link = PLAIN;
            make(&f.window, &random);
            finish(&f, &random);
            for (size_t i = 0; i < isa_count; i++) {
                large_way way = large_ways[(i + chain) % LARGE_WAYS];
                way.constant = 1u << W | 1u << BIAS;
                large_run(&(large_case){"a finished convolution", f.in, PORTS, finished_node, &f,
                                        &f.want},
                          isas[i], &way);
            }
            free(f.in[ADDEND].data), free(f.want.data);
            destroy(&f.window);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_are_finished_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
