// SPDX-License-Identifier: Apache-2.0
#include "ops/kernels/elementwise/sfpu_elementwise.h"

#include "ops/kernels/elementwise/chip_elementwise.h"
#include "runtime/numerics/dtype.h"
#include "runtime/tenstorrent/block_float.h"

//---- The program ------------------------------------------------------------

// Returns the program of a function, or QDQ_SFPU_NONE.
static qdq_sfpu_op op_of(qdq_elementwise function) {
    switch ((int)function) {
#define OF(arg, name, program) \
    case QDQ_ELEMENTWISE_##name: return QDQ_SFPU_##program;
        QDQ_SFPU_FUNCTIONS(OF, )
#undef OF
    default: return QDQ_SFPU_NONE;
    }
}

// True if the kernel has the numbers of the op: HardSigmoid's are constants of the kernel.
static bool has_numbers(qdq_sfpu_op op, const qdq_elementwise_numbers *numbers) {
    if (op != QDQ_SFPU_HARD_SIGMOID) return true;
    return numbers->alpha == 1.0f / 6 && numbers->beta == 0.5f;
}

static void set_numbers(qdq_sfpu_program *program, const qdq_elementwise_numbers *numbers) {
    if (program->op == QDQ_SFPU_ELU || program->op == QDQ_SFPU_LEAKY_RELU)
        program->a = numbers->alpha;
    if (program->op == QDQ_SFPU_SOFTPLUS) program->a = 1, program->b = 20;  // ttnn's defaults
}

bool qdq_sfpu_program_of(const qdq_sfpu_function *of, const qdq_numerics *n, qdq_dtype x,
                         qdq_dtype y, qdq_sfpu_program *out) {
    const qdq_sfpu_op op = op_of(of->function);
    bool takes = x == y && (x == QDQ_FLOAT32 || x == QDQ_BFLOAT16 || qdq_dtype_is_block_float(x));
    if (n->multiply_add == QDQ_MULTIPLY_ADD_IEEE || !takes || !op || !has_numbers(op, &of->numbers))
        return false;
    if (qdq_chip_elementwise_find(of->function, n->multiply_add, x, x, y, 1u << QDQ_ISA_PORTABLE))
        return false;
    *out = (qdq_sfpu_program){.op = op,
                              .chip = n->multiply_add,
                              .generation = n->sfpu_generation,
                              .approximate = of->approximate,
                              .keep_nan = n->sfpu_keep_nan,
                              .round_store = n->sfpu_round_store,
                              .wide_dst = n->sfpu_wide_dst,
                              .accurate = n->sfpu_accurate};
    set_numbers(out, &of->numbers);
    return qdq_sfpu_modelled(out, x == QDQ_FLOAT32);
}

//---- Loops ------------------------------------------------------------------

static void sfpu_float32(const void *params, const qdq_view *views, const void *x, void *y,
                         size_t n) {
    const qdq_sfpu_params *k = params;
    (void)views;
    qdq_sfpu_run_float32(&k->program, x, y, n);
}

static void sfpu_bfloat16(const void *params, const qdq_view *views, const void *x, void *y,
                          size_t n) {
    const qdq_sfpu_params *k = params;
    (void)views;
    qdq_sfpu_run_bfloat16(&k->program, x, y, n);
}

static void sfpu_by_table(const void *params, const qdq_view *views, const void *from, void *to,
                          size_t n) {
    const qdq_sfpu_params *k = params;
    const uint16_t *x = from;
    (void)views;
    for (size_t i = 0; i < n; i++) ((uint16_t *)to)[i] = k->table[x[i]];
}

// Elements are float32, exact as bfloat16.
static void sfpu_block_float(const void *params, const qdq_view *views, const void *from, void *to,
                             size_t n) {
    const qdq_sfpu_params *k = params;
    const float *x = from;
    float *y = to;
    (void)views;
    for (size_t i = 0; i < n; i++) {
        uint16_t code = (uint16_t)(qdq_float_bits(x[i]) >> 16);
        y[i] =
            qdq_bfloat16_decode(k->table ? k->table[code] : qdq_sfpu_bfloat16(&k->program, code));
    }
}

qdq_tile_fn *qdq_sfpu_tile_fn(const qdq_sfpu_params *params, qdq_dtype dtype) {
    if (dtype == QDQ_FLOAT32) return sfpu_float32;
    if (qdq_dtype_is_block_float(dtype)) return sfpu_block_float;
    return params->table ? sfpu_by_table : sfpu_bfloat16;
}
