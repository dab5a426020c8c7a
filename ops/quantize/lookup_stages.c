// SPDX-License-Identifier: Apache-2.0
// An input of 8 bits or less with known parameters has at most 256 results. The kernel itself
// fills a table with them when the graph is compiled, so the table is right for any numerics.
// Requantize uses tables if they fit in cache. Dequantize uses them only if a lookup is faster
// than its kernel: to 16 bits with one scale and AVX-512, or if it has only the portable kernel
// and enough elements to pay for filling the table. Links of a chain that map bytes to bytes share
// a table, also if they compute floats in between.
#include "ops/quantize/lookup_stages.h"

#include <math.h>
#include <string.h>

#include "ops/kernels/kernel.h"
#include "runtime/numerics/dtype.h"
#include "runtime/numerics/quantize_wide.h"
#include "runtime/tenstorrent/block_float.h"

static const uint32_t the_only[1] = {0};
static const qdq_stage_param the_only_table = {.is_int = true,
                                               .grid = &qdq_grid_whole,
                                               .count = 1,
                                               .origin = QDQ_FROM_NUMBERS,
                                               .values = the_only};

static bool is_byte(qdq_dtype dtype) { return dtype == QDQ_INT8 || dtype == QDQ_UINT8; }

// Returns the parameter whose grid numbers the tables: all parameters with more than one number
// must agree on it. NULL if they do not.
static const qdq_stage_param *longest(const qdq_stage *stage) {
    const qdq_stage_param *found = &stage->stage_params[0];
    for (size_t k = 1; k < stage->stage_param_count; k++)
        if (stage->stage_params[k].count > found->count) found = &stage->stage_params[k];
    for (size_t k = 0; k < stage->stage_param_count; k++)
        if (stage->stage_params[k].count != 1 && stage->stage_params[k].count != found->count)
            return NULL;
    return found;
}

// True if neighbours in a row have different parameters. Each element then needs another table, so
// all tables should fit in cache.
static bool along_rows(const qdq_grid *grid) {
    return grid->rank && grid->extent[grid->rank - 1] == 1;
}

// Points views at parameters number `index` of the stage.
static void views_of(const qdq_stage *stage, size_t index, qdq_view *views) {
    for (size_t k = 0; k < stage->stage_param_count; k++) {
        const qdq_stage_param *v = &stage->stage_params[k];
        views[k] = (qdq_view){v->values + (v->count > 1 ? index : 0), 0};
    }
}

static void fill(const qdq_stage *stage, size_t index, void *table) {
    uint8_t codes[256];
    qdq_view views[QDQ_MAX_STAGE_PARAMS];
    for (size_t i = 0; i < 256; i++) codes[i] = (uint8_t)i;
    views_of(stage, index, views);
    stage->fn(stage->params, views, codes, table, 256);
}

//---- Lines ------------------------------------------------------------------

// The parameters of a Dequantize and the Quantize after it.
typedef struct scale_pair {
    float in_scale, out_scale;
    int32_t in_zero_point, out_zero_point;
} scale_pair;

static scale_pair scale_pair_of(const qdq_view *in, const qdq_view *out) {
    return (scale_pair){qdq_float_from_bits(in[0].data[0]), qdq_float_from_bits(out[0].data[0]),
                        (int32_t)in[1].data[0], (int32_t)out[1].data[0]};
}

// The same of a stage, which may have a multiplier and a shift in place of scales.
static scale_pair scale_pair_of_stage(const qdq_stage *stage, const qdq_view *views) {
    const qdq_quant_params *p = stage->params;
    scale_pair pair = scale_pair_of(views, views + 2);
    if (!p->fixed) return pair;
    pair.out_scale = 1;  // the scale of a float32 is its parameter
    if (p->rounding == QDQ_FIXED_FLOAT64)
        pair.in_scale = (float)qdq_double_of_words(views[0].data[0], views[2].data[0]);
    else if (p->rounding != QDQ_FIXED_FLOAT32)
        pair.in_scale = ldexpf((float)(int32_t)views[0].data[0], -(int)(int32_t)views[2].data[0]);
    return pair;
}

// Finds the line of a table of bytes, if it has one.
static void find_line(qdq_lookup_line *line, const uint8_t *table, scale_pair pair) {
    float slope = pair.in_scale / pair.out_scale;
    qdq_lookup_line_find(line, table, slope, -(float)pair.in_zero_point * slope,
                         pair.out_zero_point);
}

// Returns room for `count` lines between codes of these dtypes. NULL when memory runs out.
static qdq_lookup_line *lines_for(qdq_dtype x, qdq_dtype y, size_t count, qdq_mempool *mempool) {
    qdq_lookup_line *lines = qdq_mempool_array(mempool, count, sizeof *lines);
    for (size_t i = 0; lines && i < count; i++)
        lines[i] = (qdq_lookup_line){.x_unsigned = x == QDQ_UINT8, .y_unsigned = y == QDQ_UINT8};
    return lines;
}

//---- Stages -----------------------------------------------------------------

static qdq_stage stage_of_tables(const qdq_stage *from, qdq_tile_fn *fn,
                                 const qdq_lookup_params *params, const qdq_stage_param *numbers) {
    return (qdq_stage){
        .x = from->x,
        .y = from->y,
        .params = params,
        .fn = fn,
        .stage_params = {*numbers},
        .stage_param_count = 1,
    };
}

// Turns the stage into a lookup of results of `size` bytes, one table per block of the grid. Finds
// the lines of the tables unless `lines` is NULL.
static bool use_tables(qdq_stage *stage, const qdq_stage_param *grid, size_t size, qdq_tile_fn *fn,
                       qdq_lookup_line *lines, qdq_mempool *mempool) {
    char *tables = qdq_mempool_array(mempool, grid->count, 256 * size);
    uint32_t *numbers = qdq_mempool_array(mempool, grid->count, sizeof *numbers);
    qdq_lookup_params *params = QDQ_MEMPOOL_NEW(mempool, qdq_lookup_params);
    if (!tables || !numbers || !params) return false;
    for (size_t i = 0; i < grid->count; i++) {
        numbers[i] = (uint32_t)i;
        fill(stage, i, tables + i * 256 * size);
        if (!lines) continue;
        qdq_view views[QDQ_MAX_STAGE_PARAMS];
        views_of(stage, i, views);
        find_line(&lines[i], (const uint8_t *)tables + i * 256, scale_pair_of_stage(stage, views));
    }
    *params = (qdq_lookup_params){tables, lines};
    *stage = stage_of_tables(stage, fn, params,
                             &(qdq_stage_param){.is_int = true,
                                                .grid = grid->grid,
                                                .count = grid->count,
                                                .origin = QDQ_FROM_NUMBERS,
                                                .values = numbers});
    return true;
}

// Returns the parameter that numbers the tables, if all parameters are known and the tables fit in
// cache; else NULL.
static const qdq_stage_param *table_grid(const qdq_stage *stage, size_t size) {
    enum { MAX_BYTES = 1 << 20, MAX_MIXED_BYTES = 1 << 16 };
    const qdq_stage_param *grid = longest(stage);
    if (!grid) return NULL;
    size_t most = along_rows(grid->grid) ? MAX_MIXED_BYTES : MAX_BYTES;
    if (grid->count > most / 256 / size) return NULL;
    for (size_t k = 0; k < stage->stage_param_count; k++)
        if (stage->stage_params[k].origin != QDQ_FROM_NUMBERS) return NULL;
    return grid;
}

bool qdq_use_lookup(qdq_stage *stage, qdq_dtype x, qdq_dtype y, const qdq_lowering *to) {
    const qdq_stage_param *grid = table_grid(stage, 1);
    if (!is_byte(x) || !is_byte(y) || !grid || to->plain) return true;
    qdq_lookup_line *lines = lines_for(x, y, grid->count, to->mempool);
    return lines &&
           use_tables(stage, grid, 1, qdq_kernel_find(QDQ_FAMILY_LOOKUP, x, y, NULL, to->isas),
                      lines, to->mempool);
}

bool qdq_use_lookup_of_floats(qdq_stage *stage, qdq_dtype x, qdq_dtype y, size_t elements,
                              const qdq_lowering *to) {
    size_t size = qdq_dtype_size(y);
    const qdq_stage_param *grid = table_grid(stage, size);
    if (qdq_dtype_size(x) != 1 || size == 1 || !grid || to->plain) return true;
    qdq_family family = size == 2 ? QDQ_FAMILY_LOOKUP_HALVES : QDQ_FAMILY_LOOKUP_WORDS;
    qdq_tile_fn *fn = qdq_kernel_find(family, x, y, NULL, to->isas);
    bool computed = stage->fn == qdq_dequantize_tile_portable;  // slower than any table
    bool by_hand = fn == qdq_lookup_halves_portable ? false : size == 2 && grid->count == 1;
    // A table takes as long to fill as 256 elements to compute.
    if ((!computed && !by_hand) || elements / 256 < grid->count) return true;
    return use_tables(stage, grid, size, fn, NULL, to->mempool);
}

// Turns the stage into a lookup in the only table of `params`.
static void use_the_only(qdq_stage *stage, const qdq_lookup_params *params, qdq_dtype x,
                         qdq_dtype y, uint32_t isas) {
    qdq_tile_fn *fn = qdq_kernel_find(QDQ_FAMILY_LOOKUP, x, y, NULL, isas);
    *stage = stage_of_tables(stage, fn, params, &the_only_table);
}

// Allocates the parameters of one table, which is filled in later. NULL when memory runs out.
static qdq_lookup_params *one_table(qdq_dtype x, qdq_dtype y, uint8_t **table,
                                    qdq_lookup_line **line, qdq_mempool *mempool) {
    qdq_lookup_params *params = QDQ_MEMPOOL_NEW(mempool, qdq_lookup_params);
    *line = lines_for(x, y, 1, mempool);
    *table = qdq_mempool_array(mempool, 256, 1);
    if (!params || !*line || !*table) return NULL;
    *params = (qdq_lookup_params){*table, *line};
    return params;
}

// The differences are exact, so that the product alone rounds, as in Dequantize
// (qdq_quantized_given).
bool qdq_use_lookup_of_codes(qdq_stage *stage, const qdq_quantized *x, qdq_dtype y,
                             const qdq_lowering *to) {
    qdq_lookup_line *line;
    uint8_t *table;
    qdq_lookup_params *params = one_table(x->dtype, y, &table, &line, to->mempool);
    float reals[256];
    qdq_view views[QDQ_MAX_STAGE_PARAMS];
    if (!params) return false;
    for (int i = 0; i < 256; i++) {
        int32_t code = x->dtype == QDQ_INT8 ? (int8_t)i : i;
        reals[i] = (float)(code - x->zero_points[0]) * x->scales[0];
    }
    views_of(stage, 0, views);
    stage->fn(stage->params, views, reals, table, 256);
    find_line(line, table,
              (scale_pair){x->scales[0], qdq_float_from_bits(views[0].data[0]), x->zero_points[0],
                           (int32_t)views[1].data[0]});
    use_the_only(stage, params, x->dtype, y, to->isas);
    return true;
}

bool qdq_use_table(qdq_stage *stage, const uint8_t *results, qdq_dtype x, qdq_dtype y,
                   uint32_t isas, qdq_mempool *mempool) {
    qdq_lookup_line *line;
    uint8_t *table;
    qdq_lookup_params *params = one_table(x, y, &table, &line, mempool);
    if (!params) return false;
    memcpy(table, results, 256);
    use_the_only(stage, params, x, y, isas);
    return true;
}

//---- Links --------------------------------------------------------------------

// True if each parameter is a known number; points the views at them.
static bool all_known(const qdq_link *link, qdq_view *views) {
    for (size_t k = 0; k < link->stage_param_count; k++) {
        if (link->stage_params[k].count != 1 || !link->stage_params[k].values) return false;
        views[k] = (qdq_view){link->stage_params[k].values, 0};
    }
    return true;
}

// Returns the largest number of links, from the first on, that a table can replace; at least two of
// them compute.
static size_t count_joined(const qdq_link *links, size_t count) {
    qdq_view views[QDQ_MAX_STAGE_PARAMS];
    size_t joined = 0;
    for (size_t i = 0; i < count; i++) {
        const qdq_link *link = &links[i];
        if (link->copies || !link->fn || qdq_dtype_is_block_float(link->y_dtype) ||
            !all_known(link, views))
            break;
        if (i && qdq_dtype_size(link->y_dtype) == 1) joined = i + 1;
        if (link->store.kind != QDQ_PLACE_NONE) break;
    }
    return joined;
}

// Fills the table of links by running them on all bytes.
static void fill_through(const qdq_link *links, size_t count, uint8_t *table) {
    uint64_t values[2][256];
    qdq_view views[QDQ_MAX_STAGE_PARAMS];
    uint8_t *codes = (uint8_t *)values[0];
    for (size_t i = 0; i < 256; i++) codes[i] = (uint8_t)i;
    for (size_t i = 0; i < count; i++) {
        (void)all_known(&links[i], views);
        links[i].fn(links[i].params, views, values[i % 2], values[(i + 1) % 2], 256);
    }
    memcpy(table, values[count % 2], 256);
}

bool qdq_join_links(qdq_link *links, size_t count, qdq_dtype x, qdq_mempool *mempool, uint32_t isas,
                    size_t *joined) {
    qdq_view views[2][QDQ_MAX_STAGE_PARAMS];
    size_t n = *joined = is_byte(x) ? count_joined(links, count) : 0;
    if (!n) return true;
    qdq_link *last = &links[n - 1];
    qdq_tile_fn *fn = qdq_kernel_find(QDQ_FAMILY_LOOKUP, x, last->y_dtype, NULL, isas);
    // Vectorized links are faster than a portable lookup.
    if (fn == qdq_lookup_bytes_portable && isas != 1u << QDQ_ISA_PORTABLE) {
        *joined = 0;
        return true;
    }
    uint8_t *table;
    qdq_lookup_line *line;
    qdq_lookup_params *params = one_table(x, last->y_dtype, &table, &line, mempool);
    qdq_param *stage_params = QDQ_MEMPOOL_NEW(mempool, qdq_param);
    if (!params || !stage_params) return false;
    fill_through(links, n, table);
    if (n == 2 && links->stage_param_count == 2 && last->stage_param_count == 2) {
        (void)all_known(links, views[0]), (void)all_known(last, views[1]);
        find_line(line, table, scale_pair_of(views[0], views[1]));
    }
    for (size_t i = 0; i + 1 < n; i++) links[i].fn = NULL;
    last->fn = fn;
    last->params = params;
    last->stage_param_count = 1;
    last->stage_params = stage_params;
    *stage_params =
        (qdq_param){.is_int = true, .grid = &qdq_grid_whole, .count = 1, .values = the_only};
    return true;
}
