// SPDX-License-Identifier: Apache-2.0
// Reads attributes of oneDNN Graph JSON, "name": {"type": T, "value": V}, by the op's table of
// attributes.
#include <math.h>
#include <string.h>

#include "graph/formats/json/json_attrs.h"
#include "graph/formats/onednn/json_onednn.h"
#include "include/qdq/ops/quantize.h"

// Files write the default of an attribute with one entry per spatial dim at this length, whatever
// the rank.
enum { DEFAULT_ENTRIES = 12 };

// The file's word for the type of an attribute; NULL for types that files do not have.
static const char *const type_words[] = {
    [QDQ_ATTR_INT] = "s64",     [QDQ_ATTR_FLOAT] = "f32",    [QDQ_ATTR_BOOL] = "bool",
    [QDQ_ATTR_WORD] = "string", [QDQ_ATTR_DTYPE] = NULL,     [QDQ_ATTR_MAYBE_WORD] = "string",
    [QDQ_ATTR_INTS] = "s64[]",  [QDQ_ATTR_FLOATS] = "f32[]", [QDQ_ATTR_NUMBERS] = "s64[]",
    [QDQ_ATTR_BOUND] = NULL,
};

// Ignored because results do not depend on them: written after partitioning, or permission to add
// up products less exactly than float32.
static const char *const ignored[] = {"partition_id", "backend", "accumulation_mode"};

// Attributes that are on if an op lists more outputs than its first.
static const char *const counted[] = {"keep_stats", "keep_mask"};

static bool is_among(const char *name, const char *const *list, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i], name) == 0) return true;
    return false;
}

static bool is_counted(const qdq_attr_desc *attr) {
    return attr->kind == QDQ_ATTR_BOOL &&
           is_among(attr->name, counted, sizeof counted / sizeof counted[0]);
}

static const qdq_attr_desc *find_attr(const qdq_op *op, const char *name) {
    for (size_t i = 0; i < op->attr_count; i++)
        if (strcmp(op->attrs[i].name, name) == 0) return &op->attrs[i];
    return NULL;
}

// Reports an attribute for the dtype of a result, which files do not have.
static void report_no_attr(const qdq_onednn *file, qdq_subject subject) {
    qdq_findings *f = &file->r->graph->findings;
    const char *found = qdq_text(f, "attribute '%s' is unknown", subject.port);
    subject.port = NULL;
    qdq_report_add(f, "core", &qdq_core_rules[QDQ_RULE_ATTR_UNKNOWN], subject, found, NULL,
                   "the first output says it");
}

// Sets *value to the value of an attribute. False after a finding if its form or type is wrong.
static bool read_form(const qdq_onednn *file, const qdq_attr_desc *attr, qdq_subject subject,
                      const qdq_json_item *json, const qdq_json_item **value) {
    qdq_findings *f = &file->r->graph->findings;
    const char *wanted = type_words[attr->kind];
    const qdq_json_item *type = qdq_json_is_object(json) ? qdq_json_find(json, "type") : NULL;
    *value = qdq_json_is_object(json) ? qdq_json_find(json, "value") : NULL;
    if (!type || !qdq_json_text(type) || !*value) {
        qdq_graph_report_core(file->r->graph, QDQ_RULE_ATTR_TYPE, subject,
                              qdq_json_is_object(json)
                                  ? "has no type or no value"
                                  : qdq_text(f, "is %s", qdq_json_kind_text(json)),
                              qdq_text(f, "{\"type\": \"%s\", \"value\": ...}", wanted));
        return false;
    }
    if (strcmp(qdq_json_text(type), wanted) == 0) return true;
    qdq_graph_report_core(file->r->graph, QDQ_RULE_ATTR_TYPE, subject,
                          qdq_text(f, "has the type '%.64s'", qdq_json_text(type)),
                          qdq_text(f, "'%s'", wanted));
    return false;
}

static bool read_bool(const qdq_onednn *file, qdq_subject subject, const qdq_json_item *value,
                      void *field) {
    double number;
    if (!qdq_json_number(value, &number) || (number != 0 && number != 1)) {
        qdq_findings *f = &file->r->graph->findings;
        qdq_graph_report_core(file->r->graph, QDQ_RULE_ATTR_TYPE, subject,
                              qdq_json_number(value, &number)
                                  ? qdq_text_is(f, number)
                                  : qdq_text(f, "is %s", qdq_json_kind_text(value)),
                              "0 or 1");
        return false;
    }
    *(qdq_bool *)field = number == 1 ? QDQ_TRUE : QDQ_FALSE;
    return true;
}

// Shortens a default to the number of spatial dims of x.
static void cut_default(const qdq_graph *graph, const qdq_op *op, const char *fields,
                        qdq_ints *list) {
    qdq_value x;
    qdq_dtype dtype;
    qdq_shape shape;
    if (list->count != DEFAULT_ENTRIES || op->input_count == 0 ||
        qdq_port_is_variadic(op, op->inputs))
        return;
    memcpy(&x, fields + op->inputs[0].offset, sizeof x);
    if (qdq_value_type(graph, x, &dtype, &shape))
        list->count = (size_t)(shape.rank > 2) * (size_t)(shape.rank - 2);
}

static bool read_attr(const qdq_onednn *file, const qdq_op *op, const qdq_attr_desc *attr,
                      qdq_subject subject, const qdq_json_item *json, char *fields) {
    const qdq_json_item *value;
    void *field = fields + attr->offset;
    if (!type_words[attr->kind]) {
        report_no_attr(file, subject);
        return false;
    }
    if (!read_form(file, attr, subject, json, &value)) return false;
    if (attr->kind == QDQ_ATTR_BOOL) return read_bool(file, subject, value, field);
    if (!qdq_json_read_attr(file->r->graph, file->r->mempool, subject, attr, value, field))
        return false;
    if (attr->kind == QDQ_ATTR_INTS) cut_default(file->r->graph, op, fields, field);
    if (attr->kind == QDQ_ATTR_FLOAT)  // the file's type is f32
        *(qdq_float *)field = QDQ_FLOAT((double)(float)((qdq_float *)field)->value);
    return true;
}

//---- Dims of parameters -----------------------------------------------------

static bool takes_mask(const qdq_onednn_op *from, const char *name) {
    return strcmp(name, "mask") == 0 && find_attr(from->op, "qtype");
}

// Reads the mask of the dims along which scales differ: bit i stands for dim i.
static bool read_mask(const qdq_onednn *file, const qdq_onednn_op *from, const qdq_json_item *json,
                      int64_t *mask) {
    static const qdq_attr_desc attr = {.name = "mask", .kind = QDQ_ATTR_INT};
    qdq_subject subject = {from->name, from->op->name, attr.name, NULL};
    const qdq_json_item *value;
    qdq_int field = {0};
    if (!read_form(file, &attr, subject, json, &value) ||
        !qdq_json_read_attr(file->r->graph, file->r->mempool, subject, &attr, value, &field))
        return false;
    *mask = field.value;
    return true;
}

// Returns the rank of the first input; -1: it is not valid.
static int rank_of_x(const qdq_graph *graph, const qdq_op *op, const char *fields) {
    qdq_value x;
    qdq_dtype dtype;
    qdq_shape shape;
    memcpy(&x, fields + op->inputs[0].offset, sizeof x);
    return qdq_value_type(graph, x, &dtype, &shape) ? shape.rank : -1;
}

static void set_field(const qdq_onednn_op *from, const char *name, const void *value, size_t size,
                      char *fields) {
    memcpy(fields + find_attr(from->op, name)->offset, value, size);
}

// Sets blocks of one element along the dims of a mask, and of all elements along the others.
static bool set_blocks(const qdq_onednn *file, const qdq_onednn_op *from, int64_t mask, int rank,
                       char *fields) {
    int64_t *block = qdq_mempool_array(file->r->mempool, (size_t)rank, sizeof *block);
    if (!block) return false;
    for (int i = 0; i < rank; i++) block[i] = mask >> i & 1 ? 1 : -1;
    const qdq_ints blocks = {block, (size_t)rank};
    const qdq_qtype groups = QDQ_PER_GROUP;
    set_field(from, "qtype", &groups, sizeof groups, fields);
    set_field(from, "group_shape", &blocks, sizeof blocks, fields);
    return true;
}

// Returns the qtype of the fields.
static qdq_qtype qtype_of(const qdq_onednn_op *from, const char *fields) {
    qdq_qtype word;
    memcpy(&word, fields + find_attr(from->op, "qtype")->offset, sizeof word);
    return word;
}

// True if a mask does not contradict the other attributes: qtype and axis keep their defaults, and
// groups have scales along the last two dims.
static bool check_mask(const qdq_onednn *file, const qdq_onednn_op *from, int64_t mask, int rank,
                       bool grouped, const char *fields) {
    qdq_findings *f = &file->r->graph->findings;
    qdq_int axis = {0};
    const char *found = NULL, *wanted = NULL;
    memcpy(&axis, fields + find_attr(from->op, "axis")->offset, sizeof axis);
    int64_t last = rank < 2 ? 0 : INT64_C(3) << (rank - 2);
    if (!grouped && qtype_of(from, fields) != QDQ_PER_TENSOR)
        found = "is given, and so is a qtype", wanted = "one of them";
    else if (axis.set != 0 && axis.value != 1)
        found = "is given, and so is an axis", wanted = "one of them";
    else if (grouped && (mask & last) != last)
        found = qdq_text(f, "is %lld", (long long)mask),
        wanted = qdq_text(f, "one with the bits %lld, of the last two dims, as groups are given",
                          (long long)last);
    if (!found) return true;
    qdq_graph_report_core(file->r->graph, QDQ_RULE_ATTR_VALUE,
                          (qdq_subject){from->name, from->op->name, "mask", NULL}, found, wanted);
    return false;
}

// Sets qtype, axis and group_shape from a mask: a mask of one dim is an axis. Keeps
// a group_shape that the file gives.
static bool set_mask(const qdq_onednn *file, const qdq_onednn_op *from, int64_t mask, bool grouped,
                     char *fields) {
    int rank = rank_of_x(file->r->graph, from->op, fields);
    qdq_subject subject = {from->name, from->op->name, "mask", NULL};
    if (rank < 0) return true;  // found already
    if (mask < 0 || mask >> rank != 0) {
        qdq_findings *f = &file->r->graph->findings;
        qdq_graph_report_core(file->r->graph, QDQ_RULE_AXIS_RANGE, subject,
                              qdq_text(f, "is %lld", (long long)mask),
                              qdq_text(f, "0 to %lld, as x has rank %d",
                                       (long long)((INT64_C(1) << rank) - 1), rank));
        return false;
    }
    if (!check_mask(file, from, mask, rank, grouped, fields)) return false;
    if (grouped) return true;
    int64_t axis = 0;
    while (mask >> axis > 1) axis++;
    bool single = mask == INT64_C(1) << axis;
    if (mask && !single) return set_blocks(file, from, mask, rank, fields);
    const qdq_qtype qtype = mask ? QDQ_PER_CHANNEL : QDQ_PER_TENSOR;
    const qdq_int at = QDQ_INT(axis);
    set_field(from, "qtype", &qtype, sizeof qtype, fields);
    if (mask) set_field(from, "axis", &at, sizeof at, fields);
    return true;
}

// Sets per_group where a file has a group_shape and no other qtype than the default. False after a
// finding: files have no word for a whole dim.
static bool set_groups(const qdq_onednn *file, const qdq_onednn_op *from, bool *grouped,
                       char *fields) {
    const qdq_attr_desc *attr = find_attr(from->op, "group_shape");
    const qdq_qtype groups = QDQ_PER_GROUP;
    qdq_ints shape = {0};
    if (attr && find_attr(from->op, "qtype")) memcpy(&shape, fields + attr->offset, sizeof shape);
    *grouped = shape.count > 0;
    for (size_t i = 0; i < shape.count; i++) {
        if (shape.data[i] >= 1) continue;
        qdq_graph_report_core(file->r->graph, QDQ_RULE_ATTR_VALUE,
                              (qdq_subject){from->name, from->op->name, attr->name, NULL},
                              qdq_text(&file->r->graph->findings, "has %lld for dim %zu",
                                       (long long)shape.data[i], i),
                              "1 or more");
        return false;
    }
    if (*grouped && qtype_of(from, fields) == QDQ_PER_TENSOR)
        set_field(from, "qtype", &groups, sizeof groups, fields);
    return true;
}

// Drops the axis of an op that is not per_channel, where oneDNN ignores it.
static void drop_axis(const qdq_onednn_op *from, char *fields) {
    const qdq_attr_desc *axis = find_attr(from->op, "axis");
    if (axis && find_attr(from->op, "qtype") && qtype_of(from, fields) != QDQ_PER_CHANNEL)
        memset(fields + axis->offset, 0, sizeof(qdq_int));
}

// Sets attributes from the file's outputs: the dtype of the first, and which optional outputs
// exist.
static void set_by_outputs(const qdq_onednn_op *from, qdq_dtype dtype, char *fields) {
    for (size_t i = 0; i < from->op->attr_count; i++) {
        const qdq_attr_desc *attr = &from->op->attrs[i];
        if (attr->kind == QDQ_ATTR_DTYPE && strcmp(attr->name, "dtype") == 0)
            memcpy(fields + attr->offset, &dtype, sizeof dtype);
        if (is_counted(attr))
            *(qdq_bool *)(void *)(fields + attr->offset) =
                from->output_count > 1 ? QDQ_TRUE : QDQ_FALSE;
    }
}

bool qdq_onednn_read_attrs(const qdq_onednn *file, const qdq_onednn_op *from, qdq_dtype dtype,
                           char *fields) {
    bool fine = true, masked = false, grouped = false;
    int64_t mask = 0;
    QDQ_JSON_EACH(json, from->attrs) {
        const char *name = qdq_json_name(json);
        const qdq_attr_desc *attr = find_attr(from->op, name);
        if (attr) {
            qdq_subject subject = {from->name, from->op->name, attr->name, NULL};
            fine = read_attr(file, from->op, attr, subject, json, fields) && fine;
        } else if (takes_mask(from, name)) {
            masked = read_mask(file, from, json, &mask);
            fine = masked && fine;
        } else if (!is_among(name, ignored, sizeof ignored / sizeof ignored[0])) {
            qdq_json_report_unknown_attr(file->r->graph, from->op, from->name, name);
            fine = false;
        }
    }
    if (fine) fine = set_groups(file, from, &grouped, fields);
    if (fine && masked) fine = set_mask(file, from, mask, grouped, fields);
    drop_axis(from, fields);
    set_by_outputs(from, dtype, fields);
    return fine;
}
