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
