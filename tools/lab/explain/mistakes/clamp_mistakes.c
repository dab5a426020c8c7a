// SPDX-License-Identifier: Apache-2.0
// Tries a zero point that is added to codes that are already clamped: the node runs without its
// zero point, and the sum is clamped again or keeps its low bits.
#include <stdio.h>
#include <string.h>

#include "tools/io/tensor_io.h"
#include "tools/lab/explain/grouping.h"
#include "tools/lab/explain/mistakes/trial.h"

typedef struct late_zero {
    const parameter *zero;
    grouping groups;
    qdq_dtype dtype;  // of the result
    bool wraps;
} late_zero;

static bool add_zero(const void *with, const qdq_tensor_info *from, const void *in, void *out) {
    const late_zero *late = with;
    const qdq_dtype_info *info = qdq_dtype_get(late->dtype);
    size_t size = qdq_dtype_size(late->dtype), from_size = qdq_dtype_size(from->dtype);
    int64_t span = info->greatest - info->least + 1;
    for (size_t i = 0; i < qdq_shape_count(from->shape); i++) {
        double code;
        to_doubles(from->dtype, (const char *)in + i * from_size, 1, &code);
        int64_t sum = (int64_t)code + (int64_t)late->zero->values[grouping_at(&late->groups, i)];
        int64_t beyond = (sum - info->least) % span;
        if (late->wraps) sum = info->least + (beyond < 0 ? beyond + span : beyond);
        if (sum < info->least) sum = info->least;
        if (sum > info->greatest) sum = info->greatest;
        memcpy((char *)out + i * size, &sum, size);
    }
    return true;
}

// Returns the zero point of the result; NULL if the node has none.
static const parameter *zero_of_result(const mistake_trial *t) {
    static const char *const ports[] = {"out_zero_point", "y_zero_point"};
    bool quantizes = strcmp(document_op(t->d), "Quantize") == 0;
    for (size_t i = 0; i < t->list->count; i++) {
        const parameter *p = &t->list->pairs[i].zero;
        if ((quantizes && strcmp(p->port, "zero_point") == 0) || strcmp(p->port, ports[0]) == 0 ||
            strcmp(p->port, ports[1]) == 0)
            return p;
    }
    return NULL;
}

static void try_late(mistake_trial *t, late_zero *late, const char *clamped, const char *dtype) {
    static const char *const ends[] = {"the sum saturates", "the sum keeps its low bits"};
    char detail[128];
    for (int wraps = 0; wraps < 2 && trial_begin(t); wraps++) {
        trial_fill(t, late->zero->count, 0);
        if (dtype) {
            document_drop_attr(t->d, late->zero->attr);
            document_drop_port(t->d, late->zero->port);
        }
        if (dtype ? !document_set_word(t->d, "dtype", dtype)
                  : !parameter_set(t->d, late->zero, t->values))
            return;
        late->wraps = wraps;
        snprintf(detail, sizeof detail, "%s before the zero point is added, %s", clamped,
                 ends[wraps]);
        variant v = {.cause = "clamp-order", .detail = detail, .finish = {add_zero, late}};
        trial_take_variant(t, &v);
    }
}

void try_early_clamps(mistake_trial *t) {
    const parameter *zero = zero_of_result(t);
    const node_value *y = trial_output(t);
    late_zero late = {.zero = zero, .dtype = y->info.dtype};
    if (!zero || !zero->count || qdq_dtype_get(late.dtype)->kind != QDQ_KIND_INT ||
        qdq_dtype_get(late.dtype)->bits > 16 ||
        !grouping_of(t->d, y->info.shape, zero->count, &late.groups))
        return;
    try_late(t, &late, "clamped", NULL);
    if (!trial_has_attr(t, "dtype", "dtype")) return;
    if (late.dtype == QDQ_UINT8) try_late(t, &late, "clamped to int8", "int8");
    if (late.dtype == QDQ_INT8) try_late(t, &late, "clamped to uint8", "uint8");
}
