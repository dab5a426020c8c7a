// SPDX-License-Identifier: Apache-2.0
// Programs of the vector unit: tables of kernels, and the way of an element through Dst and the
// packer (docs/device_arithmetic.md 9).
#include "runtime/tenstorrent/sfpu_ops.h"

#include "runtime/tenstorrent/patterns.h"
#include "runtime/tenstorrent/sfpu.h"
#include "runtime/tenstorrent/sfpu_blocks.h"
#include "runtime/tenstorrent/sfpu_kernels.h"
#include "runtime/tenstorrent/tile_formats.h"

// Modes for which a row stands.
typedef enum mode { EXACT, APPROXIMATE, BOTH } mode;

// The end of a kernel: the store truncates to the width of Dst, unless the kernel rounds before it
// or has its result in the upper half. RECIPROCAL: rounded on Wormhole, in the upper half on
// Blackhole. SEGMENTS: truncated on Wormhole, rounded on Blackhole.
typedef enum ending { TRUNCATED, ROUNDED, UPPER_HALF, RECIPROCAL, SEGMENTS } ending;

// A kernel from a generation on, until the next row of its op and mode.
typedef struct kernel_row {
    qdq_sfpu_op op;
    mode mode;
    qdq_sfpu_generation since;
    ending ending;
    qdq_sfpu_kernel *kernel;
    qdq_sfpu_evidence wormhole, blackhole;
} kernel_row;

#define OLD QDQ_SFPU_2026_04
#define TABLES QDQ_SFPU_2026_10
#define NEW QDQ_SFPU_AFTER_2026_10
#define SILICON QDQ_SFPU_SILICON
#define MODEL QDQ_SFPU_MODEL
#define READ QDQ_SFPU_READ
#define UNKNOWN QDQ_SFPU_UNKNOWN

static const kernel_row bfloat16_rows[] = {
    {QDQ_SFPU_EXP, EXACT, OLD, ROUNDED, qdq_sfpu_exp, SILICON, SILICON},
    {QDQ_SFPU_EXP, APPROXIMATE, OLD, TRUNCATED, qdq_sfpu_exp_approximate, SILICON, MODEL},
    {QDQ_SFPU_SIGMOID, EXACT, OLD, ROUNDED, qdq_sfpu_sigmoid, SILICON, SILICON},
    {QDQ_SFPU_SIGMOID, APPROXIMATE, OLD, TRUNCATED, qdq_sfpu_sigmoid_three_segments, READ, READ},
    {QDQ_SFPU_SIGMOID, APPROXIMATE, NEW, SEGMENTS, qdq_sfpu_sigmoid_six_segments, READ, READ},
    {QDQ_SFPU_SILU, BOTH, OLD, ROUNDED, qdq_sfpu_silu, SILICON, MODEL},
    {QDQ_SFPU_TANH, EXACT, OLD, ROUNDED, qdq_sfpu_tanh, SILICON, MODEL},
    {QDQ_SFPU_TANH, APPROXIMATE, OLD, TRUNCATED, qdq_sfpu_tanh_three_segments, READ, READ},
    {QDQ_SFPU_TANH, APPROXIMATE, TABLES, TRUNCATED, qdq_sfpu_tanh_six_segments, READ, READ},
    {QDQ_SFPU_GELU, EXACT, TABLES, ROUNDED, qdq_sfpu_gelu, SILICON, SILICON},
    {QDQ_SFPU_GELU, APPROXIMATE, OLD, TRUNCATED, qdq_sfpu_gelu_segments, SILICON, SILICON},
    {QDQ_SFPU_SQRT, EXACT, OLD, ROUNDED, qdq_sfpu_sqrt, SILICON, MODEL},
    {QDQ_SFPU_SQRT, APPROXIMATE, OLD, ROUNDED, qdq_sfpu_sqrt_approximate, READ, READ},
    {QDQ_SFPU_RSQRT, EXACT, OLD, ROUNDED, qdq_sfpu_rsqrt, SILICON, MODEL},
    {QDQ_SFPU_RSQRT, APPROXIMATE, OLD, ROUNDED, qdq_sfpu_rsqrt_approximate, READ, READ},
    {QDQ_SFPU_RECIPROCAL, BOTH, OLD, RECIPROCAL, qdq_sfpu_reciprocal, SILICON, MODEL},
    {QDQ_SFPU_RECIPROCAL, BOTH, NEW, UPPER_HALF, qdq_sfpu_reciprocal_rounded, READ, READ},
    {QDQ_SFPU_LOG, EXACT, OLD, ROUNDED, qdq_sfpu_log_from_1, READ, READ},
    {QDQ_SFPU_LOG, EXACT, TABLES, ROUNDED, qdq_sfpu_log, SILICON, MODEL},
    {QDQ_SFPU_LOG, EXACT, NEW, ROUNDED, qdq_sfpu_log_of_normal, READ, READ},
    {QDQ_SFPU_LOG, APPROXIMATE, OLD, ROUNDED, qdq_sfpu_log_from_1_approximate, READ, READ},
    {QDQ_SFPU_LOG, APPROXIMATE, TABLES, ROUNDED, qdq_sfpu_log, READ, READ},
    {QDQ_SFPU_LOG1P, BOTH, OLD, ROUNDED, qdq_sfpu_log1p, SILICON, MODEL},
    {QDQ_SFPU_ELU, BOTH, OLD, ROUNDED, qdq_sfpu_elu_from_exp, READ, READ},
    {QDQ_SFPU_ELU, BOTH, TABLES, ROUNDED, qdq_sfpu_elu, SILICON, MODEL},
    {QDQ_SFPU_ERF, BOTH, OLD, TRUNCATED, qdq_sfpu_erf, SILICON, MODEL},
    {QDQ_SFPU_SOFTPLUS, BOTH, TABLES, ROUNDED, qdq_sfpu_softplus, SILICON, MODEL},
    {QDQ_SFPU_SOFTPLUS, BOTH, NEW, ROUNDED, qdq_sfpu_softplus_tail, READ, READ},
    {QDQ_SFPU_MISH, BOTH, TABLES, ROUNDED, qdq_sfpu_mish, SILICON, READ},
    {QDQ_SFPU_SQUARE, BOTH, OLD, TRUNCATED, qdq_sfpu_square, SILICON, MODEL},
    {QDQ_SFPU_LEAKY_RELU, BOTH, OLD, TRUNCATED, qdq_sfpu_leaky_relu, SILICON, MODEL},
    {QDQ_SFPU_RELU, BOTH, OLD, TRUNCATED, qdq_sfpu_relu, SILICON, SILICON},
    {QDQ_SFPU_RELU6, BOTH, OLD, TRUNCATED, qdq_sfpu_relu6, SILICON, SILICON},
    {QDQ_SFPU_HARD_SIGMOID, BOTH, OLD, TRUNCATED, qdq_sfpu_hard_sigmoid, SILICON, MODEL},
    {QDQ_SFPU_HARD_SWISH, BOTH, OLD, ROUNDED, qdq_sfpu_hard_swish, SILICON, MODEL},
    {QDQ_SFPU_FLOOR, BOTH, OLD, TRUNCATED, qdq_sfpu_floor, SILICON, SILICON},
    {QDQ_SFPU_CEIL, BOTH, OLD, TRUNCATED, qdq_sfpu_ceil, SILICON, SILICON},
    {QDQ_SFPU_TRUNC, BOTH, OLD, TRUNCATED, qdq_sfpu_trunc, SILICON, MODEL},
    {QDQ_SFPU_ROUND, BOTH, OLD, TRUNCATED, qdq_sfpu_round, SILICON, SILICON},
    {QDQ_SFPU_ABS, BOTH, OLD, TRUNCATED, qdq_sfpu_abs, SILICON, SILICON},
    {QDQ_SFPU_NEG, BOTH, OLD, TRUNCATED, qdq_sfpu_neg, SILICON, SILICON},
    {QDQ_SFPU_SIGN, BOTH, OLD, TRUNCATED, qdq_sfpu_sign, SILICON, SILICON},
};

// A Dst of 32 bits takes the result as it is.
static const kernel_row float32_rows[] = {
    {QDQ_SFPU_EXP, EXACT, OLD, TRUNCATED, qdq_sfpu_exp_float32, SILICON, READ},
    {QDQ_SFPU_EXP, APPROXIMATE, OLD, TRUNCATED, qdq_sfpu_exp_approximate, READ, READ},
    {QDQ_SFPU_SIGMOID, EXACT, OLD, TRUNCATED, qdq_sfpu_sigmoid_float32, MODEL, READ},
    {QDQ_SFPU_SIGMOID, APPROXIMATE, OLD, TRUNCATED, qdq_sfpu_sigmoid_three_segments, READ, READ},
    {QDQ_SFPU_SIGMOID, APPROXIMATE, NEW, TRUNCATED, qdq_sfpu_sigmoid_six_segments, READ, READ},
    {QDQ_SFPU_SILU, BOTH, OLD, TRUNCATED, qdq_sfpu_silu_float32, READ, READ},
    {QDQ_SFPU_TANH, EXACT, OLD, TRUNCATED, qdq_sfpu_tanh_from_sigmoid_float32, READ, READ},
    {QDQ_SFPU_TANH, EXACT, TABLES, TRUNCATED, qdq_sfpu_tanh_float32, SILICON, READ},
    {QDQ_SFPU_GELU, EXACT, TABLES, TRUNCATED, qdq_sfpu_gelu_float32, MODEL, READ},
    {QDQ_SFPU_SQRT, EXACT, OLD, TRUNCATED, qdq_sfpu_sqrt, READ, READ},
    {QDQ_SFPU_RSQRT, EXACT, OLD, TRUNCATED, qdq_sfpu_rsqrt, READ, READ},
    {QDQ_SFPU_RECIPROCAL, BOTH, OLD, TRUNCATED, qdq_sfpu_reciprocal_float32, MODEL, READ},
    {QDQ_SFPU_LOG, EXACT, TABLES, TRUNCATED, qdq_sfpu_log_float32, READ, READ},
    {QDQ_SFPU_LOG, APPROXIMATE, TABLES, TRUNCATED, qdq_sfpu_log_approximate_float32, READ, READ},
    {QDQ_SFPU_LOG1P, BOTH, TABLES, TRUNCATED, qdq_sfpu_log1p_float32, UNKNOWN, UNKNOWN},
    {QDQ_SFPU_ELU, BOTH, TABLES, TRUNCATED, qdq_sfpu_elu_float32, MODEL, READ},
    {QDQ_SFPU_ERF, BOTH, OLD, TRUNCATED, qdq_sfpu_erf_float32, MODEL, READ},
    {QDQ_SFPU_SQUARE, BOTH, OLD, TRUNCATED, qdq_sfpu_square, READ, READ},
    {QDQ_SFPU_LEAKY_RELU, BOTH, OLD, TRUNCATED, qdq_sfpu_leaky_relu, READ, READ},
    {QDQ_SFPU_RELU, BOTH, OLD, TRUNCATED, qdq_sfpu_relu, READ, READ},
    {QDQ_SFPU_RELU6, BOTH, OLD, TRUNCATED, qdq_sfpu_relu6, READ, READ},
    {QDQ_SFPU_HARD_SIGMOID, BOTH, OLD, TRUNCATED, qdq_sfpu_hard_sigmoid, READ, READ},
    {QDQ_SFPU_FLOOR, BOTH, OLD, TRUNCATED, qdq_sfpu_floor, READ, READ},
    {QDQ_SFPU_CEIL, BOTH, OLD, TRUNCATED, qdq_sfpu_ceil, READ, READ},
    {QDQ_SFPU_TRUNC, BOTH, OLD, TRUNCATED, qdq_sfpu_trunc, READ, READ},
    {QDQ_SFPU_ROUND, BOTH, OLD, TRUNCATED, qdq_sfpu_round, READ, READ},
    {QDQ_SFPU_ABS, BOTH, OLD, TRUNCATED, qdq_sfpu_abs, READ, READ},
    {QDQ_SFPU_NEG, BOTH, OLD, TRUNCATED, qdq_sfpu_neg, READ, READ},
    {QDQ_SFPU_SIGN, BOTH, OLD, TRUNCATED, qdq_sfpu_sign, READ, READ},
};

#define COUNT(rows) (sizeof(rows) / sizeof *(rows))

// Returns the last row that holds for a program; NULL if none does.
static const kernel_row *row_of(const qdq_sfpu_program *program, bool is_float32) {
    const kernel_row *rows = is_float32 ? float32_rows : bfloat16_rows, *found = NULL;
    size_t count = is_float32 ? COUNT(float32_rows) : COUNT(bfloat16_rows);
    mode wanted = program->approximate && !program->accurate ? APPROXIMATE : EXACT;
    for (size_t i = 0; i < count; i++)
        if (rows[i].op == program->op && (rows[i].mode == wanted || rows[i].mode == BOTH) &&
            rows[i].since <= program->generation)
            found = &rows[i];
    return found;
}

// Moves a bfloat16 to the vector unit: a move within Dst, not the addition of
// qdq_chip_load_bfloat16, so -0 and NaN stay.
static uint32_t load(uint16_t x) { return qdq_sfp_store((uint32_t)x << 16); }

static ending ending_of(const kernel_row *row, qdq_multiply_add chip) {
    const bool wormhole = chip == QDQ_MULTIPLY_ADD_WORMHOLE;
    switch (row->ending) {
    case RECIPROCAL: return wormhole ? ROUNDED : UPPER_HALF;
    case SEGMENTS: return wormhole ? TRUNCATED : ROUNDED;
    default: return row->ending;
    }
}

static uint16_t bfloat16(const kernel_row *row, const qdq_sfpu_program *program, uint16_t x) {
    uint32_t y = row->kernel(program, load(x));
    ending end = ending_of(row, program->chip);
    if ((y & MAGNITUDE) > INFINITY_BITS)
        y = (y & SIGN_BIT) | (program->keep_nan ? NAN_BITS : INFINITY_BITS);
    else if (end == ROUNDED && !program->wide_dst)
        y = qdq_sfp_round_bfloat16(y);
    else if (end == ROUNDED || (end == TRUNCATED && program->round_store))
        y = qdq_sfp_half_even_bfloat16(y);
    uint16_t upper = (uint16_t)(y >> 16);
    if (program->wide_dst || (y & MAGNITUDE) > INFINITY_BITS) return upper;
    return qdq_chip_pack_bfloat16_dst16((uint16_t)(qdq_sfp_store(y) >> 16));
}

void qdq_sfpu_run_bfloat16(const qdq_sfpu_program *program, const uint16_t *x, uint16_t *y,
                           size_t n) {
    const kernel_row *row = row_of(program, false);
    for (size_t i = 0; i < n; i++) y[i] = row ? bfloat16(row, program, x[i]) : 0;
}

void qdq_sfpu_run_float32(const qdq_sfpu_program *program, const uint32_t *x, uint32_t *y,
                          size_t n) {
    const kernel_row *row = row_of(program, true);
    for (size_t i = 0; i < n; i++) y[i] = row ? qdq_sfp_store(row->kernel(program, x[i])) : 0;
}

uint16_t qdq_sfpu_bfloat16(const qdq_sfpu_program *program, uint16_t x) {
    qdq_sfpu_run_bfloat16(program, &x, &x, 1);
    return x;
}

uint32_t qdq_sfpu_float32(const qdq_sfpu_program *program, uint32_t x) {
    qdq_sfpu_run_float32(program, &x, &x, 1);
    return x;
}

void qdq_sfpu_table(const qdq_sfpu_program *program, uint16_t table[65536]) {
    for (size_t i = 0; i < 65536; i++) table[i] = (uint16_t)i;
    qdq_sfpu_run_bfloat16(program, table, table, 65536);
}

bool qdq_sfpu_modelled(const qdq_sfpu_program *program, bool is_float32) {
    return row_of(program, is_float32) != NULL;
}

// True if tables of silicon were published for these parameters.
static bool has_usual_parameters(const qdq_sfpu_program *program) {
    switch (program->op) {
    case QDQ_SFPU_ELU: return program->a == 1;
    case QDQ_SFPU_LEAKY_RELU: return program->a == 0.01f;
    case QDQ_SFPU_SOFTPLUS: return program->a == 1 && program->b == 20;
    default: return true;
    }
}

qdq_sfpu_evidence qdq_sfpu_evidence_of(const qdq_sfpu_program *program, bool is_float32) {
    const kernel_row *row = row_of(program, is_float32);
    if (!row) return QDQ_SFPU_UNKNOWN;
    qdq_sfpu_evidence known =
        program->chip == QDQ_MULTIPLY_ADD_WORMHOLE ? row->wormhole : row->blackhole;
    bool published = program->generation == TABLES && has_usual_parameters(program);
    return known > READ && !published ? READ : known;
}
