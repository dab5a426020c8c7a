// SPDX-License-Identifier: Apache-2.0
// Equalizing channels: which sites are found, that outputs keep their bits for any exponents while
// the values at a site are multiplied exactly, and what is refused.
#include "tests/graph/transform/equalize_networks.h"

//---- Running ----------------------------------------------------------------

// Reads a value or an output of a run with every value kept. Returns the number of elements.
static size_t read_value(qdq_graph *g, const char *name, float out[MOST]) {
    const qdq_compile_options keep = {.keep_all = true};
    qdq_error err = {0};
    qdq_plan *plan = qdq_graph_compile(g, &keep, &err);
    qdq_exec *exec = qdq_exec_create(plan, NULL, &err);
    float x[MOST];
    uint64_t seed = 3;
    assert_string_equal(err.text, "");
    size_t inputs = qdq_shape_count(qdq_plan_input(plan, 0)->shape), count = 0;
    for (size_t i = 0; i < inputs; i++) x[i] = draw(&seed);
    assert_int_equal(qdq_exec_write(exec, "x", QDQ_FLOAT32, x, inputs, &err), QDQ_OK);
    qdq_exec_run(exec);
    for (size_t i = 0; i < qdq_plan_output_count(plan); i++)
        if (strcmp(qdq_plan_output(plan, i)->name, name) == 0)
            count = qdq_shape_count(qdq_plan_output(plan, i)->shape);
    for (size_t i = 0; i < qdq_plan_kept_count(plan); i++)
        if (strcmp(qdq_plan_kept(plan, i)->name, name) == 0)
            count = qdq_shape_count(qdq_plan_kept(plan, i)->shape);
    assert_int_equal(qdq_exec_read(exec, name, QDQ_FLOAT32, out, count, &err), QDQ_OK);
    qdq_exec_destroy(exec);
    qdq_plan_destroy(plan);
    return count;
}

static void assert_outputs_alike(qdq_graph *a, qdq_graph *b, const char *const *outputs) {
    for (; *outputs; outputs++) {
        float before[MOST], after[MOST];
        size_t count = read_value(a, *outputs, before);
        assert_int_equal(read_value(b, *outputs, after), count);
        assert_true(count > 0);
        assert_memory_equal(before, after, count * sizeof *before);
    }
}

// Elements of each value differ by the power of two of their channel.
static void assert_values_scaled(qdq_graph *a, qdq_graph *b, const qdq_equalize_site *site,
                                 const int *exponents) {
    for (size_t v = 0; v < site->value_count; v++) {
        float before[MOST], after[MOST];
        const char *name = qdq_value_name(a, site->values[v].value);
        size_t count = read_value(a, name, before);
        assert_int_equal(read_value(b, name, after), count);
        for (size_t i = 0; i < count; i++) {
            size_t channel = i / site->values[v].stride % site->channels;
            assert_true(after[i] == ldexpf(before[i], exponents[channel]));
        }
    }
}

// The constants of an equalized network, each wrong by 1/128 of its size.
typedef struct rounded_network {
    qdq_graph *graph, *equalized;
    float elements[MOST];
} rounded_network;

static const float *rounded_constant(void *self, qdq_value constant) {
    rounded_network *r = self;
    qdq_shape shape;
    qdq_value same = qdq_graph_find(r->equalized, qdq_value_name(r->graph, constant));
    const float *w = qdq_value_data(r->equalized, same);
    (void)qdq_value_type(r->equalized, same, NULL, &shape);
    for (size_t i = 0; i < qdq_shape_count(shape); i++)
        r->elements[i] = w[i] * (i % 2 ? 1 + 0x1p-7F : 1 - 0x1p-7F);
    return r->elements;
}

// The factors of a network are found by its rounded constants.
static void assert_factors_are_found(const qdq_equalize_sites *sites, qdq_graph *g,
                                     qdq_graph *equalized) {
    rounded_network r = {.graph = g, .equalized = equalized};
    qdq_error err = {0};
    qdq_graph *found = qdq_graph_equalized_like(sites, rounded_constant, &r, &err);
    assert_string_equal(err.text, "");
    assert_non_null(found);
    for (size_t i = 0; i < qdq_equalize_site_count(sites); i++) {
        const qdq_equalize_site *site = qdq_equalize_site_get(sites, i);
        for (size_t v = 0; v < site->value_count; v++) {
            const char *name = qdq_value_name(g, site->values[v].value);
            float a[MOST], b[MOST];
            size_t count = read_value(equalized, name, a);
            assert_int_equal(read_value(found, name, b), count);
            assert_memory_equal(a, b, count * sizeof *a);
        }
    }
    qdq_graph_destroy(found);
    r.equalized = g;
    assert_null(qdq_graph_equalized_like(sites, rounded_constant, &r, &err));
    assert_string_equal(err.text, "");
}

typedef struct expected_site {
    const char *producer;
    size_t channels, values, readers;
    size_t last_stride;  // of the last value
} expected_site;

// Checks the sites of a network, then equalizes each alone and all together.
static void check_network(qdq_graph *g, const expected_site *expected, const char *const *outputs) {
    qdq_error err = {0};
    qdq_equalize_sites *sites = qdq_graph_equalize_sites(g, &err);
    size_t count = qdq_equalize_site_count(sites);
    qdq_equalize_factors factors[8];
    int exponents[8][64];
    uint64_t seed = 9;
    assert_string_equal(err.text, "");
    for (size_t i = 0; i < count; i++) {
        const qdq_equalize_site *site = qdq_equalize_site_get(sites, i);
        assert_non_null(expected[i].producer);
        assert_string_equal(qdq_graph_node(g, site->producer).name, expected[i].producer);
        assert_int_equal(site->channels, expected[i].channels);
        assert_int_equal(site->value_count, expected[i].values);
        assert_int_equal(site->reader_count, expected[i].readers);
        assert_int_equal(site->values[site->value_count - 1].stride, expected[i].last_stride);
        for (size_t c = 0; c < site->channels; c++) exponents[i][c] = (int)floorf(8 * draw(&seed));
        factors[i] = (qdq_equalize_factors){i, exponents[i]};
        qdq_graph *equalized = qdq_graph_equalized(sites, &factors[i], 1, &err);
        assert_string_equal(err.text, "");
        assert_outputs_alike(g, equalized, outputs);
        assert_values_scaled(g, equalized, site, exponents[i]);
        qdq_graph_destroy(equalized);
    }
    assert_null(expected[count].producer);
    qdq_graph *equalized = qdq_graph_equalized(sites, factors, count, &err);
    assert_outputs_alike(g, equalized, outputs);
    assert_factors_are_found(sites, g, equalized);
    qdq_graph_destroy(equalized);
    qdq_equalize_sites_destroy(sites);
    qdq_graph_destroy(g);
}

static void channels_are_followed_to_products(void **state) {
    (void)state;
    static const char *const y[] = {"y", NULL};
    const expected_site first[] = {
        {"conv1", 4, 3, 1, 9}, {"conv2", 6, 3, 1, 9}, {NULL, 0, 0, 0, 0}};
    check_network(channels_first(), first, y);
    const expected_site last[] = {
        {"conv1", 4, 3, 1, 1}, {"depthwise", 4, 2, 1, 1}, {"up", 6, 3, 1, 1}, {NULL, 0, 0, 0, 0}};
    check_network(channels_last(), last, y);
    const expected_site mean[] = {{"m1", 5, 6, 1, 1}, {NULL, 0, 0, 0, 0}};
    check_network(reduced(), mean, y);
    static const char *const both[] = {"y", "z", NULL};
    const expected_site moves[] = {{"conv", 3, 5, 1, 4}, {"norm", 4, 2, 1, 1}, {NULL, 0, 0, 0, 0}};
    check_network(moved(), moves, both);
}

static void norms_begin_sites(void **state) {
    (void)state;
    static const char *const both[] = {"y", "z", NULL};
    static const char *const four[] = {"y0", "y1", "y2", "y3", NULL};
    const expected_site norm[] = {{"norm", 4, 2, 2, 3}, {"m1", 5, 2, 1, 1}, {NULL, 0, 0, 0, 0}};
    check_network(norms(NULL), norm, both);
    const expected_site others[] = {{"batch", 4, 1, 1, 1},
                                    {"group", 4, 1, 1, 1},
                                    {"rms", 4, 1, 1, 1},
                                    {"gained", 4, 1, 1, 1},
                                    {NULL, 0, 0, 0, 0}};
    check_network(other_norms(), others, four);
}

static void ranges_of_weights_are_per_channel(void **state) {
    (void)state;
    static const float w1[4] = {1, -3, 2, 0.5F}, w2[4] = {-5, 1, 0.25F, 4};
    qdq_graph *g = qdq_graph_create("g", NULL);
    qdq_value x = input(g, QDQ_SHAPE(1, 2));
    qdq_value a = qdq_constant(g, "w1", QDQ_FLOAT32, QDQ_SHAPE(2, 2), w1);
    qdq_value b = qdq_constant(g, "w2", QDQ_FLOAT32, QDQ_SHAPE(2, 2), w2);
    x = qdq_matmul(g, x, a, (qdq_matmul_attrs){.name = "m1"});
    qdq_output(g, "y", qdq_matmul(g, x, b, (qdq_matmul_attrs){.name = "m2"}));
    qdq_equalize_sites *sites = qdq_graph_equalize_sites(g, NULL);
    const qdq_equalize_site *site = qdq_equalize_site_get(sites, 0);
    assert_int_equal(qdq_equalize_site_count(sites), 1);
    assert_true(site->weighted && site->made[0] == 2 && site->made[1] == 3);  // columns
    assert_true(site->read[0] == 5 && site->read[1] == 4);                    // rows
    qdq_equalize_sites_destroy(sites);
    qdq_graph_destroy(g);
}

//---- No sites ---------------------------------------------------------------

typedef enum obstacle {
    NOTHING,
    MOVED,
    SIGMOID,
    RETURNED,
    SHARED,
    TWO_COMPUTED,
    CLAMPED,
    SLICED,
    PADDED,
    GATHERED,
    REDUCED
} obstacle;

static size_t sites_with(obstacle what) {
    qdq_graph *g = qdq_graph_create("g", NULL);
    qdq_value x = input(g, QDQ_SHAPE(4, 4)), w = WEIGHTS(g, "w1", 4, 4);
    qdq_value y = qdq_matmul(g, x, w, (qdq_matmul_attrs){.name = "m1"});
    if (what == SIGMOID) y = qdq_sigmoid(g, y, (qdq_unary_attrs){.name = "curve"});
    if (what == CLAMPED)
        y = qdq_clamp(g, y, (qdq_clamp_attrs){.min = QDQ_FLOAT(0), .max = QDQ_FLOAT(6)});
    const int64_t all[4] = {3, 2, 1, 0};
    const int64_t axis = what == MOVED ? 0 : 1;
    qdq_value order = qdq_constant(g, "order", QDQ_INT64, QDQ_SHAPE(4), all);
    if (what == SLICED || what == MOVED)
        y = qdq_slice(g, y,
                      (qdq_slice_attrs){.starts = QDQ_INTS(3),
                                        .ends = QDQ_INTS(-5),
                                        .axes = QDQ_INTS(axis),
                                        .steps = QDQ_INTS(-1)});
    if (what == PADDED)
        y = qdq_pad(g, y, (qdq_pad_attrs){.pads = QDQ_INTS(1, -1), .axes = QDQ_INTS(axis)});
    if (what == GATHERED || what == MOVED)
        y = qdq_gather(g, y, order, (qdq_gather_attrs){.axis = QDQ_INT(axis)});
    if (what == REDUCED)
        y = qdq_expand(
            g,
            qdq_reduce_max(g, y, (qdq_reduce_attrs){.axes = QDQ_INTS(-1), .keep_dims = QDQ_TRUE}),
            (qdq_expand_attrs){.shape = QDQ_INTS(4, 4)});
    if (what == RETURNED) qdq_output(g, "also", y);
    if (what == SHARED)
        qdq_output(g, "also", qdq_matmul(g, w, x, (qdq_matmul_attrs){.name = "other"}));
    qdq_value other = what == TWO_COMPUTED ? x : WEIGHTS(g, "w2", 4, 4);
    qdq_output(g, "y", qdq_matmul(g, y, other, (qdq_matmul_attrs){.name = "m2"}));
    qdq_equalize_sites *sites = qdq_graph_equalize_sites(g, NULL);
    size_t count = qdq_equalize_site_count(sites);
    assert_non_null(sites);
    qdq_equalize_sites_destroy(sites);
    qdq_graph_destroy(g);
    return count;
}

static void other_readers_leave_a_value_alone(void **state) {
    (void)state;
    assert_int_equal(sites_with(NOTHING), 1);
    assert_int_equal(sites_with(MOVED), 1);
    for (int what = SIGMOID; what <= REDUCED; what++)
        assert_int_equal(sites_with((obstacle)what), 0);
}

//---- Refusals ---------------------------------------------------------------

static void refuse(float weight, int exponent, qdq_status status, const char *text) {
    const float w[4] = {weight, 1, 1, 1};
    const int exponents[2] = {exponent, 0};
    const qdq_equalize_factors factors = {0, exponents};
    qdq_error err = {0};
    qdq_graph *g = qdq_graph_create("g", NULL);
    qdq_value x = input(g, QDQ_SHAPE(1, 2));
    x = qdq_matmul(g, x, qdq_constant(g, "w1", QDQ_FLOAT32, QDQ_SHAPE(2, 2), w),
                   (qdq_matmul_attrs){0});
    qdq_output(g, "y", qdq_matmul(g, x, WEIGHTS(g, "w2", 2, 2), (qdq_matmul_attrs){0}));
    qdq_equalize_sites *sites = qdq_graph_equalize_sites(g, NULL);
    qdq_graph *equalized = qdq_graph_equalized(sites, &factors, 1, &err);
    assert_int_equal(err.status, status);
    assert_string_equal(err.text, text);
    assert_true((equalized != NULL) == (status == QDQ_OK));
    qdq_graph_destroy(equalized);
    qdq_equalize_sites_destroy(sites);
    qdq_graph_destroy(g);
}

static void a_constant_that_leaves_normal_numbers_is_refused(void **state) {
    (void)state;
    refuse(0x1p100F, 27, QDQ_OK, "");
    refuse(0x1p100F, 28, QDQ_ERR_UNSUPPORTED,
           "constant 'w1': element 0 times 2^28 is no normal float32 number");
    refuse(0x1p-100F, -26, QDQ_OK, "");
    refuse(0x1p-100F, -27, QDQ_ERR_UNSUPPORTED,
           "constant 'w1': element 0 times 2^-27 is no normal float32 number");
    refuse(0, 64, QDQ_OK, "");
    refuse(1, 65, QDQ_ERR_ARGUMENT, "factors 0: the exponent of channel 0 is 65, wanted -64 to 64");
}

static void a_failed_allocation_leaks_nothing(void **state) {
    (void)state;
    static const int exponents[4] = {1, -2, 0, 3};
    const qdq_equalize_factors factors = {0, exponents};
    bool done = false;
    for (size_t fail_at = 1; !done; fail_at++) {
        unit_memory memory;
        qdq_error err = {0};
        qdq_graph *g = norms(&(qdq_graph_options){.allocator = unit_memory_init(&memory, 0)});
        memory.fail_at = memory.calls + fail_at;
        qdq_equalize_sites *sites = qdq_graph_equalize_sites(g, &err);
        qdq_graph *equalized = sites ? qdq_graph_equalized(sites, &factors, 1, &err) : NULL;
        done = memory.calls < memory.fail_at;
        assert_true(equalized ? done : err.status == QDQ_ERR_MEMORY);
        qdq_graph_destroy(equalized);
        qdq_equalize_sites_destroy(sites);
        qdq_graph_destroy(g);
        unit_memory_check(&memory);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(channels_are_followed_to_products),
        cmocka_unit_test(norms_begin_sites),
        cmocka_unit_test(ranges_of_weights_are_per_channel),
        cmocka_unit_test(other_readers_leave_a_value_alone),
        cmocka_unit_test(a_constant_that_leaves_normal_numbers_is_refused),
        cmocka_unit_test(a_failed_allocation_leaks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
