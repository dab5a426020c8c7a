// SPDX-License-Identifier: Apache-2.0
// Quantize with constant scales along rows: what its kernels need of each scale and zero point,
// computed once, when a graph is compiled.
#include "ops/kernels/kernel.h"
#include "ops/kernels/quantize/kernel_list.h"

typedef struct prepared_row {
    qdq_tile_fn *kernel, *prepared;
} prepared_row;

static const prepared_row rows[] = {
#if defined(QDQ_SIMD_X86)
#define ROW(name, kernel) {qdq_##kernel, qdq_##name},
    QDQ_PREPARED_LIST(ROW)
#endif
        {NULL, NULL},
};

static qdq_tile_fn *prepared_of(qdq_tile_fn *kernel) {
    const prepared_row *row = rows;
    while (row->kernel && row->kernel != kernel) row++;
    return row->prepared;
}

bool qdq_quantize_prepare(qdq_link *link, const float *scales, const int32_t *zeros,
                          qdq_mempool *mempool) {
    qdq_tile_fn *prepared = prepared_of(link->fn);
    if (!prepared) return true;
    const qdq_param *given = link->stage_params;
    size_t count = given[0].count, zero_step = given[1].count > 1;
    for (size_t i = 0; i < count; i++)
        if (!qdq_may_multiply(link->params, scales[i], zeros[i * zero_step])) return true;
    uint32_t *units = qdq_mempool_array(mempool, count, sizeof *units);
    uint32_t *starts = qdq_mempool_array(mempool, count, sizeof *starts);
    qdq_param *params = qdq_mempool_array(mempool, 4, sizeof *params);
    if (!units || !starts || !params) return false;
    for (size_t i = 0; i < count; i++) {
        units[i] = qdq_float_bits(1.0f / scales[i] * 0x1p16f);
        starts[i] = qdq_float_bits((float)zeros[i * zero_step] * 0x1p16f + 0x1p15f + QDQ_NEAR_TIE);
    }
    params[0] = given[0], params[1] = given[1];
    params[2] = params[3] =
        (qdq_param){.grid = given[0].grid, .count = count, .fetch = QDQ_FETCH_KNOWN};
    params[2].values = units, params[3].values = starts;
    link->fn = prepared;
    link->stage_params = params;
    link->stage_param_count = 4;
    return true;
}
