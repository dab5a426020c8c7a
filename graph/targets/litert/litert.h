// SPDX-License-Identifier: Apache-2.0
// What the files of targets litert and tflm share. A graph has TensorFlow Lite's operators in
// pairs: Dequantize, a float op, possibly an activation, Quantize. Each pattern turns such a unit
// into ops on integers with the arithmetic of the engine that runs the operator.
#ifndef QDQ_GRAPH_TARGETS_LITERT_LITERT_H
#define QDQ_GRAPH_TARGETS_LITERT_LITERT_H

#include "graph/rewrite/node_unit.h"

// Variants of target litert.
enum {
    LITERT_XNNPACK_X86,
    LITERT_XNNPACK_ARM,
    LITERT_BUILTIN_X86,
    LITERT_BUILTIN_ARM,
    LITERT_AT_REFERENCE,
    LITERT_AT_REFERENCE_ARM,
};

// The kernels that run an operator: the reference ones, the optimized ones, the delegate XNNPACK,
// or the ones for microcontrollers.
typedef enum litert_engine {
    LITERT_REFERENCE,
    LITERT_BUILTIN,
    LITERT_XNNPACK,
    LITERT_TFLM,
} litert_engine;

// Options of target litert.
enum { LITERT_THREADS, LITERT_OPTIONS };
// Returns the number of threads of the built-in kernels.
int64_t litert_threads(const qdq_target_version *version);

extern const qdq_target qdq_target_litert, qdq_target_tflm;
extern const qdq_pattern litert_patterns[];
extern const qdq_evidence_row litert_evidence[], tflm_evidence[];
qdq_numerics litert_numerics(const qdq_op_context *ctx, const qdq_target_version *version);

// Returns the engine of a version, which runs each operator that it has.
litert_engine litert_engine_of(const qdq_target_version *version);
bool litert_is_arm(const qdq_target_version *version);
// Sets the engine that runs the operator, and the name of the group. `names` has a name for each
// engine.
void litert_run_by(qdq_match *m, litert_engine engine, const char *const *names);
#define LITERT_NAMES(op) \
    { "reference " op, "builtin " op, "XNNPACK " op, "TFLM " op }

//---- Units ------------------------------------------------------------------

typedef enum litert_activation {
    LITERT_NO_ACTIVATION,
    LITERT_RELU,
    LITERT_RELU_N1_TO_1,
    LITERT_RELU6,
    LITERT_OTHER_BOUNDS,  // of no operator
} litert_activation;

// A node unit whose activation may lie before its Quantize.
typedef struct litert_unit {
    qdq_node_unit qdq;
    size_t clip;  // the node of the activation; SIZE_MAX: none
    litert_activation activation;
} litert_unit;

void litert_unit_of(const qdq_rewriter *r, size_t node, litert_unit *unit);
// True if two nodes are parts of one operator of the model, as far as the graph knows. A Dequantize
// that is an operator gives floats to the next one.
bool litert_share_operator(const qdq_node *a, const qdq_node *b);
// True if a MatMul is BATCH_MATMUL in the model, whose kernels are others than FULLY_CONNECTED.
bool litert_is_batch_matmul(const qdq_node *node);
litert_activation litert_activation_of(const qdq_node *node);
// True for codes of 8 bits with one known scale and zero point.
bool litert_is_byte(const qdq_coder *c);
// True if a bound of an activation, in steps of a coder's scale, may leave int32.
bool litert_overflows(const qdq_rewriter *r, litert_activation activation, const qdq_coder *c);
// True for codes of int16 with one known scale and the zero point 0.
bool litert_is_int16(const qdq_rewriter *r, const qdq_coder *c);
// Returns why the first `operands` inputs and the result of a unit are no codes of one 8-bit dtype
// with one known scale and zero point each, or uint8 for TFLM; NULL if they are.
const char *litert_bytes_differ(const qdq_rewriter *r, const litert_unit *u, size_t operands);
// True if two coders, both bytes, have the same parameters.
bool litert_same_params(const qdq_rewriter *r, const qdq_coder *a, const qdq_coder *b);
// Says why a unit does not match; returns false.
bool litert_refuses(qdq_match *m, const char *why);
// Reports that the engine fails to load the model; returns false.
bool litert_fails(qdq_match *m, const char *rule, const char *found);
// Notes the nodes that a match replaces and the value it computes.
void litert_replace(const qdq_rewriter *r, qdq_match *m, const litert_unit *u);
const char *litert_name(const qdq_rewriter *r, const litert_unit *u);

// Returns the scale of products of two operands in steps of y, of MUL: LiteRT has it in float32,
// TFLM in float64.
double litert_product_scale(const qdq_rewriter *r, const litert_unit *u);

typedef struct litert_range {
    int64_t lo, hi;
} litert_range;

// Returns the codes that an activation leaves.
litert_range litert_range_of(const qdq_rewriter *r, litert_engine engine,
                             litert_activation activation, const qdq_coder *y);

//---- Fixed point ------------------------------------------------------------

// The parameters of a Requantize from int32 or codes.
typedef struct litert_scaling {
    qdq_fixed_rounding rounding;
    double *multiplier, *shift;
    size_t count;  // of each: 1 or the channels
    int axis;      // of the channels
    int32_t in_zero, out_zero;
    litert_range range;
    qdq_dtype dtype;
} litert_scaling;

// Allocates multipliers and shifts. False if memory runs out.
bool litert_new_scaling(const qdq_rewriter *r, litert_scaling *s, size_t count);
// Set number i of a scaling: as QuantizeMultiplier does, with 24 bits of a float32, and with all
// bits of a double.
void litert_set_fixed(litert_scaling *s, size_t i, double scale);
void litert_set_float(litert_scaling *s, size_t i, float scale);
void litert_set_double(litert_scaling *s, size_t i, double scale);
// Gives a scaling the zero point of y, the codes that an activation leaves, and the dtype.
void litert_ends_in(const qdq_rewriter *r, litert_scaling *s, litert_engine engine,
                    const litert_unit *u);

qdq_value litert_requantize(const qdq_rewriter *r, const char *name, qdq_value x,
                            const litert_scaling *s);
// The same, rounded half up before index `split` of a dim, and twice from there on.
qdq_value litert_requantize_parts(const qdq_rewriter *r, const char *name, qdq_value x,
                                  const litert_scaling *s, int axis, int64_t split);
// The same over the elements in their order.
qdq_value litert_requantize_blocks(const qdq_rewriter *r, const char *name, qdq_value x,
                                   const litert_scaling *s, size_t block);

//---- New nodes --------------------------------------------------------------

// Returns a name for a part of the unit `name`.
const char *litert_part(const qdq_rewriter *r, const char *name, const char *part);
qdq_value litert_part_of(const qdq_rewriter *r, const char *name, qdq_value x, int axis,
                         int64_t from, int64_t to);
qdq_value litert_join(const qdq_rewriter *r, const char *name, qdq_value a, qdq_value b, int axis);
qdq_value litert_reshape(const qdq_rewriter *r, const char *name, qdq_value x, qdq_shape shape);
qdq_value litert_int32(const qdq_rewriter *r, const char *name, const char *part, qdq_shape shape,
                       const int32_t *data);
qdq_shape litert_shape(const qdq_graph *graph, qdq_value v);

typedef struct litert_table {
    int32_t results[256];  // of the least code first
} litert_table;

// Adds y = table[x], with results of a dtype.
qdq_value litert_add_table(const qdq_rewriter *r, const char *name, qdq_value x, qdq_dtype dtype,
                           const litert_table *t);

// Fills the table of XNNPACK's x * x, with codes in a range.
void litert_fill_square(const qdq_rewriter *r, const qdq_coder *x, const qdq_coder *y,
                        litert_range range, litert_table *t);

// a `op` b of int32.
qdq_value litert_binary(const qdq_rewriter *r, const char *op, const char *name, qdq_value a,
                        qdq_value b);
// x as int32, less a zero point.
qdq_value litert_centered(const qdq_rewriter *r, const char *name, const char *part, qdq_value x,
                          int32_t zero);

//---- Patterns ---------------------------------------------------------------

// Matches an op of two operands of 8 bits.
bool litert_match_binary(const qdq_rewriter *r, qdq_match *m, const char *const *names,
                         bool (*is_delegated)(const qdq_rewriter *, const litert_unit *));

#define LITERT_PATTERN(function)                                       \
    bool litert_match_##function(const qdq_rewriter *r, qdq_match *m); \
    void litert_build_##function(qdq_rewriter *r, qdq_match *m)

LITERT_PATTERN(conv);             // litert_products.c
LITERT_PATTERN(fully_connected);  // litert_products.c
LITERT_PATTERN(dynamic);          // litert_dynamic.c
LITERT_PATTERN(requantize);       // litert_quantize.c
LITERT_PATTERN(quantize);         // litert_quantize.c
LITERT_PATTERN(dequantize);       // litert_quantize.c
LITERT_PATTERN(add);              // litert_sums.c
LITERT_PATTERN(multiply);         // litert_elements.c
LITERT_PATTERN(product_int16);    // litert_int16_products.c
LITERT_PATTERN(add_int16);        // litert_int16.c
LITERT_PATTERN(multiply_int16);   // litert_int16.c
LITERT_PATTERN(relu);             // litert_elements.c
LITERT_PATTERN(moved);            // litert_elements.c
LITERT_PATTERN(function);         // litert_tables.c
LITERT_PATTERN(fraction);         // litert_tables.c
LITERT_PATTERN(joined);           // litert_tables.c
LITERT_PATTERN(max_pool);         // litert_pools.c
LITERT_PATTERN(average_pool);     // litert_pools.c
LITERT_PATTERN(mean);             // litert_pools.c
LITERT_PATTERN(softmax);          // litert_softmax.c
LITERT_PATTERN(resize);           // litert_resize.c

#endif
