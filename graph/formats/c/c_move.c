// SPDX-License-Identifier: Apache-2.0
// Ops that move elements: copies, transposes, and the tables of runs of ops/movement/runs.h.
#include "graph/formats/c/c_draft.h"
#include "include/qdq/ops/movement.h"
#include "ops/movement/runs.h"

void qdq_c_write_copy(qdq_c_step *step) {
    qdq_type y = step->ctx->outputs[0];
    qdq_c_put(step->body, "    memcpy(y0, x0, %zu);\n",
              qdq_shape_count(y.shape) * qdq_dtype_size(y.dtype));
}

void qdq_c_write_transpose(qdq_c_step *step) {
    size_t size = qdq_dtype_size(step->ctx->outputs[0].dtype);
    size_t sizes[QDQ_MAX_RANK], strides[QDQ_MAX_RANK];
    int rank = qdq_transpose_show(&step->stages[0], sizes, strides);
    qdq_c_put_each(step, 0);
    qdq_c_put(step->body, "        memcpy((char *)y0 + i * %zu, (const char *)x0 + (", size);
    qdq_c_put_strided(step->body, "i", rank, sizes, strides);
    qdq_c_put(step->body, ") * %zu, %zu);\n    }\n", size, size);
}

// Writes Gather, which reads its indices when the graph runs.
void qdq_c_write_gather(qdq_c_step *step) {
    const qdq_gather_attrs *a = step->ctx->attrs;
    const qdq_type *x = &step->ctx->inputs[0].type, *indices = &step->ctx->inputs[1].type;
    int axis = (int)(a->axis.set != 0 ? a->axis.value : 0);
    size_t size = qdq_dtype_size(x->dtype), count = qdq_shape_count(indices->shape), n = 1;
    if (axis < 0) axis += x->shape.rank;
    for (int d = axis + 1; d < x->shape.rank; d++) n *= (size_t)x->shape.dims[d];
    if (indices->dtype != QDQ_INT32 && indices->dtype != QDQ_INT64) {
        qdq_c_cannot(step, "indices",
                     qdq_text(step->findings, "is %s", qdq_dtype_name(indices->dtype)),
                     "int32 or int64");
        return;
    }
    qdq_c_put_each(step, 0);
    qdq_c_put(step->body,
              "        const size_t outer = i / %zu, number = i / %zu %% %zu;\n"
              "        const size_t index = emitted_index(x1, number, %s, %zu);\n"
              "        const size_t from = (outer * %zu + index) * %zu + i %% %zu;\n"
              "        memcpy((char *)y0 + i * %zu, (const char *)x0 + from * %zu, %zu);\n    }\n",
              n * count, n, count, indices->dtype == QDQ_INT64 ? "true" : "false",
              (size_t)x->shape.dims[axis], (size_t)x->shape.dims[axis], n, n, size, size, size);
}

// Writes the Table of int16, whose 513 results lie 128 codes apart.
static void write_lines(qdq_c_step *step) {
    qdq_c_put_each(step, 0);
    qdq_c_put(step->body,
              "        const int32_t from = ((const int16_t *)x0)[i] + 32768;\n"
              "        const int16_t *line = (const int16_t *)x1 + from / 128;\n"
              "        ((int32_t *)y0)[i] = line[0] * 128 + (line[1] - line[0]) * (from %% 128);\n"
              "    }\n");
}

// Writes Table, whose results lie in the order of codes from the least one on.
void qdq_c_write_table(qdq_c_step *step) {
    const qdq_type *x = &step->ctx->inputs[0].type, *table = &step->ctx->inputs[1].type;
    size_t size = qdq_dtype_size(table->dtype);
    if (x->dtype == QDQ_INT16) {
        write_lines(step);
        return;
    }
    qdq_c_put_each(step, 0);
    qdq_c_put(step->body,
              "        const size_t from = ((const uint8_t *)x0)[i] ^ %du;\n"
              "        memcpy((char *)y0 + i * %zu, (const char *)x1 + from * %zu, %zu);\n    }\n",
              x->dtype == QDQ_INT8 ? 128 : 0, size, size, size);
}

//---- Runs -------------------------------------------------------------------

// Writes "from + (i0 - begin) * step" for the run that holds the index of a dim.
static void put_run(qdq_c_step *step, const qdq_run *run, int d) {
    qdq_c_put(step->body, "%td + ((ptrdiff_t)i%d - %zu) * %td", run->from, d, run->begin,
              run->step);
}

// Writes the offset that a dim before the last contributes, and the test for its filled runs.
static void put_dim(qdq_c_step *step, const qdq_run_dim *dim, int d) {
    qdq_c_text *text = step->body;
    bool fills = false;
    qdq_c_put(text, "        const ptrdiff_t o%d = ", d);
    for (size_t i = 0; i < dim->run_count; i++) {
        if (i + 1 < dim->run_count) qdq_c_put(text, "i%d < %zu ? ", d, dim->runs[i + 1].begin);
        put_run(step, &dim->runs[i], d);
        if (i + 1 < dim->run_count) qdq_c_put(text, " : ");
        fills |= dim->runs[i].input == QDQ_RUN_FILL;
    }
    qdq_c_put(text, ";\n");
    if (!fills) return;
    qdq_c_put(text, "        if (");
    bool any = false;
    for (size_t i = 0; i < dim->run_count; i++) {
        if (dim->runs[i].input != QDQ_RUN_FILL) continue;
        size_t end = i + 1 < dim->run_count ? dim->runs[i + 1].begin : dim->size;
        qdq_c_put(text, "%s(", any ? " || " : "");
        if (dim->runs[i].begin) qdq_c_put(text, "i%d >= %zu && ", d, dim->runs[i].begin);
        qdq_c_put(text, "i%d < %zu)", d, end);
        any = true;
    }
    qdq_c_put(text, ") filled = true;\n");
}

static void put_from(qdq_c_step *step, const qdq_runs *table, const qdq_run *run) {
    int last = table->rank - 1;
    size_t size = qdq_dtype_size(table->y_dtype);
    qdq_c_text *text = step->body;
    if (run->input == QDQ_RUN_FILL) {
        qdq_c_put(text, "from = fill;\n");
        return;
    }
    qdq_c_put(text, "from = (const char *)x%d + (offset * %td + ", run->input, run->scale);
    put_run(step, run, last);
    qdq_c_put(text, ") * %zu;\n", size);
}

// Declares the number to fill with: an input, or bits.
static void declare_fill(qdq_c_step *step, const qdq_runs *table) {
    if (table->fill_input != SIZE_MAX) {
        qdq_c_put(step->body, "    const void *const fill = x%zu;\n", table->fill_input);
        return;
    }
    const unsigned char *bytes = (const unsigned char *)&table->fill;
    qdq_c_put(step->body, "    static const unsigned char fill[8] = {");
    for (int i = 0; i < 8; i++) qdq_c_put(step->body, "%s%d", i ? ", " : "", bytes[i]);
    qdq_c_put(step->body, "};\n");
}

void qdq_c_write_runs(qdq_c_step *step) {
    const qdq_runs *table = step->stages[0].params;
    const qdq_run_dim *dim = &table->dims[table->rank - 1];
    size_t size = qdq_dtype_size(table->y_dtype), inner = 1;
    qdq_c_text *text = step->body;
    declare_fill(step, table);
    qdq_c_put_each(step, 0);
    for (int d = table->rank - 1; d >= 0; d--) {
        qdq_c_put(text, "        const size_t i%d = i / %zu %% %zu;\n", d, inner,
                  table->dims[d].size);
        inner *= table->dims[d].size;
    }
    qdq_c_put(text, "        bool filled = false;\n");
    for (int d = 0; d < table->rank - 1; d++) put_dim(step, &table->dims[d], d);
    qdq_c_put(text, "        const ptrdiff_t offset = 0");
    for (int d = 0; d < table->rank - 1; d++) qdq_c_put(text, " + o%d", d);
    qdq_c_put(text, ";\n        const void *from;\n        if (filled) from = fill;\n");
    for (size_t i = 0; i < dim->run_count; i++) {
        qdq_c_put(text, "        else ");
        if (i + 1 < dim->run_count)
            qdq_c_put(text, "if (i%d < %zu) ", table->rank - 1, dim->runs[i + 1].begin);
        put_from(step, table, &dim->runs[i]);
    }
    qdq_c_put(text,
              "        (void)offset;\n        memcpy((char *)y0 + i * %zu, from, %zu);\n    }\n",
              size, size);
}
