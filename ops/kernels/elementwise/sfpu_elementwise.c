// SPDX-License-Identifier: Apache-2.0
#include "ops/kernels/elementwise/sfpu_elementwise.h"

//---- The program ------------------------------------------------------------

static const struct {
    qdq_elementwise function;
    qdq_sfpu_op op;
} programs[] = {
    {QDQ_ELEMENTWISE_exp, QDQ_SFPU_EXP},
    {QDQ_ELEMENTWISE_sigmoid, QDQ_SFPU_SIGMOID},
    {QDQ_ELEMENTWISE_tanh, QDQ_SFPU_TANH},
    {QDQ_ELEMENTWISE_gelu_erf, QDQ_SFPU_GELU},
    {QDQ_ELEMENTWISE_sqrt, QDQ_SFPU_SQRT},
    {QDQ_ELEMENTWISE_reciprocal, QDQ_SFPU_RECIPROCAL},
    {QDQ_ELEMENTWISE_log, QDQ_SFPU_LOG},
    {QDQ_ELEMENTWISE_elu, QDQ_SFPU_ELU},
    {QDQ_ELEMENTWISE_erf, QDQ_SFPU_ERF},
    {QDQ_ELEMENTWISE_softplus, QDQ_SFPU_SOFTPLUS},
    {QDQ_ELEMENTWISE_mish, QDQ_SFPU_MISH},
    {QDQ_ELEMENTWISE_square, QDQ_SFPU_SQUARE},
    {QDQ_ELEMENTWISE_leaky_relu, QDQ_SFPU_LEAKY_RELU},
    {QDQ_ELEMENTWISE_relu, QDQ_SFPU_RELU},
    {QDQ_ELEMENTWISE_hard_sigmoid, QDQ_SFPU_HARD_SIGMOID},
    {QDQ_ELEMENTWISE_hard_swish, QDQ_SFPU_HARD_SWISH},
    {QDQ_ELEMENTWISE_floor, QDQ_SFPU_FLOOR},
    {QDQ_ELEMENTWISE_ceil, QDQ_SFPU_CEIL},
    {QDQ_ELEMENTWISE_round, QDQ_SFPU_ROUND},
    {QDQ_ELEMENTWISE_abs, QDQ_SFPU_ABS},
    {QDQ_ELEMENTWISE_sign, QDQ_SFPU_SIGN},
    {QDQ_ELEMENTWISE_silu, QDQ_SFPU_SILU},
    {QDQ_ELEMENTWISE_rsqrt, QDQ_SFPU_RSQRT},
    {QDQ_ELEMENTWISE_relu6, QDQ_SFPU_RELU6},
    {QDQ_ELEMENTWISE_trunc, QDQ_SFPU_TRUNC},
    {QDQ_ELEMENTWISE_neg, QDQ_SFPU_NEG},
    {QDQ_ELEMENTWISE_log1p, QDQ_SFPU_LOG1P},
};

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

bool qdq_sfpu_program_of(qdq_elementwise function, const qdq_elementwise_numbers *numbers,
                         const qdq_numerics *n, qdq_dtype dtype, qdq_sfpu_program *out) {
    bool takes = dtype == QDQ_FLOAT32 || dtype == QDQ_BFLOAT16;
    if (n->multiply_add == QDQ_MULTIPLY_ADD_IEEE || !takes) return false;
    for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++) {
        if (programs[i].function != function || !has_numbers(programs[i].op, numbers)) continue;
        *out = (qdq_sfpu_program){
            .op = programs[i].op, .chip = n->multiply_add, .generation = n->sfpu_generation};
        set_numbers(out, numbers);
        return qdq_sfpu_modelled(out, dtype == QDQ_FLOAT32);
    }
    return false;
}

//---- Loops ------------------------------------------------------------------

// Defines a tile function over elements of a type.
#define LOOP(name, type, result)                                                            \
    static void name(const void *params, const qdq_view *views, const void *from, void *to, \
                     size_t n) {                                                            \
        const qdq_sfpu_params *k = params;                                                  \
        const type *x = from;                                                               \
        (void)views;                                                                        \
        for (size_t i = 0; i < n; i++) ((type *)to)[i] = (result);                          \
    }

LOOP(sfpu_float32, uint32_t, qdq_sfpu_float32(&k->program, x[i]))
LOOP(sfpu_bfloat16, uint16_t, qdq_sfpu_bfloat16(&k->program, x[i]))
LOOP(sfpu_by_table, uint16_t, k->table[x[i]])

qdq_tile_fn *qdq_sfpu_tile_fn(const qdq_sfpu_params *params, qdq_dtype dtype) {
    if (dtype == QDQ_FLOAT32) return sfpu_float32;
    return params->table ? sfpu_by_table : sfpu_bfloat16;
}
