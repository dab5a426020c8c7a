// SPDX-License-Identifier: Apache-2.0
// Convolution with channel_block and addend against the naive loops of convolutions.h.
#include "tests/ops/products/convolutions.h"

static const example plain = {.spatial = 2,
                              .batch = 1,
                              .groups = 1,
                              .inputs = 35,
                              .outputs = 37,
                              .in = {4, 14},
                              .kernel = {3, 3},
                              .strides = {1, 1, 1},
                              .dilations = {1, 1, 1},
                              .dtype = QDQ_FLOAT32,
                              .channel_block = 8};

// Blocks that are shorter than a k block, longer, and longer than all k that fit; a last block of
// fewer channels; one channel in each group.
static void blocks_of_channels_are_added_one_by_one(void **state) {
    (void)state;
    static const int64_t blocks[] = {1, 3, 8, 16, 128}, kernels[] = {1, 3, 11};
    for (size_t i = 0; i < 5 * 3 * 8; i++) {
        example e = plain;
        int64_t kernel = kernels[i / 5 % 3];
        if (kernel == 11 && i % 8 != 1 && i % 8 != 6) continue;  // takes long
        if (kernel == 11) e.inputs = 18;
        if (i % 4 == 3) e.inputs = e.outputs = e.groups = 12;
        e.kernel[0] = e.kernel[1] = kernel, e.begin[0] = e.end[1] = kernel / 2;
        e.in[0] = kernel + 1;
        e.channel_block = blocks[i % 5];
        e.format = i & 1 ? QDQ_NCX : QDQ_NXC, e.spatial_last = i & 2;
        e.addend = i & 4, e.bias = !e.addend && i % 3;
        check(&e);
    }
}

static void refuse(const example *e, qdq_dtype dtype, const char *rule, const char *sentence) {
    tensor in[4] = {{"x", dtype, QDQ_SHAPE(1, 4, 14, 35), NULL},
                    {"w", dtype, QDQ_SHAPE(3, 3, 35, 37), NULL}};
    if (e->bias) in[2] = (tensor){"bias", dtype, QDQ_SHAPE(37), NULL};
    if (e->addend) in[3] = (tensor){"addend", QDQ_FLOAT32, QDQ_SHAPE(1, 2, 12, 36), NULL};
    product_refused(in, e->addend ? 4 : 3, build, e, rule, sentence);
}

static void other_orders_are_refused(void **state) {
    (void)state;
    example e = plain;
    e.channel_block = -1;
    refuse(&e, QDQ_FLOAT32, "core/attr-value",
           "node 'y': Convolution: channel_block is -1, wanted 1 or more, with x of float32; see "
           "`qdq ops Convolution`");
    e.channel_block = 8;
    refuse(&e, QDQ_FLOAT16, "core/attr-value",
           "node 'y': Convolution: channel_block is given, wanted 1 or more, with x of float32; "
           "see `qdq ops Convolution`");
    e.addend = true;
    refuse(&e, QDQ_FLOAT32, "core/port-shape",
           "node 'y': Convolution: addend has the shape [1, 2, 12, 36], wanted [1, 2, 12, 37]: the "
           "shape of y; see docs/ops_neural_network.md");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_of_channels_are_added_one_by_one),
        cmocka_unit_test(other_orders_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
