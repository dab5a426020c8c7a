// SPDX-License-Identifier: Apache-2.0
// The threads of LiteRT's interpreter, on which MEAN of the built-in kernels depends: halves in the
// places where the parts and the blocks of the threads end.
#include "tests/graph/targets/litert/litert_pairs.h"

// Each thread takes a part of the channels, of at least 8, and its blocks begin anew. A cut of 40
// channels into 2, 3 and 5 parts: blocks of 16 at 0 and 20, at none, and at none.
static void channels_of_a_mean_are_cut_among_threads(void **state) {
    (void)state;
    enum { CHANNELS = 40 };
    static const int64_t axes[] = {1, 2};
    static const struct {
        const char *target;
        int first[2];  // channels of whole blocks, of 16 each; -1: none
    } cases[] = {{"litert@builtin-x86:threads=1", {0, 16}},
                 {"litert@builtin-x86:threads=2", {0, 20}},
                 {"litert@builtin-x86:threads=3", {-1, -1}},
                 {"litert@builtin-arm64:threads=16", {-1, -1}},
                 {"litert@reference:threads=2", {-1, -1}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int8_t x[CHANNELS], y[CHANNELS];
        memset(x, -6, sizeof x);
        qdq_error err = {0};
        qdq_graph *g = qdq_graph_create("g", NULL);
        qdq_value v = qdq_input(g, "x", QDQ_INT8, QDQ_SHAPE(1, 1, 1, CHANNELS));
        v = qdq_reduce_mean(g, dequantize(g, v, 0.25f, 0),
                            (qdq_reduce_attrs){.axes = {axes, 2}, .keep_dims = QDQ_TRUE});
        qdq_output(g, "y", quantize(g, v, 1, 0));
        qdq_graph *deployed = qdq_graph_deployed(g, cases[i].target, &err);
        assert_non_null(deployed);
        network_run(deployed, &(network_tensor){"x", QDQ_INT8, x, CHANNELS}, 1,
                    (network_tensor){"y", QDQ_INT8, y, CHANNELS});
        qdq_graph_destroy(deployed);
        qdq_graph_destroy(g);
        for (int c = 0; c < CHANNELS; c++) {
            bool up = false;
            for (int k = 0; k < 2; k++)
                up |=
                    cases[i].first[k] >= 0 && c >= cases[i].first[k] && c < cases[i].first[k] + 16;
            assert_int_equal(y[c], up ? -1 : -2);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(channels_of_a_mean_are_cut_among_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
