// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/explain/accuracy/code_parameters.h"

#include <math.h>
#include <stdlib.h>

#include "tools/elements.h"
#include "tools/io/tensor_io.h"
#include "tools/lab/explain/parameters.h"

//---- Parameters -------------------------------------------------------------

static qdq_value changing_value(const node_document *d, const char *port) {
    qdq_value value = document_value(d, port);
    bool constant = qdq_value_is_constant(document_replay(d)->form.graph, value);
    return value.id && !constant ? value : (qdq_value){0};
}

bool code_parameters_read(const replay *r, size_t node, const char *folder, code_parameters *out,
                          qdq_error *err) {
    *out = (code_parameters){0};
    node_document *d = document_open(r, node, folder, err);
    if (!d) return false;
    parameter_list list = parameters_of(d);
    const parameter_pair *p = &list.pairs[0];
    qdq_dtype dtype = QDQ_DTYPE_NONE;
    (void)qdq_value_type(r->form.graph, document_value(d, "x"), &dtype, NULL);
    const qdq_dtype_info *info = qdq_dtype_get(dtype);
    if (list.count && p->scale.count && info && info->kind == QDQ_KIND_INT) {
        out->known = true;
        out->per_tensor = p->scale.count == 1 && p->zero.count <= 1 && p->scale.values[0] > 0;
        out->scale = p->scale.values[0];
        out->zero = p->zero.count ? p->zero.values[0] : 0;
        out->least = (double)info->least, out->greatest = (double)info->greatest;
        out->scale_value = changing_value(d, p->scale.port);
        out->zero_value = changing_value(d, p->zero.port);
    }
    parameters_release(&list);
    document_close(d);
    return true;
}

static void renew(double *number, const replay *r, qdq_value value) {
    qdq_dtype dtype;
    if (value.id && r->used[value.id] && qdq_value_type(r->form.graph, value, &dtype, NULL))
        to_doubles(dtype, r->used[value.id], 1, number);
}

void code_parameters_renew(code_parameters *p, const replay *r) {
    renew(&p->scale, r, p->scale_value);
    renew(&p->zero, r, p->zero_value);
}

//---- All scales -------------------------------------------------------------

// Copies the parameters of each group. False if they do not fit the groups or memory runs out.
static bool take_scales(const node_document *d, const parameter_pair *p, pair_scales *out) {
    const replay *r = document_replay(d);
    qdq_shape shape;
    if (!p->scale.count || !qdq_value_type(r->form.graph, document_value(d, "x"), NULL, &shape) ||
        !grouping_of(d, shape, p->scale.count, &out->groups) ||
        (p->zero.count > 1 && p->zero.count != p->scale.count))
        return false;
    size_t groups = out->groups.count;
    out->allocator = r->exec_options.allocator;
    out->scales = elements_take_numbers(out->allocator, groups);
    out->zeros = elements_take_numbers(out->allocator, groups);
    if (!out->scales || !out->zeros) return false;
    bool positive = true;
    for (size_t g = 0; g < groups; g++) {
        out->scales[g] = p->scale.values[g];
        out->zeros[g] = p->zero.count ? p->zero.values[p->zero.count > 1 ? g : 0] : 0;
        positive = positive && out->scales[g] > 0;
    }
    return positive;
}

bool pair_scales_read(const replay *r, size_t node, const char *folder, pair_scales *out,
                      qdq_error *err) {
    *out = (pair_scales){0};
    node_document *d = document_open(r, node, folder, err);
    if (!d) return false;
    parameter_list list = parameters_of(d);
    bool known = list.count && take_scales(d, &list.pairs[0], out);
    parameters_release(&list);
    document_close(d);
    return known;
}

void pair_scales_release(pair_scales *s) {
    elements_free(s->scales), elements_free(s->zeros);
    *s = (pair_scales){0};
}

//---- Codes ------------------------------------------------------------------

bool code_numbers(const reference *ref, size_t node, const code_parameters *p,
                  quantized_numbers *q) {
    const replay *r = ref->quantized;
    const node_value *y = &r->nodes[node].run.outputs[0];
    qdq_value value = qdq_graph_node_input(r->form.graph, node, 0);
    qdq_dtype dtype;
    *q = (quantized_numbers){.per_tensor = p->per_tensor,
                             .scale = p->scale,
                             .zero = p->zero,
                             .least = p->least,
                             .greatest = p->greatest};
    if (!p->known || !qdq_value_type(r->form.graph, value, &dtype, &q->shape)) return false;
    const void *data = qdq_value_is_constant(r->form.graph, value)
                           ? qdq_value_data(r->form.graph, value)
                           : reference_of(ref, value);
    node_value as_codes = {.value = value, .info = {.dtype = dtype, .shape = q->shape}};
    q->count = qdq_shape_count(q->shape);
    q->x = numbers_of(r, y, reference_of(ref, y->value));
    q->codes = numbers_of(r, &as_codes, data);
    return q->x && q->codes;
}

code_count count_codes(const quantized_numbers *q) {
    code_count count = {.low = q->greatest, .high = q->least};
    for (size_t i = 0; i < q->count; i++) {
        double code = q->codes[i];
        count.low = fmin(count.low, code), count.high = fmax(count.high, code);
        if (!q->per_tensor || (code > q->least && code < q->greatest)) continue;
        double wanted = q->x[i] / q->scale + q->zero;
        count.clipped += wanted > q->greatest + 0.5 || wanted < q->least - 0.5;
    }
    return count;
}
