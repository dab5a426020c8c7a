// SPDX-License-Identifier: Apache-2.0
// Reads and writes tensors that the command line names.
#include "tools/io/tensor_io.h"

#include <qdq/inspect.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/words.h"
#include "tools/elements.h"
#include "tools/io/file_kind.h"
#include "tools/io/memory_file.h"
#include "tools/io/npy.h"
#include "tools/io/npz.h"
#include "tools/io/stream_out.h"
#include "tools/io/streams.h"

bool has_ending(const char *text, const char *ending) { return qdq_has_ending(text, ending); }

static bool copy_part(char *out, size_t capacity, const char *text, size_t length) {
    if (length >= capacity) return false;
    memcpy(out, text, length);
    out[length] = '\0';
    return true;
}

bool tensor_spec_parse(const char *text, tensor_spec *out) {
    const char *equals = strchr(text, '='), *file = equals ? equals + 1 : text;
    const char *hash = strrchr(file, '#');
    size_t file_length = hash ? (size_t)(hash - file) : strlen(file);
    *out = (tensor_spec){0};
    if (equals == text) return false;  // "=FILE"
    if (equals && !copy_part(out->name, sizeof out->name, text, (size_t)(equals - text)))
        return false;
    if (hash && !copy_part(out->tensor, sizeof out->tensor, hash + 1, strlen(hash + 1)))
        return false;
    return file_length > 0 && copy_part(out->file, sizeof out->file, file, file_length);
}

static bool rename_spec(const char *name, tensor_spec *out) {
    if (name != out->name) snprintf(out->name, sizeof out->name, "%s", name);
    return true;
}

bool tensor_spec_of_input(const qdq_graph *graph, const char *text, tensor_spec *out) {
    return tensor_spec_parse(text, out) && rename_spec(qdq_value_name_of(graph, out->name), out);
}

bool tensor_spec_of_result(const qdq_graph *graph, const char *text, tensor_spec *out) {
    if (!tensor_spec_parse(text, out)) return false;
    const char *output = qdq_output_name_of(graph, out->name);
    bool named = output != out->name || qdq_output_value(graph, out->name).id;
    return rename_spec(named ? output : qdq_value_name_of(graph, out->name), out);
}

static qdq_status fail(qdq_error *err, qdq_status status, const char *file, const char *what,
                       const char *name) {
    err->status = status;
    snprintf(err->text, sizeof err->text, "%.512s: %s'%.200s'", file, what, name);
    return status;
}

static qdq_status load_from(const tensor_source *source, const tensor_spec *spec, const char *name,
                            qdq_shape shape, loaded_tensor *out, qdq_error *err) {
    const qdq_tensor_file *file = source->tensors;
    const char *wanted = *spec->tensor ? spec->tensor : name;
    const qdq_tensor_info *info = qdq_tensor_file_find(file, wanted);
    if (!info && !*spec->tensor && *spec->name && qdq_tensor_file_count(file) == 1)
        info = qdq_tensor_file_at(file, 0);
    if (!info) return fail(err, QDQ_ERR_PARSE, spec->file, "there is no tensor ", wanted);
    *out = (loaded_tensor){.dtype = info->dtype, .shape = info->shape};
    if (!qdq_shape_equal(shape, info->shape)) return QDQ_OK;
    out->data = elements_take(source->from, info->bytes);
    if (!out->data) return fail(err, QDQ_ERR_MEMORY, spec->file, "no memory for tensor ", wanted);
    return qdq_tensor_file_read(file, info, out->data, err);
}

// Returns KIND_NPY, KIND_NPZ or KIND_SAFETENSORS by content, else by name; KIND_UNKNOWN for other
// files.
static file_kind tensor_kind(const char *path) {
    file_kind kind = file_kind_of(path);
    if (kind == KIND_NPY || kind == KIND_NPZ || kind == KIND_SAFETENSORS) return kind;
    if (has_ending(path, ".npy")) return KIND_NPY;
    if (has_ending(path, ".npz")) return KIND_NPZ;
    return has_ending(path, ".safetensors") ? KIND_SAFETENSORS : KIND_UNKNOWN;
}

bool holds_named_tensors(const char *file) {
    file_kind kind = tensor_kind(stream_path(file));
    return kind == KIND_SAFETENSORS || kind == KIND_NPZ;
}

qdq_tensor_file *tensor_file_open(const char *file, qdq_error *err) {
    const char *path = stream_path(file);
    return is_no_tensor_file(path, err) ? NULL : qdq_tensor_file_open(path, NULL, err);
}

void tensor_source_close(tensor_source *source) {
    npz_close(source->npz);
    qdq_tensor_file_close(source->tensors);
    *source = (tensor_source){.from = source->from};
}

// Opens a file of named tensors, unless it is open.
static bool open_named(tensor_source *source, const char *file, qdq_error *err) {
    if (*source->file && strcmp(source->file, file) == 0) return true;
    tensor_source_close(source);
    if (tensor_kind(stream_path(file)) == KIND_NPZ)
        source->npz = npz_open(stream_path(file), err);
    else
        source->tensors = tensor_file_open(file, err);
    bool opened = source->npz || source->tensors;
    if (opened) snprintf(source->file, sizeof source->file, "%s", file);
    return opened;
}

static qdq_status load_from_npz(const tensor_source *source, const tensor_spec *spec,
                                const char *name, qdq_shape shape, loaded_tensor *out,
                                qdq_error *err) {
    const char *wanted = *spec->tensor ? spec->tensor : name;
    npz_file *file = source->npz;
    npy_tensor npy = {0};
    size_t index = npz_find(file, wanted), count = npz_count(file);
    if (index == count && !*spec->tensor && *spec->name && count == 1) index = 0;
    qdq_status status = index < count
                            ? npz_read(file, index, &shape, source->from, &npy, err)
                            : fail(err, QDQ_ERR_PARSE, spec->file, "there is no tensor ", wanted);
    if (status == QDQ_OK) *out = (loaded_tensor){npy.dtype, npy.shape, npy.data};
    return status;
}

qdq_status tensor_load(tensor_source *source, const tensor_spec *spec, const char *name,
                       qdq_shape wanted, loaded_tensor *out, qdq_error *err) {
    const char *path = stream_path(spec->file);
    file_kind kind = tensor_kind(path);
    *out = (loaded_tensor){0};
    if (is_no_tensor_file(path, err)) return err->status;
    if (kind == KIND_NPY) {
        npy_tensor npy;
        qdq_status status = npy_read_as(path, &wanted, source->from, &npy, err);
        if (status == QDQ_OK) *out = (loaded_tensor){npy.dtype, npy.shape, npy.data};
        return status;
    }
    if (kind == KIND_UNKNOWN)
        return fail(err, QDQ_ERR_ARGUMENT, path,
                    "a tensor file is .npy, .npz or .safetensors; needed for ", name);
    if (!open_named(source, spec->file, err)) return err->status;
    qdq_status status = source->npz ? load_from_npz(source, spec, name, wanted, out, err)
                                    : load_from(source, spec, name, wanted, out, err);
    if (status != QDQ_OK) tensor_release(out);
    return status;
}

qdq_status tensor_shape(const tensor_spec *spec, const char *name, qdq_shape *out, qdq_error *err) {
    static const qdq_shape none = {.rank = -1};  // which no tensor has
    tensor_source source = {.from = NULL};
    loaded_tensor tensor;
    qdq_status status = tensor_load(&source, spec, name, none, &tensor, err);
    *out = tensor.shape;
    tensor_release(&tensor);
    tensor_source_close(&source);
    return status;
}

void tensor_release(loaded_tensor *tensor) {
    elements_free(tensor->data);
    *tensor = (loaded_tensor){0};
}

bool are_codes_of(qdq_dtype dtype, qdq_dtype stored, const char *file) {
    return holds_named_tensors(file) && qdq_dtype_is_real(dtype) && !qdq_dtype_is_real(stored) &&
           strcmp(qdq_dtype_get(dtype)->safetensors, qdq_dtype_get(stored)->safetensors) == 0;
}

bool tensor_file_opens(tensor_source *source, const char *file, qdq_error *err) {
    return open_named(source, file, err);
}

bool tensor_file_has(tensor_source *source, const char *file, const char *name) {
    qdq_error unused = {0};
    bool is_open = *source->file && strcmp(source->file, file) == 0;
    if (!is_open && !holds_named_tensors(file)) return false;
    if (!open_named(source, file, &unused)) return false;
    if (source->npz) return npz_find(source->npz, name) < npz_count(source->npz);
    return qdq_tensor_file_find(source->tensors, name) != NULL;
}

void to_doubles(qdq_dtype dtype, const void *data, size_t n, double *out) {
    int64_t whole[256];
    size_t size = qdq_dtype_size(dtype);
    bool is_int = !qdq_dtype_is_real(dtype);
    for (size_t at = 0; at < n; at += 256) {
        size_t part = n - at < 256 ? n - at : 256;
        const char *from = (const char *)data + at * size;
        if (is_int)
            qdq_widen_int64(dtype, from, whole, part);
        else
            qdq_widen_float64(dtype, from, out + at, part);
        for (size_t i = 0; is_int && i < part; i++)
            out[at + i] = dtype == QDQ_UINT64 ? (double)(uint64_t)whole[i] : (double)whole[i];
    }
}

const char *element_text(qdq_dtype dtype, double value, char out[32]) {
    const char *real = dtype == QDQ_FLOAT64 ? "%.17g" : "%.9g";
    snprintf(out, 32, qdq_dtype_is_real(dtype) ? real : "%.0f", value);
    return out;
}

qdq_status tensor_save(const char *file, const qdq_tensor *tensor, qdq_error *err) {
    bool named = has_ending(file, ".safetensors");
    if (is_stream(file)) return stream_save(file, tensor, 1, !named, err);
    if (named) return qdq_tensor_file_write(file, tensor, 1, NULL, err);
    if (has_ending(file, ".mem")) return memory_file_write(file, tensor, err);
    if (!has_ending(file, ".npy"))
        return fail(err, QDQ_ERR_ARGUMENT, file,
                    "a tensor file ends in .npy, .safetensors or .mem; needed for ", tensor->name);
    bool narrow = qdq_dtype_is_real(tensor->dtype) && tensor->dtype != QDQ_FLOAT32 &&
                  tensor->dtype != QDQ_FLOAT64;
    if (!narrow) return npy_write(file, tensor->dtype, tensor->shape, tensor->data, err);
    size_t count = qdq_shape_count(tensor->shape);
    float *wide = malloc(count * sizeof *wide);
    if (!wide) return fail(err, QDQ_ERR_MEMORY, file, "no memory to widen ", tensor->name);
    qdq_widen_float(tensor->dtype, tensor->data, wide, count);
    qdq_status status = npy_write(file, QDQ_FLOAT32, tensor->shape, wide, err);
    free(wide);
    return status;
}
