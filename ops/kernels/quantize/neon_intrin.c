// SPDX-License-Identifier: Apache-2.0
// Lookup in tables of bytes with NEON intrinsics, 16 elements at a time. For an index beyond its 64
// bytes TBL gives 0 and TBX leaves the element unchanged, so each quarter of a table fills in its
// own elements.
#include <arm_neon.h>

#include "ops/kernels/quantize/kernel_list.h"

enum { LANES = 16, QUARTER = 64 };

static inline uint8x16x4_t quarter(const uint8_t *table, int k) {
    return vld1q_u8_x4(table + k * QUARTER);
}

void qdq_lookup_bytes_neon(const void *params, const qdq_view *views, const void *x, void *y,
                           size_t n) {
    const qdq_lookup_params *p = params;
    const uint8_t *codes = x;
    uint8_t *out = y;
    size_t at = 0;
    if (!views[0].step) {
        const uint8_t *table = (const uint8_t *)p->tables + (size_t)views[0].data[0] * 256;
        const uint8x16x4_t a = quarter(table, 0), b = quarter(table, 1);
        const uint8x16x4_t c = quarter(table, 2), d = quarter(table, 3);
        const uint8x16_t part = vdupq_n_u8(QUARTER);
        for (; at + LANES <= n; at += LANES) {
            uint8x16_t code = vld1q_u8(codes + at);
            uint8x16_t found = vqtbl4q_u8(a, code);
            found = vqtbx4q_u8(found, b, code = vsubq_u8(code, part));
            found = vqtbx4q_u8(found, c, code = vsubq_u8(code, part));
            found = vqtbx4q_u8(found, d, vsubq_u8(code, part));
            vst1q_u8(out + at, found);
        }
    }
    qdq_view rest = {views[0].data + at * views[0].step, views[0].step};
    if (at < n) qdq_lookup_bytes_portable(params, &rest, codes + at, out + at, n - at);
}
