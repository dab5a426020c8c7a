// SPDX-License-Identifier: Apache-2.0
// Products of bytes with AMX: tiles of 16 rows and 16 columns of sums, 64 k at a time. The k that
// do not fill a tile, and parts of fewer than 4 rows, go to the AVX-512 kernel.
#include <immintrin.h>
#include <string.h>

#include "ops/kernels/gemm/gemm.h"

enum {
    TILE = 16,  // rows, columns, and steps
    COLUMNS = QDQ_GEMM_COLUMNS,
    STEP_BYTES = COLUMNS * QDQ_GEMM_STEP_BYTES,  // of B
    ROW_BYTES = QDQ_GEMM_ROW_BYTES,
    LEAST_ROWS = 4,
};

// The operand of LDTILECFG.
typedef struct tile_config {
    uint8_t palette, start_row, reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
} tile_config;

// Compilers do not know that tile instructions read memory. READS keeps earlier stores to a
// variable.
#define READS(variable) __asm__ volatile("" ::"r"(variable) : "memory")

// All tiles are 16 rows of 64 bytes. Tiles 0 and 1 hold the sums of rows 0..15, tiles 2 and 3 the
// sums of rows 16..31. Tiles 4 and 5 hold A, 6 and 7 hold B.
void qdq_gemm_enter_amx(void) {
    tile_config config = {.palette = 1};
    for (int i = 0; i < 8; i++) config.row_bytes[i] = 64, config.rows[i] = TILE;
    READS(&config);
    _tile_loadconfig(&config);
}

void qdq_gemm_leave_amx(void) { _tile_release(); }

// The memory that the sums of a tile are loaded from and stored to. Strides are bytes from one row
// to the next.
typedef struct sums {
    const char *from;
    size_t from_stride;
    char *to;
    size_t to_stride;
} sums;

// Multiplies 16 rows.
static void one_tile(const char *a, const char *b, sums c, size_t steps) {
    _tile_loadd(0, c.from, c.from_stride);
    _tile_loadd(1, c.from + 64, c.from_stride);
    for (size_t k = 0; k < steps; k += TILE) {
        _tile_loadd(4, a + k * QDQ_GEMM_STEP_BYTES, ROW_BYTES);
        _tile_loadd(6, b + k * STEP_BYTES, STEP_BYTES);
        _tile_loadd(7, b + k * STEP_BYTES + 64, STEP_BYTES);
        _tile_dpbusd(0, 4, 6);
        _tile_dpbusd(1, 4, 7);
    }
    _tile_stored(0, c.to, c.to_stride);
    _tile_stored(1, c.to + 64, c.to_stride);
}

// Multiplies 32 rows.
static void two_tiles(const char *a, const char *b, sums c, size_t steps) {
    _tile_loadd(0, c.from, c.from_stride);
    _tile_loadd(1, c.from + 64, c.from_stride);
    _tile_loadd(2, c.from + TILE * c.from_stride, c.from_stride);
    _tile_loadd(3, c.from + TILE * c.from_stride + 64, c.from_stride);
    for (size_t k = 0; k < steps; k += TILE) {
        const char *x = a + k * QDQ_GEMM_STEP_BYTES;
        _tile_loadd(6, b + k * STEP_BYTES, STEP_BYTES);
        _tile_loadd(7, b + k * STEP_BYTES + 64, STEP_BYTES);
        _tile_loadd(4, x, ROW_BYTES);
        _tile_loadd(5, x + TILE * ROW_BYTES, ROW_BYTES);
        _tile_dpbusd(0, 4, 6);
        _tile_dpbusd(1, 4, 7);
        _tile_dpbusd(2, 5, 6);
        _tile_dpbusd(3, 5, 7);
    }
    _tile_stored(0, c.to, c.to_stride);
    _tile_stored(1, c.to + 64, c.to_stride);
    _tile_stored(2, c.to + TILE * c.to_stride, c.to_stride);
    _tile_stored(3, c.to + TILE * c.to_stride + 64, c.to_stride);
}

// Multiplies fewer than 16 rows: copies them to a whole tile whose other rows are zeros.
static void part_of_a_tile(const char *a, const char *b, sums c, size_t rows, size_t steps) {
    _Alignas(64) char of_a[TILE * ROW_BYTES], of_c[TILE * STEP_BYTES];
    memset(of_a, 0, sizeof of_a);
    memset(of_c, 0, sizeof of_c);
    for (size_t r = 0; r < rows; r++) {
        memcpy(of_a + r * ROW_BYTES, a + r * ROW_BYTES, steps * QDQ_GEMM_STEP_BYTES);
        memcpy(of_c + r * STEP_BYTES, c.from + r * c.from_stride, STEP_BYTES);
    }
    READS(of_a);
    READS(of_c);
    one_tile(of_a, b, (sums){of_c, STEP_BYTES, of_c, STEP_BYTES}, steps);
    for (size_t r = 0; r < rows; r++)
        memcpy(c.to + r * c.to_stride, of_c + r * STEP_BYTES, STEP_BYTES);
}

static void whole_steps(const qdq_gemm_part *p, size_t steps) {
    size_t stride = p->c_stride * 4;
    for (size_t row = 0, rows; row < p->rows; row += rows) {
        const char *a = (const char *)p->a + row * ROW_BYTES;
        char *to = (char *)p->c + row * stride;
        sums c = {p->start ? p->start : to, p->start ? 0 : stride, to, stride};
        size_t left = p->rows - row;
        rows = left >= 2 * TILE ? 2 * TILE : left >= TILE ? TILE : left;
        if (rows == 2 * TILE)
            two_tiles(a, p->b, c, steps);
        else if (rows == TILE)
            one_tile(a, p->b, c, steps);
        else
            part_of_a_tile(a, p->b, c, rows, steps);
    }
}

void qdq_gemm_bytes_amx(const qdq_gemm_part *p) {
    size_t steps = p->rows < LEAST_ROWS ? 0 : p->steps / TILE * TILE;
    if (steps) whole_steps(p, steps);
    if (steps == p->steps) return;
    qdq_gemm_part rest = *p;
    rest.a = (const char *)p->a + steps * QDQ_GEMM_STEP_BYTES;
    rest.b = (const char *)p->b + steps * STEP_BYTES;
    if (steps) rest.start = NULL;
    rest.steps -= steps;
    qdq_gemm_bytes_avx512(&rest);
}
