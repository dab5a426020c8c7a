// SPDX-License-Identifier: Apache-2.0
// Keeps constant B as codes, a byte or half a byte each, and dequantizes it part by part while it
// is multiplied. k and column index different dims, so the number of an element's quantization
// block is a k part plus a column part, wherever all matrices have blocks at the same k.
//
// Codes are packed in panels of 32 columns. A kernel of ops/kernels/gemm/gemm_dequant_b.inc.h
// turns a part of them into floats where the product would otherwise pack or read floats.
// Parameters are stored as rows of 32, one row per run of k that shares them.
#include "ops/gemm/weight_codes/gemm_weight_codes.h"

#include "ops/gemm/gemm_read.h"
#include "runtime/numerics/dtype.h"

enum { COLUMNS = QDQ_GEMM_COLUMNS, HALF = COLUMNS / 2 };

//---- Parameters -------------------------------------------------------------

static size_t block_at(const qdq_stage_param *v, size_t element) {
    size_t run;
    return qdq_grid_block(v->grid, element, &run);
}

static size_t block_of_k(const qdq_gemm_weights *w, const qdq_stage_param *v, size_t k) {
    return block_at(v, qdq_gemm_element(w, 0, k, 0));
}

static bool all_alike(const qdq_stage_param *v) {
    for (size_t i = 1; i < v->count; i++)
        if (v->values[i] != v->values[0]) return false;
    return true;
}

// Joins parameters that are all the same to one.
static qdq_stage_param joined(qdq_stage_param v) {
    if (all_alike(&v)) v.count = 1, v.grid = &qdq_grid_whole;
    return v;
}

// True if k has other parameters than k - 1.
static bool begins_row(const qdq_gemm_weights *w, const qdq_stage_param *v, size_t k) {
    return v->count > 1 && block_of_k(w, v, k) != block_of_k(w, v, k - 1);
}

// Returns the number of rows of parameters along k.
static size_t count_rows(const qdq_gemm_weights *w, const qdq_stage_param *v, size_t depth) {
    size_t rows = 1;
    for (size_t k = 1; v->count > 1 && k < depth; k++) rows += begins_row(w, v, k);
    return rows;
}

static bool columns_alike(const qdq_gemm *g, const qdq_stage_param *v) {
    const qdq_gemm_weights *w = &g->weights;
    for (size_t matrix = 0; v->count > 1 && matrix < w->matrices; matrix++)
        for (size_t j = 1; j < g->columns; j++)
            if (block_at(v, qdq_gemm_element(w, matrix, 0, j)) !=
                block_at(v, qdq_gemm_element(w, matrix, 0, 0)))
                return false;
    return true;
}

// Stores a parameter as the kernels take it: zero points are shifted for unsigned codes, and a NaN
// scale is 0x7FC00000.
static void put(qdq_gemm_parameters *p, size_t at, uint32_t value, int32_t bias) {
    float scale = qdq_float_from_bits(value);
    if (p->zeros)
        ((int16_t *)p->zeros)[at] = (int16_t)((int32_t)value + bias);
    else
        ((float *)p->scales)[at] = scale == scale ? scale : qdq_float_from_bits(0x7FC00000);
}

// Stores the parameters of one row, for all columns.
static void put_row(const qdq_gemm *g, const qdq_stage_param *v, size_t k, size_t row, int32_t bias,
                    qdq_gemm_parameters *p) {
    const qdq_gemm_weights *w = &g->weights;
    size_t panels = qdq_gemm_panels(g), of_k = v->count == 1 ? 0 : block_of_k(w, v, k);
    for (size_t matrix = 0; matrix < w->matrices; matrix++)
        for (size_t j = 0; j < (p->alike ? 1 : g->columns); j++) {
            size_t panel = matrix * panels + j / COLUMNS;
            size_t at =
                p->alike ? matrix * p->rows + row : (panel * p->rows + row) * COLUMNS + j % COLUMNS;
            size_t block = v->count == 1 ? 0 : block_at(v, qdq_gemm_element(w, matrix, 0, j));
            put(p, at, v->values[of_k + block], bias);
        }
}

static bool pack_parameters(const qdq_gemm *g, const qdq_stage_param *v, int32_t bias,
                            qdq_mempool *mempool, qdq_gemm_parameters *p, size_t *bytes) {
    size_t item = v->is_int ? sizeof(int16_t) : sizeof(float);
    *p = (qdq_gemm_parameters){.rows = count_rows(&g->weights, v, g->depth),
                               .alike = columns_alike(g, v)};
    size_t count = g->weights.matrices * (p->alike ? 1 : qdq_gemm_panels(g) * COLUMNS);
    void *memory = qdq_mempool_array(mempool, count, p->rows * item);
    if (!memory) return false;
    *bytes += count * p->rows * item;
    if (v->is_int)
        p->zeros = memory;
    else
        p->scales = memory;
    size_t row = 0;
    put_row(g, v, 0, 0, bias, p);
    for (size_t k = 1; p->rows > 1 && k < g->depth; k++)
        if (begins_row(&g->weights, v, k)) put_row(g, v, k, ++row, bias, p);
    return true;
}

static bool add_stretches(const qdq_gemm *g, const qdq_stage_param *scale,
                          const qdq_stage_param *zero, qdq_mempool *mempool,
                          struct qdq_gemm_weight_codes *c) {
    const qdq_gemm_weights *w = &g->weights;
    size_t most = count_rows(w, scale, g->depth) + count_rows(w, zero, g->depth) - 1;
    qdq_gemm_stretch *s = qdq_mempool_array(mempool, most, sizeof *s);
    if (!s) return false;
    c->stretches = s;
    c->stretch_count = 1;
    c->in_fours = c->in_eights = true;
    for (size_t k = 1; most > 1 && k < g->depth; k++) {
        bool scales = begins_row(w, scale, k), zeros = begins_row(w, zero, k);
        if (!scales && !zeros) continue;
        s[1] = (qdq_gemm_stretch){(uint32_t)k, s[0].scale + scales, s[0].zero + zeros};
        c->in_fours &= k % 4 == 0;
        c->in_eights &= k % QDQ_GEMM_EIGHTH == 0;
        s++, c->stretch_count++;
    }
    return true;
}

//---- Codes ------------------------------------------------------------------

static bool has_sign(qdq_dtype dtype) { return dtype == QDQ_INT8 || dtype == QDQ_INT4; }
static bool is_half(qdq_dtype dtype) { return dtype == QDQ_INT4 || dtype == QDQ_UINT4; }
static int32_t bias_of(qdq_dtype dtype) { return has_sign(dtype) ? is_half(dtype) ? 8 : 128 : 0; }

// Reads row k of a panel. Missing columns may hold any number, because their sums are not used.
static void read_row(const qdq_gemm *g, const qdq_weight_codes *weight_codes,
                     const qdq_gemm_source *from, const qdq_gemm_part_of_b *part, size_t k,
                     uint8_t *row) {
    const uint8_t *x = from->data;  // bytes, whatever the dtype of B
    x += qdq_gemm_element(&g->weights, part->matrix, k, part->column) - from->first;
    uint8_t bias = (uint8_t)bias_of(weight_codes->dtype), mask = 255;
    if (is_half(weight_codes->dtype)) mask = 15;
    size_t n = part->columns, stride = g->weights.column_stride;
    if (stride == 1)
        memcpy(row, x, n);
    else
        for (size_t j = 0; j < n; j++) row[j] = x[j * stride];
    for (size_t j = 0; j < COLUMNS; j++) row[j] = (uint8_t)(row[j] + bias) & mask;
}

static void pack_row(bool halves, const uint8_t *row, uint8_t *out) {
    if (!halves)
        memcpy(out, row, COLUMNS);
    else
        for (size_t j = 0; j < HALF; j++) out[j] = (uint8_t)(row[j] | row[j + HALF] << 4);
}

// Packs a line of rows. Rows beyond the depth may hold any numbers.
static void pack_line(bool halves, uint8_t (*rows)[COLUMNS], uint8_t *out) {
    for (size_t i = 0; halves && i < 4; i++)
        for (size_t j = 0; j < COLUMNS; j++) rows[i][j] |= (uint8_t)(rows[i + 4][j] << 4);
    for (size_t j = 0; j < COLUMNS; j++)
        for (size_t i = 0; i < 4; i++) out[j * 4 + i] = rows[i][j];
}

// Panels of codes that are packed.
typedef struct packing {
    const qdq_gemm *gemm;
    const qdq_weight_codes *weight_codes;
    uint8_t *codes;
} packing;

static void pack_panel(void *self, const qdq_gemm_source *from, const qdq_gemm_part_of_b *part) {
    const packing *to = self;
    const qdq_gemm *g = to->gemm;
    const struct qdq_gemm_weight_codes *c = g->weight_codes;
    size_t number = part->matrix * qdq_gemm_panels(g) + part->column / COLUMNS;
    uint8_t rows[8][COLUMNS] = {0}, *panel = to->codes + number * c->panel_bytes;
    size_t step = !c->lines ? 1 : c->halves ? 8 : 4;
    for (size_t k = part->k; k < part->k + part->n; k += step) {
        for (size_t i = 0; i < step && k + i < part->k + part->n; i++)
            read_row(g, to->weight_codes, from, part, k + i, rows[i]);
        if (c->lines)
            pack_line(c->halves, rows, panel + k / step * QDQ_GEMM_LINE_BYTES);
        else
            pack_row(c->halves, rows[0], panel + k * c->row_bytes);
    }
}

static const uint8_t *pack_codes(const qdq_gemm *g, const qdq_weight_codes *weight_codes,
                                 const qdq_lowering *to) {
    size_t count = g->weights.matrices * qdq_gemm_panels(g);
    uint8_t *codes = qdq_mempool_array(to->mempool, count, g->weight_codes->panel_bytes);
    if (!codes) return NULL;
    qdq_gemm_known known = {.data = weight_codes->data, .stored = weight_codes->stored};
    packing panels = {g, weight_codes, codes};
    return qdq_gemm_each_panel(g, &known, 1, to->mempool, to->parallel, pack_panel, &panels) ? codes
                                                                                             : NULL;
}

static size_t panel_bytes(const qdq_gemm *g, const struct qdq_gemm_weight_codes *c) {
    size_t step = c->halves ? 8 : 4;
    return c->lines ? (g->depth + step - 1) / step * QDQ_GEMM_LINE_BYTES : g->depth * c->row_bytes;
}

bool qdq_gemm_row_is_fixed(const qdq_gemm *g) {
    return g->fast && g->rows == 1 && g->kind == QDQ_GEMM_FLOATS && g->weights.dtype == QDQ_FLOAT32;
}

bool qdq_gemm_pack_weight_codes(qdq_gemm *g, const qdq_weight_codes *weight_codes,
                                const qdq_lowering *to) {
    qdq_mempool *mempool = to->mempool;
    struct qdq_gemm_weight_codes *c = QDQ_MEMPOOL_NEW(mempool, struct qdq_gemm_weight_codes);
    qdq_stage_param scale = joined(weight_codes->scale), zero = joined(weight_codes->zero_point);
    int32_t bias = bias_of(weight_codes->dtype);
    if (!c || !add_stretches(g, &scale, &zero, mempool, c)) return false;
    g->weight_codes = c;
    c->dtype = g->weights.dtype;
    c->halves = is_half(weight_codes->dtype);
    c->row_bytes = c->halves ? HALF : COLUMNS;
    c->lines = qdq_gemm_row_is_fixed(g) && c->in_eights;
    c->panel_bytes = panel_bytes(g, c);
    c->codes = pack_codes(g, weight_codes, to);
    if (!c->codes) return false;
    g->packed_bytes = g->weights.matrices * qdq_gemm_panels(g) * c->panel_bytes +
                      c->stretch_count * sizeof *c->stretches;
    return pack_parameters(g, &scale, 0, mempool, &c->scale, &g->packed_bytes) &&
           pack_parameters(g, &zero, bias, mempool, &c->zero, &g->packed_bytes);
}

// True if parameters change at the same k in all matrices. In a transposed convolution the groups
// follow each other along the dim of k, and may begin within a quantization block.
static bool matrices_alike(const qdq_gemm *g, const qdq_stage_param *v) {
    const qdq_gemm_weights *w = &g->weights;
    for (size_t matrix = 1; v->count > 1 && matrix < w->matrices; matrix++) {
        size_t first = block_at(v, qdq_gemm_element(w, matrix, 0, 0)) - block_of_k(w, v, 0);
        for (size_t k = 1; k < g->depth; k++)
            if (block_at(v, qdq_gemm_element(w, matrix, k, 0)) != first + block_of_k(w, v, k))
                return false;
    }
    return true;
}

bool qdq_gemm_takes_weight_codes(const qdq_gemm *g, const qdq_weight_codes *weight_codes) {
    qdq_stage_param scale = joined(weight_codes->scale), zero = joined(weight_codes->zero_point);
    size_t bits = is_half(weight_codes->dtype) ? 4 : 8;
    if (!matrices_alike(g, &scale) || !matrices_alike(g, &zero)) return false;
    size_t scales = columns_alike(g, &scale) ? 0 : count_rows(&g->weights, &scale, g->depth);
    size_t zeros = columns_alike(g, &zero) ? 0 : count_rows(&g->weights, &zero, g->depth);
    return g->depth <= UINT32_MAX && g->depth * (32 - bits) > scales * 32 + zeros * 16;
}

bool qdq_gemm_has_byte_columns(const qdq_gemm *g, const qdq_weight_codes *codes) {
    qdq_stage_param scale = joined(codes->scale), zero = joined(codes->zero_point);
    return !is_half(codes->dtype) && count_rows(&g->weights, &scale, g->depth) == 1 &&
           count_rows(&g->weights, &zero, g->depth) == 1;
}

//---- Floats -----------------------------------------------------------------

// Returns the scales of all columns in row `row` of a panel.
static const float *scales_at(const qdq_gemm_parameters *p, size_t panel, size_t matrix, size_t row,
                              float *room) {
    if (!p->alike) return p->scales + (panel * p->rows + row) * COLUMNS;
    for (size_t j = 0; j < COLUMNS; j++) room[j] = p->scales[matrix * p->rows + row];
    return room;
}

static void spread_zeros(const qdq_gemm_parameters *p, size_t panel, size_t matrix, size_t row,
                         float *room) {
    const int16_t *from = p->zeros + (panel * p->rows + row) * COLUMNS;
    if (p->alike) from = p->zeros + matrix * p->rows + row;
    for (size_t j = 0; j < COLUMNS; j++) room[j] = (float)from[p->alike ? 0 : j];
}

const qdq_gemm_stretch *qdq_gemm_stretch_at(const struct qdq_gemm_weight_codes *c, size_t k) {
    size_t low = 0, high = c->stretch_count;
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (c->stretches[middle].begin <= k)
            low = middle;
        else
            high = middle;
    }
    return &c->stretches[low];
}

size_t qdq_gemm_stretch_rows(const struct qdq_gemm_weight_codes *c, const qdq_gemm_stretch *s,
                             size_t k, size_t end) {
    bool last = s + 1 == c->stretches + c->stretch_count;
    return (last || s[1].begin > end ? end : s[1].begin) - k;
}

// Decodes or multiplies the codes of a part.
static void use_codes(const qdq_gemm *g, const qdq_gemm_weight_part *part) {
    (part->a ? g->kernel->multiply_codes : g->kernel->decode)(part);
}

// Uses B whose columns have their own parameters, stretch by stretch.
static void use_columns(const qdq_gemm *g, size_t panel, size_t k, size_t n,
                        qdq_gemm_weight_part part) {
    const struct qdq_gemm_weight_codes *c = g->weight_codes;
    size_t matrix = panel / qdq_gemm_panels(g);
    float scales[COLUMNS], zeros[COLUMNS];
    part.zero = zeros;
    uint32_t zero = UINT32_MAX;
    const qdq_gemm_stretch *s = qdq_gemm_stretch_at(c, k);
    for (size_t end = k + n; k < end; k += part.rows, s++) {
        part.rows = qdq_gemm_stretch_rows(c, s, k, end);
        part.scale = scales_at(&c->scale, panel, matrix, s->scale, scales);
        if (s->zero != zero) spread_zeros(&c->zero, panel, matrix, s->zero, zeros);
        zero = s->zero;
        use_codes(g, &part);
        part.codes += part.rows * c->row_bytes;
        if (part.a)
            part.a += part.rows;
        else
            part.b += part.rows * COLUMNS;
    }
}

// Uses B whose columns are alike: one scale and one zero point for each k.
static void use_rows(const qdq_gemm *g, size_t panel, size_t k, size_t n,
                     qdq_gemm_weight_part part) {
    const struct qdq_gemm_weight_codes *c = g->weight_codes;
    size_t matrix = panel / qdq_gemm_panels(g);
    float scales[QDQ_GEMM_DEPTH], zeros[QDQ_GEMM_DEPTH];
    const qdq_gemm_stretch *s = qdq_gemm_stretch_at(c, k);
    for (size_t i = 0; i < n; s++) {
        size_t stop = i + qdq_gemm_stretch_rows(c, s, k + i, k + n);
        float scale = c->scale.scales[matrix * c->scale.rows + s->scale];
        float zero = (float)c->zero.zeros[matrix * c->zero.rows + s->zero];
        for (; i < stop; i++) scales[i] = scale, zeros[i] = zero;
    }
    part.by_row = true;
    part.scale = scales, part.zero = zeros;
    part.rows = n;
    use_codes(g, &part);
}

static void use_part(const qdq_gemm *g, size_t panel, size_t k, size_t n,
                     qdq_gemm_weight_part part) {
    const struct qdq_gemm_weight_codes *c = g->weight_codes;
    part.codes = c->codes + panel * c->panel_bytes + k * c->row_bytes;
    part.halves = c->halves;
    part.dtype = c->dtype;
    bool by_rows = c->scale.alike && c->zero.alike;
    (by_rows ? use_rows : use_columns)(g, panel, k, n, part);
}

static void decode_floats(const qdq_gemm *g, size_t panel, size_t k, size_t n, float *b) {
    use_part(g, panel, k, n, (qdq_gemm_weight_part){.b = b});
}

bool qdq_gemm_multiplies_codes(const qdq_gemm *g) {
    const struct qdq_gemm_weight_codes *c = g->weight_codes;
    if (!c || g->kind != QDQ_GEMM_FLOATS || c->dtype != QDQ_FLOAT32) return false;
    return !g->order.sums || (g->order.sums == QDQ_SUM_FOURS && c->in_fours);
}

bool qdq_gemm_sums_fixed(const qdq_gemm *g) { return g->weight_codes && g->weight_codes->lines; }

void qdq_gemm_multiply_codes(const qdq_gemm *g, size_t panel, size_t k, size_t n, const float *a,
                             float *sums) {
    static const qdq_gemm_code_order orders[] = {
        [QDQ_SUM_CHAIN] = QDQ_CODES_CHAIN, [QDQ_SUM_FOURS] = QDQ_CODES_FOURS};
    use_part(g, panel, k, n,
             (qdq_gemm_weight_part){.a = a, .sums = sums, .order = orders[g->order.sums]});
}

// Packs two rows of floats that are bfloat16 into pairs.
static void pair_up(const float *rows, size_t n, uint32_t *pairs) {
    for (size_t j = 0; j < COLUMNS; j++) {
        uint32_t second = n > 1 ? qdq_float_bits(rows[COLUMNS + j]) : 0;
        pairs[j] = qdq_float_bits(rows[j]) >> 16 | (second & 0xFFFF0000);
    }
}

void qdq_gemm_decode(const qdq_gemm *g, size_t panel, size_t k, size_t n, void *b) {
    enum { PART = 32 };
    float rows[PART * COLUMNS] = {0};
    if (g->kind != QDQ_GEMM_BFLOATS) {
        decode_floats(g, panel, k, n, b);
        return;
    }
    uint32_t *pairs = b;
    for (size_t i = 0; i < n; i += PART) {
        size_t part = n - i < PART ? n - i : PART;
        decode_floats(g, panel, k + i, part, rows);
        for (size_t r = 0; r < part; r += 2, pairs += COLUMNS)
            pair_up(rows + r * COLUMNS, part - r, pairs);
    }
}
