// SPDX-License-Identifier: Apache-2.0
// Checks the shapes of a product of matrices and sets its sizes and strides.
#include "ops/matmul/matmul.h"

//---- Shapes -----------------------------------------------------------------

// An input that is a matrix or a vector: its last two dims, and the dims before them.
typedef struct operand {
    size_t rows, columns;
    bool vector;
    qdq_shape batch;
} operand;

static operand operand_of(qdq_shape shape, bool transposed, bool first) {
    operand o = {.vector = shape.rank == 1, .batch = shape};
    if (o.vector) {
        size_t n = (size_t)shape.dims[0];
        o.rows = first ? 1 : n, o.columns = first ? n : 1;
        o.batch = (qdq_shape){0};
        return o;
    }
    size_t r = (size_t)shape.dims[shape.rank - 2], c = (size_t)shape.dims[shape.rank - 1];
    o.rows = transposed ? c : r, o.columns = transposed ? r : c;
    o.batch.rank -= 2;
    o.batch.dims[shape.rank - 1] = o.batch.dims[shape.rank - 2] = 0;
    return o;
}

static bool has_dims(const qdq_op_context *ctx, size_t input) {
    if (ctx->inputs[input].type.shape.rank > 0) return true;
    qdq_report_violation(ctx, QDQ_RULE_PORT_SHAPE, qdq_op_port(ctx->op, input)->name,
                         "has the shape []", "one dim or more");
    return false;
}

static const char *has_shape(const qdq_op_context *ctx, size_t input) {
    return qdq_text(ctx->findings, "has the shape %s",
                    qdq_shape_text(ctx->findings, ctx->inputs[input].type.shape));
}

static void append(qdq_shape *shape, size_t dim) { shape->dims[shape->rank++] = (int64_t)dim; }

bool qdq_matmul_dims_of(const qdq_op_context *ctx, const qdq_matmul_ports *ports,
                        qdq_matmul_dims *dims) {
    bool all = has_dims(ctx, ports->a);
    if (!has_dims(ctx, ports->b) || !all) return false;
    operand a = operand_of(ctx->inputs[ports->a].type.shape, ports->transpose_a, true);
    qdq_shape b_shape = ctx->inputs[ports->b].type.shape;
    operand b = operand_of(b_shape, ports->transpose_b, false);
    *dims = (qdq_matmul_dims){a.rows,  b.columns, a.columns, a.vector, b.vector,
                              a.batch, b.batch,   {0},       {0}};
    if (a.columns != b.rows) {
        int dim = b.vector ? 0 : b_shape.rank - (ports->transpose_b ? 1 : 2);
        qdq_report_violation(
            ctx, QDQ_RULE_PORT_SHAPE, ctx->op->inputs[ports->b].name, has_shape(ctx, ports->b),
            qdq_text(ctx->findings, "%zu in dim %d, as many as a has columns%s", a.columns, dim,
                     ports->transpose_a ? " when transposed" : ""));
        return false;
    }
    if (!qdq_broadcast_shapes(a.batch, b.batch, &dims->batch)) {
        qdq_report_violation(
            ctx, QDQ_RULE_PORT_SHAPE, ctx->op->inputs[ports->b].name, has_shape(ctx, ports->b),
            qdq_text(ctx->findings,
                     "dims before the last two that are equal to those of a, %s, or 1",
                     qdq_shape_text(ctx->findings, a.batch)));
        return false;
    }
    dims->y = dims->batch;
    if (!a.vector) append(&dims->y, a.rows);
    if (!b.vector) append(&dims->y, b.columns);
    return true;
}

//---- Strides ----------------------------------------------------------------

// Strides of a row-major tensor broadcast onto another, in units of `unit` elements; 0 for dims
// that repeat.
static void strides_onto(qdq_shape shape, qdq_shape onto, size_t unit, size_t *strides) {
    for (int i = 1; i <= onto.rank; i++) {
        size_t dim = i <= shape.rank ? (size_t)shape.dims[shape.rank - i] : 1;
        strides[onto.rank - i] = dim == 1 ? 0 : unit;
        unit *= dim;
    }
}

void qdq_matmul_lay_out(const qdq_op_context *ctx, const qdq_matmul_ports *ports,
                        const qdq_matmul_dims *d, qdq_gemm *g) {
    bool ta = ports->transpose_a && !d->a_vector, tb = ports->transpose_b && !d->b_vector;
    qdq_gemm_batches *s = &g->batches;
    g->rows = d->m, g->columns = d->n, g->depth = d->k;
    g->batch = qdq_shape_count(d->batch);
    s->rank = d->batch.rank;
    for (int i = 0; i < s->rank; i++) s->dims[i] = (size_t)d->batch.dims[i];
    strides_onto(d->a_batch, d->batch, d->m * d->k, s->a);
    strides_onto(d->b_batch, d->batch, 1, s->b);
    strides_onto(d->batch, d->batch, d->m * d->n, s->y);
    g->pack_a = qdq_gemm_pack_rows;
    g->a_port = ports->a;
    g->a_dtype = ctx->inputs[ports->a].type.dtype;
    g->a_row_stride = ta ? 1 : d->k;
    g->a_depth_stride = ta ? d->m : 1;
    g->weights = (qdq_gemm_weights){.port = ports->b,
                                    .dtype = ctx->inputs[ports->b].type.dtype,
                                    .taps = 1,
                                    .depth_stride = tb ? 1 : d->n,
                                    .column_stride = tb ? d->k : 1,
                                    .matrix_stride = d->k * d->n,
                                    .matrices = qdq_shape_count(d->b_batch)};
    g->y = (qdq_gemm_along){0, ctx->outputs[0].dtype, d->n, 1, NULL};
}

// Returns the size in memory of dim i of an operand.
static size_t size_in_memory(const qdq_operand *x, int i) {
    size_t size = (size_t)x->type.shape.dims[i];
    return x->repeat && i == x->type.shape.rank - 3 ? size / x->repeat : size;
}

// Sets the strides of the dims of an operand that lies in memory in its order of dims.
static void strides_in_order(const qdq_operand *x, size_t *strides) {
    int rank = x->type.shape.rank, at[QDQ_MAX_RANK] = {0};
    size_t unit = 1;
    for (int i = 0; i < rank; i++) at[x->order ? x->order[i] : i] = i;
    for (int m = rank; m-- > 0; unit *= size_in_memory(x, at[m])) strides[at[m]] = unit;
}

static bool read_a(const qdq_operand *a, bool transposed, qdq_gemm *g) {
    size_t strides[QDQ_MAX_RANK] = {0};
    int rank = a->type.shape.rank, batch = g->batches.rank;
    strides_in_order(a, strides);
    g->a_row_stride = strides[rank - (transposed ? 1 : 2)];
    g->a_depth_stride = strides[rank - (transposed ? 2 : 1)];
    for (int i = 0; i < rank - 2; i++)
        g->batches.a[batch - (rank - 2) + i] = a->type.shape.dims[i] == 1 ? 0 : strides[i];
    return g->a_depth_stride == 1;
}

// Matrices must lie evenly apart. Matrices of more than a k block are packed for each block of
// rows, so their columns must be neighbours.
static bool read_b(const qdq_operand *b, bool transposed, qdq_gemm *g) {
    qdq_gemm_weights *w = &g->weights;
    size_t strides[QDQ_MAX_RANK] = {0}, next = 0;
    int rank = b->type.shape.rank;
    strides_in_order(b, strides);
    w->depth_stride = strides[rank - (transposed ? 1 : 2)];
    w->column_stride = strides[rank - (transposed ? 2 : 1)];
    for (int i = rank - 2; i-- > 0;) {
        size_t size = size_in_memory(b, i);
        if (size == 1) continue;
        if (next && strides[i] != next) return false;
        if (!next) w->matrix_stride = strides[i];
        next = strides[i] * size;
    }
    return w->column_stride == 1 || (w->depth_stride == 1 && g->depth <= qdq_gemm_depth(g));
}

// True if the products that share a repeated b can be rows of one product. Rows must lie evenly
// apart, and the sums of a column of B may depend on the number of its row.
static bool joins_repeats(const qdq_op_context *ctx, const qdq_matmul_ports *ports,
                          const qdq_matmul_dims *d) {
    const qdq_operand *a = &ctx->inputs[ports->a], *b = &ctx->inputs[ports->b];
    int dim = b->type.shape.rank - 3;
    return !a->order && !ports->transpose_a && !d->a_vector && d->n > 1 &&
           qdq_shape_equal(d->a_batch, d->batch) && (!b->order || b->order[dim] == dim);
}

void qdq_matmul_join_repeats(size_t repeat, qdq_gemm *g) {
    qdq_gemm_batches *s = &g->batches;
    int last = s->rank - 1;
    g->rows *= repeat;
    g->batch /= repeat;
    s->dims[last] /= repeat, s->a[last] *= repeat, s->y[last] *= repeat;
    for (int i = 0; i < last; i++) s->b[i] /= repeat;
}

bool qdq_matmul_read_transposed(const qdq_op_context *ctx, const qdq_matmul_ports *ports,
                                const qdq_matmul_dims *d, qdq_gemm *g) {
    const qdq_operand *a = &ctx->inputs[ports->a], *b = &ctx->inputs[ports->b];
    if (a->repeat || (b->repeat && !joins_repeats(ctx, ports, d))) return false;
    if (b->repeat) g->weights.matrices /= b->repeat;
    if (!a->order && !b->order && !b->repeat) return true;
    return !d->a_vector && !d->b_vector && a->type.dtype == QDQ_FLOAT32 &&
           b->type.dtype == QDQ_FLOAT32 && !a->quantized && !b->quantized && !b->weight_codes &&
           (!a->order || read_a(a, ports->transpose_a, g)) &&
           ((!b->order && !b->repeat) || read_b(b, ports->transpose_b, g));
}

void qdq_matmul_along(const qdq_op_context *ctx, const qdq_matmul_dims *d, size_t port,
                      qdq_gemm_along *along, size_t *batch_strides) {
    size_t strides[QDQ_MAX_RANK] = {0};
    int at = d->batch.rank;
    const qdq_type *type = &ctx->inputs[port].type;
    strides_onto(type->shape, d->y, 1, strides);
    for (int i = 0; i < at; i++) batch_strides[i] = strides[i];
    *along = (qdq_gemm_along){port, type->dtype, 0, 0, NULL};
    if (!d->a_vector) along->row_stride = strides[at++];
    if (!d->b_vector) along->column_stride = strides[at];
}

//---- Parameters of rows and columns ------------------------------------------

// Returns the shape with one element for each row of a, or column of b.
static qdq_shape parameter_shape(qdq_shape shape, bool rows) {
    if (shape.rank > 1) shape.dims[shape.rank - (rows ? 1 : 2)] = 1;
    return shape;
}

bool qdq_matmul_check_parameter(const qdq_op_context *ctx, const qdq_matmul_dims *d, size_t port,
                                size_t of, bool rows) {
    if (!qdq_has_input(ctx, port)) return true;
    qdq_shape is = ctx->inputs[port].type.shape, x = ctx->inputs[of].type.shape;
    qdq_shape full = parameter_shape(x, rows);
    int64_t n = (int64_t)(rows ? d->m : d->n);
    if (qdq_shape_count(is) == 1 || (is.rank == 1 && is.dims[0] == n)) return true;
    if (x.rank > 1 && qdq_shape_equal(is, full)) return true;
    qdq_findings *f = ctx->findings;
    const char *wanted =
        qdq_text(f, "one element or %s, one for each %s",
                 qdq_shape_text(f, (qdq_shape){.rank = 1, .dims = {n}}), rows ? "row" : "column");
    if (x.rank > 1 && n > 1)
        wanted = qdq_text(f, "one element, %s or %s, one for each %s",
                          qdq_shape_text(f, (qdq_shape){.rank = 1, .dims = {n}}),
                          qdq_shape_text(f, full), rows ? "row" : "column");
    qdq_report_violation(ctx, QDQ_RULE_PORT_SHAPE, ctx->op->inputs[port].name,
                         qdq_text(f, "has the shape %s", qdq_shape_text(f, is)), wanted);
    return false;
}

void qdq_matmul_row_parameter(const qdq_op_context *ctx, const qdq_matmul_dims *d, size_t port,
                              qdq_gemm_along *along, size_t *batch_strides) {
    const qdq_type *type = &ctx->inputs[port].type;
    *along = (qdq_gemm_along){port, type->dtype, 0, 0, NULL};
    if (qdq_shape_count(type->shape) == 1) return;
    along->row_stride = d->m > 1;
    if (type->shape.rank > 1) strides_onto(d->a_batch, d->batch, d->m, batch_strides);
}

void qdq_matmul_column_parameter(const qdq_op_context *ctx, const qdq_matmul_dims *d, size_t port,
                                 qdq_gemm_along *along, size_t *matrix_stride) {
    const qdq_type *type = &ctx->inputs[port].type;
    *along = (qdq_gemm_along){port, type->dtype, 0, 0, NULL};
    if (qdq_shape_count(type->shape) == 1) return;
    along->column_stride = d->n > 1;
    if (type->shape.rank > 1) *matrix_stride = d->n;
}

//---- Batches ----------------------------------------------------------------

static bool depends(const qdq_gemm *g, const qdq_gemm_along *along, const size_t *strides) {
    if (along->port == SIZE_MAX) return false;
    for (int i = 0; i < g->batches.rank; i++)
        if (strides[i]) return true;
    return along->row_stride != 0;
}

void qdq_matmul_join_batch(const qdq_matmul_ports *ports, const qdq_matmul_dims *d, qdq_gemm *g) {
    bool transposed = ports->transpose_a && !d->a_vector;
    if (transposed || d->a_vector || g->weights.matrices != 1 || g->batch == 1) return;
    if (!qdq_shape_equal(d->a_batch, d->batch)) return;
    if (depends(g, &g->bias, g->batches.bias) || depends(g, &g->a_zero, g->batches.a_zero) ||
        depends(g, &g->a_scale, g->batches.a_scale))
        return;
    g->rows *= g->batch;
    g->batch = 1;
    g->batches.rank = 0;
}
