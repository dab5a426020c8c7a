// SPDX-License-Identifier: Apache-2.0
// Fills inputs with data drawn from a seed, in ranges that suit the ports that read them.
#include <string.h>

#include "graph/core/graph.h"
#include "include/qdq/fingerprint.h"
#include "runtime/base/fp_environment.h"
#include "runtime/exec/exec.h"

static uint64_t next_random(uint64_t *state) {  // splitmix64
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

//---- The kind of data -------------------------------------------------------

// Sets the kind of data for each value: of several ports the kind with the greatest number counts,
// so the order of the nodes does not matter.
static void make_fills(const qdq_graph *graph, unsigned char *fills) {
    for (size_t i = 0; i < graph->node_count; i++) {
        const qdq_node *node = &graph->nodes[i];
        for (size_t k = 0; k < node->input_count; k++) {
            qdq_fill fill = qdq_fill_of(node->op->name, qdq_op_port(node->op, k)->name);
            unsigned char *of = &fills[node->inputs[k].id];
            if (fill > *of) *of = (unsigned char)fill;
        }
    }
}

// Draws floats in [-4, 4), unless a port wants others.
static float random_float(qdq_fill fill, qdq_dtype_kind kind, uint64_t random) {
    float unit = (float)(random >> 40) * 0x1p-24f;  // in [0, 1)
    float value = unit * 8 - 4;
    switch (fill) {
    case QDQ_FILL_SCALE: return 0.0625f + unit * 0.1875f;
    case QDQ_FILL_ZERO_POINT: return kind == QDQ_KIND_FLOAT ? value / 16 : 0;
    case QDQ_FILL_SMALL: return value / 16;
    case QDQ_FILL_POSITIVE: return 0.5f + unit * 3.5f;
    case QDQ_FILL_NEAR_ONE: return 0.75f + unit * 0.5f;
    case QDQ_FILL_HALF: return 0.5f;
    case QDQ_FILL_ANY:
    case QDQ_FILL_COUNT:
    default:
        return kind == QDQ_KIND_EXPONENT && value < 0 ? -value : value;  // the dtype has no sign
    }
}

// Draws integers over the range of their dtype, at most 16 bits of it, unless a port wants others.
static int64_t random_int(qdq_fill fill, const qdq_dtype_info *dtype, uint64_t random) {
    int64_t low = dtype->least < -32768 ? -32768 : dtype->least;
    int64_t high = dtype->greatest > 65535 ? 32767 : dtype->greatest;
    if (fill == QDQ_FILL_ZERO_POINT) low = low < -4 ? -4 : low, high = high > 4 ? 4 : high;
    if (fill == QDQ_FILL_COUNT) low = 1, high = high > 1000 ? 1000 : high;
    return low + (int64_t)((random >> 32) % (uint64_t)(high - low + 1));
}

//---- The data ---------------------------------------------------------------

// An input, and the random numbers that are left for it.
typedef struct stream {
    const qdq_tensor_info *input;
    qdq_fill fill;
    uint64_t state;
} stream;

// Draws elements: of a real dtype as float32, of float64 as double, and integers in their size.
static void make_elements(stream *s, void *out, size_t count) {
    const qdq_dtype_info *dtype = qdq_dtype_get(s->input->dtype);
    size_t size = qdq_dtype_size(s->input->dtype);
    for (size_t i = 0; i < count; i++) {
        uint64_t random = next_random(&s->state);
        if (s->input->dtype == QDQ_FLOAT64) {
            ((double *)out)[i] = (double)random_float(s->fill, dtype->kind, random);
        } else if (qdq_dtype_is_real(s->input->dtype)) {
            ((float *)out)[i] = random_float(s->fill, dtype->kind, random);
        } else {
            int64_t value = random_int(s->fill, dtype, random);
            memcpy((char *)out + i * size, &value, size);  // little-endian
        }
    }
}

static qdq_status fill_input(qdq_exec *exec, stream s, qdq_error *err) {
    qdq_dtype dtype = s.input->dtype;
    bool is_float = qdq_dtype_is_real(dtype) && dtype != QDQ_FLOAT64;
    size_t count = qdq_shape_count(s.input->shape);
    size_t size = is_float ? sizeof(float) : qdq_dtype_size(dtype);
    void *data = qdq_alloc_array(exec->allocator, count, size, 64);
    if (!data) return qdq_fail(err, QDQ_ERR_MEMORY, "no memory to fill input '%s'", s.input->name);
    make_elements(&s, data, count);
    qdq_status status =
        qdq_exec_write(exec, s.input->name, is_float ? QDQ_FLOAT32 : dtype, data, count, err);
    qdq_free_array(exec->allocator, data, count, size);
    return status;
}

static qdq_status fill_all(qdq_exec *exec, const qdq_graph *graph, const unsigned char *fills,
                           uint64_t seed, qdq_error *err) {
    for (size_t i = 0; i < exec->plan->input_count; i++) {
        stream s = {.input = &exec->plan->inputs[i], .state = seed};
        uint32_t id = qdq_graph_find(graph, s.input->name).id;
        if (!id)
            return qdq_fail(err, QDQ_ERR_ARGUMENT, "the graph has no input '%s', as the plan has",
                            s.input->name);
        s.fill = (qdq_fill)fills[id];
        for (const char *c = s.input->name; *c; c++) s.state = s.state * 131 + (unsigned char)*c;
        QDQ_TRY(fill_input(exec, s, err));
    }
    return QDQ_OK;
}

qdq_status qdq_exec_fill(qdq_exec *exec, const qdq_graph *graph, uint64_t seed, qdq_error *err) {
    QDQ_FIXED_ENVIRONMENT;
    if (!graph) return qdq_fail(err, QDQ_ERR_MEMORY, "there is no graph: no memory");
    if (!exec) return qdq_fail(err, QDQ_ERR_ARGUMENT, "there is no exec to fill");
    unsigned char *fills = qdq_alloc_array(exec->allocator, graph->value_count, 1, 1);
    if (!fills) return qdq_fail(err, QDQ_ERR_MEMORY, "no memory to fill inputs");
    memset(fills, QDQ_FILL_ANY, graph->value_count);
    make_fills(graph, fills);
    qdq_status status = fill_all(exec, graph, fills, seed, err);
    qdq_free_array(exec->allocator, fills, graph->value_count, 1);
    return status;
}
