// SPDX-License-Identifier: Apache-2.0
// Checking a node against the description of its op.
#include <stdio.h>
#include <string.h>

#include "include/qdq/ops/quantize.h"
#include "include/qdq/ops/spatial.h"
#include "ops/op.h"
#include "runtime/base/number.h"
#include "runtime/base/words.h"
#include "runtime/numerics/dtype.h"

const char *qdq_set_text(qdq_dtype_set set, char *buffer, size_t capacity) {
    size_t at = 0;
    buffer[0] = '\0';
    for (int i = QDQ_DTYPE_NONE + 1; i < QDQ_DTYPE_COUNT; i++) {
        if (!qdq_set_has(set, (qdq_dtype)i) || at + 1 >= capacity) continue;
        int n = snprintf(buffer + at, capacity - at, "%s%s", at ? ", " : "",
                         qdq_dtype_name((qdq_dtype)i));
        at += n > 0 ? (size_t)n : 0;
    }
    return buffer;
}

void qdq_report_violation(const qdq_op_context *ctx, qdq_core_rule rule, const char *port,
                          const char *found, const char *wanted) {
    qdq_report_core(ctx->findings, rule, (qdq_subject){ctx->node, ctx->op->name, port, NULL}, found,
                    wanted);
}

bool qdq_rule_applies(const qdq_rule *rule, const qdq_op_context *ctx) {
    return qdq_has_word(rule->ops, ctx->op->name) != rule->but_ops;
}

const char *qdq_name_at_node(const qdq_op_context *ctx, const char *name) {
    bool renamed = ctx->half && name && qdq_has_word("scale scales zero_point zps", name);
    return renamed ? qdq_text(ctx->findings, "%s%s", ctx->half, name) : name;
}

void qdq_report_target_hint(const qdq_op_context *ctx, const qdq_rule *rule, const char *port,
                            const char *found, const char *wanted, const char *hint) {
    size_t length = strcspn(rule->id, "/");
    const char *target = qdq_text(ctx->findings, "%.*s", (int)length, rule->id);
    const qdq_op *op = ctx->whole ? ctx->whole : ctx->op;
    qdq_subject subject = {ctx->node, op->name, qdq_name_at_node(ctx, port), NULL};
    qdq_report_add(ctx->findings, target, rule, subject, found, wanted, hint);
}

void qdq_report_target_violation(const qdq_op_context *ctx, const qdq_rule *rule, const char *port,
                                 const char *found, const char *wanted) {
    qdq_report_target_hint(ctx, rule, port, found, wanted, NULL);
}

bool qdq_check_port_dtype(const qdq_op_context *ctx, const char *port, qdq_dtype dtype,
                          qdq_dtype_set set) {
    char text[512];
    if (qdq_set_has(set, dtype)) return true;
    qdq_report_violation(
        ctx, QDQ_RULE_PORT_DTYPE, port, qdq_text(ctx->findings, "is %s", qdq_dtype_name(dtype)),
        qdq_text(ctx->findings, "one of: %s", qdq_set_text(set, text, sizeof text)));
    return false;
}

static void check_port(const qdq_op_context *ctx, const qdq_port_desc *port,
                       const qdq_operand *in) {
    if (!in->given) {
        if (!port->optional)
            qdq_report_violation(ctx, QDQ_RULE_PORT_MISSING, port->name, "is not connected", NULL);
        return;
    }
    if (in->valid) (void)qdq_check_port_dtype(ctx, port->name, in->type.dtype, port->dtypes);
}

static size_t count_words(const char *const *words) {
    size_t n = 0;
    while (words[n]) n++;
    return n;
}

// An enum out of its range comes from C only; JSON words are looked up by the reader.
static bool check_attr(const qdq_op_context *ctx, const qdq_attr_desc *attr) {
    const void *field = (const char *)ctx->attrs + attr->offset;
    int64_t value, end;
    if (attr->kind == QDQ_ATTR_WORD) {
        int word;
        memcpy(&word, field, sizeof word);
        value = word, end = (int64_t)count_words(attr->words);
    } else if (attr->kind == QDQ_ATTR_MAYBE_WORD) {
        qdq_maybe_word word;
        memcpy(&word, field, sizeof word);
        if (word.set == 0) return true;
        value = word.value, end = (int64_t)count_words(attr->words);
    } else if (attr->kind == QDQ_ATTR_DTYPE) {
        qdq_dtype dtype;
        memcpy(&dtype, field, sizeof dtype);
        value = (int64_t)dtype, end = QDQ_DTYPE_COUNT;
    } else if (attr->kind == QDQ_ATTR_BOOL) {
        qdq_bool flag;
        memcpy(&flag, field, sizeof flag);
        value = (int64_t)flag, end = QDQ_FALSE + 1;
    } else {
        return true;
    }
    if (value >= 0 && value < end) return true;
    qdq_report_violation(ctx, QDQ_RULE_ATTR_VALUE, attr->name,
                         qdq_text(ctx->findings, "is %lld", (long long)value),
                         qdq_text(ctx->findings, "0 to %lld", (long long)end - 1));
    return false;
}

// A bare number in a field that only a macro sets, as in `.axis = 1`, is in the place of the mark.
static bool check_mark(const qdq_op_context *ctx, const qdq_attr_desc *attr) {
    const void *field = (const char *)ctx->attrs + attr->offset;
    const char *macro = strcmp(attr->name, "qtype") == 0 ? "QDQ_QTYPE" : "QDQ_MODE";
    double mark = 0;
    qdq_maybe_word word;
    char number[QDQ_NUMBER_BYTES];
    if (attr->kind == QDQ_ATTR_INT || attr->kind == QDQ_ATTR_BOUND) {
        mark = ((const qdq_int *)field)->set, macro = "QDQ_INT";
    } else if (attr->kind == QDQ_ATTR_FLOAT) {
        mark = ((const qdq_float *)field)->set, macro = "QDQ_FLOAT";
    } else if (attr->kind == QDQ_ATTR_MAYBE_WORD) {
        memcpy(&word, field, sizeof word);
        mark = (double)word.set;
    }
    if (mark == 0 || mark == QDQ_GIVEN) return true;
    const char *text = qdq_number_text(number, mark, false);
    qdq_report_violation(ctx, QDQ_RULE_ATTRIBUTE_NOT_SET, attr->name,
                         qdq_text(ctx->findings, "is a bare %s, which sets nothing", text),
                         qdq_text(ctx->findings, "%s(%s)", macro, text));
    return false;
}

// ttnn's command queues decide when an op runs, never its results or their place.
static void check_queue(const qdq_op_context *ctx, const qdq_attr_desc *attr) {
    const qdq_int *queue = (const void *)((const char *)ctx->attrs + attr->offset);
    if (strcmp(attr->name, "queue_id") == 0 && queue->set != 0)
        qdq_report_violation(
            ctx, QDQ_RULE_QUEUE_IGNORED, attr->name,
            qdq_text(ctx->findings, "is %lld, and is ignored", (long long)queue->value), NULL);
}

bool qdq_op_check(qdq_op_context *ctx) {
    const qdq_op *op = ctx->op;
    size_t before = ctx->findings->errors;
    for (size_t i = 0; i < ctx->input_count; i++) {
        const qdq_operand input = qdq_input_at(ctx, i);
        check_port(ctx, qdq_op_port(op, i), &input);
    }
    bool readable = true;
    for (size_t i = 0; i < op->attr_count; i++) {
        if (check_mark(ctx, &op->attrs[i]))
            readable &= check_attr(ctx, &op->attrs[i]);
        else
            readable = false;
        check_queue(ctx, &op->attrs[i]);
    }
    ctx->output_count = op->output_count;
    if (!ctx->inputs[0].valid) ctx->inputs[0].type = (qdq_type){0};
    if ((ctx->inputs[0].valid || op->infers_without_x) && readable) op->infer(ctx);
    return ctx->findings->errors == before && ctx->inputs[0].valid;
}
