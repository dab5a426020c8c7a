// SPDX-License-Identifier: Apache-2.0
// Written by tools/peers/torchao_edges.py: results of torchao 0.18.0 with PyTorch 2.15.0.
#include <qdq/qdq.h>

// clang-format off
static const struct {
    qdq_dtype x, y;
    qdq_scheme scheme;
    double quant_min, quant_max;
    float elements[2];
    uint32_t scale;
    int32_t zero_point, codes[2];
} torchao_choices[] = {
    {QDQ_BFLOAT16, QDQ_INT16, QDQ_ASYMMETRIC, -301, 300, {-1, 2}, 0x3BA40000, -100, {-300, 300}},
    {QDQ_BFLOAT16, QDQ_INT16, QDQ_ASYMMETRIC, -303, 303, {-1, 2}, 0x3BA20000, -102, {-303, 303}},
    {QDQ_BFLOAT16, QDQ_INT16, QDQ_ASYMMETRIC, -303, 303, {-2, 0}, 0x3B580000, 304, {-303, 303}},
    {QDQ_BFLOAT16, QDQ_INT16, QDQ_ASYMMETRIC, -32768, 32767, {-1, 3}, 0x38800000, -16384, {-32768, 32767}},
    {QDQ_BFLOAT16, QDQ_INT8, QDQ_ASYMMETRIC, -41.1, 59.4, {-0.75, 1}, 0x3C8F0000, 2, {-41, 59}},
    {QDQ_BFLOAT16, QDQ_INT8, QDQ_ASYMMETRIC, -99.9, 99.9, {-1, 0.5}, 0x3BF60000, 33, {-99, 99}},
    {QDQ_BFLOAT16, QDQ_INT16, QDQ_SYMMETRIC, -19661, 13106, {-1, 2}, 0x39000000, -3280, {-11472, 13104}},
    {QDQ_BFLOAT16, QDQ_INT16, QDQ_SYMMETRIC_NO_CLIPPING, -1000, 415, {-1, 2}, 0x3B9E0000, -292, {-499, 123}},
    {QDQ_FLOAT16, QDQ_INT16, QDQ_ASYMMETRIC, -4099, 4099, {-1, 2}, 0x39BFE000, -1368, {-4099, 4097}},
    {QDQ_FLOAT16, QDQ_INT16, QDQ_SYMMETRIC, -9001, 2003, {-1, 2}, 0x39BEA000, -3498, {-6248, 2003}},
    {QDQ_FLOAT32, QDQ_INT8, QDQ_SYMMETRIC, -99.9, 30.3, {-1, 2}, 0x3CFBACA2, -34, {-67, 30}},
    {QDQ_FLOAT32, QDQ_INT32, QDQ_SYMMETRIC, -30000003, 67108864, {-1, 2}, 0x3330E9DB, 18554432, {-5722784, 67108864}},
};
// clang-format on
