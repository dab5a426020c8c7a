// SPDX-License-Identifier: Apache-2.0
// Follows tt-metal's create_simple_matmul_program_config and the circular buffers of its factories:
// multicast in two dims, multicast of one operand, and one tile at a time.
#include "runtime/tenstorrent/matmul_program.h"

enum { TILE = 32, MOST_DIVISORS = 64, DEPTH = 2 };  // DEPTH: inputs are buffered twice

static const uint64_t far_too_large = UINT64_C(1) << 60;

static uint64_t product(uint64_t a, uint64_t b) {
    uint64_t out;
    return __builtin_mul_overflow(a, b, &out) || out > far_too_large ? far_too_large : out;
}

static uint64_t div_up(uint64_t a, uint64_t b) { return a / b + (a % b != 0); }

// A block that a core computes at once, in tiles: h x w, over k tiles of the inner dim.
typedef struct block {
    uint64_t h, w, k;
} block;

//---- Which block fits -------------------------------------------------------

static uint64_t intermediate_bytes(const qdq_matmul_problem *p) {
    if (p->fp32_dest_acc_en) return TILE * TILE * 4;
    return p->y_bytes > TILE * TILE * 2 ? p->y_bytes : TILE * TILE * 2;
}

// tt-metal's estimate, which counts the result with the tiles of a.
static bool fits(const qdq_matmul_problem *p, block b) {
    uint64_t in0 = product(product(b.h, b.k), DEPTH * p->a_bytes);
    uint64_t in1 = product(product(b.w, b.k), DEPTH * p->b_bytes);
    uint64_t out = product(product(b.h, b.w), p->a_bytes + intermediate_bytes(p));
    uint64_t transposed = p->transpose_a ? in0 : 0;
    return in0 + in1 + out + transposed + product(b.w, p->bias_bytes) < p->free_l1;
}

// Lists the divisors in tt-metal's order: n, 1, then downward. 0: there are too many.
static size_t divisors(uint64_t n, uint64_t out[MOST_DIVISORS]) {
    uint64_t small[MOST_DIVISORS];
    size_t smalls = 0, count = 0;
    for (uint64_t d = 1; d <= n / d; d++)
        if (n % d == 0) {
            if (smalls == MOST_DIVISORS / 2) return 0;
            small[smalls++] = d;
        }
    out[count++] = n;
    out[count++] = 1;
    for (size_t i = 1; i < smalls; i++)
        if (small[i] != n / small[i]) out[count++] = n / small[i];
    for (size_t i = smalls; i-- > 1;) out[count++] = small[i];
    return count;
}

// True if a x b is at least as square as c x d of the same product.
static bool is_squarer(uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
    return (a > b ? a : b) <= (c > d ? c : d);
}

// Finds the largest block below `area` tiles; of equal ones the squarest, of these the last.
static bool next_block(const uint64_t *hs, size_t h_count, const uint64_t *ws, size_t w_count,
                       uint64_t area, block *out) {
    uint64_t best = 0;
    for (size_t i = 0; i < h_count; i++)
        for (size_t j = 0; j < w_count; j++) {
            uint64_t tiles = product(hs[i], ws[j]);
            if (tiles >= area || tiles < best) continue;
            if (tiles == best && !is_squarer(hs[i], ws[j], out->h, out->w)) continue;
            best = tiles;
            out->h = hs[i], out->w = ws[j];
        }
    return best > 0;
}

// Makes a block smaller until it fits; its inner dim only if `adjust_k`. False: too many divisors.
static bool shrink(const qdq_matmul_problem *p, bool adjust_k, block *b) {
    uint64_t hs[MOST_DIVISORS], ws[MOST_DIVISORS];
    if (fits(p, *b)) return true;
    size_t h_count = divisors(b->h, hs), w_count = divisors(b->w, ws);
    uint64_t k_first = b->k, most = p->free_l1 / (p->a_bytes + intermediate_bytes(p)) + 1;
    if (!h_count || !w_count || k_first > UINT16_MAX) return false;
    for (uint64_t k = k_first; k >= (adjust_k ? 1 : k_first); k--) {
        if (k_first % k || !fits(p, (block){1, 1, k})) continue;  // no block of this k fits
        block found = {0, 0, k};
        for (uint64_t area = most; next_block(hs, h_count, ws, w_count, area, &found);
             area = found.h * found.w)
            if (fits(p, found)) {
                *b = found;
                return true;
            }
    }
    *b = (block){1, 1, 1};
    return true;
}

//---- Circular buffers -------------------------------------------------------

static void add(qdq_matmul_program *out, uint64_t tiles, uint64_t bytes) {
    out->bytes[out->count++] = product(tiles, bytes);
}

// Lists the buffers of both multicasts. Partial sums share the result's buffer if they have its
// dtype.
static void list_blocks(const qdq_matmul_problem *p, block b, uint64_t least_blocks,
                        qdq_matmul_program *out) {
    uint64_t blocks = p->k / b.k, least = p->bias_bytes ? 1 : least_blocks;
    uint64_t depth = product(p->batch_a, blocks) > 1 ? DEPTH : 1;
    uint64_t partial = p->fp32_dest_acc_en                  ? TILE * TILE * 4
                       : p->packer_l1_acc && blocks > least ? TILE * TILE * 2
                                                            : p->y_bytes;
    add(out, depth * b.h * b.k, p->a_bytes);
    add(out, depth * b.w * b.k, p->b_bytes);
    add(out, b.h * b.w, p->y_bytes);
    if (partial != p->y_bytes) add(out, b.h * b.w, partial);
    if (p->bias_bytes) add(out, b.w, p->bias_bytes);
    if (p->transpose_a) add(out, depth * b.h * b.k, p->a_bytes);
}

// One operand goes to all cores: a if the result is wide, else b.
static bool one_dim(const qdq_matmul_problem *p, bool is_wide, qdq_matmul_program *out) {
    uint64_t cores = p->grid_x * p->grid_y;
    uint64_t per_m = is_wide ? p->m : div_up(div_up(p->m * TILE, cores), TILE);
    uint64_t per_n = is_wide ? div_up(div_up(p->n * TILE, cores), TILE) : p->n;
    block b = {per_m, per_n, p->k % 2 == 0 ? 2 : 1};
    if (!shrink(p, false, &b)) return false;
    out->place = QDQ_MATMUL_ROWS;
    out->cores = div_up(p->m, per_m) * div_up(p->n, per_n);
    list_blocks(p, b, 1, out);
    return out->cores <= cores;
}

static bool two_dims(const qdq_matmul_problem *p, block b, qdq_matmul_program *out) {
    uint64_t per_m = b.h, per_n = b.w;
    if (p->all_dram) {
        per_m = div_up(p->m, p->grid_y);
        per_n = div_up(p->n, p->grid_x);
        b = (block){per_m, per_n, p->k % p->grid_x == 0 ? p->k / p->grid_x : 1};
        if (!shrink(p, true, &b)) return false;
    }
    out->cores_x = div_up(p->n, per_n);
    out->cores_y = div_up(p->m, per_m);
    list_blocks(p, b, 2, out);
    return true;
}

static bool tile_by_tile(const qdq_matmul_problem *p, qdq_matmul_program *out) {
    out->place = QDQ_MATMUL_COLUMNS;
    out->cores = product(product(p->m, p->n), p->batch_a);
    if (out->cores > p->grid_x * p->grid_y) out->cores = p->grid_x * p->grid_y;
    add(out, DEPTH, p->a_bytes);
    add(out, DEPTH, p->b_bytes);
    add(out, DEPTH, p->y_bytes);
    return true;
}

//---- The choice -------------------------------------------------------------

static bool is_narrow(const qdq_matmul_problem *p) {
    enum { RATIO = 8 };
    uint64_t larger = p->m > p->n ? p->m : p->n, smaller = p->m > p->n ? p->n : p->m;
    return larger / smaller > RATIO || (p->all_dram && smaller == 1);
}

bool qdq_matmul_program_of(const qdq_matmul_problem *p, qdq_matmul_program *out) {
    *out = (qdq_matmul_program){.count = 0};
    if (!p->m || !p->k || !p->n || p->m > INT32_MAX || p->k > INT32_MAX || p->n > INT32_MAX ||
        (p->batch_b > 1 && p->batch_a == 1))
        return false;
    block b = {16, 16, 2};
    while (b.h > 1 && !fits(p, b)) b.h = b.w = b.h / 2;
    uint64_t blocks_y = div_up(p->m, b.h), blocks_x = div_up(p->n, b.w);
    bool is_one = blocks_x == 1 && blocks_y == 1;
    if (!is_one && p->k % b.k) b.k = 1;
    bool on_grid = !is_one && blocks_y <= p->grid_y && blocks_x <= p->grid_x;
    bool is_few = product(blocks_x, blocks_y) <= p->grid_x * p->grid_y && p->k % b.k == 0;
    if (!p->all_dram && !is_few) return tile_by_tile(p, out);
    bool wide = is_narrow(p) && p->n > p->m, tall = is_narrow(p) && !wide;
    if ((on_grid && blocks_y == 1) || wide) return one_dim(p, true, out);
    if ((on_grid && blocks_x == 1) || tall) return one_dim(p, false, out);
    if (on_grid || p->all_dram) return two_dims(p, b, out);
    return tile_by_tile(p, out);
}
