// SPDX-License-Identifier: Apache-2.0
// Runs every case of tests/graph/targets/onednn/onednn_cases.h in oneDNN Graph on the CPU and
// prints a row of onednn_golden.h for each batch. With a file as argument it also writes all
// results there as 32-bit codes. tools/peers/onednn_golden.py builds and runs it.
#include <cinttypes>
#include <cstdio>
#include <map>
#include <oneapi/dnnl/dnnl_graph.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "../../tests/graph/targets/onednn/onednn_inputs.h"

using namespace dnnl::graph;
using attr = op::attr;

struct type_row {
    logical_tensor::data_type dtype;
    const char *name, *enumerator;
};

static const std::map<onednn_type, type_row> types = {
    {ONEDNN_NONE, {logical_tensor::data_type::undef, "none", "ONEDNN_NONE"}},
    {ONEDNN_F32, {logical_tensor::data_type::f32, "f32", "ONEDNN_F32"}},
    {ONEDNN_F16, {logical_tensor::data_type::f16, "f16", "ONEDNN_F16"}},
    {ONEDNN_BF16, {logical_tensor::data_type::bf16, "bf16", "ONEDNN_BF16"}},
    {ONEDNN_S8, {logical_tensor::data_type::s8, "s8", "ONEDNN_S8"}},
    {ONEDNN_U8, {logical_tensor::data_type::u8, "u8", "ONEDNN_U8"}},
    {ONEDNN_S4, {logical_tensor::data_type::s4, "s4", "ONEDNN_S4"}},
    {ONEDNN_U4, {logical_tensor::data_type::u4, "u4", "ONEDNN_U4"}},
    {ONEDNN_S32, {logical_tensor::data_type::s32, "s32", "ONEDNN_S32"}},
    {ONEDNN_E4M3, {logical_tensor::data_type::f8_e4m3, "f8_e4m3", "ONEDNN_E4M3"}},
    {ONEDNN_E5M2, {logical_tensor::data_type::f8_e5m2, "f8_e5m2", "ONEDNN_E5M2"}},
};

struct op_row {
    op::kind kind;
    const char *enumerator;
};

static const op_row ops[] = {
    {op::kind::Quantize, "ONEDNN_QUANTIZE"},
    {op::kind::Dequantize, "ONEDNN_DEQUANTIZE"},
    {op::kind::DynamicQuantize, "ONEDNN_DYNAMIC_QUANTIZE"},
    {op::kind::DynamicDequantize, "ONEDNN_DYNAMIC_DEQUANTIZE"},
    {op::kind::TypeCast, "ONEDNN_TYPE_CAST"},
};

static const char *const kinds[] = {"ONEDNN_POWERS", "ONEDNN_FRACTIONS", "ONEDNN_NEAR_ONE",
                                    "ONEDNN_ENDS",   "ONEDNN_CHANNELS",  "ONEDNN_ODD",
                                    "ONEDNN_GROUPS"};

static bool is_nibble(onednn_type type) { return type == ONEDNN_S4 || type == ONEDNN_U4; }

// 4-bit elements are packed two to a byte, the even one in the low bits.
static void store(onednn_type type, void *data, const uint32_t *codes, size_t count) {
    char *bytes = static_cast<char *>(data);
    if (!is_nibble(type)) {
        for (size_t i = 0; i < count; i++)
            memcpy(bytes + i * onednn_size(type), &codes[i], onednn_size(type));
        return;
    }
    for (size_t i = 0; i < count; i += 2) {
        uint32_t high = i + 1 < count ? codes[i + 1] & 15 : 0;
        bytes[i / 2] = static_cast<char>((codes[i] & 15) | high << 4);
    }
}

// One node with its inputs, run once.
class run {
  public:
    run(const dnnl::engine &engine, const onednn_case &c) : engine_(engine), c_(c) {
        op node(0, ops[c.batch.op].kind, "node");
        const logical_tensor::dims shape = {static_cast<int64_t>(c.rows),
                                            static_cast<int64_t>(c.cols)};
        add_input(node, c.batch.from, shape, c.x, c.count);
        logical_tensor y(9, types.at(c.batch.to).dtype, shape,
                         logical_tensor::layout_type::strided);
        node.add_output(y);
        add_parameters(node);
        graph g(dnnl::engine::kind::cpu);
        g.add_op(node);
        g.finalize();
        auto parts = g.get_partitions();
        auto compiled = parts.at(0).compile(logical_, {y}, engine);
        tensor out(y, engine);
        dnnl::stream stream(engine);
        compiled.execute(stream, inputs_, {out});
        stream.wait();
        read(out);
    }

    std::vector<uint32_t> codes;

  private:
    void add_input(op &node, onednn_type type, const logical_tensor::dims &shape,
                   const uint32_t *data, size_t count) {
        logical_tensor t(logical_.size(), types.at(type).dtype, shape,
                         logical_tensor::layout_type::strided);
        node.add_input(t);
        logical_.push_back(t);
        inputs_.emplace_back(t, engine_);
        store(type, inputs_.back().get_data_handle(), data, count);
    }

    void add_parameters(op &node) {
        if (c_.batch.op == ONEDNN_TYPE_CAST) return;
        bool grouped = c_.batch.kind == ONEDNN_GROUPS, single = c_.parameters == 1;
        const char *qtype = grouped ? "per_group" : single ? "per_tensor" : "per_channel";
        node.set_attr<std::string>(attr::qtype, qtype);
        node.set_attr<int64_t>(attr::axis, 0);
        if (grouped)
            node.set_attr<std::vector<int64_t>>(attr::group_shape,
                                                {1, static_cast<int64_t>(c_.span)});
        if (c_.batch.op == ONEDNN_QUANTIZE || c_.batch.op == ONEDNN_DEQUANTIZE) {
            std::vector<float> scales;
            for (size_t i = 0; i < c_.parameters; i++) scales.push_back(onednn_float(c_.scales[i]));
            node.set_attr<std::vector<float>>(attr::scales, scales);
            if (c_.zp_type != ONEDNN_NONE)
                node.set_attr<std::vector<int64_t>>(attr::zps, {c_.zps[0]});
            return;
        }
        logical_tensor::dims shape = {static_cast<int64_t>(c_.parameters)};
        if (grouped)
            shape = {static_cast<int64_t>(c_.rows), static_cast<int64_t>(c_.cols / c_.span)};
        add_input(node, c_.scale_type, shape, c_.scales, c_.parameters);
        const uint32_t *zps = reinterpret_cast<const uint32_t *>(c_.zps);
        if (c_.zp_type != ONEDNN_NONE) add_input(node, c_.zp_type, shape, zps, c_.parameters);
    }

    void read(const tensor &out) {
        const char *bytes = static_cast<const char *>(out.get_data_handle());
        size_t size = onednn_size(c_.batch.to);
        codes.assign(c_.count, 0);
        for (size_t i = 0; i < c_.count; i++) {
            memcpy(&codes[i], bytes + i * size, size);
            codes[i] = onednn_canonical(&c_, i, codes[i]);
            if (is_plain_nan(i) && codes[i] == 255) codes[i] = 0;
        }
    }

    // With no scale and no zero point to apply, NaN becomes 255 as u8 from AVX-512 on, and 0
    // before; otherwise it is always 0.
    bool is_plain_nan(size_t i) const {
        return c_.batch.op == ONEDNN_QUANTIZE && c_.batch.to == ONEDNN_U8 && c_.parameters == 1 &&
               c_.zp_type == ONEDNN_NONE && isnan(onednn_float(c_.x[i])) &&
               fabs(static_cast<double>(onednn_float(c_.scales[0])) - 1) <= 1e-6;
    }

    const dnnl::engine &engine_;
    const onednn_case &c_;
    std::vector<logical_tensor> logical_;
    std::vector<tensor> inputs_;
};

// oneDNN 3.13 reads the single bfloat16 or float16 scale of a per-tensor DynamicDequantize as a
// float32, and so two bytes too many: the result is meaningless.
static bool is_broken(const onednn_batch &b) {
    return b.op == ONEDNN_DYNAMIC_DEQUANTIZE && b.to != ONEDNN_F32 && b.kind != ONEDNN_GROUPS;
}

static void print_batch(const dnnl::engine &engine, const onednn_batch &b, FILE *all) {
    uint64_t hash = ONEDNN_HASH;
    size_t count = 0, refused = 0;
    uint32_t first[4] = {0, 0, 0, 0};
    for (size_t number = 0; number < onednn_case_count(b); number++) {
        onednn_case c = onednn_case_make(b, number);
        std::vector<uint32_t> codes(c.count, 0xDEADBEEF);
        try {
            if (is_broken(b)) throw std::domain_error("broken");
            codes = run(engine, c).codes;
        } catch (const std::exception &) {
            refused++;
        }
        for (uint32_t code : codes) hash = onednn_hash(hash, b.to, code);
        if (number == 0) std::copy(codes.begin(), codes.begin() + 4, first);
        if (all) fwrite(codes.data(), sizeof codes[0], codes.size(), all);
        count += c.count;
        onednn_case_free(&c);
    }
    if (refused) {
        fprintf(stderr, "%s %s %s kind %d: %zu of %zu cases do not run\n", ops[b.op].enumerator,
                types.at(b.from).name, types.at(b.to).name, b.kind, refused, onednn_case_count(b));
        return;
    }
    printf("    {{%s, %s, %s, %s}, %zu,\n     UINT64_C(0x%016" PRIX64
           "), {0x%X, 0x%X, 0x%X, 0x%X}},\n",
           ops[b.op].enumerator, types.at(b.from).enumerator, types.at(b.to).enumerator,
           kinds[b.kind], count, hash, first[0], first[1], first[2], first[3]);
    fflush(stdout);
}

int main(int argc, char **argv) {
    try {
        dnnl::engine engine(dnnl::engine::kind::cpu, 0);
        FILE *all = argc > 1 ? fopen(argv[1], "wb") : nullptr;
        for (const onednn_batch &b : onednn_batches) print_batch(engine, b, all);
        if (all) fclose(all);
    } catch (const std::exception &error) {
        fprintf(stderr, "onednn_peer: %s\n", error.what());
        return 1;
    }
    return 0;
}
