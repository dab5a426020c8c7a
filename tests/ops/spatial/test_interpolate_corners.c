// SPDX-License-Identifier: Apache-2.0
// Linear Interpolate on target onnx, corner by corner, in both data formats and with several ways
// to cut a row. tests/onnx/models/float_resizes has results of ONNX Runtime.
#include "ops/blocking.h"
#include "tests/ops/products.h"

typedef struct resize {
    size_t rank, in[3], out[3];  // spatial dims
    bool corners, last;
} resize;

enum { BATCH = 2, CHANNELS = 3 };

static qdq_value resized(qdq_graph *g, const qdq_value *x, const void *self) {
    return qdq_interpolate(g, x[0], *(const qdq_interpolate_attrs *)self);
}

static float position(const resize *r, size_t dim, size_t o) {
    float in = (float)r->in[dim], out = (float)r->out[dim], scale = out / in;
    float at = ((float)o + 0.5f) / scale - 0.5f;
    if (r->corners) at = r->out[dim] == 1 ? 0 : (float)o * (in - 1) / (out - 1);
    if (r->in[dim] == r->out[dim]) at = (float)o;
    return fminf(fmaxf(at, 0), in - 1);
}

// Element `index` of channel c of image n.
static size_t place(const resize *r, const size_t *sizes, size_t n, size_t c, const size_t *index) {
    size_t at = n;
    if (!r->last) at = at * CHANNELS + c;
    for (size_t d = 0; d < r->rank; d++) at = at * sizes[d] + index[d];
    return r->last ? at * CHANNELS + c : at;
}

// The sum of all corners around element `o` of y.
static float expected(const resize *r, const tensor *x, size_t n, size_t c, const size_t *o) {
    float sum = 0;
    for (unsigned corner = 0; corner < 1u << r->rank; corner++) {
        size_t at[3] = {0};
        float weight = 1;
        for (size_t d = r->rank; d-- > 0;) {
            float p = position(r, d, o[d]);
            size_t low = (size_t)p, high = low + 1 < r->in[d] ? low + 1 : low;
            bool upper = corner >> (r->rank - 1 - d) & 1;
            at[d] = upper ? high : low;
            float own = low == high ? 0.5f : upper ? p - (float)low : (float)high - p;
            weight = d + 1 == r->rank ? own : weight * own;
        }
        float part = weight * (float)tensor_at(x, place(r, r->in, n, c, at));
        sum = corner ? sum + part : part;
    }
    return sum;
}

static qdq_shape shape_of(const resize *r, const size_t *sizes) {
    qdq_shape shape = {.rank = 1, .dims = {BATCH}};
    if (!r->last) shape.dims[shape.rank++] = CHANNELS;
    for (size_t d = 0; d < r->rank; d++) shape.dims[shape.rank++] = (int64_t)sizes[d];
    if (r->last) shape.dims[shape.rank++] = CHANNELS;
    return shape;
}

static void expect(const resize *r, const tensor *x, tensor *want) {
    for (size_t i = 0; i < tensor_count(want); i++) {
        size_t index[5], rest = i, rank = r->rank + 2;
        for (size_t d = rank; d-- > 0; rest /= (size_t)want->shape.dims[d])
            index[d] = rest % (size_t)want->shape.dims[d];
        size_t channel = r->last ? index[rank - 1] : index[1];
        tensor_put(want, i, (double)expected(r, x, index[0], channel, index + (r->last ? 1 : 2)));
    }
}

static void check(resize r) {
    int64_t sizes[3];
    for (size_t d = 0; d < r.rank; d++) sizes[d] = (int64_t)r.out[d];
    qdq_interpolate_attrs attrs = {.mode = QDQ_MODE(QDQ_LINEAR),
                                   .sizes = {sizes, r.rank},
                                   .coordinate_transformation_mode =
                                       r.corners ? QDQ_ALIGN_CORNERS : QDQ_HALF_PIXEL,
                                   .data_format = r.last ? QDQ_NXC : QDQ_NCX};
    uint64_t seed = r.out[0];
    tensor x = tensor_of("x", QDQ_FLOAT32, shape_of(&r, r.in));
    tensor want = tensor_of("want", QDQ_FLOAT32, shape_of(&r, r.out));
    tensor got = tensor_of("got", QDQ_FLOAT32, shape_of(&r, r.out));
    tensor_fill(&x, &seed);
    expect(&r, &x, &want);
    for (int way = 0; way < 4; way++) {
        qdq_compile_options options = {.target = "onnx", .materialize = way % 2};
        product_run_as(&x, 1, 0, resized, &attrs, &options, 1 + way / 2, &got);
        if (memcmp(got.data, want.data, tensor_count(&want) * 4) != 0)
            fail_msg("%zu dims, last size %zu, channels %s, way %d", r.rank, r.out[r.rank - 1],
                     r.last ? "last" : "first", way);
    }
    free(x.data), free(want.data), free(got.data);
}

static void corners_are_added_in_order(void **unused) {
    (void)unused;
    static const resize sizes[] = {
        {2, {5, 7, 0}, {12, 9, 0}, false, false},
        {2, {5, 7, 0}, {3, 20, 0}, true, false},
        {2, {1, 9, 0}, {4, 9, 0}, false, false},
        {2, {3, 40, 0}, {2 * QDQ_INTERPOLATE_ROWS + 1, QDQ_INTERPOLATE_LANES + 3, 0}, false, false},
        {3, {3, 4, 5}, {7, 3, 9}, false, false},
        {3, {2, 1, 3}, {2, 5, 1}, true, false}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        resize r = sizes[i];
        check(r);
        r.last = true;
        check(r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(corners_are_added_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
