// SPDX-License-Identifier: Apache-2.0
// Programs of the vector unit with known results: of each, FNV-1a checksums of all results on
// Wormhole and Blackhole, which published vectors have and not qdq.
#ifndef QDQ_TESTS_RUNTIME_TENSTORRENT_SFPU_CASES_H
#define QDQ_TESTS_RUNTIME_TENSTORRENT_SFPU_CASES_H

#include "runtime/tenstorrent/sfpu_ops.h"
#include "tests/unit.h"

#define OLD QDQ_SFPU_2026_04
#define TABLES QDQ_SFPU_2026_10
#define NEW QDQ_SFPU_AFTER_2026_10

typedef struct sfpu_case {
    const char *vectors;  // name of their file; NULL: an emulator of the same source has the bits
    qdq_sfpu_op op;
    bool approximate;
    qdq_sfpu_generation generation;
    float a, b;
    // Of the 65,536 results for bfloat16, each two bytes, the lower first; 0: the vectors are not
    // of the kernel of this chip.
    uint64_t checksum[2];
} sfpu_case;

static const sfpu_case sfpu_cases[] = {
    {"exp", QDQ_SFPU_EXP, false, TABLES, 0, 0, {0xBFF74C6614F964AA, 0x18B6097156D710DB}},
    {"exp_fast", QDQ_SFPU_EXP, true, TABLES, 0, 0, {0x3A8E7CDB84293626, 0x3A8E7CDB84293626}},
    {"sigmoid", QDQ_SFPU_SIGMOID, false, TABLES, 0, 0, {0x29D68EFB44BC214A, 0x05743D2CCB891B2B}},
    {"silu", QDQ_SFPU_SILU, false, TABLES, 0, 0, {0xB1058A649AC18111, 0x102EE27FFBE6E991}},
    {"tanh", QDQ_SFPU_TANH, false, TABLES, 0, 0, {0xF597EB5760478CE5, 0xF597EB5760478CE5}},
    {"tanh_fast", QDQ_SFPU_TANH, true, TABLES, 0, 0, {0x73EF8BCE3DDFBB5D, 0x73EF8BCE3DDFBB5D}},
    {"tanh_fast_old", QDQ_SFPU_TANH, true, OLD, 0, 0, {0x4F47C5D8FA4B775D, 0x4F47C5D8FA4B775D}},
    {"gelu", QDQ_SFPU_GELU, false, TABLES, 0, 0, {0x7FC1800BF94A6862, 0x3F3E8026E32DDBA3}},
    {"gelu_fast", QDQ_SFPU_GELU, true, TABLES, 0, 0, {0xC947815D61FE6AB4, 0x4E0AA3E842EC6AB4}},
    {"sqrt", QDQ_SFPU_SQRT, false, TABLES, 0, 0, {0x1D897F2764A11573, 0x1D897F2764A11573}},
    {"sqrt_fast", QDQ_SFPU_SQRT, true, TABLES, 0, 0, {0x2D8BC0688816DF1D, 0x8A92B886DA9A229D}},
    {"rsqrt", QDQ_SFPU_RSQRT, false, TABLES, 0, 0, {0x327D13E3AE2223E5, 0xD71C1AE3A6C96565}},
    {"rsqrt_fast", QDQ_SFPU_RSQRT, true, TABLES, 0, 0, {0xDC004DCAF4A4F61B, 0xDB5049723C45B49B}},
    {"recip_old",
     QDQ_SFPU_RECIPROCAL,
     false,
     TABLES,
     0,
     0,
     {0xF2E9C4193B388E45, 0x0FFF9F87259B5FB5}},
    {"recip", QDQ_SFPU_RECIPROCAL, false, NEW, 0, 0, {0xC136B0420538C435, 0x0FFF9F87259B5FB5}},
    {"log_new", QDQ_SFPU_LOG, false, TABLES, 0, 0, {0xD391E90C9E718E49, 0xD391E90C9E718E49}},
    {"log", QDQ_SFPU_LOG, false, OLD, 0, 0, {0xEAD5D653EC8D2914, 0xEAD5D653EC8D2914}},
    {"log1p", QDQ_SFPU_LOG1P, false, TABLES, 0, 0, {0xAEB45CBDF6C115C0, 0xAEB45CBDF6C115C0}},
    {"elu_cw", QDQ_SFPU_ELU, false, TABLES, 1, 0, {0xF15C7600ECF1EA0D, 0xF15C7600ECF1EA0D}},
    {"erf", QDQ_SFPU_ERF, false, TABLES, 0, 0, {0x3FA2DEB80CBAF6B5, 0x3FA2DEB80CBAF6B5}},
    {"softplus_old",
     QDQ_SFPU_SOFTPLUS,
     false,
     TABLES,
     1,
     20,
     {0xB154EE3DA7D9BDC7, 0xC4D113E2566B133E}},
    {"softplus", QDQ_SFPU_SOFTPLUS, false, NEW, 1, 20, {0x709508C5A470E464, 0xA5EDE8172A1DF9A1}},
    {"mish", QDQ_SFPU_MISH, false, TABLES, 0, 0, {0x84BC6F4350A47E0C, 0}},
    {"mish_bh", QDQ_SFPU_MISH, false, TABLES, 0, 0, {0, 0xA61A9360EA04A084}},
    {"square", QDQ_SFPU_SQUARE, false, TABLES, 0, 0, {0xDB308A00F76E9FFD, 0xDB308A00F76E9FFD}},
    {"leaky",
     QDQ_SFPU_LEAKY_RELU,
     false,
     TABLES,
     0.01f,
     0,
     {0xB6A340F1C4C32C06, 0x67658AB15C206F86}},
    {"relu6", QDQ_SFPU_RELU6, false, TABLES, 0, 0, {0xE7AC17922138B2A5, 0x8B267E7E62675325}},
    {"hardsigmoid",
     QDQ_SFPU_HARD_SIGMOID,
     false,
     TABLES,
     0,
     0,
     {0x3706A48D5910E50F, 0x8657065A16209736}},
    {"hardswish",
     QDQ_SFPU_HARD_SWISH,
     false,
     TABLES,
     0,
     0,
     {0xB7B84D64B9A4DAAB, 0x81F28B4270D4005A}},
    {"floor", QDQ_SFPU_FLOOR, false, TABLES, 0, 0, {0xA07BD750BE882669, 0xA07BD750BE882669}},
    {"ceil", QDQ_SFPU_CEIL, false, TABLES, 0, 0, {0x83CE64075C62E069, 0x83CE64075C62E069}},
    {"trunc", QDQ_SFPU_TRUNC, false, TABLES, 0, 0, {0xA06966D769F42D25, 0xA06966D769F42D25}},
    {"round", QDQ_SFPU_ROUND, false, TABLES, 0, 0, {0x5B1FBAA51E148CE5, 0x1228DA67ACBBCE65}},
    {"abs", QDQ_SFPU_ABS, false, TABLES, 0, 0, {0xE4D037B7C301CDA5, 0xE4D037B7C301CDA5}},
    {"neg", QDQ_SFPU_NEG, false, TABLES, 0, 0, {0xDED7723CB0081625, 0xDED7723CB0081625}},
    {"sign", QDQ_SFPU_SIGN, false, TABLES, 0, 0, {0x531163BD99904525, 0x531163BD99904525}},
    {NULL, QDQ_SFPU_RELU, false, TABLES, 0, 0, {0x887076301D919925, 0x887076301D919925}},
    {NULL, QDQ_SFPU_LOG, false, NEW, 0, 0, {0xC6DDCB9B52A98E49, 0xC6DDCB9B52A98E49}},
    {NULL, QDQ_SFPU_LOG, true, OLD, 0, 0, {0x0D36DDF674AE4C5E, 0x0D36DDF674AE4C5E}},
    {NULL, QDQ_SFPU_LOG, true, TABLES, 0, 0, {0xD391E90C9E718E49, 0xD391E90C9E718E49}},
    {NULL, QDQ_SFPU_LOG, true, NEW, 0, 0, {0xD391E90C9E718E49, 0xD391E90C9E718E49}},
    {NULL, QDQ_SFPU_SIGMOID, true, TABLES, 0, 0, {0xED6CACFB6DC6987D, 0x88CFBBA7A516987D}},
    {NULL, QDQ_SFPU_SIGMOID, true, NEW, 0, 0, {0x929B689996CDA1F4, 0x71A6CFD8B3DEEA22}},
    {NULL, QDQ_SFPU_ELU, false, OLD, 1, 0, {0xB5C203EEBBB465A2, 0x1396E4270A624862}},
    {NULL, QDQ_SFPU_ELU, false, TABLES, 0.5f, 0, {0xAD2D7E857D86D8FA, 0xAD2D7E857D86D8FA}},
    {NULL, QDQ_SFPU_SOFTPLUS, false, TABLES, 2, 10, {0x67524C6675ACF632, 0xF8A53F4F817C1DD3}},
    {NULL, QDQ_SFPU_LEAKY_RELU, false, TABLES, 0.3f, 0, {0x1ABAD1B8D5AC48BC, 0xF1ECD36E08658A3C}},
};

enum { SFPU_CASES = sizeof sfpu_cases / sizeof *sfpu_cases };

static const struct {
    qdq_multiply_add chip;
    const char *name;
} sfpu_chips[2] = {{QDQ_MULTIPLY_ADD_WORMHOLE, "wormhole"},
                   {QDQ_MULTIPLY_ADD_BLACKHOLE, "blackhole"}};

static inline qdq_sfpu_program sfpu_program(const sfpu_case *c, int chip) {
    return (qdq_sfpu_program){.op = c->op,
                              .chip = sfpu_chips[chip].chip,
                              .generation = c->generation,
                              .approximate = c->approximate,
                              .a = c->a,
                              .b = c->b};
}

#endif
