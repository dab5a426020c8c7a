// SPDX-License-Identifier: Apache-2.0
// Prepares Quantize with constant scales along rows: computes the numbers that its kernels need of
// each scale and zero point once, when a graph is compiled.
#include "ops/kernels/kernel.h"
#if defined(QDQ_SIMD_X86)
#include "ops/kernels/quantize/kernel_list.h"
#endif

typedef struct prepared_row {
    qdq_tile_fn *kernel, *prepared;
    qdq_rows_fn *prepared_rows;
} prepared_row;

static const prepared_row rows[] = {
#if defined(QDQ_SIMD_X86)
#define ROW(name, kernel) {qdq_##kernel, qdq_##name, qdq_##name##_rows},
    QDQ_PREPARED_LIST(ROW)
#endif
        {NULL, NULL, NULL},
};

static const prepared_row *row_of(qdq_tile_fn *kernel) {
    const prepared_row *row = rows;
    while (row->kernel && row->kernel != kernel) row++;
    return row;
}

// True if all numbers are known and their inverses may be factors.
static bool suits(const qdq_link *link) {
    const qdq_param *scale = &link->stage_params[0], *zero = &link->stage_params[1];
    if (!scale->values || !zero->values || (zero->count != 1 && zero->count != scale->count))
        return false;
    for (size_t i = 0; i < scale->count; i++) {
        uint32_t z = zero->values[zero->count > 1 ? i : 0];
        if (!qdq_may_multiply(link->params, qdq_float_from_bits(scale->values[i]), (int32_t)z))
            return false;
    }
    return true;
}

bool qdq_quantize_prepare(qdq_link *link, qdq_mempool *mempool) {
    const prepared_row *row = row_of(link->fn);
    if (!row->prepared || !suits(link)) return true;
    const qdq_param *given = link->stage_params;
    size_t count = given[0].count, zero_step = given[1].count > 1;
    uint32_t *units = qdq_mempool_array(mempool, count, sizeof *units);
    uint32_t *starts = qdq_mempool_array(mempool, count, sizeof *starts);
    qdq_param *params = qdq_mempool_array(mempool, 4, sizeof *params);
    if (!units || !starts || !params) return false;
    for (size_t i = 0; i < count; i++) {
        float s = qdq_float_from_bits(given[0].values[i]);
        float z = (float)(int32_t)given[1].values[i * zero_step];
        units[i] = qdq_float_bits(1.0f / s * 0x1p16f);
        starts[i] = qdq_float_bits(z * 0x1p16f + 0x1p15f + QDQ_NEAR_TIE);
    }
    params[0] = given[0], params[1] = given[1];
    params[2] = params[3] =
        (qdq_param){.grid = given[0].grid, .count = count, .fetch = QDQ_FETCH_KNOWN};
    params[2].values = units, params[3].values = starts;
    link->fn = row->prepared;
    link->rows_fn = row->prepared_rows;
    link->stage_params = params;
    link->stage_param_count = 4;
    return true;
}
