// SPDX-License-Identifier: Apache-2.0
// The depthwise kernel in plain C, which compilers turn into vectors. Each instruction set has a
// file that defines QDQ_ISA_NAME(name) and includes this one.
#include <math.h>

#include "ops/kernels/depthwise/depthwise.h"

// Adds all lines to `count` sums, which stay in registers. A line adds no product outside of its
// begin..end.
#define DEPTHWISE_ADD(count)                                                              \
    {                                                                                     \
        float own[count];                                                                 \
        for (uint32_t j = 0; j < (count); j++) own[j] = sums[i + j];                      \
        for (size_t k = 0; k < depth; k++) {                                              \
            const float *row = lines[k].x + i, by = lines[k].by;                          \
            uint32_t begin = lines[k].begin, length = lines[k].end - begin;               \
            if (begin <= i && lines[k].end >= i + (count)) {                              \
                for (uint32_t j = 0; j < (count); j++) own[j] = fmaf(row[j], by, own[j]); \
                continue;                                                                 \
            }                                                                             \
            for (uint32_t j = 0; j < (count); j++) {                                      \
                float more = fmaf(row[j], by, own[j]);                                    \
                own[j] = i + j - begin < length ? more : own[j];                          \
            }                                                                             \
        }                                                                                 \
        for (uint32_t j = 0; j < (count); j++) sums[i + j] = own[j];                      \
    }

void QDQ_ISA_NAME(depthwise)(const qdq_depthwise_line *lines, size_t depth, float *sums, size_t n) {
    uint32_t i = 0;
    for (; i + 16 < n; i += 32) DEPTHWISE_ADD(32)
    for (; i < n; i += 16) DEPTHWISE_ADD(16)
}

//---- In fours ---------------------------------------------------------------

// The products of a line with `count` elements from `i` on, as an array `own`.
#define DEPTHWISE_PRODUCTS(count, own, line)                               \
    {                                                                      \
        const float *row = (line)->x + i, by = (line)->by;                 \
        uint32_t begin = (line)->begin, length = (line)->end - begin;      \
        if (begin <= i && (line)->end >= i + (count))                      \
            for (uint32_t j = 0; j < (count); j++) (own)[j] = row[j] * by; \
        else                                                               \
            for (uint32_t j = 0; j < (count); j++)                         \
                (own)[j] = (i + j - begin < length ? row[j] : 0.0f) * by;  \
    }

#define DEPTHWISE_FOURS(count)                                              \
    {                                                                       \
        float own[count], group[count], more[count];                        \
        for (uint32_t j = 0; j < (count); j++) own[j] = sums[i + j];        \
        for (size_t k = 0, few; k < depth; k += few) {                      \
            few = depth - k >= 4 ? 4 : depth - k >= 2 ? 2 : 1;              \
            DEPTHWISE_PRODUCTS(count, group, lines + k)                     \
            for (size_t m = 1; m < few; m++) {                              \
                DEPTHWISE_PRODUCTS(count, more, lines + k + m)              \
                for (uint32_t j = 0; j < (count); j++) group[j] += more[j]; \
            }                                                               \
            for (uint32_t j = 0; j < (count); j++) own[j] += group[j];      \
        }                                                                   \
        for (uint32_t j = 0; j < (count); j++) sums[i + j] = own[j];        \
    }

void QDQ_ISA_NAME(depthwise_fours)(const qdq_depthwise_line *lines, size_t depth, float *sums,
                                   size_t n) {
    uint32_t i = 0;
    for (; i + 16 < n; i += 32) DEPTHWISE_FOURS(32)
    for (; i < n; i += 16) DEPTHWISE_FOURS(16)
}
