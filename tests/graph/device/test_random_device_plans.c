// SPDX-License-Identifier: Apache-2.0
// Random graphs on random devices, in DRAM and L1: buffers never overlap, and what does not fit is
// refused.
#include "include/qdq/qdq.h"
#include "tests/device_plan_check.h"
#include "tests/unit.h"

enum { RANDOM_NODES = 12 };

static qdq_value random_value(uint64_t *random, const qdq_value *values, size_t count,
                              const qdq_graph *g, bool wants_float) {
    for (size_t tries = 0; tries < 50; tries++) {
        qdq_value v = values[unit_random(random) % count];
        qdq_dtype dtype;
        qdq_value_type(g, v, &dtype, NULL);
        if ((dtype == QDQ_FLOAT32 || dtype == QDQ_BFLOAT16) == wants_float) return v;
    }
    return (qdq_value){0};
}

// A node of the quantize family, fused or composite.
static qdq_value random_node(uint64_t *random, qdq_graph *g, const qdq_value *values, size_t count,
                             qdq_value zero_point) {
    static const qdq_dtype codes[] = {QDQ_INT8, QDQ_UINT8, QDQ_INT32};
    bool composite = unit_random(random) % 3 == 0;
    qdq_value x = random_value(random, values, count, g, true);
    if (unit_random(random) % 2 && x.id) {
        qdq_quantize_attrs q = {.scales = QDQ_SCALE(0.5f), .dtype = codes[unit_random(random) % 3]};
        if (composite) q.zero_point = zero_point, q.dtype = QDQ_INT32;
        return qdq_quantize(g, x, q);
    }
    x = random_value(random, values, count, g, false);
    if (!x.id) return x;
    qdq_dequantize_attrs d = {.scales = QDQ_SCALE(0.5f),
                              .dtype = unit_random(random) % 2 ? QDQ_FLOAT32 : QDQ_BFLOAT16};
    if (composite) d.zero_point = zero_point;
    return qdq_dequantize(g, x, d);
}

static qdq_graph *random_chain(uint64_t *random) {
    static const int32_t three[] = {3};
    qdq_graph *g = qdq_graph_create("random", NULL);
    qdq_value values[RANDOM_NODES + 2];
    qdq_value z = qdq_constant(g, "z", QDQ_INT32, QDQ_SHAPE(1), three);
    int64_t rows = 1 + (int64_t)(unit_random(random) % 500);
    int64_t columns = 1 + (int64_t)(unit_random(random) % 300);
    size_t count = 0;
    values[count++] = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(rows, columns));
    for (size_t i = 0; i < RANDOM_NODES; i++) {
        qdq_value y = random_node(random, g, values, count, z);
        if (!y.id) continue;
        qdq_memory_config config = {.buffer_type = unit_random(random) % 2 ? QDQ_L1 : QDQ_DRAM};
        if (unit_random(random) % 2) qdq_set_memory_config(g, y, &config);
        values[count++] = y;
    }
    qdq_output(g, "y", values[count - 1]);
    qdq_output(g, "any", values[unit_random(random) % count]);
    return g;
}

// Large enough for most, too small for some.
static qdq_device random_device(uint64_t *random) {
    qdq_device device = *qdq_device_find("n150", NULL);
    device.grid_x = UINT64_C(1) << unit_random(random) % 4;
    device.l1_size = device.l1_base + 4096 * (1 + unit_random(random) % 40);
    device.dram_bank_size = 32 + 4096 * (1 + unit_random(random) % 60);
    return device;
}

// A graph has a plan whose buffers never overlap, or is refused by a rule about memory; then a
// larger device takes it.
static void random_graphs_fit_or_are_refused_for_their_memory(void **state) {
    size_t fitted = 0, refused = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= 1500; seed++) {
        uint64_t random = seed;
        qdq_error err = {0};
        qdq_device device = random_device(&random);
        qdq_graph *g = random_chain(&random);
        qdq_compile_options options = {.target = "ttnn", .device = &device};
        options.keep_all = seed % 5 == 0;
        options.float_storage = seed % 7 == 0 ? QDQ_FLOAT_BFLOAT16 : QDQ_FLOAT_DECLARED;
        qdq_plan *plan = qdq_graph_compile(g, &options, &err);
        if (plan) {
            const char *broken = device_plan_broken(plan);
            if (broken) fail_msg("seed %d: %s", (int)seed, broken);
            fitted++;
        } else {
            assert_int_equal(err.status, QDQ_ERR_UNSUPPORTED);
            assert_non_null(strstr(err.text, " B"));
            refused++;
            device.l1_size = device.dram_bank_size = INT64_C(1) << 32;
            plan = qdq_graph_compile(g, &options, &err);
            assert_non_null(plan);
            assert_null(device_plan_broken(plan));
        }
        qdq_plan_destroy(plan), qdq_graph_destroy(g);
    }
    printf("%zu fit, %zu are refused\n", fitted, refused);
    assert_true(fitted > 300 && refused > 300);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_graphs_fit_or_are_refused_for_their_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
