// SPDX-License-Identifier: Apache-2.0
// Runs a node on a device: its programs in their order, and the intermediates between them.
//
// Quantize, Dequantize and Requantize follow tt-metal's quantization.cpp: fused where zero points
// are numbers, composite where they are tensors. An intermediate is freed where its handle dies
// there: at the end of the expression or of the function.
#include <string.h>

#include "graph/device/device_run.h"
#include "graph/targets/checks.h"
#include "graph/targets/ttnn/ttnn_checks.h"
#include "ops/elementwise/elementwise_ops.h"
#include "ops/quantize/requantize_fixed.h"
#include "runtime/tenstorrent/block_float.h"

// A scale or a zero point.
typedef struct param {
    bool scalar;
    size_t buffer;  // of a tensor
} param;

// The result of the last program of a path.
typedef struct result {
    uint32_t value;       // of the graph; 0: an intermediate
    const char *program;  // that an intermediate is named after
    qdq_dtype dtype;
} result;

// Handles that die together.
typedef struct scope {
    size_t handles[16];
    size_t count;
} scope;

static size_t hold(scope *s, size_t buffer) {
    if (s->count < sizeof s->handles / sizeof s->handles[0]) s->handles[s->count++] = buffer;
    return buffer;
}

static void leave(qdq_device_run *run, scope *s) {
    while (s->count) qdq_run_free(run, s->handles[--s->count]);
}

static qdq_dtype dtype_of(const qdq_device_run *run, size_t buffer) {
    return buffer == SIZE_MAX ? QDQ_DTYPE_NONE : run->buffers[buffer].tensor.dtype;
}

static qdq_shape shape_of(const qdq_device_run *run, size_t buffer) {
    return buffer == SIZE_MAX ? (qdq_shape){0} : run->buffers[buffer].tensor.shape;
}

//---- Programs ---------------------------------------------------------------

static size_t unary(qdq_device_run *run, const char *program, size_t a, result out) {
    qdq_run_begin(run, program);
    size_t y =
        out.value ? qdq_run_allocate_value(run, out.value, QDQ_ROLE_RESULT)
                  : qdq_run_allocate_intermediate(run, out.program, out.dtype, shape_of(run, a), a);
    qdq_run_launch(run, QDQ_PROGRAM_UNARY, a, SIZE_MAX, QDQ_DTYPE_NONE, y);
    return y;
}

static size_t typecast(qdq_device_run *run, size_t a, qdq_dtype dtype) {
    return unary(run, "typecast", a, (result){.program = "typecast", .dtype = dtype});
}

// Returns the shape to which two shapes broadcast. Numbers have the shape [1].
static qdq_shape broadcast(qdq_shape a, qdq_shape b) {
    if (a.rank < b.rank) return broadcast(b, a);
    for (int i = 0; i < b.rank; i++)
        if (b.dims[i] > a.dims[a.rank - b.rank + i]) a.dims[a.rank - b.rank + i] = b.dims[i];
    return a;
}

// Runs a binary program; `b` may be a number of `scalar_dtype`.
static size_t binary(qdq_device_run *run, const char *program, size_t a, param b,
                     qdq_dtype scalar_dtype, result out) {
    size_t other = b.scalar ? SIZE_MAX : b.buffer;
    qdq_run_begin(run, program);
    size_t y =
        out.value
            ? qdq_run_allocate_value(run, out.value, QDQ_ROLE_RESULT)
            : qdq_run_allocate_intermediate(run, out.program, out.dtype,
                                            broadcast(shape_of(run, a), shape_of(run, other)), a);
    qdq_run_launch(run, QDQ_PROGRAM_BINARY, a, other, scalar_dtype, y);
    return y;
}

// Runs the device programs Quantize, Dequantize and Requantize; a number travels as float32, for
// any dtype of x.
static size_t fused(qdq_device_run *run, const char *program, size_t a, param b, result out) {
    return binary(run, program, a, b, QDQ_FLOAT32, out);
}

static size_t arithmetic(qdq_device_run *run, const char *program, size_t a, param b) {
    qdq_dtype dtype = dtype_of(run, a);
    return binary(run, program, a, b, dtype, (result){.program = program, .dtype = dtype});
}

//---- Parameters -------------------------------------------------------------

// Returns a tensor as the kernels want it: cast, and with an axis reshaped so that it broadcasts.
// The reshaped tensor has other tiles than the list, so that it is no view.
static param prepared(qdq_device_run *run, scope *s, param p, qdq_dtype dtype, int axis, size_t x) {
    if (p.scalar || run->stopped) return p;
    size_t cast = dtype_of(run, p.buffer) == dtype ? SIZE_MAX : typecast(run, p.buffer, dtype);
    if (cast != SIZE_MAX) p.buffer = cast;
    if (axis < 0 || run->stopped || shape_of(run, p.buffer).rank != 1) {
        if (cast != SIZE_MAX) hold(s, cast);
        return p;
    }
    qdq_shape shape = {.rank = shape_of(run, x).rank};
    for (int i = 0; i < shape.rank; i++) shape.dims[i] = 1;
    shape.dims[axis] = shape_of(run, p.buffer).dims[0];
    qdq_run_begin(run, "reshape");
    size_t reshaped = qdq_run_allocate_intermediate(run, "reshape", dtype, shape, p.buffer);
    qdq_run_launch(run, QDQ_PROGRAM_OTHER, p.buffer, SIZE_MAX, QDQ_DTYPE_NONE, reshaped);
    qdq_run_free(run, cast);
    return (param){.buffer = hold(s, reshaped)};
}

static const char *const list_ports[2][QDQ_NODE_LISTS] = {
    {"scale", "zero_point"}, {"in_scale", "in_zero_point", "out_scale", "out_zero_point"}};

static const char *list_port(const qdq_node *node, size_t k) {
    return list_ports[strcmp(node->op->name, "Requantize") == 0][k];
}

static param param_of(const qdq_device_run *run, const qdq_op_context *ctx, size_t k) {
    const qdq_node *node = run->node;
    const char *port = list_port(node, k);
    qdq_argument argument = qdq_ttnn_argument(ctx, port);
    if (argument.scalar) return (param){.scalar = true};
    if (!argument.from_port)
        return (param){.buffer = run->lists[run->node_index * QDQ_NODE_LISTS + k]};
    for (size_t i = 0; i < node->input_count && i < node->op->input_count; i++)
        if (strcmp(node->op->inputs[i].name, port) == 0)
            return (param){.buffer = run->buffer_of[node->inputs[i].id]};
    return (param){.scalar = true};
}

bool qdq_run_takes_number(const qdq_device_run *run, const qdq_node *node, size_t input) {
    qdq_findings silent = {.mempool = run->scratch};
    qdq_op_context ctx;
    uint32_t id = node->inputs[input].id;
    if (!id || run->graph->values[id].kind != QDQ_VALUE_CONSTANT) return false;
    qdq_graph_context(run->graph, node, &silent, &ctx);
    if (!qdq_op_context_is(&ctx, "Requantize") && !qdq_quantize_attrs_of(&ctx)) return false;
    for (size_t k = 0; k < QDQ_NODE_LISTS && list_port(node, k); k++)
        if (strcmp(qdq_op_port(node->op, input)->name, list_port(node, k)) == 0)
            return qdq_ttnn_argument(&ctx, list_port(node, k)).scalar;
    return false;
}

//---- Quantize, Dequantize, Requantize ---------------------------------------

static size_t narrowed(qdq_device_run *run, size_t shifted, result out) {
    if (out.dtype == QDQ_INT8) return fused(run, "quantize", shifted, (param){.scalar = true}, out);
    return unary(run, "typecast", shifted, out);
}

static size_t composite_quantize(qdq_device_run *run, scope *s, size_t a, param scale,
                                 param zero_point, result out) {
    scope expression = {0};
    qdq_dtype dtype = dtype_of(run, a);
    if (!scale.scalar && dtype_of(run, scale.buffer) != dtype)
        scale.buffer = hold(&expression, typecast(run, scale.buffer, dtype));
    size_t scaled = hold(s, arithmetic(run, "divide", a, scale));
    leave(run, &expression);
    size_t shifted = hold(&expression, arithmetic(run, "add", scaled, zero_point));
    size_t y = narrowed(run, shifted, out);
    leave(run, &expression);
    return y;
}

static size_t quantize(qdq_device_run *run, size_t x, param scale, param zero_point, int axis,
                       result out) {
    scope s = {0};
    size_t a = x, y;
    if (qdq_dtype_is_block_float(dtype_of(run, x))) a = hold(&s, typecast(run, x, QDQ_BFLOAT16));
    scale = prepared(run, &s, scale, QDQ_FLOAT32, axis, x);
    zero_point = prepared(run, &s, zero_point, dtype_of(run, a), axis, x);
    if (!zero_point.scalar) {
        y = composite_quantize(run, &s, a, scale, zero_point, out);
    } else if (scale.scalar) {
        y = fused(run, "quantize", a, scale, out);
    } else {
        result inverse = {.program = "reciprocal", .dtype = QDQ_FLOAT32};
        size_t r = unary(run, "reciprocal", scale.buffer, inverse);
        y = fused(run, "quantize", a, (param){.buffer = r}, out);
        qdq_run_free(run, r);
    }
    leave(run, &s);
    return y;
}

// Widens integers to float32, as the composite paths need them.
static size_t widened(qdq_device_run *run, size_t x) {
    result out = {.program = "dequantize", .dtype = QDQ_FLOAT32};
    if (dtype_of(run, x) == QDQ_INT8)
        return fused(run, "dequantize", x, (param){.scalar = true}, out);
    return typecast(run, x, QDQ_FLOAT32);
}

static size_t widened_to_int32(qdq_device_run *run, size_t x) {
    if (dtype_of(run, x) != QDQ_INT8) return typecast(run, x, QDQ_INT32);
    size_t wide = widened(run, x), y = typecast(run, wide, QDQ_INT32);
    qdq_run_free(run, wide);
    return y;
}

static size_t composite_dequantize(qdq_device_run *run, size_t x, param scale, param zero_point,
                                   result out) {
    scope expression = {0};
    size_t a = x;
    if (dtype_of(run, x) != QDQ_INT32) a = hold(&expression, widened_to_int32(run, x));
    size_t difference = hold(&expression, arithmetic(run, "subtract", a, zero_point));
    size_t shifted = typecast(run, difference, QDQ_FLOAT32);
    leave(run, &expression);
    size_t y = binary(run, "multiply", shifted, scale, QDQ_FLOAT32, out);
    qdq_run_free(run, shifted);
    return y;
}

static size_t dequantize(qdq_device_run *run, size_t x, param scale, param zero_point, int axis,
                         result out) {
    scope s = {0};
    scale = prepared(run, &s, scale, QDQ_FLOAT32, axis, x);
    zero_point = prepared(run, &s, zero_point, QDQ_INT32, axis, x);
    size_t y = zero_point.scalar ? fused(run, "dequantize", x, scale, out)
                                 : composite_dequantize(run, x, scale, zero_point, out);
    leave(run, &s);
    return y;
}

// Runs Requantize with an axis and four tensors.
static void expanded_requantize(qdq_device_run *run, size_t x, param *p, int axis, result out) {
    scope s = {0};
    int64_t channels = run->stopped ? 0 : shape_of(run, x).dims[axis];
    for (int k = 0; k < QDQ_NODE_LISTS && !run->stopped; k++) {
        bool full = qdq_shape_count(shape_of(run, p[k].buffer)) == (size_t)channels;
        p[k] = prepared(run, &s, p[k], QDQ_FLOAT32, full ? axis : -1, x);
    }
    size_t ratio = hold(&s, arithmetic(run, "divide", p[0].buffer, p[2]));
    size_t scaled = hold(&s, arithmetic(run, "multiply", p[1].buffer, (param){.buffer = ratio}));
    size_t zero = hold(&s, arithmetic(run, "subtract", p[3].buffer, (param){.buffer = scaled}));
    size_t wide = widened(run, x);
    size_t product = hold(&s, arithmetic(run, "multiply", wide, (param){.buffer = ratio}));
    qdq_run_free(run, wide);
    size_t sum = arithmetic(run, "add", product, (param){.buffer = zero});
    run->own_outputs = true;  // tt-metal gives the output_tensor to the add
    unary(run, "typecast", sum, out);
    run->own_outputs = false;
    qdq_run_free(run, sum);
    leave(run, &s);
}

static void requantize(qdq_device_run *run, const qdq_op_context *ctx, size_t x, result out) {
    param p[QDQ_NODE_LISTS];
    for (size_t k = 0; k < QDQ_NODE_LISTS; k++) p[k] = param_of(run, ctx, k);
    int axis = qdq_channel_axis(ctx);
    switch (qdq_ttnn_path(ctx)) {
    case QDQ_TTNN_FUSED: fused(run, "requantize", x, p[0], out); break;
    case QDQ_TTNN_EXPANDED: expanded_requantize(run, x, p, axis, out); break;
    case QDQ_TTNN_MIXED: {
        result inner = {.program = "dequantize", .dtype = QDQ_BFLOAT16};
        size_t real = dequantize(run, x, p[0], p[1], p[0].scalar ? -1 : axis, inner);
        quantize(run, real, p[2], p[3], p[2].scalar ? -1 : axis, out);
        qdq_run_free(run, real);
        break;
    }
    }
}

void qdq_run_node_lists(qdq_device_run *run, const qdq_node *node, size_t index) {
    bool requantizes = strcmp(node->op->name, "Requantize") == 0;
    qdq_findings silent = {.mempool = run->scratch};
    qdq_op_context ctx;
    qdq_graph_context(run->graph, node, &silent, &ctx);
    if (requantizes ? qdq_is_fixed_requantize(&ctx) : !qdq_quantize_attrs_of(&ctx)) return;
    for (size_t k = 0; k < (requantizes ? QDQ_NODE_LISTS : 2); k++) {
        qdq_argument argument = qdq_ttnn_argument(&ctx, list_port(node, k));
        if (argument.scalar || argument.from_port || !argument.given) continue;
        run->lists[index * QDQ_NODE_LISTS + k] =
            qdq_run_allocate_list(run, node, argument.name, argument.dtype, argument.shape);
    }
}

//---- Other nodes ------------------------------------------------------------

static qdq_program_kind kind_of(const char *op) {
#define UNARY(fn, op, summary, kind) op,
#define BINARY(fn, op, summary, kind) op,
    static const char *const one[] = {
        QDQ_UNARY_OPS(UNARY) "Cast", "Clamp", "GELU", "HardSigmoid", "IsInf", "Tanh"};
    static const char *const two[] = {QDQ_BINARY_OPS(BINARY) "BiasAdd", "BitShift", "PReLU"};
    for (size_t i = 0; i < sizeof one / sizeof one[0]; i++)
        if (strcmp(one[i], op) == 0) return QDQ_PROGRAM_UNARY;
    for (size_t i = 0; i < sizeof two / sizeof two[0]; i++)
        if (strcmp(two[i], op) == 0) return QDQ_PROGRAM_BINARY;
    static const struct {
        const char *op;
        qdq_program_kind kind;
    } others[] = {
        {"MatMul", QDQ_PROGRAM_MATMUL},
        {"InterleavedToSharded", QDQ_PROGRAM_MOVE},
        {"ShardedToInterleaved", QDQ_PROGRAM_MOVE},
        {"Reshard", QDQ_PROGRAM_MOVE},
        {"ToMemoryConfig", QDQ_PROGRAM_MOVE},
        {"ToLayout", QDQ_PROGRAM_LAYOUT},
    };
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (strcmp(others[i].op, op) == 0) return others[i].kind;
    return QDQ_PROGRAM_OTHER;
}

// Records a node that is one program: the outputs, then the program.
static void single(qdq_device_run *run) {
    const qdq_node *node = run->node;
    size_t x = SIZE_MAX, b = SIZE_MAX, y = SIZE_MAX;
    if (node->input_count && node->inputs[0].id) x = run->buffer_of[node->inputs[0].id];
    if (node->input_count > 1 && node->inputs[1].id) b = run->buffer_of[node->inputs[1].id];
    qdq_run_begin(run, node->op->name);
    uint32_t shared = qdq_tensor_shared_with(run->graph, &run->layouts, node->outputs[0]);
    size_t root = shared ? run->buffer_of[shared] : SIZE_MAX;
    if (root != SIZE_MAX) {
        y = qdq_run_view(run, node->outputs[0], root);
    } else {
        for (size_t i = 0; i < node->output_count; i++) {
            size_t made = qdq_run_allocate_value(run, node->outputs[i], QDQ_ROLE_RESULT);
            if (i == 0) y = made;
        }
    }
    qdq_program_kind kind = x == SIZE_MAX ? QDQ_PROGRAM_OTHER : kind_of(node->op->name);
    qdq_run_launch(run, kind, x, b, QDQ_FLOAT32, y);
    for (size_t i = 2; i < node->input_count && !run->stopped; i++)
        if (node->inputs[i].id && run->buffer_of[node->inputs[i].id] != SIZE_MAX)
            qdq_run_note_use(run, run->buffer_of[node->inputs[i].id]);
}

void qdq_run_node(qdq_device_run *run) {
    const qdq_node *node = run->node;
    qdq_findings silent = {.mempool = run->scratch};
    qdq_op_context ctx;
    qdq_graph_context(run->graph, node, &silent, &ctx);
    bool dequantizes = qdq_op_context_is(&ctx, "Dequantize");
    const qdq_quantize_attrs *attrs = qdq_quantize_attrs_of(&ctx);
    size_t x = node->input_count ? run->buffer_of[node->inputs[0].id] : SIZE_MAX;
    result out = {.value = node->outputs[0], .dtype = ctx.outputs[0].dtype};
    if (qdq_op_context_is(&ctx, "Requantize") && !qdq_is_fixed_requantize(&ctx)) {
        requantize(run, &ctx, x, out);
    } else if (attrs && node->output_count == 1 && !qdq_is_computed(&ctx)) {
        int axis = attrs->qtype == QDQ_PER_CHANNEL ? qdq_channel_axis(&ctx) : -1;
        axis = qdq_conv_weights_axis(&run->weights[node->inputs[0].id], axis);
        param scale = param_of(run, &ctx, 0), zero_point = param_of(run, &ctx, 1);
        if (dequantizes)
            dequantize(run, x, scale, zero_point, axis, out);
        else
            quantize(run, x, scale, zero_point, axis, out);
    } else {
        single(run);
    }
}
