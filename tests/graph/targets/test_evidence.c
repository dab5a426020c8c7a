// SPDX-License-Identifier: Apache-2.0
// The evidence of each target: a row says what it claims, and a node that no row covers is unknown.
#include "graph/core/target.h"
#include "include/qdq/inspect.h"
#include "include/qdq/ops/elementwise.h"
#include "include/qdq/ops/products.h"
#include "include/qdq/ops/quantize.h"
#include "include/qdq/ops/reduce.h"
#include "include/qdq/ops/spatial.h"
#include "runtime/base/words.h"
#include "tests/unit.h"

static bool is_release(size_t target, const char *name) {
    for (size_t i = 0; qdq_target_release(target, i); i++)
        if (qdq_has_pattern(name, qdq_target_release(target, i))) return true;
    return false;
}

// Ops of ONNX models that the reader makes of several nodes.
static const char *const model_ops[] = {
    "AveragePool",
    "Attention",
    "BiasGelu",
    "Celu",
    "DynamicQuantizeLSTM",
    "Einsum",
    "FastGelu",
    "FusedConv",
    "GRU",
    "Gemm",
    "GlobalAveragePool",
    "GridSample",
    "InstanceNormalization",
    "LSTM",
    "LpNormalization",
    "MatMulNBits",
    "Max",
    "Mean",
    "MeanVarianceNormalization",
    "Min",
    "MultiHeadAttention",
    "QuickGelu",
    "RNN",
    "ReduceLogSum",
    "ReduceLogSumExp",
    "ReduceSumSquare",
    "Resize",
    "RotaryEmbedding",
    "Selu",
    "SimplifiedLayerNormalization",
    "SkipLayerNormalization",
    "SkipSimplifiedLayerNormalization",
    "Softsign",
    "Split",
    "Swish",
    "Upsample",
};

static bool is_op(const char *name) {
    for (size_t i = 0; i < UNIT_COUNT(model_ops); i++)
        if (strcmp(model_ops[i], name) == 0) return true;
    for (size_t i = 0; i < qdq_op_count(); i++)
        if (strcmp(qdq_op_get(i).name, name) == 0) return true;
    return false;
}

// Fails for a word that is neither an op nor, with a target, one of its releases.
static void check_words(const char *words, const size_t *target) {
    char word[64];
    for (const char *at = words; *at; at += strspn(at, " ")) {
        size_t length = strcspn(at, " ");
        snprintf(word, sizeof word, "%.*s", (int)length, at);
        if (target ? !is_release(*target, word) : !is_op(word)) fail_msg("there is no %s", word);
        at += length;
    }
}

static void check_row(size_t target, qdq_evidence row) {
    bool defined = strcmp(row.kind, "definition") == 0;
    bool read = defined || strcmp(row.kind, "read from source") == 0;
    bool exact = row.bits == QDQ_BITS_EXACT;
    assert_true(read || strcmp(row.kind, "run") == 0 || strcmp(row.kind, "vendor's model") == 0);
    assert_true(read ? exact == defined : row.bits != QDQ_BITS_READ);
    assert_true(*row.against && *row.what && (defined || *row.ops));
    if (read == (*row.compared || *row.date)) fail_msg("%s: %s", row.against, row.compared);
    int year, month, day, length;
    if (!read) {
        assert_int_equal(sscanf(row.date, "%4d-%2d-%2d%n", &year, &month, &day, &length), 3);
        assert_int_equal(length, 10);
    }
    check_words(row.versions, &target);
    check_words(row.ops, NULL);
}

static void a_row_names_versions_and_ops_that_exist_and_dates_what_was_compared(void **state) {
    (void)state;
    for (size_t t = 0; t < qdq_target_count(); t++) {
        assert_true(qdq_target_get(t).evidence_count > 0);
        for (size_t i = 0; i < qdq_target_get(t).evidence_count; i++)
            check_row(t, qdq_target_evidence(t, i));
    }
}

// The version of number `index`, or the plain name of a target without versions.
static bool version_text(size_t target, size_t index, char *out, size_t capacity) {
    const char *release = qdq_target_release(target, index);
    if (!release && (index > 0 || qdq_target_get(target).release_count)) return false;
    snprintf(out, capacity, "%s%s%s", qdq_target_get(target).name, release ? "@" : "",
             release ? release : "");
    return true;
}

// True if a row is the first without a condition, or before it, for an op of it at a version of it.
static bool is_reached(const qdq_target_version *version, size_t row) {
    char op[64] = "";
    const char *ops = qdq_evidence_row_at(version, row)->shown.ops;
    do {
        size_t length = strcspn(ops, " ");
        snprintf(op, sizeof op, "%.*s", (int)length, ops);
        size_t at = qdq_evidence_next(version, op, 0);
        while (at < row && qdq_evidence_row_at(version, at)->covers)
            at = qdq_evidence_next(version, op, at + 1);
        if (at == row) return true;
        ops += length, ops += strspn(ops, " ");
    } while (*ops);
    return false;
}

static void no_row_is_hidden_by_rows_before_it(void **state) {
    char name[64];
    (void)state;
    for (size_t t = 0; t < qdq_target_count(); t++)
        for (size_t i = 0; i < qdq_target_get(t).evidence_count; i++) {
            bool seen = false;
            for (size_t v = 0; version_text(t, v, name, sizeof name); v++) {
                qdq_target_version version;
                assert_true(qdq_target_version_find(name, &version, NULL));
                seen |= is_reached(&version, i);
            }
            if (!seen)
                fail_msg("%s: %s is never found", qdq_target_get(t).name,
                         qdq_target_evidence(t, i).what);
        }
}

//---- Nodes ------------------------------------------------------------------

static qdq_shape image(void) { return (qdq_shape){.rank = 4, .dims = {1, 8, 6, 6}}; }

static qdq_bits bits_of(const qdq_report *report, const char *node) {
    for (size_t i = 0; i < report->node_count; i++)
        if (strcmp(report->nodes[i].node, node) == 0) return report->nodes[i].bits;
    return QDQ_BITS_NONE;
}

static const qdq_report *check(qdq_graph *g, const char *target) {
    qdq_error err = {0};
    const qdq_report *report = qdq_graph_validate(g, target, &err);
    if (!report) fail_msg("%s", err.text);
    size_t all = 0;
    for (int i = QDQ_BITS_UNKNOWN; i <= QDQ_BITS_EXACT; i++) all += report->nodes_with[i];
    assert_int_equal(all, report->node_count);
    return report;
}

// x -> Abs -> Convolution by constant weights -> ReLU, whose last results are quantized.
static qdq_graph *small_network(void) {
    qdq_graph *g = qdq_graph_create("net", NULL);
    float w[8 * 8 * 9] = {0.5f};
    qdq_value x = qdq_input(g, "x", QDQ_FLOAT32, image());
    qdq_value k = qdq_constant(g, "w", QDQ_FLOAT32, (qdq_shape){4, {8, 8, 3, 3}}, w);
    qdq_value t = qdq_abs(g, x, (qdq_unary_attrs){.name = "abs"});
    qdq_value c = qdq_convolution(g, t, k,
                                  (qdq_convolution_attrs){.name = "conv",
                                                          .strides = QDQ_INTS(1, 1),
                                                          .dilations = QDQ_INTS(1, 1),
                                                          .data_format = QDQ_NCX,
                                                          .weights_format = QDQ_OIX});
    qdq_value r = qdq_relu(g, c, (qdq_unary_attrs){.name = "relu"});
    qdq_output(
        g, "y",
        qdq_quantize(
            g, r, (qdq_quantize_attrs){.name = "q", .scales = QDQ_SCALE(0.5f), .dtype = QDQ_INT8}));
    return g;
}

static void a_finding_limits_its_node_and_marks_what_reads_it(void **state) {
    (void)state;
    qdq_graph *g = small_network();
    const qdq_report *report = check(g, "core");
    assert_int_equal(report->nodes_with[QDQ_BITS_EXACT], 4);
    report = check(g, "ort@1.31-vnni");  // convolutions of images on blocks of channels
    assert_int_equal(bits_of(report, "conv"), QDQ_BITS_EXACT);
    report = check(g, "ort@1.31-dot");  // the same, which is not modelled there
    assert_int_equal(report->node_count, 4);
    assert_int_equal(bits_of(report, "abs"), QDQ_BITS_READ);
    assert_int_equal(bits_of(report, "conv"), QDQ_BITS_CLOSE);
    assert_int_equal(bits_of(report, "q"), QDQ_BITS_EXACT);
    assert_string_equal(report->nodes[1].rule, "ort/convolution-order");
    for (size_t i = 0; i < 4; i++) assert_int_equal(report->nodes[i].from_same_inputs, i > 1);
    report = check(g, "onnx@1.31-vnni");
    assert_int_equal(bits_of(report, "conv"), QDQ_BITS_EXACT);
    assert_false(report->nodes[3].from_same_inputs);
    qdq_graph_destroy(g);
}

static void findings_beyond_the_kept_ones_limit_their_nodes_too(void **state) {
    (void)state;
    qdq_graph *g = qdq_graph_create("many", &(qdq_graph_options){.limits = {.findings = 2}});
    qdq_value x = qdq_input(g, "x", QDQ_FLOAT32, image());
    for (int i = 0; i < 9; i++) x = qdq_sin(g, x, (qdq_unary_attrs){0});
    qdq_output(g, "y", x);
    const qdq_report *report = check(g, "ort@1.31-vnni");
    assert_int_equal(report->nodes_with[QDQ_BITS_CLOSE], 9);
    qdq_graph_destroy(g);
}

static void nodes_without_evidence_are_unknown_with_one_finding_for_each_op(void **state) {
    (void)state;
    qdq_graph *g = qdq_graph_create("unknown", NULL);
    qdq_value x = qdq_input(g, "x", QDQ_FLOAT32, image());
    for (int i = 0; i < 3; i++) x = qdq_sin(g, x, (qdq_unary_attrs){0});
    x = qdq_cos(g, qdq_relu(g, x, (qdq_unary_attrs){.name = "relu"}), (qdq_unary_attrs){0});
    qdq_output(g, "y", x);
    const qdq_report *report = check(g, "ttnn");
    assert_int_equal(report->nodes_with[QDQ_BITS_UNKNOWN], 4);
    assert_int_equal(bits_of(report, "relu"), QDQ_BITS_READ);
    size_t found = 0;
    for (size_t i = 0; i < report->count; i++)
        found += strcmp(report->findings[i].rule, "ttnn/bits-unknown") == 0;
    assert_int_equal(found, 2);
    for (size_t i = 0; i < report->node_count; i++)
        assert_int_equal(!report->nodes[i].evidence, report->nodes[i].bits == QDQ_BITS_UNKNOWN);
    qdq_graph_destroy(g);
}

// A window more than the pool has would begin in the padding: with ceil_mode ONNX Runtime 1.20.1
// has it, and 1.21.1 does not.
static void a_node_of_which_a_release_has_other_numbers_is_unknown(void **state) {
    (void)state;
    qdq_graph *g = qdq_graph_create("pool", NULL);
    qdq_value x = qdq_input(g, "x", QDQ_FLOAT32, (qdq_shape){3, {1, 1, 4}});
    qdq_output(g, "y",
               qdq_max_pool(g, x,
                            (qdq_pool_attrs){.name = "pool",
                                             .strides = QDQ_INTS(2),
                                             .kernel = QDQ_INTS(2),
                                             .pads_begin = QDQ_INTS(0),
                                             .pads_end = QDQ_INTS(1),
                                             .data_format = QDQ_NCX}));
    const qdq_report *report = check(g, "onnx@1.20");
    assert_int_equal(bits_of(report, "pool"), QDQ_BITS_UNKNOWN);
    assert_int_equal(report->count, 1);
    assert_string_equal(report->findings[0].found,
                        "the backend gives other numbers: a window may lie in the padding");
    assert_int_equal(bits_of(check(g, "onnx@1.21"), "pool"), QDQ_BITS_READ);
    qdq_graph_destroy(g);
}

static void a_graph_with_errors_has_no_bits(void **state) {
    (void)state;
    qdq_graph *g = qdq_graph_create("wrong", NULL);
    qdq_value x = qdq_input(g, "x", QDQ_FLOAT32, image());
    qdq_output(g, "y", qdq_quantize(g, x, (qdq_quantize_attrs){.dtype = QDQ_INT8}));
    const qdq_report *report = check(g, "onnx");
    assert_true(report->errors > 0);
    assert_int_equal(report->node_count, 0);
    qdq_graph_destroy(g);
}

//---- Lookup -----------------------------------------------------------------

static void the_version_and_the_op_choose_the_row(void **state) {
    (void)state;
    assert_string_equal(qdq_evidence_of("ort@1.31-avx512", "QLinearConv").kind, "read from source");
    assert_string_equal(qdq_evidence_of("ort@1.31-avx2:level=basic", "QLinearConv").kind, "run");
    assert_string_equal(qdq_evidence_of("ort@1.31-vnni", "Tanh").kind, "run");
    assert_string_equal(qdq_evidence_of("ttnn", "Quantize").kind, "vendor's model");
    assert_string_equal(qdq_evidence_of("ttnn@ieee", "Quantize").kind, "read from source");
    assert_null(qdq_evidence_of("torchao", "MatMul").kind);
    assert_null(qdq_evidence_of("ort@1.3", "Add").kind);
    assert_null(qdq_evidence_of(NULL, "Add").kind);
}

static void a_finding_has_the_evidence_of_the_target_that_has_the_rule(void **state) {
    qdq_finding finding = {.target = "onnx", .op = "QLinearConv"};
    (void)state;
    qdq_evidence row = qdq_finding_evidence("ort@1.31-avx512:level=basic", &finding);
    assert_string_equal(row.against, qdq_evidence_of("onnx@1.31-avx512", "QLinearConv").against);
    finding.target = "core";
    row = qdq_finding_evidence("ort@1.31-avx512", &finding);
    assert_string_equal(row.against, qdq_evidence_of("core", "MatMul").against);
    finding.target = "ort";
    assert_string_equal(qdq_finding_evidence("ort@1.31-avx2", &finding).kind, "run");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_names_versions_and_ops_that_exist_and_dates_what_was_compared),
        cmocka_unit_test(no_row_is_hidden_by_rows_before_it),
        cmocka_unit_test(a_finding_limits_its_node_and_marks_what_reads_it),
        cmocka_unit_test(findings_beyond_the_kept_ones_limit_their_nodes_too),
        cmocka_unit_test(nodes_without_evidence_are_unknown_with_one_finding_for_each_op),
        cmocka_unit_test(a_node_of_which_a_release_has_other_numbers_is_unknown),
        cmocka_unit_test(a_graph_with_errors_has_no_bits),
        cmocka_unit_test(the_version_and_the_op_choose_the_row),
        cmocka_unit_test(a_finding_has_the_evidence_of_the_target_that_has_the_rule),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
