// SPDX-License-Identifier: Apache-2.0
// MaxPool and AvgPool: a loop over y around a loop over the window, in the order of
// ops/spatial/pooling.c.
#include "graph/write/c/c_draft.h"
#include "ops/spatial/pool_band.h"

static const char *identity_of(const qdq_pool_params *p) {
    switch (p->kind) {
    case QDQ_POOL_KEYS: return "uint32_t joined = 0";
    case QDQ_POOL_BYTES: return p->sign ? "int32_t joined = -128" : "int32_t joined = 0";
    case QDQ_POOL_FLOATS: return "float joined = 0.0f";
    default: return "double joined = 0.0";
    }
}

// Joins the element at `at`.
static void put_join(qdq_c_step *step, const qdq_pool_params *p) {
    const char *x = qdq_dtype_name(p->x_dtype);
    qdq_c_text *text = step->body;
    switch (p->kind) {
    case QDQ_POOL_KEYS:
        qdq_c_put(text, "const uint32_t v = pool_key(load_%s(x0, at));\n", x);
        break;
    case QDQ_POOL_BYTES: qdq_c_put(text, "const int32_t v = load_%s(x0, at);\n", x); break;
    case QDQ_POOL_FLOATS: qdq_c_put(text, "joined += load_%s(x0, at);\n", x); return;
    default: qdq_c_put(text, "joined += (double)load_%s(x0, at);\n", x); return;
    }
    qdq_c_put(text, "                    joined = v > joined ? v : joined;\n");
}

static void put_result(qdq_c_step *step, const qdq_pool_params *p) {
    qdq_c_text *text = step->body;
    const qdq_pool_axis *a = p->axes;
    switch (p->kind) {
    case QDQ_POOL_KEYS:
        qdq_c_put(text, "        const float y = joined == 0 ? ");
        qdq_c_put_float(text, p->lowest);
        qdq_c_put(text, " : pool_float(joined);\n        ");
        break;
    case QDQ_POOL_BYTES:
        qdq_c_put(text, "        store_%s(y0, i, joined);\n", qdq_dtype_name(p->y_dtype));
        return;
    default:
        if (p->exclude_pad)
            qdq_c_put(text, "        const double seen = count ? (double)count : 1.0;\n");
        else
            qdq_c_put(text, "        const double seen = %zu.0;\n",
                      a[0].kernel * a[1].kernel * a[2].kernel);
        qdq_c_put(text,
                  p->kind == QDQ_POOL_FLOATS
                      ? "        const float y = emitted_quiet(joined / (float)seen);\n        "
                      : "        const float y = emitted_quiet((float)(joined / seen));\n        ");
    }
    qdq_c_put_store(text, p->y_dtype, "y0", "i", "y", NULL);
}

// The loops over the dims of the window, which leave out what lies beyond the border.
static void put_window(qdq_c_step *step, const qdq_pool_params *p) {
    qdq_c_text *text = step->body;
    for (int d = 0; d < QDQ_MAX_SPATIAL; d++)
        qdq_c_put(text, "%*sfor (size_t t%d = 0; t%d < %zu; t%d++)\n", 8 + 4 * d, "", d, d,
                  p->axes[d].kernel, d);
    qdq_c_put(text, "                {\n");
    for (int d = 0; d < QDQ_MAX_SPATIAL; d++) {
        const qdq_pool_axis *a = &p->axes[d];
        qdq_c_put(text, "                    const size_t p%d = o%d * %zu + t%d * %zu - %zu;\n", d,
                  d, a->stride, d, a->dilation, a->pad);
    }
    qdq_c_put(text, "                    if (p0 >= %zu || p1 >= %zu || p2 >= %zu) continue;\n",
              p->axes[0].in, p->axes[1].in, p->axes[2].in);
    qdq_c_put(text,
              "                    const size_t at = (((plane * %zu + p0) * %zu + p1) * %zu + "
              "p2) * %zu + channel;\n                    ",
              p->axes[0].in, p->axes[1].in, p->axes[2].in, p->channels);
    put_join(step, p);
    qdq_c_put(text, "                    count++;\n                }\n");
}

void qdq_c_write_pool(qdq_c_step *step) {
    const qdq_pool_params *p = step->stages[0].params;
    qdq_c_text *text = step->body;
    bool fine = qdq_c_takes(step, 0);
    if (!qdq_c_makes(step, 0) || !fine) return;
    qdq_c_put_each(step, 0);
    size_t inner = p->channels;
    for (int d = QDQ_MAX_SPATIAL - 1; d >= 0; d--) {
        qdq_c_put(text, "        const size_t o%d = i / %zu %% %zu;\n", d, inner, p->axes[d].out);
        inner *= p->axes[d].out;
    }
    qdq_c_put(text, "        const size_t plane = i / %zu, channel = i %% %zu;\n", inner,
              p->channels);
    qdq_c_put(text, "        size_t count = 0;\n        %s;\n", identity_of(p));
    put_window(step, p);
    put_result(step, p);
    qdq_c_put(text, "        (void)count;\n    }\n");
}
