// SPDX-License-Identifier: Apache-2.0
#include "tools/io/frames.h"

#include <stdlib.h>
#include <string.h>

#include "tools/common.h"
#include "tools/elements.h"
#include "tools/failure.h"

bool is_state_input(const qdq_graph *graph, const char *name) {
    for (size_t i = 0; i < qdq_graph_state_count(graph); i++)
        if (strcmp(qdq_graph_state(graph, i)->input, name) == 0) return true;
    return false;
}

int frames_open(frames *f, size_t count, const qdq_graph *graph, const qdq_plan *plan,
                const qdq_allocator *from) {
    *f = (frames){.count = count, .from = from, .input_count = qdq_plan_input_count(plan)};
    f->inputs = calloc(f->input_count + 1, sizeof *f->inputs);
    if (!f->inputs) return tell_failure(QDQ_ERR_MEMORY, "no memory for the frames");
    for (size_t i = 0; i < f->input_count; i++) {
        const qdq_tensor_info *info = qdq_plan_input(plan, i);
        size_t bytes;
        if (is_state_input(graph, info->name)) continue;
        if (!__builtin_mul_overflow(info->bytes, count, &bytes))
            f->inputs[i] = elements_take(from, bytes);
        if (!f->inputs[i])
            return tell_failure(QDQ_ERR_MEMORY, "no memory for %zu frames of input '%s'", count,
                                info->name);
        memset(f->inputs[i], 0, bytes);
    }
    return EXIT_OK;
}

void frames_close(const frames *f) {
    for (size_t i = 0; f->inputs && i < f->input_count; i++) elements_free(f->inputs[i]);
    free(f->inputs);
}

qdq_shape frames_shape(qdq_shape one, size_t count) {
    if (!one.rank) return (qdq_shape){1, {(int64_t)count}};
    one.dims[0] *= (int64_t)count;
    return one;
}

qdq_status frames_bind_input(const frames *f, qdq_exec *exec, const qdq_plan *plan, size_t input,
                             size_t frame, qdq_error *err) {
    const qdq_tensor_info *info = qdq_plan_input(plan, input);
    if (!f->inputs[input]) return QDQ_OK;
    return qdq_exec_bind(exec, info->name, (char *)f->inputs[input] + frame * info->bytes,
                         info->bytes, err);
}

qdq_status frames_bind(const frames *f, qdq_exec *exec, const qdq_plan *plan, size_t frame,
                       qdq_error *err) {
    qdq_status status = QDQ_OK;
    for (size_t i = 0; status == QDQ_OK && i < f->input_count; i++)
        status = frames_bind_input(f, exec, plan, i, frame, err);
    return status;
}
