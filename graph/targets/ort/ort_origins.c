// SPDX-License-Identifier: Apache-2.0
// The dims of images in blocks of channels that ONNX Runtime knows to be equal although the model
// leaves them open: it follows each dim back to the image that it comes from, and counts the
// strides of 2 on the way. An Add of images that it cannot prove equal is not fused into a
// convolution, and a Mul of such images is no node on blocks.
#include "graph/targets/ort/ort_groups.h"
#include "include/qdq/ops/products.h"
#include "include/qdq/ops/spatial.h"

enum { X, W };  // ports of Convolution

enum { BATCH = 0, HEIGHT = 2, RANK = 4, MOST_NODES = 10000 };

// An image, and how often a dim of it was halved on the way to another.
typedef struct origin {
    uint32_t value;
    int halved;
} origin;

// A walk along one dim.
typedef struct walk {
    const qdq_rewriter *r;
    int dim;
    size_t nodes;  // seen
} walk;

static const qdq_shape *shape_of(const qdq_rewriter *r, uint32_t value) {
    return &r->from->values[value].type.shape;
}

static int64_t entry(const qdq_ints *list, int i, int64_t otherwise) {
    return (size_t)i < list->count ? list->data[i] : otherwise;
}

// True if a window keeps a dim of its image, or halves it: without dilation, and with one element
// less of padding than the kernel has.
static bool keeps(const qdq_ints *strides, const qdq_ints *dilations, int64_t kernel,
                  int64_t padding, bool same, int i, int *halves) {
    int64_t stride = entry(strides, i, 1);
    *halves = stride == 2;
    return (stride == 1 || stride == 2) && entry(dilations, i, 1) == 1 &&
           (same || padding + 1 == kernel);
}

static bool is_same(qdq_auto_pad rule) {
    return rule == QDQ_PAD_SAME_UPPER || rule == QDQ_PAD_SAME_LOWER;
}

// Returns the image whose dim a convolution or a pool keeps; value 0: none.
static origin behind_window(const walk *w, const qdq_node *node, bool conv) {
    const qdq_convolution_attrs *c = node->attrs;
    const qdq_pool_attrs *p = node->attrs;
    origin o = {node->inputs[X].id, 0};
    int i = w->dim - HEIGHT;
    bool reads = ort_is_in_blocks(w->r, o.value) && (!conv || !ort_reads_channels(w->r, node));
    if (!reads || w->dim == BATCH) return reads ? o : (origin){0};
    bool kept =
        conv ? keeps(&c->strides, &c->dilations, shape_of(w->r, node->inputs[W].id)->dims[w->dim],
                     entry(&c->pads_begin, i, 0) + entry(&c->pads_end, i, 0), is_same(c->auto_pad),
                     i, &o.halved)
             : keeps(&p->strides, &p->dilations, entry(&p->kernel, i, 1),
                     entry(&p->pads_begin, i, 0) + entry(&p->pads_end, i, 0), is_same(p->auto_pad),
                     i, &o.halved);
    return kept ? o : (origin){0};
}

static bool dim_matches(walk *w, uint32_t a, uint32_t b);

// Returns the image before a value with the same dim, perhaps halved; value 0: none.
static origin before(walk *w, uint32_t value) {
    const qdq_rewriter *r = w->r;
    size_t maker = qdq_rewrite_maker(r, value);
    if (maker == SIZE_MAX || ++w->nodes > MOST_NODES) return (origin){0};
    const qdq_node *node = &r->from->nodes[maker];
    bool conv = qdq_rewrite_is(r, maker, "Convolution"), adds = qdq_rewrite_is(r, maker, "Add");
    if (conv || qdq_rewrite_is(r, maker, "MaxPool") || qdq_rewrite_is(r, maker, "AvgPool"))
        return behind_window(w, node, conv);
    bool global = qdq_rewrite_is(r, maker, "ReduceMean") && w->dim != BATCH;
    if (global || !ort_is_in_blocks(r, value)) return (origin){0};
    if (adds && !dim_matches(w, node->inputs[0].id, node->inputs[1].id)) return (origin){0};
    return (origin){node->inputs[0].id, 0};
}

// Follows a dim from *o to its first image, or to `stop`.
static void follow(walk *w, origin *o, uint32_t stop) {
    while (o->value != stop) {
        origin next = before(w, o->value);
        if (!next.value) return;
        o->value = next.value;
        o->halved += next.halved;
    }
}

static bool dim_matches(walk *w, uint32_t a, uint32_t b) {
    origin from_a = {a, 0}, from_b = {b, 0};
    follow(w, &from_b, a);
    if (from_b.value == a) return from_b.halved == 0;
    follow(w, &from_a, b);
    if (from_a.value == b) return from_a.halved == 0;
    return from_a.value == from_b.value && from_a.halved == from_b.halved;
}

// Returns the dims of images that are open. A batch with a name counts as given: all results have
// the name.
static uint32_t open_sizes(const qdq_rewriter *r) {
    const uint32_t sizes = 1u << HEIGHT | 1u << (HEIGHT + 1);
    return (r->from->open_dims & sizes) | (r->from->unnamed_dims & 1u << BATCH);
}

bool ort_leaves_open(const qdq_rewriter *r) { return open_sizes(r) != 0; }

bool ort_shapes_match(const qdq_rewriter *r, uint32_t a, uint32_t b) {
    for (int dim = BATCH; dim < RANK; dim += dim == BATCH ? HEIGHT : 1) {
        walk w = {.r = r, .dim = dim};
        bool open = open_sizes(r) >> dim & 1;
        if (open && !dim_matches(&w, a, b) && w.nodes <= MOST_NODES) return false;
    }
    return true;
}
