// SPDX-License-Identifier: Apache-2.0
// qdq ops: prints the library's tables of ops and dtypes.
#include <qdq/inspect.h>
#include <string.h>

#include "tools/commands.h"
#include "tools/common.h"
#include "tools/failure.h"
#include "tools/options.h"
#include "tools/options/ops.h"
#include "tools/schema/schema.h"

//---- Texts ------------------------------------------------------------------

static const char *dtypes_text(uint64_t set, char *out, size_t capacity) {
    size_t at = 0;
    out[0] = '\0';
    for (int d = QDQ_DTYPE_NONE + 1; d < QDQ_DTYPE_COUNT; d++)
        if (set >> d & 1 && at < capacity)
            at += (size_t)snprintf(out + at, capacity - at, "%s%s", at ? ", " : "",
                                   qdq_dtype_name((qdq_dtype)d));
    return out;
}

static const char *type_text(const qdq_attr_info *attr, char *out, size_t capacity) {
    if (!attr->words) return attr->type;
    size_t at = 0;
    for (size_t i = 0; attr->words[i] && at < capacity; i++)
        at += (size_t)snprintf(out + at, capacity - at, "%s%s", i ? " or " : "", attr->words[i]);
    return out;
}

static int unknown_op(const char *name) {
    const char *meant = qdq_op_meant(name);
    if (meant)
        return tell_failure(QDQ_ERR_ARGUMENT, "there is no op '%s'; did you mean '%s'?", name,
                            meant);
    return tell_failure(QDQ_ERR_ARGUMENT, "there is no op '%s'; see `qdq ops`", name);
}

//---- Ops --------------------------------------------------------------------

static void print_port(const char *kind, const qdq_port_info *port, bool markdown) {
    char dtypes[512];
    const char *count = port->variadic ? "one or more" : port->optional ? "optional" : "";
    dtypes_text(port->dtypes, dtypes, sizeof dtypes);
    if (markdown)
        printf("| %s | `%s` | %s | %s |  |\n", kind, port->name, dtypes, count);
    else
        printf("  %-6s %-15s %s%s%s%s\n", kind, port->name, dtypes, *count ? " (" : "", count,
               *count ? ")" : "");
}

static void print_attr(const qdq_attr_info *attr, bool markdown) {
    char type[256];
    const char *text = type_text(attr, type, sizeof type);
    if (markdown)
        printf("| attr | `%s` | %s | %s | %s |\n", attr->name, text, attr->default_text,
               attr->summary);
    else
        printf("  attr   %-15s %s%s%s\n         %-15s %s\n", attr->name, text,
               attr->required        ? ", "
               : *attr->default_text ? ", default "
                                     : "",
               attr->default_text, "", attr->summary);
}

static void print_op(size_t op, bool markdown) {
    qdq_op_info info = qdq_op_get(op);
    if (markdown)
        printf("## %s\n\n%s.\n\n| | name | type | default | |\n|---|---|---|---|---|\n", info.name,
               info.summary);
    else
        printf("%s: %s\n", info.name, info.summary);
    for (size_t i = 0; i < info.input_count; i++) {
        qdq_port_info port = qdq_op_input(op, i);
        print_port("input", &port, markdown);
    }
    for (size_t i = 0; i < info.output_count; i++) {
        qdq_port_info port = qdq_op_output(op, i);
        print_port("output", &port, markdown);
    }
    for (size_t i = 0; i < info.attr_count; i++) {
        qdq_attr_info attr = qdq_op_attr(op, i);
        print_attr(&attr, markdown);
    }
}

static void json_port(qdq_json *json, const qdq_port_info *port) {
    qdq_json_begin_object(json);
    json_string_key(json, "name", port->name);
    qdq_json_key(json, "optional");
    qdq_json_bool(json, port->optional);
    qdq_json_key(json, "variadic");
    qdq_json_bool(json, port->variadic);
    qdq_json_key(json, "dtypes");
    qdq_json_begin_line(json);
    for (int d = QDQ_DTYPE_NONE + 1; d < QDQ_DTYPE_COUNT; d++)
        if (port->dtypes >> d & 1) qdq_json_string(json, qdq_dtype_name((qdq_dtype)d));
    qdq_json_end_array(json);
    qdq_json_end_object(json);
}

static void json_op(qdq_json *json, size_t op) {
    qdq_op_info info = qdq_op_get(op);
    char type[256];
    qdq_json_begin_object(json);
    json_string_key(json, "name", info.name);
    json_string_key(json, "summary", info.summary);
    qdq_json_key(json, "inputs");
    qdq_json_begin_array(json);
    for (size_t i = 0; i < info.input_count; i++) {
        qdq_port_info port = qdq_op_input(op, i);
        json_port(json, &port);
    }
    qdq_json_end_array(json);
    qdq_json_key(json, "outputs");
    qdq_json_begin_array(json);
    for (size_t i = 0; i < info.output_count; i++) {
        qdq_port_info port = qdq_op_output(op, i);
        json_port(json, &port);
    }
    qdq_json_end_array(json);
    qdq_json_key(json, "attrs");
    qdq_json_begin_array(json);
    for (size_t i = 0; i < info.attr_count; i++) {
        qdq_attr_info attr = qdq_op_attr(op, i);
        qdq_json_begin_object(json);
        json_string_key(json, "name", attr.name);
        json_string_key(json, "type", type_text(&attr, type, sizeof type));
        json_string_key(json, "default", attr.required ? "" : attr.default_text);
        qdq_json_key(json, "required");
        qdq_json_bool(json, attr.required);
        json_string_key(json, "summary", attr.summary);
        qdq_json_end_object(json);
    }
    qdq_json_end_array(json);
    qdq_json_end_object(json);
}

// Returns the greatest integer of a dtype. `greatest` of uint64 is only the greatest int64_t.
static unsigned long long greatest_of(const qdq_dtype_info *info) {
    bool is_uint64 = info->bits == 64 && info->least == 0;
    return is_uint64 ? UINT64_MAX : (unsigned long long)info->greatest;
}

static void print_dtypes(void) {
    printf("%-16s %5s  %-6s %20s %20s  %-12s %s\n", "dtype", "bits", "kind", "least", "greatest",
           "safetensors", "npy");
    for (int d = QDQ_DTYPE_NONE + 1; d < QDQ_DTYPE_COUNT; d++) {
        const qdq_dtype_info *info = qdq_dtype_get((qdq_dtype)d);
        bool whole = !qdq_dtype_is_real((qdq_dtype)d);
        printf("%-16s %5d  %-6s", info->name, info->bits, whole ? "int" : "float");
        if (whole)
            printf(" %20lld %20llu", (long long)info->least, greatest_of(info));
        else
            printf(" %20s %20s", "", "");
        printf("  %-12s %s\n", info->safetensors, *info->npy ? info->npy : "(as <f4)");
    }
}

static void json_dtypes(void) {
    qdq_json json;
    json_begin(&json);
    qdq_json_key(&json, "dtypes");
    qdq_json_begin_array(&json);
    for (int d = QDQ_DTYPE_NONE + 1; d < QDQ_DTYPE_COUNT; d++) {
        const qdq_dtype_info *info = qdq_dtype_get((qdq_dtype)d);
        qdq_json_begin_object(&json);
        json_string_key(&json, "name", info->name);
        json_uint_key(&json, "bits", (size_t)info->bits);
        json_string_key(&json, "safetensors", info->safetensors);
        json_string_key(&json, "npy", info->npy);
        qdq_json_end_object(&json);
    }
    qdq_json_end_array(&json);
    json_end(&json);
}

int run_ops(const options *opt) {
    const ops_options *own = opt->own;
    size_t first = 0, end = qdq_op_count();
    if (own->dtypes) {
        if (opt->json)
            json_dtypes();
        else
            print_dtypes();
        return EXIT_OK;
    }
    if (own->schema) {
        print_schema();
        return EXIT_OK;
    }
    if (opt->operands.count) {
        first = find_op(opt->operands.items[0]);
        if (first == end) return unknown_op(opt->operands.items[0]);
        end = first + 1;
    }
    if (opt->json) {
        qdq_json json;
        json_begin(&json);
        qdq_json_key(&json, "ops");
        qdq_json_begin_array(&json);
        for (size_t op = first; op < end; op++) json_op(&json, op);
        qdq_json_end_array(&json);
        json_end(&json);
        return EXIT_OK;
    }
    if (opt->markdown)
        printf("# Ops\n\nEvery op with its ports, dtypes and attributes, printed by `qdq ops "
               "--markdown`. The "
               "formulas are in\n[ops_quantizing.md](ops_quantizing.md) and "
               "[ops_neural_network.md](ops_neural_network.md).\n\n");
    for (size_t op = first; op < end; op++) {
        if (opt->operands.count || opt->markdown)
            print_op(op, opt->markdown);
        else
            printf("%-16s %s\n", qdq_op_get(op).name, qdq_op_get(op).summary);
        if (opt->markdown && op + 1 < end) printf("\n");
    }
    return EXIT_OK;
}
