// SPDX-License-Identifier: Apache-2.0
// Tables of bytes whose results lie on a line, as in most Requantize. An instruction set without a
// lookup in 256 bytes computes them. A line is kept only if it gives the result of every code, so
// the numerics that filled the table do not matter.
#include <math.h>

#include "ops/kernels/kernel.h"
#include "runtime/numerics/fma.h"

// Return the code of entry i of the table, and its result, as signed bytes.
static int32_t code_of(const qdq_lookup_line *line, int i) {
    return line->x_unsigned ? i - 128 : (int8_t)i;
}

static int32_t result_of(const qdq_lookup_line *line, const uint8_t *table, int i) {
    return line->y_unsigned ? table[i] - 128 : (int8_t)table[i];
}

static int32_t clamped(int32_t v, int32_t least, int32_t most) {
    return v < least ? least : v > most ? most : v;
}

static bool words_fit(const qdq_lookup_line *line, const uint8_t *table) {
    for (int i = 0; i < 256; i++) {
        int32_t product = (code_of(line, i) * 256 * line->factor + 0x4000) >> 15;
        int32_t sum = clamped(product + line->addend, INT16_MIN, INT16_MAX);
        if (clamped(sum >> line->shift, INT8_MIN, INT8_MAX) != result_of(line, table, i))
            return false;
    }
    return true;
}

// Finds a line in words. The factor and the sum are rounded, so neighbours are tried too: they
// round other codes well.
static bool find_words(qdq_lookup_line *line, const uint8_t *table, float slope, float offset) {
    enum { NEAR = 4 };
    line->shift = fabsf(slope) < 0.999f ? QDQ_LINE_SHIFT : QDQ_LINE_STEEP_SHIFT;
    float unit = (float)(1 << line->shift);
    float factor = rintf(slope * unit * 128), addend = rintf(offset * unit) + unit / 2;
    if (!(fabsf(factor) < 0x7FF0) || !(fabsf(addend) < 0x7FF0)) return false;
    for (int k = 0; k < 3; k++)
        for (int i = 0; i <= 2 * NEAR; i++) {
            line->factor = (int16_t)((int)factor + (k == 2 ? -1 : k));
            line->addend = (int16_t)((int)addend + (i % 2 ? -(i + 1) / 2 : i / 2));
            if (words_fit(line, table)) return true;
        }
    return false;
}

static bool floats_fit(const qdq_lookup_line *line, const uint8_t *table) {
    for (int i = 0; i < 256; i++) {
        float v = qdq_fmaf((float)code_of(line, i), line->slope, line->offset);
        if (!(fabsf(v) < 0x1p30f)) return false;
        int32_t q = (int32_t)rintf(v) + line->after;
        if (clamped(q, line->least, line->most) != result_of(line, table, i)) return false;
    }
    return true;
}

// Ties are rounded to even before `after` is added, as Quantize does it. A line a little higher or
// lower moves ties that roundings on the way to the table have moved.
static bool find_floats(qdq_lookup_line *line, const uint8_t *table, float slope, float offset) {
    static const float shifts[3] = {0, 0x1p-10f, -0x1p-10f};
    line->slope = slope;
    line->least = INT8_MAX, line->most = INT8_MIN;
    for (int i = 0; i < 256; i++) {
        int32_t result = result_of(line, table, i);
        if (result < line->least) line->least = result;
        if (result > line->most) line->most = result;
    }
    for (int i = 0; i < 3; i++) {
        line->offset = offset + shifts[i];
        if (floats_fit(line, table)) return true;
    }
    return false;
}

void qdq_lookup_line_find(qdq_lookup_line *line, const uint8_t *table, float slope, float offset,
                          int32_t after) {
    line->kind = QDQ_LINE_NONE;
    if (after < INT8_MIN || after > UINT8_MAX) return;
    if (line->x_unsigned) offset += slope * 128;
    line->after = line->y_unsigned ? after - 128 : after;
    if (find_words(line, table, slope, offset + (float)line->after))
        line->kind = QDQ_LINE_WORDS;
    else if (find_floats(line, table, slope, offset))
        line->kind = QDQ_LINE_FLOATS;
}
