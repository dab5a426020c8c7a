// SPDX-License-Identifier: Apache-2.0
// Products of bytes with AMX: tiles of 16 rows and 16 columns of sums, 64 k at a time. What is no
// whole tile is left to AVX-512.
#include <immintrin.h>
#include <string.h>

#include "ops/kernels/gemm.h"

enum {
    TILE = 16,  // rows, columns, and steps
    COLUMNS = QDQ_GEMM_COLUMNS,
    STEP_BYTES = COLUMNS * QDQ_GEMM_STEP_BYTES,  // of B
    ROW_BYTES = QDQ_GEMM_ROW_BYTES,
    LEAST_ROWS = 4,
};

// What LDTILECFG takes.
typedef struct tile_config {
    uint8_t palette, start_row, reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
} tile_config;

// Sums of rows 0..15 are tiles 0 and 1, of rows 16..31 tiles 2 and 3; A is 4 and 5, B is 6 and 7.
static void configure(size_t rows, size_t more_rows) {
    tile_config config = {.palette = 1};
    for (int i = 0; i < 8; i++) config.row_bytes[i] = 64, config.rows[i] = TILE;
    config.rows[0] = config.rows[1] = config.rows[4] = (uint8_t)rows;
    config.rows[2] = config.rows[3] = config.rows[5] = (uint8_t)more_rows;
    _tile_loadconfig(&config);
}

// Up to 16 rows.
static void one_tile(const char *a, const char *b, const char *from, size_t from_stride, char *c,
                     size_t c_stride, size_t steps) {
    _tile_loadd(0, from, from_stride);
    _tile_loadd(1, from + 64, from_stride);
    for (size_t k = 0; k < steps; k += TILE) {
        _tile_loadd(4, a + k * QDQ_GEMM_STEP_BYTES, ROW_BYTES);
        _tile_loadd(6, b + k * STEP_BYTES, STEP_BYTES);
        _tile_loadd(7, b + k * STEP_BYTES + 64, STEP_BYTES);
        _tile_dpbusd(0, 4, 6);
        _tile_dpbusd(1, 4, 7);
    }
    _tile_stored(0, c, c_stride);
    _tile_stored(1, c + 64, c_stride);
}

// 16 rows and up to 16 more.
static void two_tiles(const char *a, const char *b, const char *from, size_t from_stride, char *c,
                      size_t c_stride, size_t steps) {
    _tile_loadd(0, from, from_stride);
    _tile_loadd(1, from + 64, from_stride);
    _tile_loadd(2, from + TILE * from_stride, from_stride);
    _tile_loadd(3, from + TILE * from_stride + 64, from_stride);
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
    _tile_stored(0, c, c_stride);
    _tile_stored(1, c + 64, c_stride);
    _tile_stored(2, c + TILE * c_stride, c_stride);
    _tile_stored(3, c + TILE * c_stride + 64, c_stride);
}

static void whole_steps(const qdq_gemm_part *p, size_t steps) {
    size_t stride = p->c_stride * 4;
    for (size_t row = 0, rows; row < p->rows; row += rows) {
        const char *a = (const char *)p->a + row * ROW_BYTES;
        char *c = (char *)p->c + row * stride;
        const char *from = p->start ? p->start : c;
        rows = p->rows - row < 2 * TILE ? p->rows - row : 2 * TILE;
        configure(rows < TILE ? rows : TILE, rows > TILE ? rows - TILE : TILE);
        (rows > TILE ? two_tiles : one_tile)(a, p->b, from, p->start ? 0 : stride, c, stride,
                                             steps);
    }
    _tile_release();
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
