// SPDX-License-Identifier: Apache-2.0
#include "tools/link/structure.h"

#include <qdq/tensor_file.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/base64.h"
#include "tools/common.h"
#include "tools/io/zip/byte_source.h"
#include "tools/link/fragment.h"
#include "tools/link/json_span.h"

//---- Texts of graphs --------------------------------------------------------

// Returns the bytes of a file, with a zero behind them, from malloc. NULL with `err` set.
static char *read_bytes(const char *path, size_t *count, qdq_error *err) {
    uint64_t bytes = 0;
    FILE *file = open_regular_file(path, &bytes, err);
    char *text = file && bytes < SIZE_MAX ? malloc((size_t)bytes + 1) : NULL;
    if (file && !text) (void)source_fail(err, QDQ_ERR_MEMORY, "no memory for the text of a link");
    if (text && fread(text, 1, (size_t)bytes, file) != bytes) {
        (void)source_fail(err, QDQ_ERR_IO, "the text of a link cannot be read");
        free(text);
        text = NULL;
    }
    if (text) text[bytes] = '\0';
    *count = (size_t)bytes;
    if (file) (void)fclose(file);
    return text;
}

static bool open_folder(char *folder, size_t capacity, qdq_error *err) {
    if (make_folder(folder, capacity) == EXIT_OK) return true;
    (void)source_fail(err, QDQ_ERR_IO, "no folder can be made for the text of a link");
    return false;
}

char *structure_text(const qdq_graph *graph, qdq_error *err) {
    char folder[4096], path[4200];
    char *text = NULL;
    size_t bytes;
    if (!open_folder(folder, sizeof folder, err)) return NULL;
    snprintf(path, sizeof path, "%s/graph.json", folder);
    qdq_error own = {0};
    qdq_status status = qdq_graph_write_whole(graph, path, LINK_TEXT_LIMIT, &own);
    if (status == QDQ_ERR_LIMIT)
        status = qdq_graph_write(graph, path, err);
    else if (status != QDQ_OK)
        *err = own;
    if (status == QDQ_OK) text = read_bytes(path, &bytes, err);
    (void)unlink(path);
    snprintf(path, sizeof path, "%s/graph.safetensors", folder);
    (void)unlink(path);
    (void)rmdir(folder);
    if (text) json_squeeze(text);
    return text;
}

// Returns bytes in base64url with quotes, from malloc. NULL with `err` set.
static char *quoted(const char *bytes, size_t count, qdq_error *err) {
    char *text = malloc(QDQ_BASE64_SIZE(count) + 2);
    if (!text) {
        (void)source_fail(err, QDQ_ERR_MEMORY, "no memory for the text of a link");
        return NULL;
    }
    *text = '"';
    qdq_base64_encode("-_", (const unsigned char *)bytes, count, text + 1);
    memcpy(text + strlen(text), "\"", 2);
    return text;
}

char *structure_of_tensors(const qdq_tensor *tensors, size_t count, qdq_error *err) {
    char folder[4096], path[4200];
    char *bytes = NULL, *text = NULL;
    size_t size = 0;
    if (!open_folder(folder, sizeof folder, err)) return NULL;
    snprintf(path, sizeof path, "%s/tensors.safetensors", folder);
    if (qdq_tensor_file_write(path, tensors, count, NULL, err) == QDQ_OK)
        bytes = read_bytes(path, &size, err);
    (void)unlink(path);
    (void)rmdir(folder);
    if (bytes) text = quoted(bytes, size, err);
    free(bytes);
    return text;
}

char *structure_of_inputs(const qdq_plan *plan, void *const *inputs, qdq_error *err) {
    char *text = NULL;
    size_t count = qdq_plan_input_count(plan);
    qdq_tensor *tensors = calloc(count + 1, sizeof *tensors);
    for (size_t i = 0; tensors && i < count; i++) {
        const qdq_tensor_info *info = qdq_plan_input(plan, i);
        tensors[i] = (qdq_tensor){info->name, info->dtype, info->shape, inputs[i]};
    }
    if (tensors)
        text = structure_of_tensors(tensors, count, err);
    else
        (void)source_fail(err, QDQ_ERR_MEMORY, "no memory for the inputs");
    free(tensors);
    return text;
}

//---- Leaving constants out --------------------------------------------------

// Parts of the text of a graph file.
typedef struct parts {
    json_span inputs, constants;
} parts;

static bool is_data(json_span key) {
    return json_is(key, "data") || json_is(key, "base64") || json_is(key, "file") ||
           json_is(key, "tensor");
}

// Returns the characters of a constant's elements; SIZE_MAX if a file has them.
static size_t size_of(json_span constant) {
    const char *at = constant.at;
    json_member member;
    while (json_next(&at, &member)) {
        if (json_is(member.key, "file")) return SIZE_MAX;
        if (json_is(member.key, "data") || json_is(member.key, "base64"))
            return member.value.length;
    }
    return 0;
}

// Writes the elements of a list that take at most `most` characters (`larger` false), or more than
// that, as inputs. Returns their number.
static size_t write_list(FILE *out, json_span list, size_t most, bool larger, const char *comma) {
    const char *at = list.at;
    json_member constant, member;
    size_t count = 0;
    while (list.length && json_next(&at, &constant)) {
        if ((size_of(constant.value) > most) != larger) continue;
        fputs(comma, out);
        comma = ",";
        count++;
        if (!larger) fprintf(out, "%.*s", (int)constant.value.length, constant.value.at);
        const char *inner = constant.value.at, *mark = "{";
        while (larger && json_next(&inner, &member)) {
            if (is_data(member.key)) continue;
            fprintf(out, "%s\"%.*s\":%.*s", mark, (int)member.key.length, member.key.at,
                    (int)member.value.length, member.value.at);
            mark = ",";
        }
        if (larger) fputs("}", out);
    }
    return count;
}

static size_t write_without(FILE *out, const char *text, size_t most) {
    const char *at = text;
    json_member member;
    parts found = {{NULL, 0}, {NULL, 0}};
    fputs("{", out);
    while (json_next(&at, &member)) {
        if (json_is(member.key, "inputs"))
            found.inputs = member.value;
        else if (json_is(member.key, "constants"))
            found.constants = member.value;
        else if (!json_is(member.key, "originals"))
            fprintf(out, "\"%.*s\":%.*s,", (int)member.key.length, member.key.at,
                    (int)member.value.length, member.value.at);
    }
    fputs("\"inputs\":[", out);
    size_t inputs = write_list(out, found.inputs, SIZE_MAX, false, "");
    size_t left_out = write_list(out, found.constants, most, true, inputs ? "," : "");
    fputs("],\"constants\":[", out);
    (void)write_list(out, found.constants, most, false, "");
    fputs("]}", out);
    return left_out;
}

char *structure_without(const char *text, size_t most, size_t *left_out) {
    char *result = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&result, &size);
    if (!out) return NULL;
    *left_out = write_without(out, text, most);
    if (fclose(out) == 0) return result;
    free(result);
    return NULL;
}

bool structure_needs_file(const char *text) {
    const char *at = text;
    json_member member, constant;
    while (json_next(&at, &member)) {
        const char *inner = member.value.at;
        if (!json_is(member.key, "constants")) continue;
        while (json_next(&inner, &constant))
            if (size_of(constant.value) == SIZE_MAX) return true;
    }
    return false;
}
