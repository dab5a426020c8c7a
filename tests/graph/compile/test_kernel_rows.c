// SPDX-License-Identifier: Apache-2.0
// Every row of the kernel table has numerics that some target uses. An unreachable row would be
// kept and tested for nothing.
#include <qdq/qdq.h>

#include "ops/kernels/kernel.h"
#include "tests/unit.h"

enum { MOST_ROWS = 1024 };

// Which parameters are tensors of one element; all others are numbers. BLOCKS: scales of blocks of
// 16 rows and one column.
enum { NO_TENSOR, SCALE_TENSOR = 1, ZERO_POINT_TENSOR = 2, WAYS = 4, BLOCKS };

// x -> one node -> y. `zero_point`: with one, which some targets treat differently from none.
// Requantize has an axis if all its parameters are tensors.
static qdq_graph *one_node(qdq_family family, qdq_dtype x_dtype, qdq_dtype y_dtype, int round,
                           int tensors) {
    bool zero_point = round % 2, all = tensors == (SCALE_TENSOR | ZERO_POINT_TENSOR);
    qdq_graph *g = qdq_graph_create("one", NULL);
    qdq_value x = qdq_input(g, "x", x_dtype, QDQ_SHAPE(32, 32)), y;
    qdq_numbers zps = zero_point ? QDQ_ZP(3) : (qdq_numbers){0};
    qdq_quantize_attrs attrs = {.scales = QDQ_SCALE(0.5f), .zps = zps, .dtype = y_dtype};
    static float scales[2 * 32];
    static const int64_t group[] = {16, 1};
    for (size_t i = 0; i < UNIT_COUNT(scales); i++) scales[i] = 0.5f;
    attrs.scales.scalar = !(tensors & SCALE_TENSOR);
    if (tensors == BLOCKS) {
        attrs.qtype = QDQ_PER_GROUP, attrs.group_shape = (qdq_ints){group, 2};
        attrs.scales = (qdq_floats){scales, UNIT_COUNT(scales), false};
        attrs.zps = (qdq_numbers){0};
    }
    attrs.zps.scalar = !(tensors & ZERO_POINT_TENSOR);
    if (round / 2 && family == QDQ_FAMILY_QUANTIZE)
        y = qdq_dynamic_quantize(
            g, x,
            (qdq_dynamic_quantize_attrs){.quantize = {.dtype = y_dtype},
                                         .scheme = zero_point ? QDQ_SYMMETRIC : 0});
    else if (family == QDQ_FAMILY_QUANTIZE)
        y = qdq_quantize(g, x, attrs);
    else if (family == QDQ_FAMILY_DEQUANTIZE)
        y = qdq_dequantize(g, x, attrs);
    else
        y = qdq_requantize(g, x,
                           (qdq_requantize_attrs){.in_scales = attrs.scales,
                                                  .in_zps = attrs.zps,
                                                  .out_scales = attrs.scales,
                                                  .out_zps = attrs.zps,
                                                  .axis = {.set = all ? QDQ_GIVEN : 0},
                                                  .dtype = y_dtype});
    qdq_output(g, "y", y);
    return g;
}

// Returns a graph of one DynamicQuantize that computes powers of two.
static qdq_graph *one_block_format(qdq_dtype x_dtype, qdq_dtype y_dtype, qdq_scheme scheme) {
    static const int64_t block[2] = {1, 32};
    qdq_graph *g = qdq_graph_create("powers", NULL);
    qdq_dynamic_quantize_attrs a = {
        .scheme = scheme,
        .quantize = {.dtype = y_dtype, .qtype = QDQ_PER_GROUP, .group_shape = {block, 2}}};
    qdq_output(g, "y", qdq_dynamic_quantize(g, qdq_input(g, "x", x_dtype, QDQ_SHAPE(2, 32)), a));
    return g;
}

// Marks the kernel rows that the node of a graph reaches: none if the target refuses it.
static void mark_node(qdq_graph *g, const char *target, qdq_family family, qdq_dtype x, qdq_dtype y,
                      bool *chosen) {
    size_t count;
    const qdq_kernel *kernels = qdq_kernels(&count);
    qdq_error err = {0};
    qdq_numerics numerics;
    qdq_plan *plan = qdq_graph_compile(g, &(qdq_compile_options){.target = target}, &err);
    if (plan && qdq_graph_numerics(g, target, 0, &numerics, &err) == QDQ_OK) {
        qdq_numerics matter = qdq_numerics_that_matter(family, y, &numerics);
        for (size_t i = 0; i < count; i++)
            if (kernels[i].family == family && kernels[i].x_dtype == x && kernels[i].y_dtype == y &&
                kernels[i].numerics)
                chosen[i] |= qdq_numerics_equal(kernels[i].numerics, &matter);
    }
    qdq_plan_destroy(plan);
    qdq_graph_destroy(g);
}

// Marks the rows of a family and two dtypes. For a float32 result also the rows of a plan that
// stores bfloat16.
static void mark(const char *target, qdq_family family, qdq_dtype x, qdq_dtype y, bool *chosen) {
    for (int round = 0; round < 4 * (BLOCKS + 1); round++) {
        qdq_dtype made = round / 4 == WAYS && y == QDQ_BFLOAT16 ? QDQ_FLOAT32 : y;
        mark_node(
            one_node(family, x, made, round % 4, round / 4 == BLOCKS ? BLOCKS : round / 4 % WAYS),
            target, family, x, y, chosen);
    }
    for (int scheme = QDQ_MX_FLOOR; family == QDQ_FAMILY_QUANTIZE && scheme <= QDQ_MX_RCEIL;
         scheme++)
        mark_node(one_block_format(x, y, (qdq_scheme)scheme), target, family, x, y, chosen);
}

static void mark_all_of(const char *target, bool *chosen) {
    size_t count;
    const qdq_kernel *kernels = qdq_kernels(&count);
    for (size_t i = 0; i < count; i++) {
        bool seen = !kernels[i].numerics;  // each pair of family and dtypes once
        for (size_t k = 0; k < i && !seen; k++)
            seen = kernels[k].family == kernels[i].family &&
                   kernels[k].x_dtype == kernels[i].x_dtype &&
                   kernels[k].y_dtype == kernels[i].y_dtype && kernels[k].numerics;
        if (!seen) mark(target, kernels[i].family, kernels[i].x_dtype, kernels[i].y_dtype, chosen);
    }
}

static void every_row_is_chosen_by_some_target(void **state) {
    static bool chosen[MOST_ROWS];
    size_t count;
    const qdq_kernel *kernels = qdq_kernels(&count);
    (void)state;
    assert_true(count <= MOST_ROWS);
    for (size_t t = 0; t < qdq_target_count(); t++) {
        const char *name = qdq_target_get(t).name;
        mark_all_of(name, chosen);
        for (size_t r = 0; qdq_target_release(t, r); r++) {
            char profile[64];
            snprintf(profile, sizeof profile, "%s@%s", name, qdq_target_release(t, r));
            mark_all_of(profile, chosen);
        }
    }
    size_t missing = 0;
    for (size_t i = 0; i < count; i++)
        if (kernels[i].numerics && !chosen[i]) {
            print_error("%s: no target computes so\n", kernels[i].name);
            missing++;
        }
    assert_int_equal(missing, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_row_is_chosen_by_some_target)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
