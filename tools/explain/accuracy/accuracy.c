// SPDX-License-Identifier: Apache-2.0
#include "tools/explain/accuracy/accuracy.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/common.h"
#include "tools/explain/accuracy/mends.h"
#include "tools/explain/parameters.h"
#include "tools/failure.h"
#include "tools/io/tensor_io.h"

double decibels(const double *a, const double *b, size_t count) {
    double signal = 0, noise = 0;
    for (size_t i = 0; i < count; i++) {
        double error = a[i] - b[i];
        if (!isfinite(error)) continue;
        signal += a[i] * a[i], noise += error * error;
    }
    return noise > 0 ? 10 * log10(signal / noise) : INFINITY;
}

static double *numbers(const node_value *v, const void *data) {
    size_t count = qdq_shape_count(v->info.shape);
    double *out = data ? malloc((count + 1) * sizeof *out) : NULL;
    if (out) to_doubles(v->info.dtype, data, count, out);
    return out;
}

//---- Errors -----------------------------------------------------------------

static accuracy_kind kind_of(const replay *r, size_t node) {
    if (!is_op(r, node, "Dequantize")) return KIND_OPERATION;
    qdq_value x = qdq_graph_node_input(r->form.graph, node, 0);
    size_t maker = quantize_of(r, node);
    if (maker != SIZE_MAX) x = qdq_graph_node_input(r->form.graph, maker, 0);
    return qdq_value_is_constant(r->form.graph, x) ? KIND_WEIGHTS : KIND_ACTIVATIONS;
}

// False if the node makes no float, or nothing is known about it.
static bool measure_node(const reference *ref, size_t node, node_accuracy *out) {
    const replay *r = ref->quantized;
    const node_value *v = &r->nodes[node].run.outputs[0];
    uint32_t id = v->value.id;
    *out = (node_accuracy){.node = node, .kind = kind_of(r, node), .mended = NAN};
    if (!r->nodes[node].run.output_count || !qdq_dtype_is_real(v->info.dtype)) return false;
    size_t count = qdq_shape_count(v->info.shape);
    double *truth = numbers(v, reference_of(ref, v->value)), *exact = numbers(v, ref->exact[id]);
    double *computed = numbers(v, r->computed[id]);
    if (truth && exact && computed) {
        out->own = decibels(truth, exact, count);
        out->inherited = decibels(exact, computed, count);
        out->total = decibels(truth, computed, count);
        out->elements = count;
    }
    bool done = truth && exact && computed;
    free(truth), free(exact), free(computed);
    return done;
}

//---- Codes ------------------------------------------------------------------

static void count_codes(const quantized_numbers *q, node_accuracy *out) {
    double low = q->greatest, high = q->least;
    for (size_t i = 0; i < q->count; i++) {
        double code = q->codes[i];
        low = fmin(low, code), high = fmax(high, code);
        if (!q->per_tensor || (code > q->least && code < q->greatest)) continue;
        double wanted = q->x[i] / q->scale + q->zero;
        out->clipped += wanted > q->greatest + 0.5 || wanted < q->least - 0.5;
    }
    out->has_codes = true;
    out->codes = q->greatest - q->least + 1;
    out->unused = out->codes - (high - low + 1);
}

// Fills in what a Dequantize reads; the arrays are owned by the caller.
static bool read_codes(const reference *ref, const node_document *d, quantized_numbers *q,
                       double **x, double **codes) {
    const replay *r = ref->quantized;
    const node_value *y = &r->nodes[document_node(d)].run.outputs[0];
    qdq_value value = document_value(d, "x");
    qdq_dtype dtype;
    if (!qdq_value_type(r->form.graph, value, &dtype, &q->shape)) return false;
    const qdq_dtype_info *info = qdq_dtype_get(dtype);
    const void *data = qdq_value_is_constant(r->form.graph, value)
                           ? qdq_value_data(r->form.graph, value)
                           : reference_of(ref, value);
    node_value as_codes = {.value = value, .info = {.dtype = dtype, .shape = q->shape}};
    q->count = qdq_shape_count(q->shape);
    *x = numbers(y, reference_of(ref, y->value)), *codes = numbers(&as_codes, data);
    q->x = *x, q->codes = *codes;
    q->least = (double)info->least, q->greatest = (double)info->greatest;
    return *x && *codes && info->kind == QDQ_KIND_INT;
}

static bool reads_dequantized(const replay *r, size_t node) {
    size_t quantize = quantize_of(r, node);
    if (quantize == SIZE_MAX) return false;
    qdq_value x = qdq_graph_node_input(r->form.graph, quantize, 0);
    return is_op(r, r->form.makers[x.id], "Dequantize");
}

static void look_at_codes(const reference *ref, const node_document *d, bool mend,
                          node_accuracy *out) {
    parameter_list list = parameters_of(d);
    const parameter_pair *p = &list.pairs[0];
    double *x = NULL, *codes = NULL;
    quantized_numbers q = {0};
    if (list.count && p->scale.count && read_codes(ref, d, &q, &x, &codes)) {
        q.per_tensor = p->scale.count == 1 && p->zero.count <= 1 && p->scale.values[0] > 0;
        q.scale = p->scale.values[0];
        q.zero = p->zero.count ? p->zero.values[0] : 0;
        q.weights = out->kind == KIND_WEIGHTS;
        q.twice = reads_dequantized(ref->quantized, document_node(d));
        if (mend)
            find_mend(&q, out);
        else
            count_codes(&q, out);
    }
    free(x), free(codes);
    parameters_release(&list);
}

//---- All nodes --------------------------------------------------------------

static bool is_better(const node_accuracy *a, const node_accuracy *b) { return a->own > b->own; }

size_t accuracy_worst(const accuracy *a, accuracy_kind kind, size_t *out, size_t most) {
    size_t count = 0;
    for (size_t i = 0; i < a->count; i++) {
        if (a->nodes[i].kind != kind || a->nodes[i].own == INFINITY) continue;
        size_t at = count;
        while (at > 0 && is_better(&a->nodes[out[at - 1]], &a->nodes[i])) at--;
        if (at >= most) continue;
        if (count < most) count++;
        memmove(out + at + 1, out + at, (count - at - 1) * sizeof *out);
        out[at] = i;
    }
    return count;
}

static bool is_weight_without_truth(const reference *ref, const node_accuracy *n) {
    qdq_value y = ref->quantized->nodes[n->node].run.outputs[0].value;
    return n->kind == KIND_WEIGHTS && !ref->truth[y.id];
}

// Opens the document of a Dequantize and counts its codes, or looks for a mend.
static int look_at(const reference *ref, const char *folder, bool mend, node_accuracy *n) {
    qdq_error err = {0};
    if (n->kind == KIND_OPERATION) {
        if (mend) snprintf(n->cause, sizeof n->cause, "numerics");
        if (mend) snprintf(n->mend, sizeof n->mend, "none: the target computes the op so");
        return EXIT_OK;
    }
    node_document *d = document_open(ref->quantized, n->node, folder, &err);
    if (!d) return report_error(&err);
    look_at_codes(ref, d, mend, n);
    document_close(d);
    return EXIT_OK;
}

static int measure_all(const reference *ref, size_t worst, const char *folder, accuracy *out) {
    int code = EXIT_OK;
    for (size_t n = 0; code == EXIT_OK && n < ref->quantized->node_count; n++) {
        node_accuracy *one = &out->nodes[out->count];
        if (!measure_node(ref, n, one)) continue;
        if (is_weight_without_truth(ref, one)) {
            out->unmatched++;
            continue;
        }
        code = look_at(ref, folder, false, one);
        out->count++;
    }
    size_t *list = calloc(worst + 1, sizeof *list);
    if (!list) return tell_failure(QDQ_ERR_MEMORY, "no memory to list the worst nodes");
    for (int kind = KIND_ACTIVATIONS; code == EXIT_OK && kind <= KIND_OPERATION; kind++) {
        size_t count = accuracy_worst(out, (accuracy_kind)kind, list, worst);
        for (size_t i = 0; code == EXIT_OK && i < count; i++)
            code = look_at(ref, folder, true, &out->nodes[list[i]]);
    }
    free(list);
    return code;
}

int accuracy_measure(const reference *ref, size_t worst, accuracy *out) {
    char folder[4096];
    const char *base = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/qdq-XXXXXX", base && *base ? base : "/tmp");
    *out = (accuracy){.nodes = calloc(ref->quantized->node_count + 1, sizeof *out->nodes)};
    if (!out->nodes) return tell_failure(QDQ_ERR_MEMORY, "no memory to measure nodes");
    if (!mkdtemp(folder))
        return tell_failure(QDQ_ERR_IO, "%s: no folder can be made there", folder);
    int code = measure_all(ref, worst, folder, out);
    (void)rmdir(folder);
    return code;
}

void accuracy_release(accuracy *a) {
    free(a->nodes);
    *a = (accuracy){0};
}
