// SPDX-License-Identifier: Apache-2.0
// MaxPool and AvgPool: a loop over y around a loop over the window, in the order of
// ops/spatial/pooling.c. Interpolate: a loop over y, with tables of positions.
#include "graph/formats/c/c_draft.h"
#include "ops/spatial/interpolate.h"
#include "ops/spatial/pool_band.h"

static const char *identity_of(const qdq_pool_params *p) {
    switch (p->kind) {
    case QDQ_POOL_KEYS: return "uint64_t joined = 0";  // a key plus 1; 0: no element
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
        qdq_c_put(text, "const uint64_t v = (uint64_t)pool_key(load_%s(x0, at)) + 1;\n", x);
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
        qdq_c_put(text, " : pool_float((uint32_t)(joined - 1));\n        ");
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

// Writes the loops over the dims of the window, without the elements beyond the border.
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
    if (p->columns)
        qdq_c_cannot(step, NULL, "adds columns first", "the row-major order of a window");
    if (!qdq_c_makes(step, 0) || !fine || p->columns) return;
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

//---- Interpolate ------------------------------------------------------------

// Declares the positions of a dim: "static const emitted_position at1[] = {...};".
static void declare_positions(qdq_c_step *step, const qdq_interpolate_params *p, int d) {
    qdq_c_text *text = step->body;
    qdq_c_put(text, "    static const emitted_position at%d[] = {", d);
    for (size_t o = 0; o < p->out[d]; o++) {
        qdq_c_put(text, "%s{%zu, %zu, ", o % 4 ? " " : "\n        ", p->at[d][o].at[0],
                  p->at[d][o].at[1]);
        qdq_c_put_double(text, p->at[d][o].weight);
        qdq_c_put(text, "},");
    }
    qdq_c_put(text, "\n    };\n");
}

// Means along the last dim first, then along the second, then along the first.
static void put_mean(qdq_c_step *step, const qdq_interpolate_params *p) {
    const char *dtype = qdq_dtype_name(p->x_dtype);
    qdq_c_text *text = step->body;
    qdq_c_put(text, "        double planes[2] = {0.0, 0.0};\n");
    qdq_c_put(text, "        for (int d = 0; d < (w0.weight == 0.0 ? 1 : 2); d++) {\n"
                    "            double rows[2] = {0.0, 0.0};\n"
                    "            for (int h = 0; h < (w1.weight == 0.0 ? 1 : 2); h++) {\n");
    qdq_c_put(
        text,
        "                const size_t row = (plane * %zu + (d ? w0.after : w0.before)) * %zu + "
        "(h ? w1.after : w1.before);\n",
        p->in[0], p->in[1]);
    for (int side = 0; side < 2; side++)
        qdq_c_put(text,
                  "                const double %s = (double)load_%s(x0, (row * %zu + w2.%s) * %zu "
                  "+ channel);\n",
                  side ? "b" : "a", dtype, p->in[2], side ? "after" : "before", p->channels);
    qdq_c_put(text,
              "                rows[h] = emitted_mean(a, b, w2.weight);\n            }\n"
              "            planes[d] = emitted_mean(rows[0], rows[1], w1.weight);\n        }\n"
              "        const float y = emitted_quiet((float)emitted_mean(planes[0], planes[1], "
              "w0.weight));\n"
              "        ");
    qdq_c_put_store(text, p->y_dtype, "y0", "i", "y", NULL);
}

void qdq_c_write_interpolate(qdq_c_step *step) {
    const qdq_interpolate_params *p = step->stages[0].params;
    qdq_c_text *text = step->body;
    if (qdq_interpolate_adds_corners(step->ctx, &step->to->numerics)) {
        qdq_c_cannot(step, NULL, "adds corners as ONNX Runtime", "the formula of the core");
        return;
    }
    size_t inner = p->channels;
    for (int d = 0; d < QDQ_MAX_SPATIAL; d++) declare_positions(step, p, d);
    qdq_c_put_each(step, 0);
    for (int d = QDQ_MAX_SPATIAL - 1; d >= 0; d--) {
        qdq_c_put(text, "        const emitted_position w%d = at%d[i / %zu %% %zu];\n", d, d, inner,
                  p->out[d]);
        inner *= p->out[d];
    }
    qdq_c_put(text, "        const size_t plane = i / %zu, channel = i %% %zu;\n", inner,
              p->channels);
    if (!p->nearest) {
        put_mean(step, p);
        qdq_c_put(text, "    }\n");
        return;
    }
    qdq_c_put(text,
              "        const size_t at = (((plane * %zu + w0.before) * %zu + w1.before) * %zu + "
              "w2.before) * %zu + channel;\n        ",
              p->in[0], p->in[1], p->in[2], p->channels);
    if (p->codes) {
        qdq_c_put(text, "store_%s(y0, i, load_%s(x0, at));\n    }\n", qdq_dtype_name(p->y_dtype),
                  qdq_dtype_name(p->x_dtype));
        return;
    }
    qdq_c_put(text, "const float y = emitted_quiet(load_%s(x0, at));\n        ",
              qdq_dtype_name(p->x_dtype));
    qdq_c_put_store(text, p->y_dtype, "y0", "i", "y", NULL);
    qdq_c_put(text, "    }\n");
}
