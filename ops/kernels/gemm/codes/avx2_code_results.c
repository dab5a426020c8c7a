// SPDX-License-Identifier: Apache-2.0
// Tiles of split codes whose sums become codes of a Quantize in registers, with AVX2. With AVX-512
// they are no faster than storing the sums and loading them again, 64 at a time.
#include "ops/kernels/gemm/gemm_tiles.inc.h"
#include "ops/kernels/quantize/avx2_codes.inc.h"

qdq_gemm_code_factors_fn qdq_gemm_code_factors_avx2;
qdq_gemm_code_results_fn qdq_gemm_code_results_avx2;

enum { VECTORS = GROUP / LANES };  // of a group of codes

_Static_assert(sizeof(factors) <= sizeof(qdq_gemm_code_factors), "factors have no room");

void qdq_gemm_code_factors_avx2(const qdq_gemm_code_rows *codes, qdq_gemm_code_factors *to) {
    factors own = factors_of(codes->params, qdq_float_from_bits(codes->views[0].data[0]),
                             (int32_t)codes->views[1].data[0]);
    memcpy(to->of, &own, sizeof own);
}

// The operands of a tile and of its codes.
typedef struct codes_tile {
    const int32_t *a, *b, *start;
    size_t start_stride, steps;
    bool first;                 // of the tiles that read these columns of B
    const float *scale, *bias;  // of each row
    const factors *by;
    bool is_signed;
    uint8_t *out;
    size_t out_stride, columns;
} codes_tile;

static inline gemm_floats result_of(gemm_ints sum, float scale, float bias) {
    return floats_add(floats_mul(floats_of(sum), floats_from(&scale)), floats_from(&bias));
}

// Stores the first n codes of a row of a tile. A copy of known size is one store.
static inline void put_codes(uint8_t *out, const uint8_t *codes, size_t n, size_t width) {
    if (n >= width)
        memcpy(out, codes, width);
    else
        copy_some((char *)out, (const char *)codes, n);
}

// A group of codes has two rows, or four of half the columns. Rows that a last group lacks are its
// first row.
#define CODES_TILE_OF(NAME, R, WIDTH)                                                           \
    static void NAME##_##R(const codes_tile *t) {                                               \
        enum { VECS = (WIDTH) / LANES, ROWS = VECTORS / VECS };                                 \
        const int32_t *restrict a = t->a, *restrict b = t->b;                                   \
        gemm_ints sum[R][VECS], of_b[VECS];                                                     \
        UNROLLED for (size_t r = 0; r < (R); r++) UNROLLED for (size_t v = 0; v < VECS; v++)    \
            sum[r][v] = ints_load(t->start + r * t->start_stride + v * LANES);                  \
        size_t left = t->steps;                                                                 \
        for (; t->first && left; left--, a++, b += COLUMNS) {                                   \
            ask_for(b, WIDTH);                                                                  \
            TILE_STEP(saturated_codes, ints, R, sum, a, b);                                     \
        }                                                                                       \
        for (; left; left--, a++, b += COLUMNS) TILE_STEP(saturated_codes, ints, R, sum, a, b); \
        UNROLLED for (size_t r = 0; r < (R); r += ROWS) {                                       \
            gemm_floats real[VECTORS];                                                          \
            uint8_t codes[GROUP];                                                               \
            UNROLLED for (size_t i = 0; i < VECTORS; i++) {                                     \
                size_t own = r + i / VECS < (R) ? r + i / VECS : r;                             \
                real[i] = result_of(sum[own][i % VECS], t->scale[own], t->bias[own]);           \
            }                                                                                   \
            store_codes(t->by, real, t->is_signed, codes);                                      \
            UNROLLED for (size_t i = 0; i < ROWS; i++) if (r + i < (R)) put_codes(              \
                t->out + (r + i) * t->out_stride, codes + i * (WIDTH), t->columns, WIDTH);      \
        }                                                                                       \
    }
#define CODES_TILE(R)                          \
    CODES_TILE_OF(codes_tile, R, TILE_COLUMNS) \
    CODES_TILE_OF(codes_narrow, R, TILE_COLUMNS / 2)

CODES_TILE(1)
CODES_TILE(2)
CODES_TILE(3)
CODES_TILE(4)
CODES_TILE(5)
CODES_TILE(6)

typedef void codes_tile_fn(const codes_tile *tile);

// Cuts a part into tiles of nearly the same number of rows, as run_tiles does.
void qdq_gemm_code_results_avx2(const qdq_gemm_code_results *p) {
    static codes_tile_fn *const tiles[] = {NULL,         codes_tile_1, codes_tile_2, codes_tile_3,
                                           codes_tile_4, codes_tile_5, codes_tile_6};
    static codes_tile_fn *const narrows[] = {NULL,           codes_narrow_1, codes_narrow_2,
                                             codes_narrow_3, codes_narrow_4, codes_narrow_5,
                                             codes_narrow_6};
    const qdq_gemm_part *part = &p->part;
    const qdq_gemm_code_rows *to = &p->codes;
    codes_tile t = {.start_stride = part->c_stride,
                    .steps = part->steps,
                    .by = (const factors *)(const void *)p->factors->of,
                    .is_signed = to->fn == qdq_quantize_float32_int8_hot_avx2,
                    .out_stride = to->out_stride};
    size_t left = (part->rows + TILE_ROWS - 1) / TILE_ROWS;
    for (size_t row = 0, rows; row < part->rows; row += rows, left--) {
        rows = (part->rows - row + left - 1) / left;
        t.a = (const int32_t *)part->a + row * ROW_WORDS;
        t.first = row == 0;
        t.scale = to->scale + row, t.bias = to->bias + row;
        for (size_t j = 0; j < to->n; j += TILE_COLUMNS) {
            t.b = (const int32_t *)part->b + j;
            t.start = (const int32_t *)part->c + row * part->c_stride + j;
            t.out = (uint8_t *)to->out + row * to->out_stride + j;
            t.columns = to->n - j;
            (t.columns <= TILE_COLUMNS / 2 ? narrows : tiles)[rows](&t);
        }
    }
}
