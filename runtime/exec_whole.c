// SPDX-License-Identifier: Apache-2.0
// Steps on whole tensors: operands become row-major, units run in parallel, results go to their
// tiles.
#include <string.h>

#include "runtime/environment.h"
#include "runtime/exec.h"

enum { MAX_X = 64, MAX_Y = 8 };

typedef struct unit_context {
    const qdq_whole *whole;
    qdq_tensors tensors;
} unit_context;

static void run_units(void *self, size_t begin, size_t end) {
    const unit_context *context = self;
    qdq_environment environment = qdq_environment_enter();
    context->whole->fn(context->whole->params, &context->tensors, begin, end);
    qdq_environment_leave(environment);
}

static const void *rows_of(const qdq_exec *exec, const qdq_located *x, size_t flat) {
    char *memory = qdq_exec_place(exec, x->place);
    if (x->place.kind != QDQ_PLACE_ARENA) return memory;
    qdq_untilize(x->dtype, x->shape, memory, exec->flat + flat);
    return exec->flat + flat;
}

void qdq_exec_run_whole(const qdq_exec *exec, const qdq_whole *whole) {
    const void *x[MAX_X];
    void *y[MAX_Y];
    unit_context context = {whole, {x, y}};
    for (size_t i = 0; i < whole->x_count; i++)
        x[i] = rows_of(exec, &whole->x[i], whole->x_flat[i]);
    for (size_t i = 0; i < whole->y_count; i++)
        y[i] = whole->y[i].place.kind == QDQ_PLACE_ARENA ? exec->flat + whole->y_flat[i]
                                                         : qdq_exec_place(exec, whole->y[i].place);
    if (exec->parallel.run && whole->units > 1 && whole->cost >= exec->parallel.least)
        exec->parallel.run(exec->parallel.self, whole->units, run_units, &context);
    else
        run_units(&context, 0, whole->units);
    for (size_t i = 0; i < whole->y_count; i++)
        if (whole->y[i].place.kind == QDQ_PLACE_ARENA)
            qdq_tilize(whole->y[i].dtype, whole->y[i].shape, y[i],
                       qdq_exec_place(exec, whole->y[i].place));
}
