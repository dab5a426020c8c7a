// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/explain/variant.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/elements.h"

static qdq_status no_memory(qdq_error *err) {
    err->status = QDQ_ERR_MEMORY;
    snprintf(err->text, sizeof err->text, "no memory to compute a node");
    return err->status;
}

//---- Rounding ---------------------------------------------------------------

// Rounds a float32 half to even to its `kept` upper bits.
static uint32_t keep_bits(uint32_t bits, int kept) {
    uint32_t unit = UINT32_C(1) << (32 - kept);
    if ((bits & 0x7F800000) == 0x7F800000) return bits;
    return (bits + (unit / 2 - 1) + (bits >> (32 - kept) & 1)) & ~(unit - 1);
}

static float round_to_float16(float x) {
    int exponent;
    if (!isfinite(x) || x == 0) return x;
    (void)frexpf(x, &exponent);
    int digits = exponent < -13 ? 11 - (-13 - exponent) : 11;
    double unit = ldexp(1, exponent - digits), rounded = nearbyint((double)x / unit) * unit;
    return fabs(rounded) >= 65520 ? copysignf(INFINITY, x) : copysignf((float)rounded, x);
}

static float round_one(variant_rounding how, float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    switch (how) {
    case ROUND_BFLOAT16: bits = keep_bits(bits, 16); break;
    case ROUND_BFLOAT16_TRUNCATE: bits &= UINT32_C(0xFFFF0000); break;
    case ROUND_TF32: bits = keep_bits(bits, 19); break;
    case ROUND_FLUSH: bits = (bits & 0x7F800000) ? bits : bits & UINT32_C(0x80000000); break;
    case ROUND_FLOAT16: return round_to_float16(x);
    }
    memcpy(&x, &bits, sizeof x);
    return x;
}

void variant_round(variant_rounding how, float *data, size_t n) {
    for (size_t i = 0; i < n; i++) data[i] = round_one(how, data[i]);
}

static void round_values(const variant *v, const node_value *values, size_t count,
                         void *const *data) {
    for (size_t i = 0; i < count; i++)
        if (values[i].info.dtype == QDQ_FLOAT32)
            variant_round(v->rounding, data[i], qdq_shape_count(values[i].info.shape));
}

static qdq_status run_rounded(const replay *r, size_t node, const variant *v, void *const *outputs,
                              qdq_error *err) {
    const replay_node *n = &r->nodes[node];
    size_t count = n->run.input_count;
    void **inputs = calloc(count + 1, sizeof *inputs);
    bool ready = inputs != NULL;
    for (size_t i = 0; ready && i < count; i++) {
        inputs[i] = elements_take(r->exec_options.allocator, n->run.inputs[i].info.bytes);
        ready = inputs[i] != NULL;
        if (ready)
            memcpy(inputs[i], replay_read(r, n->run.inputs[i].value), n->run.inputs[i].info.bytes);
    }
    if (ready && v->rounds_inputs) round_values(v, n->run.inputs, count, inputs);
    qdq_status status = ready ? replay_compute(r, node, inputs, outputs, err) : no_memory(err);
    if (status == QDQ_OK && v->rounds_outputs)
        round_values(v, n->run.outputs, n->run.output_count, outputs);
    for (size_t i = 0; inputs && i < count; i++) elements_free(inputs[i]);
    free(inputs);
    return status;
}

//---- Numerics and documents -------------------------------------------------

static qdq_status run_numerics(const replay *r, size_t node, const variant *v, void *const *outputs,
                               qdq_error *err) {
    const node_run *run = &r->nodes[node].run;
    node_program program;
    void **inputs = calloc(run->input_count + 1, sizeof *inputs);
    if (!inputs) return no_memory(err);
    for (size_t i = 0; i < run->input_count; i++) inputs[i] = replay_read(r, run->inputs[i].value);
    if (node_compile(&program, run->graph, &v->numerics, &r->exec_options, r->isa, err) == QDQ_OK)
        (void)node_program_run(&program, inputs, outputs, err);
    node_program_close(&program);
    free(inputs);
    return err->status;
}

static const void *data_called(const replay *r, const variant *v, const char *name) {
    for (size_t i = 0; i < v->input_count; i++) {
        const document_input *input = &v->inputs[i];
        if (strcmp(input->name, name) != 0) continue;
        return input->value.id ? replay_read(r, input->value) : input->data;
    }
    return NULL;
}

// True if the outputs have the types of the node's outputs; otherwise the variant is not legal.
static bool same_outputs(const qdq_plan *plan, const node_run *run) {
    if (qdq_plan_output_count(plan) != run->output_count) return false;
    for (size_t i = 0; i < run->output_count; i++) {
        const qdq_tensor_info *a = qdq_plan_output(plan, i), *b = &run->outputs[i].info;
        if (a->dtype != b->dtype || !qdq_shape_equal(a->shape, b->shape)) return false;
    }
    return true;
}

// Binds the inputs of a document. False if one is not known.
static bool bind_inputs(const replay *r, const variant *v, const qdq_plan *plan, void **inputs) {
    size_t count = qdq_plan_input_count(plan);
    bool known = count <= v->input_count;
    for (size_t i = 0; known && i < count; i++) {
        // The run only reads it.
        inputs[i] = (void *)(uintptr_t)data_called(r, v, qdq_plan_input(plan, i)->name);
        known = inputs[i] != NULL;
    }
    return known;
}

// Runs a document whose only output becomes the node's by `finish`.
static qdq_status run_to_finish(const node_run *run, const variant *v, const node_program *program,
                                void *const *inputs, void *const *outputs, qdq_error *err) {
    const qdq_tensor_info *from = qdq_plan_output(program->plan, 0);
    if (qdq_plan_output_count(program->plan) != 1 || run->output_count != 1 ||
        qdq_shape_count(from->shape) != qdq_shape_count(run->outputs[0].info.shape)) {
        err->status = QDQ_ERR_GRAPH;
        return err->status;
    }
    void *made = elements_take(run->exec_options.allocator, from->bytes);
    if (!made) return no_memory(err);
    if (node_program_run(program, inputs, &made, err) == QDQ_OK &&
        !v->finish.run(v->finish.with, from, made, outputs[0]))
        err->status = QDQ_ERR_GRAPH;
    elements_free(made);
    return err->status;
}

static qdq_status run_document(const replay *r, size_t node, const variant *v, void *const *outputs,
                               qdq_error *err) {
    const node_run *run = &r->nodes[node].run;
    node_program program = {0};
    qdq_graph_options graph_options = {.allocator = r->exec_options.allocator, .target = "core"};
    qdq_graph *graph =
        qdq_graph_parse(v->document, strlen(v->document), "node", NULL, &graph_options, err);
    void **inputs = calloc(v->input_count + 1, sizeof *inputs);
    if (graph && inputs)
        (void)node_compile(&program, graph, &v->numerics, &r->exec_options, r->isa, err);
    bool fits = program.exec && inputs && bind_inputs(r, v, program.plan, inputs);
    if (fits && v->finish.run)
        (void)run_to_finish(run, v, &program, inputs, outputs, err);
    else if (fits && same_outputs(program.plan, run))
        (void)node_program_run(&program, inputs, outputs, err);
    else if (err->status == QDQ_OK)
        err->status = QDQ_ERR_GRAPH;
    node_program_close(&program);
    qdq_graph_destroy(graph);
    free(inputs);
    return err->status;
}

qdq_status variant_run(const replay *r, size_t node, const variant *v, void *const *outputs,
                       qdq_error *err) {
    switch (v->kind) {
    case VARIANT_NUMERICS: return run_numerics(r, node, v, outputs, err);
    case VARIANT_ROUNDING: return run_rounded(r, node, v, outputs, err);
    case VARIANT_DOCUMENT: return run_document(r, node, v, outputs, err);
    }
    return QDQ_ERR_ARGUMENT;
}
