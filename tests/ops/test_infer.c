// SPDX-License-Identifier: Apache-2.0
// The checks that `infer` functions share: what they return, what they report, and that they leave
// inputs alone whose type is unknown.
#include "ops/infer.h"
#include "tests/unit.h"

static const qdq_port_desc ports[] = {{.name = "x"}, {.name = "b"}, {.name = "c"}};
static const qdq_op op = {.name = "Op", .inputs = ports, .input_count = 3};

typedef struct node {
    qdq_mempool mempool;
    qdq_findings findings;
    qdq_op_context ctx;
} node;

// x: float32 [2, 3]. b: int8 [3]. c: connected, but its type is unknown.
static node *begin(void) {
    static node n;
    qdq_mempool_init(&n.mempool, NULL);
    n.findings = (qdq_findings){.mempool = &n.mempool, .file = "", .most = 100};
    n.ctx = (qdq_op_context){.op = &op, .node = "n", .input_count = 3, .findings = &n.findings};
    n.ctx.inputs[0] = (qdq_operand){
        .given = true, .valid = true, .type = {QDQ_FLOAT32, {.rank = 2, .dims = {2, 3}}}};
    n.ctx.inputs[1] =
        (qdq_operand){.given = true, .valid = true, .type = {QDQ_INT8, {.rank = 1, .dims = {3}}}};
    n.ctx.inputs[2] = (qdq_operand){.given = true, .type = {QDQ_INT32, {.rank = 1, .dims = {7}}}};
    return &n;
}

static void end(node *n) { qdq_mempool_release(&n->mempool); }

// The check has failed with one finding that has both parts.
static void check_told(node *n, bool fine, const char *found, const char *wanted) {
    assert_false(fine);
    assert_int_equal(n->findings.errors, 1);
    assert_non_null(strstr(n->findings.items[0].message, found));
    assert_non_null(strstr(n->findings.items[0].message, wanted));
    end(n);
}

static void an_input_of_unknown_type_is_not_checked(void **state) {
    (void)state;
    node *n = begin();
    for (size_t input = 2; input < 4; input++) {  // the last one is none of the node's
        assert_true(qdq_check_one(&n->ctx, input));
        assert_true(qdq_check_same_dtype(&n->ctx, input));
        assert_true(qdq_check_dtype_as(&n->ctx, 0, input));
        assert_true(qdq_check_shape(&n->ctx, input, QDQ_SHAPE(2), "two"));
        assert_true(qdq_check_broadcasts_to(&n->ctx, input, QDQ_SHAPE(2), "two"));
    }
    assert_int_equal(n->findings.errors, 0);
    end(n);
}

static void an_axis_counts_from_either_end(void **state) {
    (void)state;
    static const struct {
        int64_t axis;
        int rank, dim;
    } cases[] = {{0, 3, 0}, {2, 3, 2}, {-1, 3, 2}, {-3, 3, 0}, {0, 1, 0}, {-1, 1, 0}};
    node *n = begin();
    for (size_t i = 0; i < UNIT_COUNT(cases); i++)
        assert_int_equal(qdq_check_axis(&n->ctx, "axis", cases[i].axis, cases[i].rank),
                         cases[i].dim);
    assert_int_equal(n->findings.errors, 0);
    assert_int_equal(qdq_check_axis(&n->ctx, "axis", 3, 3), -1);
    check_told(n, false, "axis is 3", "-3 to 2");
    n = begin();
    assert_int_equal(qdq_check_axis(&n->ctx, "axis", -4, 3), -1);
    check_told(n, false, "axis is -4", "-3 to 2");
    n = begin();
    assert_int_equal(qdq_check_axis(&n->ctx, "axis", 0, 0), -1);
    check_told(n, false, "axis is 0", "this one has none");
}

static void a_wrong_input_is_reported_with_its_port(void **state) {
    (void)state;
    node *n = begin();
    check_told(n, qdq_check_same_dtype(&n->ctx, 1), "b is int8", "float32, as x is");
    n = begin();
    check_told(n, qdq_check_dtype_as(&n->ctx, 0, 1), "x is float32", "int8, as b is");
    n = begin();
    check_told(n, qdq_check_one(&n->ctx, 1), "b has the shape [3]", "one element");
    n = begin();
    check_told(n, qdq_check_shape(&n->ctx, 0, QDQ_SHAPE(3, 2), "turned"), "x has the shape [2, 3]",
               "[3, 2]: turned");
    n = begin();
    check_told(n, qdq_check_broadcasts_to(&n->ctx, 0, QDQ_SHAPE(3), "the shape of b"),
               "x has the shape [2, 3]", "broadcast to [3], the shape of b");
    n = begin();
    check_told(n, qdq_require_attr(&n->ctx, "size", false), "size is missing", "");
}

static void a_right_input_is_not_reported(void **state) {
    (void)state;
    node *n = begin();
    assert_true(qdq_check_same_dtype(&n->ctx, 0));
    assert_true(qdq_check_shape(&n->ctx, 0, QDQ_SHAPE(2, 3), ""));
    assert_true(qdq_check_broadcasts_to(&n->ctx, 1, QDQ_SHAPE(2, 3), ""));
    assert_true(qdq_require_attr(&n->ctx, "size", true));
    n->ctx.inputs[1].type.shape = QDQ_SHAPE(1, 1);
    assert_true(qdq_check_one(&n->ctx, 1));
    n->ctx.inputs[1].type.shape = (qdq_shape){0};
    assert_true(qdq_check_one(&n->ctx, 1));
    assert_int_equal(n->findings.errors, 0);
    end(n);
}

static void check_broadcast(qdq_shape a, qdq_shape b, qdq_shape wanted) {
    qdq_shape out;
    assert_true(qdq_broadcast_shapes(a, b, &out));
    assert_true(qdq_shape_equal(out, wanted));
    assert_true(qdq_broadcast_shapes(b, a, &out));
    assert_true(qdq_shape_equal(out, wanted));
    assert_true(qdq_broadcasts_to(a, b) == qdq_shape_equal(b, wanted));
}

// By numpy's rule: dims are aligned at the end, and a 1 or a missing dim takes the other's size.
static void shapes_are_broadcast_by_the_rule_of_numpy(void **state) {
    (void)state;
    qdq_shape out, none = {0};
    check_broadcast(QDQ_SHAPE(3), QDQ_SHAPE(2, 3), QDQ_SHAPE(2, 3));
    check_broadcast(QDQ_SHAPE(2, 3), QDQ_SHAPE(3), QDQ_SHAPE(2, 3));
    check_broadcast(QDQ_SHAPE(4, 1, 3), QDQ_SHAPE(2, 1), QDQ_SHAPE(4, 2, 3));
    check_broadcast(QDQ_SHAPE(1, 5), QDQ_SHAPE(7, 1), QDQ_SHAPE(7, 5));
    check_broadcast(none, QDQ_SHAPE(2, 3), QDQ_SHAPE(2, 3));
    check_broadcast(none, none, none);
    assert_false(qdq_broadcast_shapes(QDQ_SHAPE(2), QDQ_SHAPE(3), &out));
    assert_false(qdq_broadcast_shapes(QDQ_SHAPE(2, 3), QDQ_SHAPE(3, 3), &out));
    assert_false(qdq_broadcasts_to(QDQ_SHAPE(2), QDQ_SHAPE(3)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_input_of_unknown_type_is_not_checked),
        cmocka_unit_test(an_axis_counts_from_either_end),
        cmocka_unit_test(a_wrong_input_is_reported_with_its_port),
        cmocka_unit_test(a_right_input_is_not_reported),
        cmocka_unit_test(shapes_are_broadcast_by_the_rule_of_numpy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
