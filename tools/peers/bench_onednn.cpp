// SPDX-License-Identifier: Apache-2.0
// A matrix product by oneDNN's matmul primitive, called by bench_product_peers.py: packed weights,
// scales, bias, ReLU and zero points within the primitive.
#include <cstdint>
#include <oneapi/dnnl/dnnl.hpp>
#include <string>

using dnnl::memory;
using tag = memory::format_tag;

// `scales` NULL: no quantization; the fields below it are not used.
struct product {
    int64_t rows, depth, columns;
    const char *dtype;  // of a and b: "int8" (a is uint8), "bfloat16", "float32"
    void *a, *b, *y;
    void *scales;  // float32, one for each column of b
    void *bias;    // float32
    float a_scale, y_scale;
    int32_t a_zero;
};

struct prepared {
    dnnl::engine engine{dnnl::engine::kind::cpu, 0};
    dnnl::stream stream{engine};
    dnnl::matmul primitive;
    std::unordered_map<int, memory> arguments;
    std::string about;
    product copy;
};

static memory view(prepared *p, const memory::dims &dims, memory::data_type type, void *data) {
    memory::desc desc(dims, type, dims.size() == 1 ? tag::a : tag::ab);
    return memory(desc, p->engine, data);
}

static void add_codes(prepared *p, dnnl::primitive_attr *attr) {
    product *c = &p->copy;
    const auto f32 = memory::data_type::f32;
    const int source = DNNL_ARG_SRC, weights = DNNL_ARG_WEIGHTS, result = DNNL_ARG_DST;
    attr->set_scales_mask(source, 0);
    attr->set_scales_mask(weights, 1 << 1);
    attr->set_scales_mask(result, 0);
    attr->set_zero_points_mask(source, 0);
    dnnl::post_ops after;
    after.append_eltwise(dnnl::algorithm::eltwise_relu, 0, 0);
    attr->set_post_ops(after);
    p->arguments = {
        {DNNL_ARG_ATTR_SCALES | source, view(p, {1}, f32, &c->a_scale)},
        {DNNL_ARG_ATTR_SCALES | weights, view(p, {c->columns}, f32, c->scales)},
        {DNNL_ARG_ATTR_SCALES | result, view(p, {1}, f32, &c->y_scale)},
        {DNNL_ARG_ATTR_ZERO_POINTS | source, view(p, {1}, memory::data_type::s32, &c->a_zero)},
        {DNNL_ARG_BIAS, view(p, {1, c->columns}, f32, c->bias)},
    };
}

static void prepare(prepared *p) {
    product *c = &p->copy;
    const std::string name = c->dtype;
    const auto wide = name == "bfloat16" ? memory::data_type::bf16 : memory::data_type::f32;
    const auto from = c->scales ? memory::data_type::u8 : wide;
    const auto kept = c->scales ? memory::data_type::s8 : wide;
    memory a = view(p, {c->rows, c->depth}, from, c->a);
    memory b = view(p, {c->depth, c->columns}, kept, c->b);
    memory y = view(p, {c->rows, c->columns}, from, c->y);
    memory::desc any({c->depth, c->columns}, kept, tag::any), none;
    dnnl::primitive_attr attr;
    if (c->scales) add_codes(p, &attr);
    memory::desc bias = c->scales ? p->arguments.at(DNNL_ARG_BIAS).get_desc() : none;
    dnnl::matmul::primitive_desc chosen(p->engine, a.get_desc(), any, bias, y.get_desc(), attr);
    memory packed(chosen.weights_desc(), p->engine);
    dnnl::reorder(b, packed).execute(p->stream, b, packed);
    p->stream.wait();
    p->primitive = dnnl::matmul(chosen);
    p->arguments[DNNL_ARG_SRC] = a;
    p->arguments[DNNL_ARG_WEIGHTS] = packed;
    p->arguments[DNNL_ARG_DST] = y;
    p->about = chosen.impl_info_str();
}

extern "C" {

// Prepares the product; NULL on failure, with the reason in `about`.
prepared *product_open(const product *c, char *about, size_t size) {
    prepared *p = nullptr;
    try {
        p = new prepared;
        p->copy = *c;
        prepare(p);
    } catch (const std::exception &error) {
        snprintf(about, size, "%s", error.what());
        delete p;
        return nullptr;
    }
    snprintf(about, size, "%s", p->about.c_str());
    return p;
}

const char *product_version(void) {
    static std::string text;
    const dnnl_version_t *v = dnnl_version();
    text =
        std::to_string(v->major) + "." + std::to_string(v->minor) + "." + std::to_string(v->patch);
    return text.c_str();
}

void product_run(prepared *p) {
    p->primitive.execute(p->stream, p->arguments);
    p->stream.wait();
}

void product_close(prepared *p) { delete p; }
}
