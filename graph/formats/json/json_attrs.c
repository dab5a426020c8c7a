// SPDX-License-Identifier: Apache-2.0
// Reads the attributes of a node from JSON into the op's struct, guided by the op's table of
// attributes.
#include "graph/formats/json/json_attrs.h"

#include <math.h>
#include <string.h>

#include "include/qdq/inspect.h"
#include "runtime/base/did_you_mean.h"

//---- Dtypes -----------------------------------------------------------------

static const char *nearest_dtype(const char *name) {
    const char *names[QDQ_DTYPE_COUNT];
    for (int i = 0; i < QDQ_DTYPE_COUNT; i++) names[i] = qdq_dtype_name((qdq_dtype)i);
    return qdq_did_you_mean(name, names + 1, QDQ_DTYPE_COUNT - 1);
}

qdq_dtype qdq_json_read_dtype(qdq_graph *graph, const char *name, qdq_subject subject) {
    qdq_findings *f = &graph->findings;
    qdq_dtype dtype = qdq_dtype_from_name(name);
    char known[512];
    if (dtype == QDQ_DTYPE_NONE)
        qdq_report_near(f, QDQ_RULE_DTYPE_UNKNOWN, subject, qdq_text(f, "is '%.128s'", name),
                        qdq_text(f, "one of: %s", qdq_set_text(QDQ_SET_ALL, known, sizeof known)),
                        nearest_dtype(name));
    return dtype;
}

//---- Attributes -------------------------------------------------------------

typedef struct attr_reader {
    qdq_graph *graph;
    qdq_mempool *mempool;
    qdq_subject subject;  // names the attribute being read
    bool failed;
} attr_reader;

static void wrong_attr(attr_reader *a, const qdq_json_item *json, const char *wanted) {
    qdq_findings *f = &a->graph->findings;
    double number;
    qdq_graph_report_core(a->graph, QDQ_RULE_ATTR_TYPE, a->subject,
                          qdq_json_number(json, &number)
                              ? qdq_text_is(f, number)
                              : qdq_text(f, "is %s", qdq_json_kind_text(json)),
                          wanted);
    a->failed = true;
}

static int read_word(attr_reader *a, const qdq_attr_desc *attr, const qdq_json_item *json) {
    qdq_findings *f = &a->graph->findings;
    char known[256] = "";
    size_t count = 0;
    const char *text = qdq_json_text(json);
    if (!text) {
        wrong_attr(a, json, "a string");
        return 0;
    }
    for (; attr->words[count]; count++) {
        if (strcmp(attr->words[count], text) == 0) return (int)count;
        strncat(known, count ? ", " : "", sizeof known - strlen(known) - 1);
        strncat(known, attr->words[count], sizeof known - strlen(known) - 1);
    }
    qdq_report_near(f, QDQ_RULE_ATTR_VALUE, a->subject, qdq_text(f, "is '%.128s'", text),
                    qdq_text(f, "one of: %s", known), qdq_did_you_mean(text, attr->words, count));
    a->failed = true;
    return 0;
}

// Counts the numbers of a nested array. The scanner limits the depth to 64, so recursion is
// bounded.
static size_t count_numbers(const qdq_json_item *json) {
    size_t count = 0;
    if (!qdq_json_is_array(json)) return 1;
    QDQ_JSON_EACH(child, json) count += count_numbers(child);
    return count;
}

static bool flatten(const qdq_json_item *json, double *out, size_t *at) {
    if (!qdq_json_is_array(json)) return qdq_json_any_number(json, &out[(*at)++]);
    QDQ_JSON_EACH(child, json) if (!flatten(child, out, at)) return false;
    return true;
}

// Returns all numbers of an item in row-major order. NULL if it contains anything else or memory
// runs out.
static const double *read_numbers(const attr_reader *a, const qdq_json_item *json, size_t *count) {
    size_t at = 0;
    *count = count_numbers(json);
    double *numbers = qdq_mempool_array(a->mempool, *count, sizeof *numbers);
    return numbers && flatten(json, numbers, &at) ? numbers : NULL;
}

static void read_floats(attr_reader *a, const qdq_json_item *json, qdq_floats *out) {
    size_t count;
    const double *numbers = read_numbers(a, json, &count);
    float *floats = numbers ? qdq_mempool_array(a->mempool, count, sizeof *floats) : NULL;
    if (!floats) {
        wrong_attr(a, json, "a number or an array of numbers");
        return;
    }
    for (size_t i = 0; i < count; i++) floats[i] = (float)numbers[i];
    *out = (qdq_floats){floats, count, !qdq_json_is_array(json)};
}

// Reads the integers of an array in row-major order, at any nesting.
static bool flatten_ints(const qdq_json_item *json, int64_t *ints, size_t *at) {
    if (!qdq_json_is_array(json)) return qdq_json_int64(json, &ints[(*at)++]);
    QDQ_JSON_EACH(item, json)
    if (!flatten_ints(item, ints, at)) return false;
    return true;
}

static void read_ints(attr_reader *a, const qdq_json_item *json, qdq_ints *out) {
    size_t count = qdq_json_is_array(json) ? count_numbers(json) : 0, at = 0;
    int64_t *ints = qdq_mempool_array(a->mempool, count, sizeof *ints);
    if (ints && qdq_json_is_array(json) && flatten_ints(json, ints, &at))
        *out = (qdq_ints){ints, count};
    else
        wrong_attr(a, json, "an array of whole numbers");
}

static void read_attr(attr_reader *a, const qdq_attr_desc *attr, const qdq_json_item *json,
                      void *field) {
    int64_t whole = 0;
    double number;
    int word;
    switch (attr->kind) {
    case QDQ_ATTR_INT:
        if (!qdq_json_whole(json, &whole)) wrong_attr(a, json, "a whole number");
        *(qdq_int *)field = QDQ_INT(whole);
        break;
    case QDQ_ATTR_BOUND:
        if (!qdq_json_number(json, &number) || fabs(number) > 9007199254740992.0)
            wrong_attr(a, json, "a number of at most 2^53 in size");
        else
            *(qdq_int *)field = QDQ_REAL(number);
        break;
    case QDQ_ATTR_FLOAT:
        if (!qdq_json_number(json, &number))
            wrong_attr(a, json, "a number");
        else
            *(qdq_float *)field = QDQ_FLOAT(number);
        break;
    case QDQ_ATTR_BOOL:
        if (!qdq_json_is_bool(json)) wrong_attr(a, json, "true or false");
        *(qdq_bool *)field = qdq_json_is_true(json) ? QDQ_TRUE : QDQ_FALSE;
        break;
    case QDQ_ATTR_WORD:
        word = read_word(a, attr, json);
        memcpy(field, &word, sizeof word);
        break;
    case QDQ_ATTR_MAYBE_WORD: {
        qdq_maybe_word maybe = {QDQ_GIVEN, read_word(a, attr, json)};
        memcpy(field, &maybe, sizeof maybe);
        break;
    }
    case QDQ_ATTR_DTYPE:
        if (!qdq_json_text(json)) {
            wrong_attr(a, json, "the name of a dtype");
            break;
        }
        *(qdq_dtype *)field = qdq_json_read_dtype(a->graph, qdq_json_text(json), a->subject);
        a->failed |= *(qdq_dtype *)field == QDQ_DTYPE_NONE;
        break;
    case QDQ_ATTR_VALUE:  // json_nodes.c finds the value
        if (!qdq_json_text(json)) wrong_attr(a, json, "the name of a value");
        break;
    case QDQ_ATTR_INTS: read_ints(a, json, field); break;
    case QDQ_ATTR_FLOATS: read_floats(a, json, field); break;
    case QDQ_ATTR_NUMBERS: {
        qdq_numbers *numbers = field;
        numbers->data = read_numbers(a, json, &numbers->count);
        numbers->scalar = !qdq_json_is_array(json);
        if (!numbers->data) wrong_attr(a, json, "a number or an array of numbers");
        break;
    }
    }
}

bool qdq_json_read_attrs(qdq_graph *graph, qdq_mempool *mempool, const qdq_op *op, const char *node,
                         const qdq_json_item *attrs, char *fields) {
    attr_reader a = {.graph = graph, .mempool = mempool};
    QDQ_JSON_EACH(json, attrs) {
        const qdq_attr_desc *attr = NULL;
        a.subject = (qdq_subject){node, op->name, NULL, NULL};
        for (size_t i = 0; i < op->attr_count && !attr; i++)
            if (strcmp(op->attrs[i].name, qdq_json_name(json)) == 0) attr = &op->attrs[i];
        if (attr && qdq_json_is_null(json)) continue;  // absent
        if (attr) {
            a.subject.port = attr->name;
            read_attr(&a, attr, json, fields + attr->offset);
        } else if (strncmp(qdq_json_name(json), "x-", 2) != 0) {
            qdq_json_report_unknown_attr(graph, op, node, qdq_json_name(json));
            a.failed = true;
        }
    }
    return !a.failed;
}

bool qdq_json_read_attr(qdq_graph *graph, qdq_mempool *mempool, qdq_subject subject,
                        const qdq_attr_desc *attr, const qdq_json_item *json, void *field) {
    attr_reader a = {.graph = graph, .mempool = mempool, .subject = subject};
    read_attr(&a, attr, json, field);
    return !a.failed;
}

void qdq_json_report_unknown_attr(qdq_graph *graph, const qdq_op *op, const char *node,
                                  const char *name) {
    const char *names[64];
    size_t count = op->attr_count < 64 ? op->attr_count : 64;
    for (size_t i = 0; i < count; i++) names[i] = op->attrs[i].name;
    qdq_find_unknown(
        &graph->findings, QDQ_RULE_ATTR_UNKNOWN, (qdq_subject){node, op->name, NULL, NULL},
        qdq_text(&graph->findings, "attribute '%.128s' is unknown", name), name, names, count);
}
