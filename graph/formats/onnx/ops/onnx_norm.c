// SPDX-License-Identifier: Apache-2.0
// Converts ONNX's normalizations.
#include "graph/formats/onnx/ops/onnx_ops.h"
#include "runtime/numerics/dtype.h"

// Connects scale or shift i, of shape `shape`, to `port`: float32 or bfloat16, as the library's ops
// take it.
static void set_affine(qdq_onnx_call *call, const char *port, size_t i, const qdq_shape *shape) {
    qdq_onnx_node *node = call->node;
    qdq_onnx_value *value = qdq_onnx_input(node, i);
    if (!value) return;
    if (shape && !qdq_shape_equal(value->shape, *shape)) {
        // A constant that is broadcast is written out.
        qdq_findings *f = &node->im->graph->findings;
        if (qdq_onnx_count(value->shape) != 1 || !qdq_onnx_known(node->im, value)) {
            qdq_onnx_refuse(node, port, qdq_text(f, "is %s", qdq_shape_text(f, value->shape)),
                            qdq_shape_text(f, *shape));
            return;
        }
        size_t count = qdq_onnx_count(*shape);
        qdq_onnx_value *wide = qdq_onnx_new_value(node->im, value->name);
        double *reals = qdq_mempool_array(node->im->mempool, count, sizeof *reals);
        if (!wide || !reals) return;
        for (size_t k = 0; k < count; k++) reals[k] = qdq_onnx_real_at(value, 0);
        *wide = (qdq_onnx_value){
            .name = value->name, .elem = ONNX_FLOAT, .shape = *shape, .reals = reals};
        qdq_onnx_port(call, port, wide);
        return;
    }
    qdq_onnx_port_float32(call, port, value);
}

static void check_stash(qdq_onnx_node *node) {
    int64_t type = qdq_onnx_int(node, "stash_type", 1);
    if (type != 1)
        qdq_onnx_refuse(node, "stash_type", ONNX_TEXT(node, "is %lld", (long long)type),
                        "1, which is float32");
}

// Finds the dims from `axis` on.
static bool last_dims(qdq_onnx_node *node, qdq_shape *out) {
    qdq_shape x = node->inputs[0]->shape;
    int axis;
    if (!qdq_onnx_axis(node, qdq_onnx_int(node, "axis", -1), x.rank, &axis)) return false;
    *out = (qdq_shape){0};
    for (int i = axis; i < x.rank; i++) out->dims[out->rank++] = x.dims[i];
    return true;
}

// Connects a shift that changes no number: -0, because a sum with +0 loses the sign of a zero.
static void set_zeros(qdq_onnx_call *call, const char *port, qdq_shape shape) {
    qdq_onnx_node *node = call->node;
    size_t count = qdq_onnx_count(shape);
    qdq_onnx_value *zeros = qdq_onnx_new_value(node->im, node->name);
    double *reals = qdq_mempool_array(node->im->mempool, count, sizeof *reals);
    if (!zeros || !reals) return;
    for (size_t i = 0; i < count; i++) reals[i] = -0.0;
    *zeros = (qdq_onnx_value){.name = ONNX_TEXT(node, "%s/%s", node->name, port),
                              .elem = ONNX_FLOAT,
                              .shape = shape,
                              .reals = reals};
    qdq_onnx_port(call, port, zeros);
}

void qdq_onnx_layer_norm(qdq_onnx_node *node, const qdq_onnx_op *row) {
    qdq_shape shape;
    qdq_onnx_call call;
    check_stash(node);
    if (!last_dims(node, &shape)) return;
    qdq_onnx_begin(&call, node, row->ours, NULL);
    qdq_onnx_port(&call, "x", node->inputs[0]);
    set_affine(&call, "gamma", 1, &shape);
    if (qdq_onnx_input(node, 2))
        set_affine(&call, "beta", 2, &shape);
    else
        set_zeros(&call, "beta", shape);
    qdq_onnx_set_int(&call, "begin_norm_axis", qdq_onnx_int(node, "axis", -1));
    qdq_onnx_set_real(&call, "epsilon", qdq_onnx_float(node, "epsilon", 1e-5));
    qdq_onnx_set_bool(&call, "keep_stats", false);
    qdq_onnx_finish(&call);
}

void qdq_onnx_rms_norm(qdq_onnx_node *node, const qdq_onnx_op *row) {
    qdq_shape shape;
    qdq_onnx_call call;
    check_stash(node);
    if (!last_dims(node, &shape)) return;
    qdq_onnx_begin(&call, node, row->ours, NULL);
    qdq_onnx_port(&call, "x", node->inputs[0]);
    set_affine(&call, "gamma", 1, &shape);
    qdq_onnx_set_int(&call, "begin_norm_axis", qdq_onnx_int(node, "axis", -1));
    qdq_onnx_set_real(&call, "epsilon", qdq_onnx_float(node, "epsilon", 1e-5));
    qdq_onnx_finish(&call);
}

void qdq_onnx_group_norm(qdq_onnx_node *node, const qdq_onnx_op *row) {
    qdq_onnx_call call;
    check_stash(node);
    qdq_onnx_begin(&call, node, row->ours, NULL);
    qdq_onnx_port(&call, "x", node->inputs[0]);
    set_affine(&call, "gamma", 1, NULL);
    set_affine(&call, "beta", 2, NULL);
    qdq_onnx_set_int(&call, "groups", qdq_onnx_int(node, "num_groups", 0));
    qdq_onnx_set_real(&call, "epsilon", qdq_onnx_float(node, "epsilon", 1e-5));
    qdq_onnx_set_bool(&call, "keep_stats", false);
    qdq_onnx_set_word(&call, "data_format", "NCX");
    qdq_onnx_finish(&call);
}

void qdq_onnx_batch_norm(qdq_onnx_node *node, const qdq_onnx_op *row) {
    static const char *const ports[] = {"x", "gamma", "beta", "mean", "variance"};
    qdq_onnx_call call;
    if (qdq_onnx_int(node, "training_mode", 0)) {
        qdq_onnx_refuse(node, "training_mode", "is 1", "0");
        return;
    }
    if (!qdq_onnx_int(node, "spatial", 1)) {
        qdq_onnx_refuse(node, "spatial", "is 0", "1");
        return;
    }
    qdq_onnx_begin(&call, node, row->ours, NULL);
    qdq_onnx_port(&call, "x", node->inputs[0]);
    for (size_t i = 1; i < 5; i++) set_affine(&call, ports[i], i, NULL);
    qdq_onnx_set_real(&call, "epsilon", qdq_onnx_float(node, "epsilon", 1e-5));
    qdq_onnx_set_word(&call, "data_format", "NCX");
    qdq_onnx_finish(&call);
}
