// SPDX-License-Identifier: Apache-2.0
// The random generator, random elements of a tensor, and random numerics.
#include <math.h>
#include <string.h>

#include "runtime/numerics/dtype.h"
#include "tests/random/random.h"

uint64_t random_next(random_source *r) {
    uint64_t z = r->state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

size_t random_below(random_source *r, size_t n) { return (size_t)(random_next(r) >> 33) % n; }

bool random_in(random_source *r, size_t percent) { return random_below(r, 100) < percent; }

// A power of two between 2^least and 2^greatest.
static float power(random_source *r, int least, int greatest) {
    return ldexpf(1, least + (int)random_below(r, (size_t)(greatest - least) + 1));
}

static float positive(random_source *r) { return (float)(random_below(r, 4000) + 1) / 4000.0F; }

static float odd_float(random_source *r) {
    static const float rare[] = {0.0F,   -0.0F, 1e-40F,     -1e-42F,         1e30F,
                                 -3e38F, 65504, (float)NAN, (float)INFINITY, (float)-INFINITY};
    if (random_in(r, 3)) return rare[random_below(r, sizeof rare / sizeof rare[0])];
    float v = (positive(r) - 0.5F) * power(r, -3, 6);
    return random_in(r, 30) ? truncf(v) : v;
}

static float one_float(random_source *r, random_taste taste, qdq_fill fill) {
    if (fill == QDQ_FILL_HALF) return 0.5F;
    if (fill == QDQ_FILL_COUNT) return (float)(random_below(r, 5) + 1);
    if (taste == RANDOM_EXACT) {
        if (fill == QDQ_FILL_SCALE) return power(r, -3, 0);
        if (fill == QDQ_FILL_ZERO_POINT) return 0;
        if (fill == QDQ_FILL_POSITIVE || fill == QDQ_FILL_NEAR_ONE) return power(r, 0, 2);
        return (float)random_below(r, 17) - 8;
    }
    switch (fill) {
    case QDQ_FILL_SCALE: return random_in(r, 40) ? power(r, -8, 2) : positive(r);
    case QDQ_FILL_ZERO_POINT: return (float)random_below(r, 9) - 4;
    case QDQ_FILL_POSITIVE: return positive(r) + 0.01F;
    case QDQ_FILL_NEAR_ONE: return 0.9F + positive(r) / 5;
    default: return odd_float(r);
    }
}

static int64_t one_whole(random_source *r, const qdq_dtype_info *info, qdq_fill fill) {
    int64_t least = info->least, greatest = info->greatest;
    if (info->kind == QDQ_KIND_WIDE_INT || fill == QDQ_FILL_COUNT || fill == QDQ_FILL_ZERO_POINT) {
        least = least < -3 && fill != QDQ_FILL_COUNT ? -3 : fill == QDQ_FILL_COUNT;
        greatest = greatest > 3 ? 3 : greatest;
    } else if (info->bits == 32) {
        least = -1000000, greatest = 1000000;
    }
    return least + (int64_t)random_below(r, (size_t)(greatest - least) + 1);
}

void random_elements(random_source *r, random_taste taste, qdq_dtype dtype, qdq_fill fill,
                     void *out, size_t count) {
    const qdq_dtype_info *info = qdq_dtype_get(dtype);
    size_t size = qdq_dtype_size(dtype);
    for (size_t i = 0; i < count; i++) {
        char *element = (char *)out + i * size;
        if (qdq_dtype_is_real(dtype)) {
            float real = one_float(r, taste, fill);
            qdq_encode_float(dtype, &real, element, 1, NULL);
        } else {
            int64_t whole = one_whole(r, info, fill);
            memcpy(element, &whole, size);  // little-endian
        }
    }
}

qdq_numerics random_numerics(random_source *r) {
    static const qdq_dtype floats[] = {QDQ_DTYPE_NONE, QDQ_FLOAT32, QDQ_FLOAT16, QDQ_BFLOAT16};
    qdq_numerics n = {0};
#define SOMETIMES(field, number) \
    if (random_in(r, 40)) n.field = (number)
    SOMETIMES(rounding, (qdq_rounding)random_below(r, QDQ_ROUND_HALF_UP_BIASED + 1));
    SOMETIMES(scaling, (qdq_scaling)random_below(r, QDQ_SCALE_DIVIDE_TO_ZERO + 1));
    SOMETIMES(zero_point_order,
              (qdq_zero_point_order)random_below(r, QDQ_ZERO_POINT_AFTER_MAGIC + 1));
    SOMETIMES(overflow, (qdq_overflow)random_below(r, QDQ_OVERFLOW_FLOAT_RANGE + 1));
    SOMETIMES(nan, (qdq_nan)random_below(r, QDQ_NAN_LOW_BITS + 1));
    SOMETIMES(subtraction, (qdq_subtraction)random_below(r, QDQ_SUBTRACT_FLOAT + 1));
    SOMETIMES(requantize_form,
              (qdq_requantize_form)random_below(r, QDQ_REQUANTIZE_FIXED_SINGLE + 1));
    SOMETIMES(bfloat16_store, (qdq_bfloat16_store)random_below(r, QDQ_BFLOAT16_FLUSH + 1));
    SOMETIMES(float_overflow, (qdq_float_overflow)random_below(r, QDQ_FLOAT_THROUGH_FLOAT16 + 1));
    SOMETIMES(choice, (qdq_choice)random_below(r, QDQ_CHOOSE_ORT_ARM + 1));
    SOMETIMES(input_dtype, floats[random_below(r, 4)]);
    SOMETIMES(scale_dtype, floats[random_below(r, 4)]);
    SOMETIMES(reciprocal_dtype, floats[random_below(r, 4)]);
    SOMETIMES(middle_dtype, floats[random_below(r, 4)]);
    SOMETIMES(quantize_step_dtype, floats[random_below(r, 4)]);
    SOMETIMES(dequantize_step_dtype, floats[random_below(r, 4)]);
    SOMETIMES(requantize_dtype, floats[random_below(r, 4)]);
    SOMETIMES(flush_denormals, true);
    SOMETIMES(multiply_add, (qdq_multiply_add)random_below(r, QDQ_MULTIPLY_ADD_BLACKHOLE + 1));
    SOMETIMES(sfpu_generation, (qdq_sfpu_generation)((int)random_below(r, 3) - 1));
    SOMETIMES(sfpu_keep_nan, true);
    SOMETIMES(sfpu_round_store, true);
    SOMETIMES(sfpu_wide_dst, true);
    SOMETIMES(sfpu_accurate, true);
    SOMETIMES(bfloat16_load, QDQ_BFLOAT16_LOAD_DEVICE);
    SOMETIMES(fold_128, true);
    SOMETIMES(sign_magnitude, true);
    SOMETIMES(cast_quantizes, true);
    SOMETIMES(device_typecast, true);
    SOMETIMES(cast_form, (qdq_cast_form)random_below(r, QDQ_CAST_ONEDNN + 1));
    SOMETIMES(power_scale, (qdq_power_scale)random_below(r, QDQ_POWER_SCALE_ONE + 1));
    SOMETIMES(block_float_store, (qdq_block_float_store)random_below(r, 3));
    SOMETIMES(float_ops, (qdq_float_ops)(random_below(r, 2) ? QDQ_FLOAT_OPS_ONEDNN
                                                            : QDQ_FLOAT_OPS_ONNX_RUNTIME_ARM));
    SOMETIMES(pair_sums, QDQ_PAIR_SUMS_SATURATE);
    SOMETIMES(qlinear, (qdq_qlinear_form)random_below(r, QDQ_QLINEAR_LITERT_ARM + 1));
    SOMETIMES(least_scale, 0x1p-12F);
#undef SOMETIMES
    return n;
}
