// SPDX-License-Identifier: Apache-2.0
// Writes quantizing ops: QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear, Cast. Requantize
// is Dequantize to float32 and Quantize by its definition (docs/numerics.md, section 4), and is
// written as the two.
#include <string.h>

#include "graph/formats/onnx/onnx_tensor.h"
#include "graph/formats/onnx/write/onnx_writers.h"
#include "runtime/numerics/dtype.h"

// The ports or attributes that give a node its parameters, and their dims in a model.
typedef struct params {
    const char *scale, *zero_point;   // ports
    const char *scales, *zps;         // attributes
    const char *scale_new, *zps_new;  // names of new constants
    qdq_dtype codes;
    qdq_shape grid;
    int axis;       // -1: one for all
    int64_t block;  // 0: none
} params;

static bool is_float_code(qdq_dtype dtype) { return qdq_dtype_is_real(dtype); }

//---- Granularity ------------------------------------------------------------

// Blocks along one dim.
static bool find_blocks(qdq_onnx_writer *w, qdq_shape x, params *p) {
    qdq_ints group = qdq_onnx_given_ints(w, "group_shape");
    p->axis = x.rank - 1;
    int dims = 0;
    p->grid = x;
    for (int i = 0; i < x.rank && (size_t)i < group.count; i++) {
        int64_t extent = group.data[i] == -1 ? x.dims[i] : group.data[i];
        if (extent == 1) continue;
        p->axis = i;
        p->block = extent;
        dims++;
    }
    if (dims == 0) p->block = 1;
    if (dims > 1) {
        qdq_onnx_cannot(w, "group_shape", "has blocks along more than one dim", "one dim", NULL);
        return false;
    }
    p->grid.dims[p->axis] = (x.dims[p->axis] - 1) / p->block + 1;
    qdq_onnx_need_opset(w->draft, 21);
    return true;
}

static bool find_granularity(qdq_onnx_writer *w, qdq_shape x, params *p) {
    const char *type = qdq_onnx_given_word(w, "qtype");
    int64_t axis = qdq_onnx_given_int(w, "axis");
    p->axis = -1;
    if (strcmp(type, "per_group") == 0) return find_blocks(w, x, p);
    (void)qdq_onnx_given_ints(w, "group_shape");
    if (strcmp(type, "per_channel") != 0) return true;
    p->axis = (int)(axis < 0 ? axis + x.rank : axis);
    p->grid = (qdq_shape){1, {x.dims[p->axis]}};
    return true;
}

//---- Scales and zero points -------------------------------------------------

// Returns a parameter at a port, with the dims that ONNX wants.
static const char *port_param(qdq_onnx_writer *w, const params *p, const char *port) {
    const qdq_graph_value *v = qdq_onnx_at_port(w, port);
    const char *name = qdq_onnx_port_name(w, port);
    bool fits = p->axis < 0 ? v->type.shape.rank <= 1 : qdq_shape_equal(v->type.shape, p->grid);
    if (fits) return name;
    if (qdq_shape_count(v->type.shape) == qdq_shape_count(p->grid))
        return qdq_onnx_with_shape(w, name, port, p->grid);
    qdq_onnx_new_node *n = qdq_onnx_emit(w, "Expand", 8, port);  // one for all
    qdq_onnx_add_input(w, n, name);
    qdq_ints dims = {p->grid.dims, (size_t)p->grid.rank};
    qdq_onnx_add_input(w, n, qdq_onnx_new_ints(w, "shape", dims));
    return qdq_onnx_part(w, n);
}

static const char *scale_of(qdq_onnx_writer *w, const params *p, qdq_dtype *dtype) {
    const qdq_graph_value *v = qdq_onnx_at_port(w, p->scale);
    const qdq_floats *list = qdq_onnx_given_list(w, p->scales);
    *dtype = v ? v->type.dtype : QDQ_FLOAT32;
    if (*dtype == QDQ_FLOAT64) {
        qdq_onnx_cannot(w, p->scale, "is float64", "float32", "ONNX has no such scale");
        return NULL;
    }
    if (v) return port_param(w, p, p->scale);
    if (!list) return NULL;
    if (list->count != qdq_shape_count(p->grid))
        return qdq_onnx_new_fill(w, p->scale_new, (qdq_type){QDQ_FLOAT32, p->grid},
                                 (double)list->data[0]);
    return qdq_onnx_new_constant(w, p->scale_new, (qdq_type){QDQ_FLOAT32, p->grid}, list->data);
}

static bool all_zero(const qdq_numbers *list) {
    for (size_t i = 0; i < list->count; i++)
        if (list->data[i] != 0.0) return false;
    return true;
}

static const char *list_zero_point(qdq_onnx_writer *w, const params *p, const qdq_numbers *list) {
    size_t count = qdq_shape_count(p->grid), size = qdq_dtype_size(p->codes);
    qdq_type type = {p->codes, p->grid};
    if (list->count != count || is_float_code(p->codes))
        return qdq_onnx_new_fill(w, p->zps_new, type, list->data[0]);
    char *codes = qdq_mempool_array(w->draft->mempool, count, size);
    for (size_t i = 0; codes && i < count; i++) {
        int64_t whole = (int64_t)list->data[i];
        qdq_encode_wide(p->codes, &whole, codes + i * size, 1);
    }
    return codes ? qdq_onnx_new_constant(w, p->zps_new, type, codes) : NULL;
}

// Reports the first zero point of the list that the dtype of the codes, which is the dtype of a
// zero point in ONNX, cannot hold.
static bool check_list_range(qdq_onnx_writer *w, const params *p, const qdq_numbers *list) {
    const qdq_dtype_info *info = qdq_dtype_get(p->codes);
    for (size_t i = 0; i < list->count; i++) {
        if (list->data[i] >= (double)info->least && list->data[i] <= (double)info->greatest)
            continue;
        qdq_onnx_cannot(
            w, p->zps,
            WRITE_TEXT(w, "has %lld, which %s cannot hold", (long long)list->data[i], info->name),
            WRITE_TEXT(w, "%lld..%lld", (long long)info->least, (long long)info->greatest),
            "a zero point of ONNX has the dtype of the codes");
        return false;
    }
    return true;
}

// Returns the zero point; NULL: none. ONNX has none but 0 for int32 and floats.
static const char *zero_point_of(qdq_onnx_writer *w, const params *p, bool needed) {
    const qdq_graph_value *v = qdq_onnx_at_port(w, p->zero_point);
    const qdq_numbers *list = qdq_onnx_given_list(w, p->zps);
    bool only_zero = p->codes == QDQ_INT32 || is_float_code(p->codes);
    if (v && v->type.dtype != p->codes) {
        qdq_onnx_cannot(w, p->zero_point, WRITE_TEXT(w, "is %s", qdq_dtype_name(v->type.dtype)),
                        qdq_dtype_name(p->codes), "give it the dtype of the codes");
        return NULL;
    }
    if (v && p->codes != QDQ_INT32) return port_param(w, p, p->zero_point);
    if (only_zero && (v || (list && !all_zero(list)))) {
        qdq_onnx_cannot(w, v ? p->zero_point : p->zps,
                        WRITE_TEXT(w, "is a zero point of %s", qdq_dtype_name(p->codes)),
                        "none: ONNX gives only 0 a meaning", NULL);
        return NULL;
    }
    if (p->codes == QDQ_INT32 || (!list && !needed)) return NULL;
    if (list) return only_zero || check_list_range(w, p, list) ? list_zero_point(w, p, list) : NULL;
    return qdq_onnx_new_fill(w, p->zps_new, (qdq_type){p->codes, p->grid}, 0);
}

// Forms that ONNX lacks.
static bool check_form(qdq_onnx_writer *w, qdq_dtype codes) {
    const qdq_dtype_info *info = qdq_dtype_get(codes);
    const char *domain = qdq_onnx_given_word(w, "zero_point_domain");
    if (domain && strcmp(domain, "float") == 0)
        qdq_onnx_cannot(w, "zero_point_domain", "is float", "int", NULL);
    if (qdq_onnx_given_real(w, "quant_min", (double)info->least) != (double)info->least ||
        qdq_onnx_given_real(w, "quant_max", (double)info->greatest) != (double)info->greatest)
        qdq_onnx_cannot(w, "quant_min", "or quant_max is narrower than the dtype",
                        "the range of the dtype", "clamp before quantizing");
    return !w->refused;
}

static const params plain = {.scale = "scale",
                             .zero_point = "zero_point",
                             .scales = "scales",
                             .zps = "zps",
                             .scale_new = "scale",
                             .zps_new = "zero_point"};

//---- Nodes ------------------------------------------------------------------

static qdq_onnx_new_node *emit_pair(qdq_onnx_writer *w, const char *name, const params *p,
                                    const char *helper, const char *x, const char *scale,
                                    const char *zero) {
    qdq_onnx_new_node *n = qdq_onnx_emit(w, name, 13, helper);
    qdq_onnx_add_input(w, n, x);
    qdq_onnx_add_input(w, n, scale);
    if (zero) qdq_onnx_add_input(w, n, zero);
    if (p->axis >= 0) qdq_onnx_add_int(w, n, "axis", p->axis);
    if (p->block) qdq_onnx_add_int(w, n, "block_size", p->block);
    return n;
}

void qdq_onnx_write_quantize(qdq_onnx_writer *w, const char *name) {
    params p = plain;
    qdq_dtype of_scale, x = qdq_onnx_at_port(w, "x")->type.dtype;
    p.codes = qdq_onnx_result_type(w).dtype;
    (void)qdq_onnx_given_dtype(w, "dtype");
    bool saturates = !qdq_onnx_has(w, "saturate") || qdq_onnx_given_bool(w, "saturate");
    if (p.codes == QDQ_INT32) {
        qdq_onnx_cannot(w, "dtype", "is int32", "codes of at most 16 bits", NULL);
        return;
    }
    if (!check_form(w, p.codes) || !find_granularity(w, qdq_onnx_at_port(w, "x")->type.shape, &p))
        return;
    const char *scale = scale_of(w, &p, &of_scale), *zero = zero_point_of(w, &p, true);
    if (x != QDQ_FLOAT32 || of_scale != QDQ_FLOAT32)
        qdq_onnx_need_opset(w->draft, of_scale == x ? 19 : 23);
    qdq_onnx_new_node *n = emit_pair(w, name, &p, NULL, qdq_onnx_port_name(w, "x"), scale, zero);
    if (!saturates && is_float_code(p.codes)) qdq_onnx_add_int(w, n, "saturate", 0);
    qdq_onnx_yield(w, n, 0);
}

// Writes the dtype of the result if it is not the dtype that ONNX takes from the scale.
static void put_output_dtype(qdq_onnx_writer *w, qdq_onnx_new_node *n, qdq_dtype of_scale,
                             qdq_dtype made) {
    if (of_scale == made) return;
    qdq_onnx_need_opset(w->draft, 23);
    qdq_onnx_add_int(w, n, "output_dtype", qdq_onnx_elem_of(made));
}

void qdq_onnx_write_dequantize(qdq_onnx_writer *w, const char *name) {
    params p = plain;
    qdq_dtype of_scale;
    if (qdq_onnx_write_trt_dequantize(w)) return;
    p.codes = qdq_onnx_at_port(w, "x")->type.dtype;
    (void)qdq_onnx_given_dtype(w, "dtype");
    (void)qdq_onnx_has(w, "saturate");  // only for results that are codes
    if (!check_form(w, p.codes) || !find_granularity(w, qdq_onnx_at_port(w, "x")->type.shape, &p))
        return;
    const char *scale = scale_of(w, &p, &of_scale), *zero = zero_point_of(w, &p, false);
    qdq_onnx_new_node *n = emit_pair(w, name, &p, NULL, qdq_onnx_port_name(w, "x"), scale, zero);
    if (of_scale != QDQ_FLOAT32) qdq_onnx_need_opset(w->draft, 19);
    put_output_dtype(w, n, of_scale, qdq_onnx_result_type(w).dtype);
    qdq_onnx_yield(w, n, 0);
}

// Writes DynamicQuantize; with a given scale it is a Quantize.
void qdq_onnx_write_dynamic(qdq_onnx_writer *w, const char *name) {
    const char *scheme = qdq_onnx_given_word(w, "scheme");
    if (qdq_onnx_at_port(w, "scale") || qdq_onnx_given_list(w, "scales")) {
        qdq_onnx_write_quantize(w, "QuantizeLinear");
        return;
    }
    if (qdq_onnx_write_trt_dynamic(w, scheme)) return;
    bool plain_type = qdq_onnx_given_dtype(w, "dtype") == QDQ_UINT8 &&
                      qdq_onnx_at_port(w, "x")->type.dtype == QDQ_FLOAT32;
    (void)qdq_onnx_given_int(w, "axis");
    if (!plain_type || strcmp(scheme, "asymmetric") != 0 ||
        strcmp(qdq_onnx_given_word(w, "qtype"), "per_tensor") != 0) {
        qdq_dtype codes = qdq_onnx_result_type(w).dtype;
        bool known = qdq_onnx_trt_form_of("DynamicQuantize", codes, scheme) != NULL;
        qdq_onnx_cannot(w, NULL, "has a form that ONNX lacks",
                        "scheme asymmetric, float32 to uint8, per_tensor",
                        known
                            ? "for --target tensorrt it is written as an op of its importer, with "
                              "blocks along one dim"
                            : NULL);
        return;
    }
    if (!check_form(w, QDQ_UINT8)) return;
    qdq_onnx_new_node *n = qdq_onnx_emit(w, name, 11, NULL);
    qdq_onnx_add_port(w, n, "x");
    for (size_t i = 0; i < w->node->output_count; i++) qdq_onnx_yield(w, n, i);
}

//---- Requantize -------------------------------------------------------------

// Sets the parameters of a side: one scale for all, or one for each channel.
static void set_side(qdq_onnx_writer *w, params *p, qdq_shape x, int64_t axis) {
    const qdq_graph_value *v = qdq_onnx_at_port(w, p->scale);
    const qdq_floats *list = qdq_onnx_given_list(w, p->scales);
    size_t count = v ? qdq_shape_count(v->type.shape) : list ? list->count : 1;
    p->axis = -1;
    if (count == 1) return;
    p->axis = (int)(axis < 0 ? axis + x.rank : axis);
    p->grid = (qdq_shape){1, {(int64_t)count}};
}

void qdq_onnx_write_requantize(qdq_onnx_writer *w, const char *name) {
    params in = {.scale = "in_scale",
                 .zero_point = "in_zero_point",
                 .scales = "in_scales",
                 .zps = "in_zps",
                 .scale_new = "in_scale",
                 .zps_new = "in_zero_point"};
    params out = {.scale = "out_scale",
                  .zero_point = "out_zero_point",
                  .scales = "out_scales",
                  .zps = "out_zps",
                  .scale_new = "out_scale",
                  .zps_new = "out_zero_point"};
    const qdq_graph_value *x = qdq_onnx_at_port(w, "x");
    qdq_dtype in_dtype, out_dtype;
    if (qdq_onnx_has(w, "multiplier")) {
        qdq_onnx_cannot(w, "multiplier", "is given, but ONNX has no fixed point", "scales", NULL);
        return;
    }
    int64_t axis = qdq_onnx_given_int(w, "axis");
    (void)name, (void)qdq_onnx_given_word(w, "qtype"), (void)qdq_onnx_given_dtype(w, "dtype");
    in.codes = x->type.dtype, out.codes = qdq_onnx_result_type(w).dtype;
    if (is_float_code(in.codes) || out.codes == QDQ_INT32) {
        qdq_onnx_cannot(w, NULL, "reads floats or makes int32", "codes of at most 16 bits", NULL);
        return;
    }
    if (!check_form(w, out.codes)) return;
    set_side(w, &in, x->type.shape, axis);
    set_side(w, &out, x->type.shape, axis);
    const char *scale = scale_of(w, &in, &in_dtype), *zero = zero_point_of(w, &in, false);
    qdq_onnx_new_node *n =
        emit_pair(w, "DequantizeLinear", &in, "real", qdq_onnx_port_name(w, "x"), scale, zero);
    put_output_dtype(w, n, in_dtype, QDQ_FLOAT32);
    const char *real = qdq_onnx_part(w, n);
    scale = scale_of(w, &out, &out_dtype), zero = zero_point_of(w, &out, true);
    if (out_dtype != QDQ_FLOAT32) qdq_onnx_need_opset(w->draft, 23);
    qdq_onnx_yield(w, emit_pair(w, "QuantizeLinear", &out, NULL, real, scale, zero), 0);
}

//---- Cast -------------------------------------------------------------------

void qdq_onnx_write_cast(qdq_onnx_writer *w, const char *name) {
    qdq_dtype to = qdq_onnx_given_dtype(w, "dtype");
    const char *rounding = qdq_onnx_given_word(w, "round_mode");
    bool saturates = !qdq_onnx_has(w, "saturate") || qdq_onnx_given_bool(w, "saturate");
    qdq_onnx_new_node *n = qdq_onnx_emit(w, name, 13, NULL);
    qdq_onnx_add_port(w, n, "x");
    qdq_onnx_add_int(w, n, "to", qdq_onnx_elem_of(to));
    if (!saturates) qdq_onnx_add_int(w, n, "saturate", 0);
    if (to == QDQ_FLOAT8_E8M0 && rounding) qdq_onnx_add_word(w, n, "round_mode", rounding);
    qdq_onnx_yield(w, n, 0);
}
