// SPDX-License-Identifier: Apache-2.0
// ToMemoryConfig, InterleavedToSharded, ShardedToInterleaved, Reshard and ToLayout change no bit of
// any dtype, in any mode.
#include <math.h>

#include "tests/network.h"

enum { COUNT = 3 * 37 * 70 };

typedef qdq_value move_call(qdq_graph *graph, qdq_value x, qdq_unary_attrs attrs);
static move_call *const moves[] = {qdq_to_memory_config, qdq_interleaved_to_sharded,
                                   qdq_sharded_to_interleaved, qdq_reshard, qdq_to_layout};

static const qdq_shape shape = {3, {3, 37, 70}};

// Random legal elements of the dtype.
static void fill(qdq_dtype dtype, char *data, uint64_t seed) {
    const qdq_dtype_info *info = qdq_dtype_get(dtype);
    size_t size = qdq_dtype_size(dtype);
    for (size_t i = 0; i < COUNT; i++) {
        uint64_t bits = unit_random(&seed) >> 8;
        uint64_t range = (uint64_t)info->greatest - (uint64_t)info->least + 1;  // 0 for int64
        int64_t whole = (int64_t)((uint64_t)info->least + (range ? bits % range : bits));
        if (qdq_dtype_is_real(dtype)) whole = (int64_t)(info->bits < 8 ? bits & 15 : bits);
        memcpy(data + i * size, &whole, size);  // little endian
    }
}

static void every_dtype_keeps_its_bits(void **state) {
    (void)state;
    static char x[COUNT * 8], y[COUNT * 8];
    for (size_t k = 0; k < UNIT_COUNT(moves); k++)
        for (int d = 1; d < QDQ_DTYPE_COUNT; d++) {
            qdq_dtype dtype = (qdq_dtype)d;
            if (qdq_dtype_get(dtype)->kind == QDQ_KIND_BLOCK_FLOAT) continue;
            fill(dtype, x, 7);
            qdq_graph *g = qdq_graph_create("move", NULL);
            qdq_value v = qdq_input(g, "x", dtype, shape);
            qdq_output(g, "y", moves[k](g, v, (qdq_unary_attrs){0}));
            network_tensor input = {"x", dtype, x, COUNT};
            network_run(g, &input, 1, (network_tensor){"y", dtype, y, COUNT});
            assert_memory_equal(x, y, COUNT * qdq_dtype_size(dtype));
            qdq_graph_destroy(g);
        }
}

// The elements are rounded once, by the Cast: those that moved equal those that did not.
static void block_floats_keep_their_bits(void **state) {
    (void)state;
    static float x[COUNT], y[COUNT], z[COUNT];
    uint64_t seed = 11;
    for (size_t i = 0; i < COUNT; i++)
        x[i] = ldexpf((float)(unit_random(&seed) >> 40) - 8388608.0f,
                      (int)(unit_random(&seed) % 60) - 60);
    for (size_t k = 0; k < UNIT_COUNT(moves); k++)
        for (int d = QDQ_BFLOAT8_B; d <= QDQ_BFLOAT4_B; d++) {
            qdq_cast_attrs block = {.dtype = (qdq_dtype)d}, real = {.dtype = QDQ_FLOAT32};
            qdq_graph *g = qdq_graph_create("move", NULL);
            qdq_value v = qdq_cast(g, qdq_input(g, "x", QDQ_FLOAT32, shape), block);
            qdq_value moved = moves[k](g, v, (qdq_unary_attrs){0});
            qdq_output(g, "y", qdq_cast(g, v, real));
            qdq_output(g, "z", qdq_cast(g, moved, real));
            network_tensor input = {"x", QDQ_FLOAT32, x, COUNT};
            network_run(g, &input, 1, (network_tensor){"y", QDQ_FLOAT32, y, COUNT});
            network_run(g, &input, 1, (network_tensor){"z", QDQ_FLOAT32, z, COUNT});
            assert_memory_equal(y, z, sizeof y);
            qdq_graph_destroy(g);
        }
}

// The caller's float32 become numbers that a tile can hold, as in a Cast of the same input.
static void rows_of_a_block_float_input_are_rounded(void **state) {
    (void)state;
    static float x[COUNT], y[COUNT], z[COUNT];
    for (size_t i = 0; i < COUNT; i++) x[i] = 1.0f + (float)i / 4096.0f;
    for (size_t k = 0; k < UNIT_COUNT(moves); k++) {
        qdq_graph *g = qdq_graph_create("move", NULL);
        qdq_value v = qdq_input(g, "x", QDQ_BFLOAT8_B, shape);
        qdq_output(g, "y", qdq_cast(g, v, (qdq_cast_attrs){.dtype = QDQ_FLOAT32}));
        qdq_output(g, "z", moves[k](g, v, (qdq_unary_attrs){0}));
        network_tensor input = {"x", QDQ_BFLOAT8_B, x, COUNT};
        network_run(g, &input, 1, (network_tensor){"y", QDQ_FLOAT32, y, COUNT});
        network_run(g, &input, 1, (network_tensor){"z", QDQ_BFLOAT8_B, z, COUNT});
        assert_memory_equal(y, z, sizeof y);
        size_t rounded = 0;
        for (size_t i = 0; i < COUNT; i++) rounded += x[i] != z[i];
        assert_true(rounded > 0);
        qdq_graph_destroy(g);
    }
}

static void the_words_of_ttnn_lead_to_them(void **state) {
    static const char *const words[][2] = {{"to_memory_config", "ToMemoryConfig"},
                                           {"interleaved_to_sharded", "InterleavedToSharded"},
                                           {"sharded_to_interleaved", "ShardedToInterleaved"},
                                           {"reshard", "Reshard"},
                                           {"to_layout", "ToLayout"},
                                           {"tilize", "ToLayout"}};
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(words); i++)
        assert_string_equal(qdq_op_meant(words[i][0]), words[i][1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_dtype_keeps_its_bits),
        cmocka_unit_test(block_floats_keep_their_bits),
        cmocka_unit_test(rows_of_a_block_float_input_are_rounded),
        cmocka_unit_test(the_words_of_ttnn_lead_to_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
