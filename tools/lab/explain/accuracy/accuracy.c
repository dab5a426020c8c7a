// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/explain/accuracy/accuracy.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/common.h"
#include "tools/elements.h"
#include "tools/failure.h"
#include "tools/io/tensor_io.h"
#include "tools/lab/compare/noise.h"
#include "tools/lab/explain/accuracy/accuracy_curve.h"
#include "tools/lab/explain/accuracy/code_parameters.h"
#include "tools/lab/explain/accuracy/decisions.h"
#include "tools/lab/explain/accuracy/pair_causes.h"

double decibels(const double *a, const double *b, size_t count) {
    noise_sum sum = {0};
    noise_sum_add(&sum, a, b, count);
    return noise_sum_decibels(&sum);
}

double *numbers_of(const replay *r, const node_value *v, const void *data) {
    size_t count = qdq_shape_count(v->info.shape);
    double *out = data ? elements_take_numbers(r->exec_options.allocator, count) : NULL;
    if (out) to_doubles(v->info.dtype, data, count, out);
    return out;
}

//---- Errors -----------------------------------------------------------------

static bool measure_node(const reference *ref, node_accuracy *out) {
    const replay *r = ref->quantized;
    const node_value *v = &r->nodes[out->node].run.outputs[0];
    size_t count = qdq_shape_count(v->info.shape);
    double *truth = numbers_of(r, v, reference_of(ref, v->value));
    double *exact = numbers_of(r, v, ref->exact[v->value.id]);
    double *computed = numbers_of(r, v, r->computed[v->value.id]);
    bool done = truth && exact && computed;
    if (done) {
        limits_apply_to_doubles(&ref->limits[v->value.id], computed, count);
        out->own = decibels(truth, exact, count);
        out->inherited = decibels(exact, computed, count);
        out->total = decibels(truth, computed, count);
        out->elements = count;
    }
    elements_free(truth), elements_free(exact), elements_free(computed);
    return done;
}

//---- All nodes --------------------------------------------------------------

// Inserts row i in a list of at most `most` rows, in ascending order of `ratio`. Returns the count.
static size_t insert(const accuracy *a, double (*ratio)(const node_accuracy *), size_t i,
                     size_t *list, size_t count, size_t most) {
    size_t at = count;
    while (at > 0 && ratio(&a->nodes[list[at - 1]]) > ratio(&a->nodes[i])) at--;
    if (at >= most) return count;
    if (count < most) count++;
    memmove(list + at + 1, list + at, (count - at - 1) * sizeof *list);
    list[at] = i;
    return count;
}

static double own_of(const node_accuracy *n) { return n->own; }
static double effect_of(const node_accuracy *n) { return n->effect; }

size_t accuracy_worst(const accuracy *a, accuracy_kind kind, size_t *out, size_t most) {
    size_t count = 0;
    for (size_t i = 0; i < a->count; i++)
        if (a->nodes[i].kind == kind && a->nodes[i].own < INFINITY)
            count = insert(a, own_of, i, out, count, most);
    return count;
}

size_t accuracy_by_effect(const accuracy *a, size_t *out, size_t most) {
    size_t count = 0;
    for (size_t i = 0; i < a->count; i++)
        if (a->nodes[i].effect < INFINITY) count = insert(a, effect_of, i, out, count, most);
    return count;
}

double codes_unused(double codes, double used) {
    enum { MOST_CODES = 1 << 16 };
    return codes > MOST_CODES ? NAN : codes - used;
}

// Counts the codes of a Dequantize.
static int count_codes_of(const reference *ref, const char *folder, node_accuracy *n) {
    qdq_error err = {0};
    code_parameters p;
    quantized_numbers q;
    if (n->kind == KIND_OPERATION) return EXIT_OK;
    if (!code_parameters_read(ref->quantized, n->node, folder, &p, &err)) return report_error(&err);
    if (code_numbers(ref, n->node, &p, &q)) {
        code_count count = count_codes(&q);
        n->has_codes = true;
        n->clipped = count.clipped;
        n->codes = q.greatest - q.least + 1;
        n->unused = codes_unused(n->codes, count.high - count.low + 1);
    }
    elements_free(q.x), elements_free(q.codes);
    return EXIT_OK;
}

static int measure_row(const reference *ref, const char *folder, node_accuracy *n) {
    if (!measure_node(ref, n))
        return tell_failure(QDQ_ERR_MEMORY, "no memory to measure node '%s'", n->name);
    return count_codes_of(ref, folder, n);
}

// Measures rows. Most groups have codes as results, which have no errors.
static int measure_rows(const accuracy_forms *forms, const char *folder, accuracy *out) {
    size_t count = accuracy_rows(forms, out->nodes);
    int code = EXIT_OK;
    for (size_t i = 0; code == EXIT_OK && i < count; i++) {
        node_accuracy n = out->nodes[i];
        if (n.unmatched)
            out->unmatched++;
        else if (n.kind != KIND_GROUP)
            code = measure_row(row_reference(forms, &n), folder, &n);
        if (!n.unmatched) out->nodes[out->count++] = n;
    }
    return code;
}

// Finds causes of the `worst` nodes that are no pairs, and of twice as many pairs and groups.
static int find_all_causes(effect_meter *meter, size_t worst, const char *folder, accuracy *out) {
    size_t *list = calloc(2 * worst + 1, sizeof *list);
    if (!list) return tell_failure(QDQ_ERR_MEMORY, "no memory to list the worst nodes");
    int code = causes_find(meter, folder, list, accuracy_by_effect(out, list, 2 * worst), out);
    if (code == EXIT_OK)
        code =
            causes_find(meter, folder, list, accuracy_worst(out, KIND_OPERATION, list, worst), out);
    free(list);
    return code;
}

//---- Outputs ----------------------------------------------------------------

static const void *data_of(const replay *r, qdq_value value) {
    if (value.id >= r->form.value_count || !value.id) return NULL;
    return r->computed[value.id] ? r->computed[value.id] : r->used[value.id];
}

bool find_output(const accuracy_graphs *graphs, const reference *ref, size_t index,
                 output_data *out) {
    const session *s = graphs->quantized;
    const qdq_graph *real = graphs->real->graph;
    const qdq_tensor_info *info = qdq_plan_output(s->plan, index);
    const char *name = qdq_output_original(s->graph, info->name);
    qdq_value given = qdq_output_value(s->graph, info->name), a = {0};
    if (given.id < ref->quantized->given->ids) a = ref->quantized->form.own[given.id];
    qdq_value b = qdq_output_value(real, qdq_output_name_of(real, name));
    qdq_shape shape;
    *out = (output_data){.quantized = data_of(ref->quantized, a), .real = data_of(ref->real, b)};
    if (!out->quantized || !out->real || !qdq_value_type(real, b, &out->dtypes[1], &shape) ||
        !qdq_shape_equal(shape, info->shape))
        return false;
    out->value = a;
    out->shape = shape;
    out->dtypes[0] = info->dtype;
    out->count = qdq_shape_count(shape);
    return true;
}

static int measure_outputs(const reference *ref, const accuracy_graphs *graphs, accuracy *out) {
    const session *s = graphs->quantized;
    out->output_count = qdq_plan_output_count(s->plan);
    out->outputs = calloc(out->output_count + 1, sizeof *out->outputs);
    if (!out->outputs) return tell_failure(QDQ_ERR_MEMORY, "no memory to measure outputs");
    for (size_t i = 0; i < out->output_count; i++) {
        output_accuracy *one = &out->outputs[i];
        output_data data;
        one->name = qdq_output_original(s->graph, qdq_plan_output(s->plan, i)->name);
        if (!find_output(graphs, ref, i, &data)) continue;
        double *p = elements_take_numbers(s->exec_options.allocator, 2 * data.count);
        if (!p) return tell_failure(QDQ_ERR_MEMORY, "no memory to measure '%s'", one->name);
        to_doubles(data.dtypes[1], data.real, data.count, p);
        to_doubles(data.dtypes[0], data.quantized, data.count, p + data.count);
        one->ratio = decibels(p, p + data.count, data.count);
        one->median = decisions_median(p, p + data.count, data.shape);
        one->alike = decisions_alike(p, p + data.count, data.shape);
        one->known = true;
        elements_free(p);
    }
    return EXIT_OK;
}

//---- Entry ------------------------------------------------------------------

static int measure(const accuracy_forms *forms, const accuracy_graphs *graphs, size_t worst,
                   const char *folder, accuracy *out) {
    qdq_error err = {0};
    int code = measure_rows(forms, folder, out);
    if (code == EXIT_OK) code = measure_outputs(forms->deployed, graphs, out);
    if (code != EXIT_OK) return code;
    effect_meter meter;
    if (effect_meter_open(&meter, forms, graphs, &err) != QDQ_OK ||
        effects_measure(&meter, out, &err) != QDQ_OK ||
        accuracy_curve_measure(&meter, out, &err) != QDQ_OK)
        code = report_error(&err);
    if (code == EXIT_OK) code = find_all_causes(&meter, worst, folder, out);
    effect_meter_close(&meter);
    return code;
}

int accuracy_measure(const accuracy_forms *forms, const accuracy_graphs *graphs, size_t worst,
                     accuracy *out) {
    char folder[4096];
    size_t most = forms->written->quantized->node_count + forms->deployed->quantized->node_count;
    *out = (accuracy){.nodes = calloc(most + 1, sizeof *out->nodes),
                      .together = NAN,
                      .summed = NAN,
                      .together_without = NAN};
    if (!out->nodes) return tell_failure(QDQ_ERR_MEMORY, "no memory to measure nodes");
    int code = make_folder(folder, sizeof folder);
    if (code != EXIT_OK) return code;
    code = measure(forms, graphs, worst, folder, out);
    (void)rmdir(folder);
    return code;
}

void accuracy_release(accuracy *a) {
    for (size_t i = 0; i < a->count; i++) channel_ranges_release(&a->nodes[i].channels);
    free(a->nodes);
    free(a->outputs);
    *a = (accuracy){0};
}
