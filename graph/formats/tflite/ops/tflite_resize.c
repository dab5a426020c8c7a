// SPDX-License-Identifier: Apache-2.0
// Converts RESIZE_BILINEAR and RESIZE_NEAREST_NEIGHBOR of [N, H, W, C].
#include <math.h>
#include <stdio.h>

#include "graph/formats/tflite/ops/tflite_ops.h"
#include "runtime/numerics/dtype.h"

// The sizes of rows and columns, and how positions in y map to positions in x.
typedef struct resize {
    int64_t in[2], out[2];
    bool align, half_pixel;
} resize;

// Reads sizes, and the two options from a slot on. False after a refusal.
static bool read_resize(qdq_tflite_node *node, qdq_value x, unsigned slot, resize *r) {
    bool known;
    size_t count;
    qdq_shape shape = qdq_tflite_shape(node, x, &known);
    if (!known || !qdq_tflite_ints(node, 1, "size", 2, r->out, &count)) return false;
    r->align = qdq_tflite_int(node, slot, QDQ_FLAT_I8, 0) != 0;
    r->half_pixel = qdq_tflite_int(node, slot + 1, QDQ_FLAT_I8, 0) != 0;
    bool fits = shape.rank == 4 && count == 2 && r->out[0] >= 1 && r->out[1] >= 1;
    if (!fits)
        qdq_tflite_refuse(node, "size", "does not fit", "two sizes for [N, H, W, C]");
    else if (r->align && r->half_pixel)
        qdq_tflite_refuse(node, "half_pixel_centers", "is set, and align_corners too",
                          "one of the two");
    else
        r->in[0] = shape.dims[1], r->in[1] = shape.dims[2];
    return !node->refused;
}

//---- Nearest ----------------------------------------------------------------

int64_t qdq_tflite_nearest_index(const qdq_tflite_nearest *r, int64_t o) {
    bool corners = r->align && r->out > 1;
    float scale = corners ? (float)(r->in - 1) / (float)(r->out - 1) : (float)r->in / (float)r->out;
    float at = ((float)o + (r->half_pixel ? 0.5f : 0.0f)) * scale;
    int64_t index = (int64_t)(r->align ? roundf(at) : floorf(at));
    if (index > r->in - 1) index = r->in - 1;
    return index < 0 ? 0 : index;
}

// Gathers rows, then columns, by constant indices: the elements may be codes of any dtype.
void qdq_tflite_resize_nearest(qdq_tflite_node *node, const qdq_tflite_op *row) {
    (void)row;
    static const char *const names[] = {"rows", "columns"}, *const lists[] = {"row_indices",
                                                                              "column_indices"};
    resize r = {0};
    qdq_graph *graph = node->im->graph;
    qdq_value y = qdq_tflite_ref(node, 0, QDQ_TFLITE_AS_STORED);
    if (!read_resize(node, y, 0, &r)) return;
    for (int dim = 0; dim < 2; dim++) {
        qdq_value indices;
        qdq_shape shape = {1, {r.out[dim]}};
        int32_t *all = qdq_graph_add_constant(graph, qdq_tflite_helper(node, lists[dim]), QDQ_INT32,
                                              shape, &indices);
        const qdq_tflite_nearest n = {r.in[dim], r.out[dim], r.align, r.half_pixel};
        for (int64_t o = 0; all && o < r.out[dim]; o++)
            all[o] = (int32_t)qdq_tflite_nearest_index(&n, o);
        y = qdq_gather(
            graph, y, indices,
            (qdq_gather_attrs){.name = dim ? node->name : qdq_tflite_helper(node, names[dim]),
                               .axis = QDQ_INT(dim + 1)});
    }
    qdq_tflite_bind(node, 0, y);
}

//---- Linear -----------------------------------------------------------------

void qdq_tflite_resize_bilinear(qdq_tflite_node *node, const qdq_tflite_op *row) {
    (void)row;
    resize r = {0};
    qdq_value x = qdq_tflite_operand(node, 0, QDQ_TFLITE_AS_STORED, "x");
    if (!read_resize(node, x, 2, &r)) return;
    qdq_interpolate_attrs attrs = {.name = qdq_tflite_op_name(node),
                                   .mode = QDQ_MODE(QDQ_LINEAR),
                                   .sizes = {r.out, 2},
                                   .coordinate_transformation_mode = r.half_pixel ? QDQ_HALF_PIXEL
                                                                     : r.align
                                                                         ? QDQ_ALIGN_CORNERS
                                                                         : QDQ_ASYMMETRIC_POSITIONS,
                                   .data_format = QDQ_NXC};
    qdq_tflite_finish(node, qdq_interpolate(node->im->graph, x, attrs));
}
