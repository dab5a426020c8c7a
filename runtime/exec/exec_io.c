// SPDX-License-Identifier: Apache-2.0
// Moves tensors into and out of an exec: qdq_exec_bind, qdq_exec_write and qdq_exec_read.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "include/qdq/inspect.h"
#include "runtime/base/did_you_mean.h"
#include "runtime/base/error.h"
#include "runtime/base/fp_environment.h"
#include "runtime/exec/exec.h"
#include "runtime/numerics/dtype.h"

typedef struct found_io {
    qdq_exec_io *io;
    const qdq_tensor_info *info;
    bool is_input;
} found_io;

static const qdq_tensor_info *find_in(const qdq_tensor_info *const *by_name, size_t count,
                                      const char *name) {
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(name, by_name[middle]->name);
        if (order == 0) return by_name[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

static bool find_input(const qdq_exec *exec, const char *name, found_io *out) {
    const qdq_plan *plan = exec->plan;
    out->info = find_in(plan->inputs_by_name, plan->input_count, name);
    out->is_input = out->info != NULL;
    if (out->info) out->io = &exec->inputs[out->info - plan->inputs];
    return out->info != NULL;
}

static bool find_output(const qdq_exec *exec, const char *name, found_io *out) {
    const qdq_plan *plan = exec->plan;
    out->info = find_in(plan->outputs_by_name, plan->output_count, name);
    if (out->info) out->io = &exec->outputs[out->info - plan->outputs];
    return out->info != NULL;
}

static const char *nearest_in(const qdq_tensor_info *infos, size_t count, const char *name) {
    for (size_t i = 0; i < count; i++)
        if (qdq_did_you_mean(name, &infos[i].name, 1)) return infos[i].name;
    return NULL;
}

enum { INPUTS = 1, OUTPUTS = 2 };

static qdq_status find_io(const qdq_exec *exec, const char *name, int among, const char *what,
                          found_io *out, qdq_error *err) {
    if (!exec || !name) {
        const char *text = exec ? "the name of an %s is NULL" : "there is no exec to find an %s in";
        (void)qdq_fail(err, QDQ_ERR_ARGUMENT, text, what);
        return QDQ_ERR_ARGUMENT;
    }
    const qdq_plan *plan = exec->plan;
    if ((among & INPUTS) && find_input(exec, name, out)) return QDQ_OK;
    if ((among & OUTPUTS) && find_output(exec, name, out)) return QDQ_OK;
    const char *near = NULL;
    if (among & INPUTS) near = nearest_in(plan->inputs, plan->input_count, name);
    if (!near && (among & OUTPUTS)) near = nearest_in(plan->outputs, plan->output_count, name);
    (void)qdq_fail(err, QDQ_ERR_ARGUMENT, "the graph has no %s named '%.200s'%s%s%s", what, name,
                   near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    return QDQ_ERR_ARGUMENT;
}

// True if an int8 or uint8 array may stand for elements of a narrower integer.
static bool stands_for(qdq_dtype dtype, qdq_dtype narrow) {
    const qdq_dtype_info *info = qdq_dtype_get(narrow);
    return qdq_dtype_is_packed(narrow) && info->kind == QDQ_KIND_INT &&
           dtype == (info->least < 0 ? QDQ_INT8 : QDQ_UINT8);
}

// Refuses bytes that are not elements of a dtype narrower than a byte.
static qdq_status check_range(const qdq_tensor_info *info, const void *data, qdq_error *err) {
    const qdq_dtype_info *dtype = qdq_dtype_get(info->dtype);
    size_t at = qdq_first_beyond(info->dtype, data, qdq_shape_count(info->shape));
    if (at == SIZE_MAX) return QDQ_OK;
    return qdq_fail(err, QDQ_ERR_ARGUMENT, "input '%s': element %zu does not fit into %s",
                    info->name, at, dtype->name);
}

static qdq_status check(const found_io *found, const char *what, qdq_dtype dtype, const void *data,
                        size_t count, qdq_error *err) {
    const qdq_tensor_info *info = found->info;
    if (!data)
        return qdq_fail(err, QDQ_ERR_ARGUMENT, "%s '%s': the data is NULL", what, info->name);
    bool widened =
        dtype == QDQ_FLOAT32 && qdq_dtype_is_real(info->dtype) && info->dtype != QDQ_FLOAT64;
    if (dtype != info->dtype && !widened && !stands_for(dtype, info->dtype))
        return qdq_fail(err, QDQ_ERR_ARGUMENT, "%s '%s': the data is %s, but the tensor is %s",
                        what, info->name, qdq_dtype_name(dtype), qdq_dtype_name(info->dtype));
    if (count != qdq_shape_count(info->shape))
        return qdq_fail(err, QDQ_ERR_ARGUMENT,
                        "%s '%s': the data has %zu elements, but the tensor has %zu", what,
                        info->name, count, qdq_shape_count(info->shape));
    return QDQ_OK;
}

// Encodes float32 as a narrower float. Numbers that are too large saturate in small floats, but an
// infinity stays an infinity if the dtype has one.
static void narrow(qdq_dtype dtype, const float *data, char *memory, size_t count) {
    static const qdq_numerics overflow = {.float_overflow = QDQ_FLOAT_OVERFLOW};
    size_t size = qdq_dtype_size(dtype);
    qdq_encode_float(dtype, data, memory, count, NULL);
    for (size_t i = 0; dtype == QDQ_FLOAT8_E5M2 && i < count; i++)
        if (isinf(data[i])) qdq_encode_float(dtype, &data[i], memory + i * size, 1, &overflow);
}

qdq_status qdq_exec_bind(qdq_exec *exec, const char *name, void *data, size_t bytes,
                         qdq_error *err) {
    QDQ_FIXED_ENVIRONMENT;
    found_io found = {0};
    QDQ_TRY(find_io(exec, name, INPUTS | OUTPUTS, "input or output", &found, err));
    if (data && bytes != found.info->bytes)
        return qdq_fail(err, QDQ_ERR_ARGUMENT,
                        "%s '%s': the memory has %zu bytes, but the tensor has %zu",
                        found.is_input ? "input" : "output", name, bytes, found.info->bytes);
    found.io->bound = data;
    return QDQ_OK;
}

qdq_status qdq_exec_write(qdq_exec *exec, const char *name, qdq_dtype dtype, const void *data,
                          size_t count, qdq_error *err) {
    QDQ_FIXED_ENVIRONMENT;
    found_io found = {0};
    QDQ_TRY(find_io(exec, name, INPUTS, "input", &found, err));
    QDQ_TRY(check(&found, "input", dtype, data, count, err));
    if (dtype != QDQ_FLOAT32) QDQ_TRY(check_range(found.info, data, err));
    char *memory = qdq_exec_io_memory(found.io);
    if (dtype == found.info->dtype || dtype != QDQ_FLOAT32)
        memcpy(memory, data, found.info->bytes);
    else
        narrow(found.info->dtype, data, memory, count);
    if (!found.io->bound) found.io->written = true;
    return QDQ_OK;
}

static qdq_status read_kept(const qdq_exec *exec, const qdq_kept *kept, qdq_dtype dtype, void *data,
                            size_t count, qdq_error *err) {
    found_io found = {.info = &kept->info};
    QDQ_TRY(check(&found, "value", dtype, data, count, err));
    qdq_exec_copy_kept(exec, kept, dtype != kept->info.dtype && dtype == QDQ_FLOAT32, data);
    return QDQ_OK;
}

qdq_status qdq_exec_read(const qdq_exec *exec, const char *name, qdq_dtype dtype, void *data,
                         size_t count, qdq_error *err) {
    QDQ_FIXED_ENVIRONMENT;
    found_io found = {0};
    if (exec && name && !find_output(exec, name, &found)) {
        const qdq_kept *kept = qdq_exec_find_kept(exec->plan, name);
        if (kept) return read_kept(exec, kept, dtype, data, count, err);
        if (qdq_exec_has_value(exec->plan, name))
            return qdq_exec_not_kept(exec->plan, "output", name, err);
    }
    QDQ_TRY(find_io(exec, name, OUTPUTS, "output", &found, err));
    QDQ_TRY(check(&found, "output", dtype, data, count, err));
    const char *memory = qdq_exec_io_memory(found.io);
    if (dtype == found.info->dtype || dtype != QDQ_FLOAT32)
        memcpy(data, memory, found.info->bytes);
    else
        qdq_decode_float(found.info->dtype, memory, data, count);
    return QDQ_OK;
}
