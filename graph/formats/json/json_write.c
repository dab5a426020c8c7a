// SPDX-License-Identifier: Apache-2.0
// Writes qdq/1 files, using the same tables as the reader.
#include "graph/formats/json/json_write.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/core/held_constants.h"
#include "graph/core/target.h"
#include "graph/formats/json/json_attrs_write.h"
#include "graph/formats/json/json_memory_write.h"
#include "graph/formats/new_file.h"
#include "graph/formats/tflite/tflite_read.h"
#include "include/qdq/tensor_file.h"
#include "runtime/base/base64.h"
#include "runtime/base/json_writer.h"
#include "runtime/base/utf8.h"
#include "runtime/base/words.h"
#include "runtime/numerics/dtype.h"

//---- Values -----------------------------------------------------------------

static void write_declaration(qdq_json *json, const qdq_graph_value *value) {
    qdq_json_key(json, "name");
    qdq_json_string(json, value->name);
    qdq_json_key(json, "dtype");
    qdq_json_string(json, qdq_dtype_name(value->type.dtype));
    qdq_json_key(json, "shape");
    qdq_json_begin_line(json);
    for (int i = 0; i < value->type.shape.rank; i++) qdq_json_int(json, value->type.shape.dims[i]);
    qdq_json_end_array(json);
}

// Writes the first `count` elements of a dtype as a list.
static void write_list(qdq_json *json, const char *key, qdq_dtype dtype, const void *data,
                       size_t count) {
    size_t size = qdq_dtype_size(dtype);
    qdq_json_key(json, key);
    qdq_json_begin_line(json);
    for (size_t i = 0; i < count; i++) {
        const char *element = (const char *)data + i * size;
        if (dtype == QDQ_UINT64) {
            qdq_json_uint(json, *(const uint64_t *)(const void *)element);
        } else if (dtype == QDQ_FLOAT64) {
            qdq_json_double(json, *(const double *)(const void *)element);
        } else if (!qdq_dtype_is_real(dtype)) {
            int64_t whole;
            qdq_widen_int64(dtype, element, &whole, 1);
            qdq_json_int(json, whole);
        } else {
            float real;
            qdq_decode_float(dtype, element, &real, 1);
            qdq_json_float32(json, real);
        }
    }
    qdq_json_end_array(json);
}

static void write_elements(qdq_json *json, const qdq_graph_value *value) {
    write_list(json, "data", value->type.dtype, value->data, qdq_shape_count(value->type.shape));
}

// Returns the elements of a constant, in `scratch` if they are in a file. NULL if reading fails.
static const void *read_elements(const qdq_graph_value *v, qdq_mempool *scratch) {
    if (!v->stored) return v->data;
    size_t count = qdq_shape_count(v->type.shape);
    void *data = qdq_mempool_array(scratch, count, qdq_dtype_size(v->type.dtype));
    return data && qdq_graph_copy_elements(v, data) ? data : NULL;
}

// False if memory runs out or reading fails.
static bool write_base64(qdq_json *json, const qdq_graph_value *value,
                         const qdq_allocator *allocator) {
    qdq_mempool scratch;
    qdq_mempool_init(&scratch, allocator);
    size_t bytes = qdq_shape_count(value->type.shape) * qdq_dtype_size(value->type.dtype);
    const void *data = read_elements(value, &scratch);
    char *text = data ? qdq_mempool_uncleared(&scratch, QDQ_BASE64_SIZE(bytes) + 2, 1) : NULL;
    if (text) {
        qdq_base64_encode("+/", data, bytes, text);
        if (bytes % 3 == 1) memcpy(text + bytes / 3 * 4 + 2, "==", 3);
        if (bytes % 3 == 2) memcpy(text + bytes / 3 * 4 + 3, "=", 2);
    }
    qdq_json_key(json, "base64");
    qdq_json_string(json, text);
    qdq_mempool_release(&scratch);
    return text != NULL;
}

// Returns the most elements of a constant in the text. A graph that needs a file of constants
// anyway has only short ones there: a number takes 100 times as long to read from text.
static size_t most_inline(const qdq_graph *graph) {
    enum { SHORT = 32 };
    for (size_t i = 1; i < graph->value_count; i++)
        if (graph->values[i].kind == QDQ_VALUE_CONSTANT &&
            qdq_shape_count(graph->values[i].type.shape) > QDQ_MAX_INLINE_ELEMENTS)
            return SHORT;
    return QDQ_MAX_INLINE_ELEMENTS;
}

static bool is_inline(const qdq_graph_value *value, size_t most) {
    return qdq_shape_count(value->type.shape) <= most;
}

// Writes the elements of a constant, or where they are in the file `tensors`; NULL: all are in the
// text. False if they cannot be read.
static bool write_content(qdq_json *json, const qdq_graph *graph, const qdq_graph_value *value,
                          const char *tensors) {
    if (is_inline(value, tensors ? most_inline(graph) : QDQ_MAX_INLINE_ELEMENTS)) {
        write_elements(json, value);
    } else if (tensors) {
        qdq_json_key(json, "file");
        qdq_json_string(json, tensors);
        qdq_json_key(json, "tensor");
        qdq_json_string(json, value->name);
    } else {
        return write_base64(json, value, graph->allocator);
    }
    return true;
}

static bool write_values(qdq_json *json, const qdq_graph *graph, qdq_value_kind kind,
                         const char *key, const char *tensors) {
    bool written = true;
    qdq_json_key(json, key);
    qdq_json_begin_array(json);
    for (size_t i = 1; i < graph->value_count; i++) {
        const qdq_graph_value *value = &graph->values[i];
        if (value->kind != kind) continue;
        qdq_json_begin_object(json);
        write_declaration(json, value);
        qdq_json_write_memory(json, qdq_graph_given_layout(graph, (uint32_t)i));
        if (kind == QDQ_VALUE_CONSTANT)
            written = write_content(json, graph, value, tensors) && written;
        qdq_json_end_object(json);
    }
    qdq_json_end_array(json);
    return written;
}

//---- Nodes ------------------------------------------------------------------

static void write_node(qdq_json *json, const qdq_graph *graph, const qdq_node *node) {
    const qdq_op *op = node->op;
    qdq_json_begin_object(json);
    qdq_json_key(json, "op");
    qdq_json_string(json, op->name);
    qdq_json_key(json, "name");
    qdq_json_string(json, node->name);
    qdq_json_key(json, "inputs");
    qdq_json_begin_object(json);
    for (size_t i = 0; i < op->input_count; i++) {
        if (!node->inputs[i].id) continue;
        qdq_json_key(json, op->inputs[i].name);
        bool variadic = op->variadic && i + 1 == op->input_count;
        if (variadic) qdq_json_begin_line(json);
        size_t end = variadic ? node->input_count : i + 1;
        for (size_t k = i; k < end; k++)
            qdq_json_string(json, graph->values[node->inputs[k].id].name);
        if (variadic) qdq_json_end_array(json);
    }
    qdq_json_end_object(json);
    qdq_json_key(json, "attrs");
    qdq_json_write_attrs(json, graph, node, 0);
    if (node->output_count)
        qdq_json_write_memory(json, qdq_graph_given_layout(graph, node->outputs[0]));
    qdq_json_end_object(json);
}

//---- Original names ---------------------------------------------------------

// Begins the objects that the first name of a kind needs. Bytes that are not UTF-8 cannot be
// written.
static void write_original(qdq_json *json, bool *begun, const char *kind, const char *name,
                           const char *original) {
    if (!original || qdq_utf8_valid(original, strlen(original)) != strlen(original)) return;
    if (!begun[0]) {
        qdq_json_key(json, "originals");
        qdq_json_begin_object(json);
    }
    if (!begun[1]) {
        qdq_json_key(json, kind);
        qdq_json_begin_object(json);
    }
    begun[0] = begun[1] = true;
    qdq_json_key(json, name);
    qdq_json_string(json, original);
}

static void end_kind(qdq_json *json, bool *begun) {
    if (begun[1]) qdq_json_end_object(json);
    begun[1] = false;
}

static void write_originals(qdq_json *json, const qdq_graph *graph) {
    bool begun[2] = {false, false};
    for (size_t i = 1; i < graph->value_count; i++)
        write_original(json, begun, "values", graph->values[i].name, graph->values[i].original);
    end_kind(json, begun);
    for (size_t i = 0; i < graph->output_count; i++)
        write_original(json, begun, "outputs", graph->outputs[i].name, graph->outputs[i].original);
    end_kind(json, begun);
    for (size_t i = 0; i < graph->node_count; i++)
        write_original(json, begun, "nodes", graph->nodes[i].name, graph->nodes[i].original);
    end_kind(json, begun);
    for (size_t i = 0; i < graph->node_count; i++)
        write_original(json, begun, "operators", graph->nodes[i].name,
                       qdq_tflite_mark(&graph->nodes[i]));
    end_kind(json, begun);
    if (begun[0]) qdq_json_end_object(json);
}

//---- The whole --------------------------------------------------------------

// Writes first elements that are all the same as a list of one.
static void write_states(qdq_json *json, const qdq_graph *graph) {
    qdq_json_key(json, "states");
    qdq_json_begin_array(json);
    for (size_t i = 0; i < graph->state_count; i++) {
        const qdq_state_info *state = &graph->states[i];
        qdq_type type = graph->values[qdq_graph_find(graph, state->input).id].type;
        size_t count = qdq_shape_count(type.shape), size = qdq_dtype_size(type.dtype);
        const char *first = state->initial;
        bool same = first && (count == 1 || memcmp(first, first + size, (count - 1) * size) == 0);
        qdq_json_begin_object(json);
        qdq_json_key(json, "input");
        qdq_json_string(json, state->input);
        qdq_json_key(json, "output");
        qdq_json_string(json, state->output);
        if (first) write_list(json, "initial", type.dtype, first, same ? 1 : count);
        qdq_json_end_object(json);
    }
    qdq_json_end_array(json);
}

// False if elements of constants cannot be read.
static bool write_graph(qdq_json *json, const qdq_graph *graph, const char *tensors) {
    qdq_json_begin_object(json);
    qdq_json_key(json, "format");
    qdq_json_string(json, "qdq/1");
    qdq_json_key(json, "name");
    qdq_json_string(json, graph->name);
    qdq_json_key(json, "target");
    qdq_json_string(json, graph->target);
    (void)write_values(json, graph, QDQ_VALUE_INPUT, "inputs", tensors);
    bool written = write_values(json, graph, QDQ_VALUE_CONSTANT, "constants", tensors);
    qdq_json_key(json, "nodes");
    qdq_json_begin_array(json);
    for (size_t i = 0; i < graph->node_count; i++) write_node(json, graph, &graph->nodes[i]);
    qdq_json_end_array(json);
    qdq_json_key(json, "outputs");
    qdq_json_begin_array(json);
    for (size_t i = 0; i < graph->output_count; i++) {
        qdq_json_begin_object(json);
        qdq_json_key(json, "name");
        qdq_json_string(json, graph->outputs[i].name);
        qdq_json_key(json, "value");
        qdq_json_string(json, graph->values[graph->outputs[i].value.id].name);
        qdq_json_end_object(json);
    }
    qdq_json_end_array(json);
    if (graph->state_count) write_states(json, graph);
    write_originals(json, graph);
    qdq_json_end_object(json);
    return written;
}

//---- Files ------------------------------------------------------------------

static void to_file(void *self, const char *bytes, size_t count) { fwrite(bytes, 1, count, self); }

static qdq_status fail_to_read(const qdq_graph *graph, qdq_error *err) {
    if (graph->failure->status)
        return qdq_fail(err, graph->failure->status, "%s", graph->failure->text);
    return qdq_fail(err, QDQ_ERR_MEMORY, "out of memory while reading the constants");
}

static qdq_status write_json(const qdq_graph *graph, const char *path, const char *tensors,
                             qdq_error *err) {
    qdq_new_file file;
    QDQ_TRY(qdq_new_file_open(&file, path, graph->allocator, err));
    qdq_json json;
    qdq_json_init(&json, to_file, file.stream, 2);
    qdq_status status = write_graph(&json, graph, tensors) ? QDQ_OK : fail_to_read(graph, err);
    to_file(file.stream, "\n", 1);
    if (status == QDQ_OK && ferror(file.stream))
        status = qdq_fail(err, QDQ_ERR_IO, "cannot be written: %s", strerror(errno));
    return qdq_new_file_close(&file, path, status, err);
}

// Writes the constants that are too large for the JSON file to a .safetensors file.
static qdq_status write_tensors(const qdq_graph *graph, const char *path, qdq_mempool *scratch,
                                qdq_error *err) {
    size_t count = 0, most = most_inline(graph);
    qdq_tensor *tensors = qdq_mempool_array(scratch, graph->value_count, sizeof *tensors);
    if (!tensors) return qdq_fail_memory(err, graph->value_count * sizeof *tensors);
    for (size_t i = 1; i < graph->value_count; i++) {
        const qdq_graph_value *v = &graph->values[i];
        if (v->kind != QDQ_VALUE_CONSTANT || is_inline(v, most)) continue;
        const void *data = read_elements(v, scratch);
        if (!data) return fail_to_read(graph, err);
        tensors[count++] = (qdq_tensor){v->name, v->type.dtype, v->type.shape, data};
    }
    if (count == 0) return QDQ_OK;
    return qdq_tensor_file_write(path, tensors, count, graph->allocator, err);
}

// Replaces the extension: "a/b.json" becomes "a/b" + suffix.
static char *sibling(qdq_mempool *mempool, const char *path, const char *suffix) {
    size_t stem = strlen(path);
    if (stem > 5 && qdq_has_ending(path, ".json")) stem -= 5;
    size_t bytes = stem + strlen(suffix) + 1;
    char *out = qdq_mempool_array(mempool, bytes, 1);
    if (out) snprintf(out, bytes, "%.*s%s", (int)stem, path, suffix);
    return out;
}

// True if a graph file names a file of constants in its folder.
static bool names_file(const char *path, const char *name) {
    char word[4096 + 3], part[2 * sizeof word];
    int length = snprintf(word, sizeof word, "\"%s\"", name);
    FILE *file = length < (int)sizeof word ? fopen(path, "rb") : NULL;
    bool found = false;
    size_t kept = 0, got;
    while (file && !found && (got = fread(part + kept, 1, sizeof part - 1 - kept, file)) > 0) {
        kept += got;
        for (size_t i = 0; i < kept; i++)
            if (!part[i]) part[i] = ' ';  // strstr reads to the end
        part[kept] = '\0';
        found = strstr(part, word) != NULL;
        size_t rest = kept < (size_t)length ? kept : (size_t)length - 1;
        memmove(part, part + kept - rest, rest);
        kept = rest;
    }
    if (file) (void)fclose(file);
    return found;
}

// Checks that an existing file of constants may be replaced: the graph file that is replaced names
// it.
static qdq_status check_tensors(const qdq_graph *graph, const char *path, const char *tensors,
                                qdq_error *err) {
    const char *slash = strrchr(tensors, '/');
    bool needed = most_inline(graph) < QDQ_MAX_INLINE_ELEMENTS;
    FILE *old = needed ? fopen(tensors, "rb") : NULL;
    if (!old) return QDQ_OK;
    (void)fclose(old);
    if (names_file(path, slash ? slash + 1 : tensors)) return QDQ_OK;
    return qdq_fail(err, QDQ_ERR_IO,
                    "%.400s: is there already and is not of %.400s, whose constants would go to "
                    "it; remove it, or choose another name",
                    tensors, path);
}

static qdq_status write_text(const qdq_graph *graph, const char *path, const char *tensors,
                             qdq_error *err) {
    qdq_error own = {0};
    qdq_status status = write_json(graph, path, tensors, &own);
    return status == QDQ_OK ? QDQ_OK : qdq_fail(err, status, "%s: %s", path, own.text);
}

static qdq_status write_files(const qdq_graph *graph, const char *path, qdq_mempool *scratch,
                              qdq_error *err) {
    char *tensors = sibling(scratch, path, ".safetensors");
    if (!tensors) return qdq_fail_memory(err, strlen(path) + 16);
    const char *slash = strrchr(tensors, '/');
    QDQ_TRY(check_tensors(graph, path, tensors, err));
    QDQ_TRY(write_tensors(graph, tensors, scratch, err));
    return write_text(graph, path, slash ? slash + 1 : tensors, err);
}

qdq_status qdq_json_write(const qdq_graph *graph, const char *path, qdq_error *err) {
    qdq_mempool scratch;
    qdq_mempool_init(&scratch, graph->allocator);
    qdq_status status = write_files(graph, path, &scratch, err);
    qdq_mempool_release(&scratch);
    return status;
}

qdq_status qdq_json_write_whole(const qdq_graph *graph, const char *path, size_t most,
                                qdq_error *err) {
    size_t allowed = most ? most : graph->limits.file_bytes, left = allowed;
    for (size_t i = 1; i < graph->value_count; i++) {
        const qdq_graph_value *v = &graph->values[i];
        if (v->kind != QDQ_VALUE_CONSTANT || is_inline(v, QDQ_MAX_INLINE_ELEMENTS)) continue;
        size_t bytes = qdq_shape_count(v->type.shape) * qdq_dtype_size(v->type.dtype);
        size_t groups = bytes / 3 + (bytes % 3 != 0);
        if (groups > left / 4)
            return qdq_fail(err, QDQ_ERR_LIMIT,
                            "%.400s: the large constants take more than %zu bytes of text as "
                            "base64; leave them in a file beside the graph",
                            path, allowed);
        left -= groups * 4;
    }
    return write_text(graph, path, NULL, err);
}
