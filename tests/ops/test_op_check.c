// SPDX-License-Identifier: Apache-2.0
// A node against a description with one attribute of each kind that is checked.
#include <stddef.h>

#include "ops/op.h"
#include "tests/unit.h"

typedef struct attrs_type {
    const char *name;
    int word;
    qdq_maybe_word maybe;
    qdq_dtype dtype;
    qdq_bool flag;
    qdq_int number, queue_id;
    qdq_float real;
} attrs_type;

static const char *const words[] = {"a", "b", "c", NULL};
static const qdq_attr_desc attrs[] = {
    {"word", QDQ_ATTR_WORD, offsetof(attrs_type, word), words, NULL, NULL},
    {"maybe", QDQ_ATTR_MAYBE_WORD, offsetof(attrs_type, maybe), words, NULL, NULL},
    {"dtype", QDQ_ATTR_DTYPE, offsetof(attrs_type, dtype), NULL, NULL, NULL},
    {"flag", QDQ_ATTR_BOOL, offsetof(attrs_type, flag), NULL, NULL, NULL},
    {"number", QDQ_ATTR_INT, offsetof(attrs_type, number), NULL, NULL, NULL},
    {"real", QDQ_ATTR_FLOAT, offsetof(attrs_type, real), NULL, NULL, NULL},
    {"queue_id", QDQ_ATTR_INT, offsetof(attrs_type, queue_id), NULL, NULL, NULL},
};
static const qdq_port_desc inputs[] = {
    {.name = "x", .dtypes = QDQ_SET(FLOAT32) | QDQ_SET(INT8)},
    {.name = "b", .optional = true, .dtypes = QDQ_SET(INT32)},
    {.name = "c", .dtypes = QDQ_SET(INT32)},
};
static const qdq_port_desc outputs[] = {{.name = "y"}, {.name = "z"}};
static size_t inferred;
static qdq_dtype inferred_x;

static void infer(qdq_op_context *ctx) {
    inferred++;
    inferred_x = ctx->inputs[0].type.dtype;
}

static const qdq_op op = {.name = "Op", QDQ_OP_TABLES(inputs, outputs, attrs), .infer = infer};

typedef struct node {
    qdq_mempool mempool;
    qdq_findings findings;
    attrs_type attrs;
    qdq_op_context ctx;
} node;

// A node without errors; b is not connected.
static node *begin(void) {
    static node n;
    qdq_mempool_init(&n.mempool, NULL);
    n.findings = (qdq_findings){.mempool = &n.mempool, .file = "", .most = 100};
    n.attrs = (attrs_type){.name = "n"};
    n.ctx = (qdq_op_context){
        .op = &op, .node = "n", .attrs = &n.attrs, .input_count = 3, .findings = &n.findings};
    n.ctx.inputs[0] =
        (qdq_operand){.given = true, .valid = true, .type = {QDQ_FLOAT32, QDQ_SHAPE(2)}};
    n.ctx.inputs[1] = (qdq_operand){0};
    n.ctx.inputs[2] =
        (qdq_operand){.given = true, .valid = true, .type = {QDQ_INT32, QDQ_SHAPE(2)}};
    inferred = 0;
    return &n;
}

static void check_fine(node *n) {
    assert_true(qdq_op_check(&n->ctx));
    assert_int_equal(n->findings.errors, 0);
    assert_int_equal(inferred, 1);
    qdq_mempool_release(&n->mempool);
}

// The check fails with one error that has both parts; `infers`: the op still infers.
static void check_told(node *n, const char *found, const char *wanted, bool infers) {
    assert_false(qdq_op_check(&n->ctx));
    assert_int_equal(n->findings.errors, 1);
    assert_non_null(strstr(n->findings.items[0].message, found));
    assert_non_null(strstr(n->findings.items[0].message, wanted));
    assert_int_equal(inferred, infers);
    qdq_mempool_release(&n->mempool);
}

static void every_port_is_checked(void **state) {
    (void)state;
    node *n = begin();
    check_fine(n);
    assert_int_equal(n->ctx.output_count, 2);
    n = begin();
    n->ctx.inputs[2].given = n->ctx.inputs[2].valid = false;
    check_told(n, "c is not connected", "", true);
    n = begin();
    n->ctx.inputs[0].type.dtype = QDQ_INT4;
    check_told(n, "x is int4", "one of: float32, int8", true);
    n = begin();
    n->ctx.inputs[2].type.dtype = QDQ_INT8;
    check_told(n, "c is int8", "one of: int32", true);
    n = begin();
    n->ctx.inputs[1] = n->ctx.inputs[0];
    check_told(n, "b is float32", "one of: int32", true);
}

// A dtype that is not known cannot be wrong.
static void an_input_of_unknown_type_has_no_finding(void **state) {
    (void)state;
    node *n = begin();
    n->ctx.inputs[2].valid = false;
    n->ctx.inputs[2].type.dtype = QDQ_INT8;
    check_fine(n);
    n = begin();
    n->ctx.inputs[0].valid = false;
    assert_false(qdq_op_check(&n->ctx));
    assert_int_equal(n->findings.errors, 0);
    assert_int_equal(inferred, 0);
    qdq_mempool_release(&n->mempool);
    qdq_op curious = op;
    curious.infers_without_x = true;
    n = begin();
    n->ctx.op = &curious;
    n->ctx.inputs[0].valid = false;
    assert_false(qdq_op_check(&n->ctx));
    assert_int_equal(inferred, 1);
    assert_int_equal(inferred_x, QDQ_DTYPE_NONE);
    qdq_mempool_release(&n->mempool);
}

static void enums_have_their_ranges(void **state) {
    (void)state;
    node *n = begin();
    n->attrs.word = 2, n->attrs.flag = QDQ_FALSE;
    n->attrs.dtype = (qdq_dtype)(QDQ_DTYPE_COUNT - 1);
    n->attrs.maybe = (qdq_maybe_word){QDQ_GIVEN, 2};
    check_fine(n);
    n = begin();
    n->attrs.maybe.value = 9;  // not given, so nobody reads it
    check_fine(n);
    n = begin(), n->attrs.word = 3;
    check_told(n, "word is 3", "0 to 2", false);
    n = begin(), n->attrs.word = -1;
    check_told(n, "word is -1", "0 to 2", false);
    n = begin(), n->attrs.maybe = (qdq_maybe_word){QDQ_GIVEN, 3};
    check_told(n, "maybe is 3", "0 to 2", false);
    n = begin(), n->attrs.dtype = QDQ_DTYPE_COUNT;
    char wanted[16];
    snprintf(wanted, sizeof wanted, "0 to %d", QDQ_DTYPE_COUNT - 1);
    check_told(n, "dtype is", wanted, false);
    n = begin(), n->attrs.flag = (qdq_bool)(QDQ_FALSE + 1);
    check_told(n, "flag is 3", "0 to 2", false);
}

static void numbers_in_the_place_of_a_mark_are_refused(void **state) {
    (void)state;
    node *n = begin();
    n->attrs.number = (qdq_int){.set = QDQ_GIVEN, .value = 5};
    n->attrs.real = (qdq_float){.set = QDQ_GIVEN, .value = 5};
    check_fine(n);
    n = begin(), n->attrs.number.set = 1;
    check_told(n, "number is a bare 1, which sets nothing", "QDQ_INT(1)", false);
    n = begin(), n->attrs.real.set = 0.5F;
    check_told(n, "real is a bare 0.5, which sets nothing", "QDQ_FLOAT(0.5)", false);
    n = begin(), n->attrs.maybe.set = 2;
    check_told(n, "maybe is a bare 2, which sets nothing", "QDQ_MODE(2)", false);
    static const qdq_attr_desc named[] = {
        {"qtype", QDQ_ATTR_MAYBE_WORD, offsetof(attrs_type, maybe), words, NULL, NULL}};
    qdq_op other = op;
    other.attrs = named, other.attr_count = 1;
    n = begin(), n->ctx.op = &other, n->attrs.maybe.set = 2;
    check_told(n, "qtype is a bare 2, which sets nothing", "QDQ_QTYPE(2)", false);
}

static void a_queue_has_a_warning(void **state) {
    (void)state;
    node *n = begin();
    n->attrs.queue_id = (qdq_int){.set = QDQ_GIVEN, .value = 1};
    assert_true(qdq_op_check(&n->ctx));
    assert_int_equal(n->findings.warnings, 1);
    assert_non_null(strstr(n->findings.items[0].message, "queue_id is 1, and is ignored"));
    qdq_mempool_release(&n->mempool);
}

// A text that does not fit ends where its memory does.
static void a_set_is_listed_as_far_as_there_is_room(void **state) {
    (void)state;
    static const char whole[] = "float32, int8";
    qdq_dtype_set set = QDQ_SET(FLOAT32) | QDQ_SET(INT8);
    for (size_t room = 1; room <= sizeof whole + 1; room++) {
        char text[32], wanted[32];
        memset(text, '?', sizeof text);
        snprintf(wanted, room, "%s", whole);
        assert_string_equal(qdq_set_text(set, text, room), wanted);
        for (size_t i = room; i < sizeof text; i++) assert_int_equal(text[i], '?');
    }
}

static void names_of_a_half_begin_as_the_node_names_them(void **state) {
    (void)state;
    static const char *const names[] = {"scale", "scales", "zero_point", "zps"};
    node *n = begin();
    assert_string_equal(qdq_name_at_node(&n->ctx, "scale"), "scale");
    n->ctx.half = "out_";
    for (size_t i = 0; i < UNIT_COUNT(names); i++) {
        char wanted[32];
        snprintf(wanted, sizeof wanted, "out_%s", names[i]);
        assert_string_equal(qdq_name_at_node(&n->ctx, names[i]), wanted);
    }
    assert_string_equal(qdq_name_at_node(&n->ctx, "x"), "x");
    assert_null(qdq_name_at_node(&n->ctx, NULL));
    qdq_mempool_release(&n->mempool);
}

static void rules_name_the_ops_that_they_are_for_or_not_for(void **state) {
    (void)state;
    node *n = begin();
    assert_true(qdq_rule_applies(&(qdq_rule){.ops = "Add Op"}, &n->ctx));
    assert_false(qdq_rule_applies(&(qdq_rule){.ops = "Add Opus"}, &n->ctx));
    assert_false(qdq_rule_applies(&(qdq_rule){.ops = "Op", .but_ops = true}, &n->ctx));
    assert_true(qdq_rule_applies(&(qdq_rule){.ops = "Add", .but_ops = true}, &n->ctx));
    qdq_mempool_release(&n->mempool);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_port_is_checked),
        cmocka_unit_test(an_input_of_unknown_type_has_no_finding),
        cmocka_unit_test(enums_have_their_ranges),
        cmocka_unit_test(numbers_in_the_place_of_a_mark_are_refused),
        cmocka_unit_test(a_queue_has_a_warning),
        cmocka_unit_test(a_set_is_listed_as_far_as_there_is_room),
        cmocka_unit_test(names_of_a_half_begin_as_the_node_names_them),
        cmocka_unit_test(rules_name_the_ops_that_they_are_for_or_not_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
