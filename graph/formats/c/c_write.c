// SPDX-License-Identifier: Apache-2.0
// Writes a graph as a C file. Each node that depends on an input becomes a function and a call; the
// results of other nodes are computed here and become constants. Values between nodes lie in an
// arena, whose offsets follow from lifetimes as in any plan (runtime/arena/memory_plan.h). A value
// that is an output is written where the caller wants it.
#include "graph/formats/c/c_write.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "graph/compile/validate.h"
#include "graph/formats/c/c_graph.h"
#include "graph/formats/c/c_items.h"
#include "graph/formats/c/c_names.h"
#include "graph/formats/new_file.h"
#include "runtime/base/fp_environment.h"
#include "runtime/numerics/dtype.h"

//---- Steps ------------------------------------------------------------------

// Reports a node that C cannot express: no writer, or other arithmetic.
static void refuse(qdq_c_draft *d, const qdq_node *node, const char *found, const char *wanted) {
    qdq_report_add(d->findings, "core", &qdq_core_rules[QDQ_RULE_OP_UNSUPPORTED],
                   (qdq_subject){.node = node->name, .op = node->op->name}, found, wanted,
                   "docs/firmware.md lists what is written");
}

static void put_parameters(qdq_c_draft *d, const qdq_node *node, bool scratch) {
    const char *comma = "";
    qdq_c_put(&d->steps, "(");
    for (size_t i = 0; i < node->input_count; i++) {
        if (!node->inputs[i].id) continue;
        qdq_c_put(&d->steps, "%sconst void *x%zu", comma, i);
        comma = ", ";
    }
    for (size_t i = 0; i < node->output_count; i++) {
        qdq_c_put(&d->steps, "%svoid *y%zu", comma, i);
        comma = ", ";
    }
    qdq_c_put(&d->steps, "%s) {\n    ", scratch ? ", char *scratch" : "");
    for (size_t i = 0; i < node->input_count; i++)
        if (node->inputs[i].id) qdq_c_put(&d->steps, "(void)x%zu, ", i);
    qdq_c_put(&d->steps, "(void)y0;\n");
}

// Writes the function of a node.
static bool write_node(qdq_c_draft *d, size_t index) {
    const qdq_graph *graph = d->graph;
    const qdq_node *node = &graph->nodes[index];
    qdq_c_writer *writer = qdq_c_writer_of(node->op);
    if (!writer) {
        refuse(d, node, "cannot be written as C", NULL);
        return true;
    }
    qdq_findings silent = {.mempool = d->mempool};
    qdq_op_context ctx;
    qdq_stage stages[QDQ_MAX_STAGES] = {{0}};
    qdq_graph_context(graph, node, &silent, &ctx);
    qdq_lowering to = {.numerics = qdq_target_numerics(&d->version, &ctx),
                       .isas = 1,
                       .mempool = d->mempool,
                       .plain = true};
    if (!node->op->lower(&ctx, &to, stages)) return false;
    qdq_c_text body = {.mempool = d->mempool};
    qdq_c_put(&body, "%s", "");
    qdq_c_step step = {.body = &body,
                       .mempool = d->mempool,
                       .findings = d->findings,
                       .node = node,
                       .ctx = &ctx,
                       .to = &to,
                       .stages = stages};
    writer(&step);
    if (!body.data) return false;
    if (step.scratch) d->scratch[index] = qdq_c_add_lifetime(d, index, step.scratch);
    qdq_c_put(&d->steps, "\n// %s '%s'\nstatic void step_%zu", node->op->name,
              qdq_c_comment(d->mempool, node->name), index);
    put_parameters(d, node, step.scratch > 0);
    qdq_c_put(&d->steps, "%s}\n", body.data);
    return !d->mempool->failed;
}

static void put_value(qdq_c_draft *d, uint32_t id) {
    const qdq_c_place *place = &d->values[id];
    switch (place->kind) {
    case QDQ_C_INPUT:
        d->reads[place->number] = true;
        qdq_c_put(&d->calls, "%s", d->inputs[place->number]);
        break;
    case QDQ_C_OUTPUT: qdq_c_put(&d->calls, "%s", d->outputs[place->number]); break;
    case QDQ_C_CONSTANT: qdq_c_put(&d->calls, "constant_%u", (unsigned)id); break;
    default: qdq_c_put(&d->calls, "arena + %zu", d->lifetimes[place->number].offset);
    }
}

static void put_call(qdq_c_draft *d, size_t index) {
    const qdq_node *node = &d->graph->nodes[index];
    const char *comma = "";
    qdq_c_put(&d->calls, "    step_%zu(", index);
    for (size_t i = 0; i < node->input_count; i++) {
        if (!node->inputs[i].id) continue;
        qdq_c_put(&d->calls, "%s", comma);
        put_value(d, node->inputs[i].id);
        comma = ", ";
    }
    for (size_t i = 0; i < node->output_count; i++) {
        qdq_c_put(&d->calls, "%s", comma);
        put_value(d, node->outputs[i]);
        comma = ", ";
    }
    if (d->scratch[index] != SIZE_MAX)
        qdq_c_put(&d->calls, ", (char *)arena + %zu", d->lifetimes[d->scratch[index]].offset);
    qdq_c_put(&d->calls, ");\n");
}

// Copies outputs that no node writes in place: inputs, constants, and values returned twice.
static void put_copies(qdq_c_draft *d) {
    for (size_t i = 0; i < d->graph->output_count; i++) {
        uint32_t id = d->graph->outputs[i].value.id;
        const qdq_c_place *place = &d->values[id];
        if (place->kind == QDQ_C_OUTPUT && place->number == i) continue;
        qdq_c_put(&d->calls, "    memcpy(%s, ", d->outputs[i]);
        put_value(d, id);
        qdq_c_put(&d->calls, ", %zu);\n", qdq_c_bytes_of(d->graph, id));
    }
}

//---- The file ---------------------------------------------------------------

// Returns the type of an element for the caller.
static const char *type_of(qdq_dtype dtype) {
    const qdq_dtype_info *info = qdq_dtype_get(dtype);
    bool is_signed = info->least < 0;
    if (dtype == QDQ_FLOAT32) return "float";
    if (dtype == QDQ_FLOAT64) return "double";
    switch (qdq_dtype_size(dtype)) {
    case 1: return is_signed ? "int8_t" : "uint8_t";
    case 2: return is_signed ? "int16_t" : "uint16_t";
    case 4: return is_signed ? "int32_t" : "uint32_t";
    default: return is_signed ? "int64_t" : "uint64_t";
    }
}

static int compare_names(const char *word, size_t length, const char *name) {
    int order = strncmp(word, name, length);
    return order ? order : -(name[length] != '\0');
}

// Returns the item that defines a word of the text; SIZE_MAX: none.
static size_t find_item(const char *word, size_t length) {
    size_t low = 0, high = qdq_c_name_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = compare_names(word, length, qdq_c_names[middle].name);
        if (order == 0) return qdq_c_names[middle].item;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return SIZE_MAX;
}

// Writes an item after the items that it needs. No item needs itself through others.
static void put_item(FILE *out, size_t item, bool *done) {
    if (done[item]) return;
    done[item] = true;
    for (const unsigned short *n = qdq_c_items[item].needs; *n != 65535; n++)
        put_item(out, *n, done);
    for (const char *const *line = qdq_c_items[item].lines; *line; line++)
        fprintf(out, "%s\n", *line);
}

static void put_items(FILE *out, const char *text, bool *done) {
    for (const char *at = text; *at;) {
        if (!isalpha((unsigned char)*at) && *at != '_') {
            at++;
            continue;
        }
        size_t length = 0;
        while (isalnum((unsigned char)at[length]) || at[length] == '_') length++;
        size_t item = find_item(at, length);
        if (item != SIZE_MAX) put_item(out, item, done);
        at += length;
    }
}

static void put_constant(FILE *out, size_t id, const qdq_c_draft *d) {
    const qdq_graph_value *v = &d->graph->values[id];
    const char *name = qdq_c_comment(d->mempool, v->name);
    const void *data = d->values[id].data;
    size_t size = qdq_dtype_size(v->type.dtype), count = qdq_shape_count(v->type.shape);
    fprintf(out, "\n// %s: %s\nstatic const uint%zu_t constant_%zu[%zu] = {", name ? name : "",
            qdq_dtype_name(v->type.dtype), size * 8, id, count);
    for (size_t i = 0; i < count; i++) {
        uint64_t bits = 0;
        memcpy(&bits, (const char *)data + i * size, size);  // the low bytes: we are little-endian
        fprintf(out, "%s", i % (32 / size + 4) ? " " : "\n    ");
        if (size == 1)
            fprintf(out, "%u,", (unsigned)bits);
        else
            fprintf(out, "0x%0*" PRIx64 "%s,", (int)size * 2, bits, size == 8 ? "u" : "");
    }
    fprintf(out, "\n};\n");
}

static void put_sizes(FILE *out, const qdq_c_draft *d) {
    const char *name = qdq_c_capitals(d->mempool, d->name);
    fprintf(out, "#define %s_ARENA_BYTES %zu\n", name, d->plan.arena_bytes);
    for (size_t i = 0; i < d->input_count; i++)
        fprintf(out, "#define %s_%s_ELEMENTS %zu\n", name, qdq_c_capitals(d->mempool, d->inputs[i]),
                qdq_shape_count(d->graph->values[d->input_ids[i]].type.shape));
    for (size_t i = 0; i < d->graph->output_count; i++)
        fprintf(out, "#define %s_%s_ELEMENTS %zu\n", name,
                qdq_c_capitals(d->mempool, d->outputs[i]),
                qdq_shape_count(d->graph->values[d->graph->outputs[i].value.id].type.shape));
}

static void put_prototype(FILE *out, const qdq_c_draft *d, const char *end) {
    const char *comma = "";
    fprintf(out, "void %s_run(", d->name);
    for (size_t i = 0; i < d->input_count; i++) {
        fprintf(out, "%sconst %s *%s", comma, type_of(d->graph->values[d->input_ids[i]].type.dtype),
                d->inputs[i]);
        comma = ", ";
    }
    for (size_t i = 0; i < d->graph->output_count; i++) {
        fprintf(out, "%s%s *%s", comma,
                type_of(d->graph->values[d->graph->outputs[i].value.id].type.dtype), d->outputs[i]);
        comma = ", ";
    }
    fprintf(out, ")%s", end);
}

static const char head[] =
    "#include <float.h>\n#include <math.h>\n#include <stdbool.h>\n#include <stddef.h>\n"
    "#include <stdint.h>\n#include <string.h>\n\n"
    "#if defined(__FAST_MATH__)\n#error \"fast math changes bits\"\n#endif\n"
    "#if defined(__clang__)\n#pragma STDC FP_CONTRACT OFF\n#endif\n"
    "#if defined(__GNUC__)\n#pragma GCC diagnostic ignored \"-Wunused-function\"\n#endif\n"
    "_Static_assert(FLT_EVAL_METHOD == 0 || FLT_EVAL_METHOD == 16,\n"
    "               \"float and double are computed wider: on 32-bit x86 add -msse2 "
    "-mfpmath=sse\");\n\n";

static void put_head(FILE *out, const qdq_c_draft *d) {
    fprintf(out, "// The graph '%s' for target %s, written by qdq. It has the bits of `qdq run`.\n",
            d->name, d->graph->target);
    fprintf(out, "// Compile as C11, with -ffp-contract=off and without -ffast-math. Nothing is\n"
                 "// allocated. Values lie in one static arena: one call at a time.\n");
    fputs(head, out);
    put_sizes(out, d);
    put_prototype(out, d, ";\n\n");
}

static bool put_file(FILE *out, qdq_c_draft *d) {
    bool *done = qdq_mempool_array(d->mempool, qdq_c_item_count, sizeof *done);
    if (!done) return false;
    put_head(out, d);
    put_items(out, d->steps.data, done);
    for (size_t i = 1; i < d->graph->value_count; i++)
        if (d->values[i].kind == QDQ_C_CONSTANT) put_constant(out, i, d);
    fprintf(out, "%s\n", d->steps.data);
    put_prototype(out, d, " {\n");
    if (d->plan.arena_bytes)
        fprintf(out, "    static _Alignas(%d) unsigned char arena[%zu];\n", QDQ_ARENA_ALIGN,
                d->plan.arena_bytes);
    for (size_t i = 0; i < d->input_count; i++)
        if (!d->reads[i]) fprintf(out, "    (void)%s;\n", d->inputs[i]);
    fprintf(out, "%s}\n", d->calls.data);
    return !ferror(out);
}

//---- Entry ------------------------------------------------------------------

// Refuses inputs of block floats, because constants are read as memory of this machine.
static qdq_status check_values(qdq_c_draft *d) {
    const qdq_graph *graph = d->graph;
    for (size_t i = 1; i < graph->value_count; i++) {
        const qdq_graph_value *v = &graph->values[i];
        if (v->kind != QDQ_VALUE_INPUT || !qdq_dtype_get(v->type.dtype) ||
            qdq_dtype_get(v->type.dtype)->kind != QDQ_KIND_BLOCK_FLOAT)
            continue;
        qdq_report_add(d->findings, "core", &qdq_core_rules[QDQ_RULE_OP_UNSUPPORTED],
                       (qdq_subject){.node = v->name, .kind = "input"},
                       qdq_text(d->findings, "is %s", qdq_dtype_name(v->type.dtype)),
                       "a dtype that is no block float", "docs/firmware.md lists what is written");
    }
    return QDQ_OK;
}

static qdq_status fill_draft(qdq_c_draft *d, qdq_error *err) {
    d->steps.mempool = d->calls.mempool = d->mempool;
    qdq_c_put(&d->steps, "%s", "");
    qdq_c_put(&d->calls, "%s", "");
    if (!qdq_c_place_values(d)) return qdq_c_no_memory(err);
    d->name = qdq_c_identifier(&d->given, d->graph->name, "qdq");
    check_values(d);
    for (size_t i = 0; i < d->graph->node_count; i++)
        if (qdq_c_is_run(d, &d->graph->nodes[i]) && !write_node(d, i)) return qdq_c_no_memory(err);
    if (d->findings->errors) return QDQ_OK;
    if (!qdq_plan_memory(d->lifetimes, d->lifetime_count, d->mempool, &d->plan))
        return qdq_c_no_memory(err);
    QDQ_TRY(qdq_c_set_constants(d, err));
    for (size_t i = 0; i < d->graph->node_count; i++)
        if (qdq_c_is_run(d, &d->graph->nodes[i])) put_call(d, i);
    put_copies(d);
    return d->mempool->failed ? qdq_c_no_memory(err) : QDQ_OK;
}

static qdq_status make_draft(qdq_c_draft *d, qdq_error *err) {
    if (!qdq_target_version_find(d->graph->target, &d->version, err)) return QDQ_ERR_ARGUMENT;
    d->given.mempool = d->mempool;
    d->given.taken = qdq_symbols_create(d->graph->allocator, err);
    if (!d->given.taken) return QDQ_ERR_MEMORY;
    qdq_status status = fill_draft(d, err);
    qdq_symbols_destroy(d->given.taken);
    return status;
}

static qdq_status write_file(qdq_c_draft *d, const char *path, qdq_error *err) {
    qdq_new_file file;
    QDQ_TRY(qdq_new_file_open(&file, path, d->graph->allocator, err));
    qdq_status status = QDQ_OK;
    if (!put_file(file.stream, d))
        status = ferror(file.stream)
                     ? qdq_fail(err, QDQ_ERR_IO, "cannot be written: %s", strerror(errno))
                     : qdq_c_no_memory(err);
    return qdq_new_file_close(&file, path, status, err);
}

qdq_status qdq_c_write_check(qdq_graph *graph, qdq_findings *findings, qdq_error *err) {
    qdq_mempool mempool;
    qdq_mempool_init(&mempool, graph->allocator);
    qdq_c_draft draft = {.graph = graph, .mempool = &mempool, .findings = findings};
    qdq_status status = make_draft(&draft, err);
    qdq_mempool_release(&mempool);
    return status;
}

static qdq_status refuse_first(const qdq_findings *f, qdq_error *err) {
    const char *first = f->count ? f->items[0].message : "the graph cannot be written as C";
    if (f->errors == 1) return qdq_fail(err, QDQ_ERR_UNSUPPORTED, "%s", first);
    return qdq_fail(err, QDQ_ERR_UNSUPPORTED, "%s; and %zu more", first, f->errors - 1);
}

qdq_status qdq_graph_write_c(qdq_graph *graph, const char *path, qdq_error *err) {
    QDQ_FIXED_ENVIRONMENT;
    qdq_target_version version;
    qdq_error own = {0};
    if (!graph) return qdq_fail(err, QDQ_ERR_MEMORY, "there is no graph: out of memory");
    if (!path) return qdq_fail(err, QDQ_ERR_ARGUMENT, "the path of a C file is NULL");
    if (!qdq_target_version_find(graph->target, &version, err)) return QDQ_ERR_ARGUMENT;
    QDQ_TRY(qdq_graph_check(graph, &version, NULL, err));
    qdq_mempool mempool;
    qdq_mempool_init(&mempool, graph->allocator);
    qdq_findings findings = graph->findings;
    findings.mempool = &mempool, findings.items = NULL;
    findings.count = findings.capacity = findings.errors = findings.warnings = 0;
    qdq_c_draft draft = {.graph = graph, .mempool = &mempool, .findings = &findings};
    qdq_status status = make_draft(&draft, &own);
    if (status == QDQ_OK && findings.errors) status = refuse_first(&findings, &own);
    if (status == QDQ_OK) {
        status = write_file(&draft, path, &own);
        if (status != QDQ_OK) qdq_error_prefix(&own, path);
    }
    if (status != QDQ_OK) qdq_fail(err, status, "%s", own.text);
    qdq_mempool_release(&mempool);
    return status;
}
