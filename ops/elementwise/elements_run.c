// SPDX-License-Identifier: Apache-2.0
// Runs elementwise stages in parts of QDQ_ELEMENTS_PART elements: brings operands into registers,
// calls the function, and converts its results to the dtype of y.
#include "ops/elementwise/elements_run.h"

#include <math.h>

#include "ops/blocking.h"
#include "ops/chunks.h"
#include "runtime/numerics/dtype.h"

enum { PART = QDQ_ELEMENTS_PART, UNIT = QDQ_ELEMENTS_UNIT, MAX_OPERANDS = QDQ_MOST_OPERANDS };

typedef qdq_elements_operand operand;
typedef qdq_elements_layout operand_layout;
typedef qdq_elements_params elements_params;

//---- Parts ------------------------------------------------------------------

// Integers of less than 2^24 are exact; others are rounded half to even.
static void to_floats(qdq_dtype dtype, const void *from, float *out, size_t n) {
    if (qdq_dtype_is_real(dtype)) {
        qdq_decode_float(dtype, from, out, n);
        return;
    }
    int32_t whole[PART];
    qdq_decode_int(dtype, from, whole, n);
    for (size_t i = 0; i < n; i++) out[i] = (float)whole[i];
}

static int32_t clamped(double v) {
    if (!(v > -0x1p31)) return INT32_MIN;  // NaN too
    return v >= 0x1p31 ? INT32_MAX : (int32_t)v;
}

static void from_floats(qdq_dtype dtype, const float *y, void *out, size_t n) {
    if (qdq_dtype_is_real(dtype)) {
        qdq_encode_float(dtype, y, out, n, NULL);
        return;
    }
    int32_t whole[PART];
    for (size_t i = 0; i < n; i++) whole[i] = clamped(rint((double)y[i]));
    qdq_encode_int(dtype, whole, out, n);
}

// The dtype that has the form of the registers.
static const qdq_dtype plain_dtypes[] = {[QDQ_REGISTERS_F32] = QDQ_FLOAT32,
                                         [QDQ_REGISTERS_I32] = QDQ_INT32,
                                         [QDQ_REGISTERS_I64] = QDQ_INT64,
                                         [QDQ_REGISTERS_U64] = QDQ_UINT64,
                                         [QDQ_REGISTERS_F64] = QDQ_FLOAT64};

static void to_registers(qdq_registers registers, qdq_dtype dtype, const void *from, void *out,
                         size_t n) {
    if (registers == QDQ_REGISTERS_F32)
        to_floats(dtype, from, out, n);
    else if (registers == QDQ_REGISTERS_I32)
        qdq_decode_int(dtype, from, out, n);
    else
        qdq_decode_wide(dtype, from, out, n);
}

// Computes at most PART elements from contiguous registers.
static void run_part(const elements_params *p, qdq_elementwise_fn *fn,
                     const void *const in[MAX_OPERANDS], void *y, size_t n) {
    uint64_t out[PART];
    bool direct = p->y_dtype == plain_dtypes[p->registers];
    fn(&p->numbers, in[0], in[1], in[2], direct ? y : out, n);
    if (direct) return;
    if (p->registers == QDQ_REGISTERS_F32)
        from_floats(p->y_dtype, (const float *)(const void *)out, y, n);
    else if (p->registers == QDQ_REGISTERS_I32)
        qdq_encode_int(p->y_dtype, (const int32_t *)(const void *)out, y, n);
    else
        qdq_encode_wide(p->y_dtype, out, y, n);
}

//---- As a link --------------------------------------------------------------

// Returns the elements at to at + n - 1 of an operand: x itself, or a view. Only x can have 64
// bits. `room` keeps an element that all share from one part to the next.
static const void *link_operand(const elements_params *p, size_t which, const qdq_view *views,
                                const char *x, size_t at, size_t n, uint64_t *room) {
    const operand *o = &p->operands[which];
    if (!o->given) return NULL;
    if (which == p->x) {
        const char *from = x + at * qdq_dtype_size(o->dtype);
        if (o->dtype == plain_dtypes[p->registers]) return from;
        to_registers(p->registers, o->dtype, from, room, n);
        return room;
    }
    const qdq_view *view = &views[p->view[which]];
    bool as_float = p->registers == QDQ_REGISTERS_F32 && which < 2;
    bool convert = as_float && !qdq_dtype_is_real(o->dtype);
    if (view->step && !convert) return view->data + at;
    uint32_t *part = (uint32_t *)(void *)room;
    if (!view->step && at) return part;  // the first part is the longest
    for (size_t i = 0; i < n; i++) {
        uint32_t item = view->data[view->step ? at + i : 0];
        part[i] = convert ? qdq_float_bits((float)(int32_t)item) : item;
    }
    return part;
}

// Computes all elements where they lie. False: an operand must be laid out.
static bool run_plain(const elements_params *p, const qdq_view *views, const void *x, void *y,
                      size_t n) {
    const void *in[MAX_OPERANDS] = {NULL};
    qdq_elementwise_single_fn *single = NULL;
    for (size_t i = 0; i < MAX_OPERANDS; i++) {
        if (!p->operands[i].given) continue;
        const qdq_view *view = i == p->x ? NULL : &views[p->view[i]];
        in[i] = view ? (const void *)view->data : x;
        if (!view || view->step) continue;
        single = i == 0 ? p->single.a : i == 1 ? p->single.b : NULL;
        if (!single) return false;
    }
    if (single)
        single(in[0], in[1], y, n);
    else
        p->fn(&p->numbers, in[0], in[1], in[2], y, n);
    return true;
}

void qdq_elements_run_link(const void *params, const qdq_view *views, const void *x, void *y,
                           size_t n) {
    const elements_params *p = params;
    if (p->plain && run_plain(p, views, x, y, n)) return;
    size_t y_size = qdq_dtype_size(p->y_dtype);
    uint64_t parts[MAX_OPERANDS][PART];
    for (size_t at = 0; at < n; at += PART) {
        const void *in[MAX_OPERANDS];
        size_t count = n - at < PART ? n - at : PART;
        for (size_t i = 0; i < MAX_OPERANDS; i++)
            in[i] = link_operand(p, i, views, x, at, count, parts[i]);
        run_part(p, p->fn, in, (char *)y + at * y_size, count);
    }
}

//---- As a tensor op ---------------------------------------------------------

// Used if both operands are broadcast, and for two operands of 64 bits: parameters of links
// have 32. A part never crosses a row.
static size_t operand_at(const operand_layout *layout, size_t which, size_t at) {
    size_t where = 0;
    for (int i = layout->shape.rank - 1; i >= 0; i--) {
        where += at % (size_t)layout->shape.dims[i] * layout->strides[which][i];
        at /= (size_t)layout->shape.dims[i];
    }
    return where;
}

// Returns elements at to at + n - 1 of an operand, in memory or in `room`. `step` 0: one for all.
static const void *gather(const elements_params *p, size_t which, const void *memory, size_t at,
                          size_t n, bool step, void *room) {
    const operand *o = &p->operands[which];
    qdq_registers registers = which < 2 ? p->registers : QDQ_REGISTERS_I32;
    const char *from =
        (const char *)memory + operand_at(p->layout, which, at) * qdq_dtype_size(o->dtype);
    if (step && o->dtype == plain_dtypes[registers]) return from;
    to_registers(registers, o->dtype, from, room, step ? n : 1);
    if (registers == QDQ_REGISTERS_F32 || registers == QDQ_REGISTERS_I32)
        for (size_t i = 1; !step && i < n; i++) ((uint32_t *)room)[i] = *(uint32_t *)room;
    else
        for (size_t i = 1; !step && i < n; i++) ((uint64_t *)room)[i] = *(uint64_t *)room;
    return room;
}

bool qdq_elements_step(const operand_layout *layout, size_t which) {
    for (int i = layout->shape.rank - 1; i >= 0; i--)
        if (layout->shape.dims[i] > 1) return layout->strides[which][i] != 0;
    return false;
}

void qdq_elements_run_tensor_op(const void *params, const qdq_tensors *tensors, size_t begin,
                                size_t end) {
    const elements_params *p = params;
    size_t count = qdq_shape_count(p->layout->shape);
    size_t stop = end * UNIT < count ? end * UNIT : count, row = p->layout->row;
    uint64_t parts[MAX_OPERANDS][PART];
    bool step[MAX_OPERANDS];
    for (size_t i = 0; i < MAX_OPERANDS; i++) step[i] = qdq_elements_step(p->layout, i);
    qdq_chunks y;
    qdq_chunks_begin(&y, tensors, p->y_dtype);
    for (size_t at = begin * UNIT, n; at < stop; at += n) {
        const void *in[MAX_OPERANDS] = {NULL};
        n = row - at % row;
        if (n > PART) n = PART;
        if (n > stop - at) n = stop - at;
        bool rests = p->rest && at >= p->body;
        if (p->rest && !rests && n > p->body - at) n = p->body - at;
        for (size_t i = 0; i < MAX_OPERANDS; i++)
            if (p->operands[i].given)
                in[i] = gather(p, i, tensors->x[p->operands[i].port], at, n, step[i], parts[i]);
        run_part(p, rests ? p->rest : p->fn, in, qdq_chunks_room(&y, at, n), n);
    }
    qdq_chunks_end(&y);
}
