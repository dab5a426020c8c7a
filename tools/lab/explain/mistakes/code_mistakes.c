// SPDX-License-Identifier: Apache-2.0
// Tries codes of integers that are read or written in another format: with the other signedness, a
// flipped top bit, as sign and magnitude, or in another order within a byte.
#include <stdio.h>
#include <string.h>

#include "tools/elements.h"
#include "tools/io/tensor_io.h"
#include "tools/lab/explain/mistakes/trial.h"

static const char *const name = "code-format";

//---- Codes ------------------------------------------------------------------

static int64_t code_at(qdq_dtype dtype, const void *data, size_t i) {
    double code;
    to_doubles(dtype, (const char *)data + i * qdq_dtype_size(dtype), 1, &code);
    return (int64_t)code;
}

// Brings a code into the range of a dtype by its low bits.
static int64_t low_bits(const qdq_dtype_info *info, int64_t code) {
    int64_t span = info->greatest - info->least + 1, beyond = (code - info->least) % span;
    return info->least + (beyond < 0 ? beyond + span : beyond);
}

static int64_t not_negative(const qdq_dtype_info *info, int64_t code) {
    (void)info;
    return code < 0 ? 0 : code;
}

static int64_t flip_top(const qdq_dtype_info *info, int64_t code) {
    return low_bits(info, code + (INT64_C(1) << (info->bits - 1)));
}

static int64_t magnitude(const qdq_dtype_info *info, int64_t code) {
    return code < 0 ? -(code + (INT64_C(1) << (info->bits - 1))) : code;
}

static int64_t symmetric(const qdq_dtype_info *info, int64_t code) {
    return code == info->least ? info->least + 1 : code;
}

static int64_t swap_bytes(const qdq_dtype_info *info, int64_t code) {
    if (info->bits != 16) return code;
    return low_bits(info, (code & 0xFF) << 8 | (code >> 8 & 0xFF));
}

static const struct code_row {
    const char *text;
    int64_t (*map)(const qdq_dtype_info *info, int64_t code);
} rows[] = {{"with negative codes as 0", not_negative},
            {"with the top bit flipped", flip_top},
            {"as sign and magnitude", magnitude},
            {"without the least code", symmetric},
            {"with its bytes exchanged", swap_bytes}};

static void map_codes(const struct code_row *row, qdq_dtype dtype, size_t count, const void *in,
                      void *out) {
    const qdq_dtype_info *info = qdq_dtype_get(dtype);
    size_t size = qdq_dtype_size(dtype);
    for (size_t i = 0; i < count; i++) {
        int64_t code = row->map(info, code_at(dtype, in, i));
        memcpy((char *)out + i * size, &code, size);
    }
}

// Reverses the codes of each byte: two of 4 bits or four of 2.
static void reverse_in_bytes(qdq_dtype dtype, size_t count, const char *in, char *out) {
    size_t per_byte = 8 / (size_t)qdq_dtype_get(dtype)->bits;
    for (size_t i = 0; i < count; i++) {
        size_t first = i / per_byte * per_byte, from = first + per_byte - 1 - (i - first);
        out[i] = in[from < count ? from : i];
    }
}

static bool is_code(qdq_dtype dtype) {
    const qdq_dtype_info *info = qdq_dtype_get(dtype);
    return info->kind == QDQ_KIND_INT && info->bits <= 16;
}

static qdq_dtype other_sign(qdq_dtype dtype) {
    static const qdq_dtype pairs[][2] = {{QDQ_INT8, QDQ_UINT8},
                                         {QDQ_INT4, QDQ_UINT4},
                                         {QDQ_INT2, QDQ_UINT2},
                                         {QDQ_INT16, QDQ_UINT16}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        for (int k = 0; k < 2; k++)
            if (pairs[i][k] == dtype) return pairs[i][1 - k];
    return QDQ_DTYPE_NONE;
}

//---- Inputs -----------------------------------------------------------------

static void *take(const mistake_trial *t, const trial_elements *in) {
    return elements_take(document_replay(t->d)->exec_options.allocator,
                         qdq_shape_count(in->shape) * qdq_dtype_size(in->dtype));
}

static void try_mapped(mistake_trial *t, const trial_elements *in, const struct code_row *row) {
    char detail[128];
    void *data = trial_begin(t) ? take(t, in) : NULL;
    if (!data) return;
    if (row)
        map_codes(row, in->dtype, qdq_shape_count(in->shape), in->data, data);
    else
        reverse_in_bytes(in->dtype, qdq_shape_count(in->shape), in->data, data);
    snprintf(detail, sizeof detail, "%s %s", in->port,
             row ? row->text : "with the codes of each byte in reverse order");
    if (document_put(t->d, in->port, in->dtype, in->shape, data)) trial_take(t, name, detail);
}

// Gives the zero point of a port the dtype of its codes. False if it cannot.
static bool follow_zero(mistake_trial *t, const char *port, qdq_dtype dtype) {
    const qdq_dtype_info *info = qdq_dtype_get(dtype);
    for (size_t i = 0; i < t->list->count; i++) {
        const parameter *p = &t->list->pairs[i].zero;
        qdq_shape shape;
        bool own = strcmp(p->port, "zero_point") == 0 || strncmp(p->port, port, strlen(port)) == 0;
        if (!own || !qdq_value_type(document_replay(t->d)->form.graph,
                                    document_value(t->d, p->port), NULL, &shape))
            continue;
        for (size_t k = 0; k < p->count; k++)
            t->values[k] = (double)low_bits(info, (int64_t)p->values[k]);
        return document_put_numbers(t->d, p->port, dtype, shape, t->values);
    }
    return true;
}

static void try_other_sign(mistake_trial *t, const trial_elements *in) {
    qdq_dtype other = other_sign(in->dtype);
    char detail[128];
    void *data = other && trial_begin(t) ? take(t, in) : NULL;
    if (!data) return;
    size_t size = qdq_dtype_size(other);
    for (size_t i = 0; i < qdq_shape_count(in->shape); i++) {
        int64_t code = low_bits(qdq_dtype_get(other), code_at(in->dtype, in->data, i));
        memcpy((char *)data + i * size, &code, size);
    }
    snprintf(detail, sizeof detail, "%s read as %s", in->port, qdq_dtype_name(other));
    if (document_put(t->d, in->port, other, in->shape, data) && follow_zero(t, in->port, other))
        trial_take(t, name, detail);
}

//---- The result -------------------------------------------------------------

typedef struct written_codes {
    const struct code_row *row;  // NULL: the bits of the other signedness, or in reverse order
    qdq_dtype dtype;
    bool reversed;
} written_codes;

static bool finish_codes(const void *with, const qdq_tensor_info *from, const void *in, void *out) {
    const written_codes *w = with;
    size_t count = qdq_shape_count(from->shape), size = qdq_dtype_size(w->dtype);
    if (w->row)
        map_codes(w->row, w->dtype, count, in, out);
    else if (w->reversed)
        reverse_in_bytes(w->dtype, count, in, out);
    for (size_t i = 0; !w->row && !w->reversed && i < count; i++) {
        int64_t code = low_bits(qdq_dtype_get(w->dtype), code_at(from->dtype, in, i));
        memcpy((char *)out + i * size, &code, size);
    }
    return true;
}

static void try_written(mistake_trial *t, const written_codes *w, const char *detail) {
    if (!trial_begin(t)) return;
    qdq_dtype other = other_sign(w->dtype);
    bool bits = !w->row && !w->reversed;
    const char *side = document_port(t->d, "out_zero_point") == SIZE_MAX ? "" : "out";
    if (bits &&
        (!other || !trial_has_attr(t, "dtype", "dtype") ||
         !document_set_word(t->d, "dtype", qdq_dtype_name(other)) || !follow_zero(t, side, other)))
        return;
    variant v = {.cause = name, .detail = detail, .finish = {finish_codes, w}};
    trial_take_variant(t, &v);
}

static void try_result(mistake_trial *t) {
    char detail[128];
    qdq_dtype dtype = trial_output(t)->info.dtype;
    if (!is_code(dtype)) return;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        snprintf(detail, sizeof detail, "the result %s", rows[i].text);
        try_written(t, &(written_codes){&rows[i], dtype, false}, detail);
    }
    if (qdq_dtype_get(dtype)->bits < 8)
        try_written(t, &(written_codes){NULL, dtype, true},
                    "the result with the codes of each byte in reverse order");
    snprintf(detail, sizeof detail, "the bits of %s", qdq_dtype_name(other_sign(dtype)));
    try_written(t, &(written_codes){NULL, dtype, false}, detail);
}

void try_code_formats(mistake_trial *t) {
    trial_elements in;
    for (size_t i = 0; i < qdq_op_get(trial_op(t)).input_count && !t->stopped; i++) {
        if (!trial_input(t, i, &in) || !is_code(in.dtype)) continue;
        for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) try_mapped(t, &in, &rows[k]);
        if (qdq_dtype_get(in.dtype)->bits < 8) try_mapped(t, &in, NULL);
        try_other_sign(t, &in);
    }
    try_result(t);
}
