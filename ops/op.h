// SPDX-License-Identifier: Apache-2.0
// What an op is: one constant description with its ports, its attributes, how the types of its
// results follow, and how it becomes stages of a plan. Parsing, checking, help and documents read
// the description; nothing else knows the ops by name.
#ifndef QDQ_OPS_OP_H
#define QDQ_OPS_OP_H

#include "include/qdq/inspect.h"
#include "include/qdq/numerics.h"
#include "include/qdq/ops.h"
#include "ops/report.h"
#include "runtime/base/scratch.h"
#include "runtime/exec/plan.h"

//---- Sets of dtypes ---------------------------------------------------------

typedef uint64_t qdq_dtype_set;
#define QDQ_SET(E) ((qdq_dtype_set)1 << QDQ_##E)
static inline bool qdq_set_has(qdq_dtype_set set, qdq_dtype dtype) { return set >> dtype & 1; }

// The dtypes of a kind, from the list itself.
#define QDQ_SET_OF(E, kind, wanted) | (qdq_dtype_set)(QDQ_KIND_##kind == (wanted)) << QDQ_##E
#define QDQ_SET_IF_FLOAT(E, name, bits, kind, least, greatest, safetensors, npy) \
    QDQ_SET_OF(E, kind, QDQ_KIND_FLOAT)
#define QDQ_SET_IF_SMALL(E, name, bits, kind, least, greatest, safetensors, npy) \
    QDQ_SET_OF(E, kind, QDQ_KIND_SMALL_FLOAT)
#define QDQ_SET_IF_BLOCK(E, name, bits, kind, least, greatest, safetensors, npy) \
    QDQ_SET_OF(E, kind, QDQ_KIND_BLOCK_FLOAT)
#define QDQ_SET_IF_INT(E, name, bits, kind, least, greatest, safetensors, npy) \
    QDQ_SET_OF(E, kind, QDQ_KIND_INT)
#define QDQ_SET_ROW(E, name, bits, kind, least, greatest, safetensors, npy) \
    | (qdq_dtype_set)1 << QDQ_##E

#define QDQ_SET_FLOATS ((qdq_dtype_set)0 QDQ_DTYPES(QDQ_SET_IF_FLOAT))        // what ops compute on
#define QDQ_SET_SMALL_FLOATS ((qdq_dtype_set)0 QDQ_DTYPES(QDQ_SET_IF_SMALL))  // float8, float4
#define QDQ_SET_INTS ((qdq_dtype_set)0 QDQ_DTYPES(QDQ_SET_IF_INT))
#define QDQ_SET_BLOCK_FLOATS ((qdq_dtype_set)0 QDQ_DTYPES(QDQ_SET_IF_BLOCK))
#define QDQ_SET_REALS (QDQ_SET_FLOATS | QDQ_SET_BLOCK_FLOATS)  // what Dequantize makes
#define QDQ_SET_QUANTIZED \
    (QDQ_SET_INTS | QDQ_SET_SMALL_FLOATS | QDQ_SET_BLOCK_FLOATS)  // what Quantize makes
#define QDQ_SET_SCALES (QDQ_SET_FLOATS | QDQ_SET(FLOAT8_E8M0) | QDQ_SET(FLOAT8_E4M3FN))
#define QDQ_SET_COMPUTED_SCALES QDQ_SET_SCALES
#define QDQ_SET_CASTS (QDQ_SET_ALL & ~QDQ_SET(INT64))
#define QDQ_SET_ALL ((qdq_dtype_set)0 QDQ_DTYPES(QDQ_SET_ROW))

// "float32, bfloat16" in the order of the dtype list.
const char *qdq_set_text(qdq_dtype_set set, char *buffer, size_t capacity);

//---- Descriptions -----------------------------------------------------------

// Ports of a description; inputs of a node, where the last port may take several; and so on.
enum { QDQ_MAX_PORTS = 10, QDQ_MAX_INPUTS = 64, QDQ_MAX_OUTPUTS = 5, QDQ_MAX_STAGES = 2 };

typedef struct qdq_port_desc {
    const char *name;
    // Inputs: of the qdq_value in the op's struct. Outputs that are optional: of the qdq_bool that
    // asks for them.
    size_t offset;
    bool optional;
    qdq_dtype_set dtypes;  // that it takes (inputs) or may have (outputs)
} qdq_port_desc;

typedef enum qdq_attr_kind {
    QDQ_ATTR_INT,         // qdq_int
    QDQ_ATTR_BOUND,       // qdq_int with its fraction
    QDQ_ATTR_FLOAT,       // qdq_float
    QDQ_ATTR_BOOL,        // qdq_bool
    QDQ_ATTR_WORD,        // an enum whose zero is the default; `words` are its names
    QDQ_ATTR_MAYBE_WORD,  // the same as a qdq_int: unset means something of its own
    QDQ_ATTR_DTYPE,       // qdq_dtype
    QDQ_ATTR_INTS,        // qdq_ints
    QDQ_ATTR_FLOATS,      // qdq_floats; JSON: a number or an array, nested at will
    QDQ_ATTR_NUMBERS,     // qdq_numbers; the same
} qdq_attr_kind;

typedef struct qdq_attr_desc {
    const char *name;
    qdq_attr_kind kind;
    size_t offset;             // in the op's struct
    const char *const *words;  // NULL-terminated
    const char *default_text;  // QDQ_REQUIRED: there is none
    const char *summary;
} qdq_attr_desc;

// The default of an attribute that has to be given. One that stands in for a port of the same name
// in the singular (scales, zps for zero_point) may be given by that port instead.
#define QDQ_REQUIRED "required"

typedef struct qdq_op_context qdq_op_context;
typedef struct qdq_stage qdq_stage;
typedef struct qdq_quantized qdq_quantized;
typedef struct qdq_weight_codes qdq_weight_codes;

// What a node is lowered for.
typedef struct qdq_lowering {
    qdq_numerics numerics;
    uint32_t isas;         // of runtime/base/cpu.h
    qdq_mempool *mempool;  // for what the stages point to
    struct qdq_shared
        *shared;  // what they point to together (ops/products/shared_packs.h); NULL: nothing
    // The input whose chain would go on with the node if it is what the node's link takes as x, 0
    // where it makes no difference.
    size_t follows;
} qdq_lowering;

typedef struct qdq_op {
    const char *name;
    const char *summary;
    size_t attrs_size;
    const qdq_port_desc *inputs, *outputs;
    size_t input_count, output_count;
    bool variadic;  // the last input port is a qdq_values
    const qdq_attr_desc *attrs;
    size_t attr_count;
    // Checks what the description cannot say, and fills in the types of the outputs. Called when
    // x, the first input, is valid; other inputs may be not.
    void (*infer)(qdq_op_context *ctx);
    // Inputs whose elements are looked at before the graph is compiled, where they are constants: a
    // bit each.
    uint64_t looks_at;
    // Writes the stages of a node without findings, at most QDQ_MAX_STAGES, and returns how many;
    // 0 when memory runs out or a constant cannot be read.
    size_t (*lower)(const qdq_op_context *ctx, const qdq_lowering *to, qdq_stage *stages);
    // A target has its own numerics for this op. Every other op computes the same for all targets.
    bool by_target;
    // Of a link: y is x where that is above 0 or NaN, and else 0.
    bool cuts_negative;
    // Whether a link of this op makes of all below 0 what it makes of 0. NULL: never.
    bool (*ignores_negative)(const qdq_link *link);
    // Integer execution. Of an op whose first result stands for the codes that its first input is:
    // whether it does, with known parameters, and which. NULL: never.
    bool (*quantized_input)(const qdq_op_context *ctx, const qdq_lowering *to,
                            qdq_quantized *quantized);
    // Of an op whose only result is made of elements of its inputs, which it moves, or chooses by
    // their order: what the result stands for where all inputs stand for their `codes`. False: it
    // does not do the same to codes. Where it does it may be lowered with their dtype in place of
    // float32, as one stage on whole tensors. NULL: never.
    bool (*passes_quantized)(const qdq_op_context *ctx, qdq_quantized *quantized);
    // Of an op that can compute on codes: a bit for each input that it would read as such, where
    // `codes` says that it may. NULL: none.
    uint64_t (*accepts_quantized)(const qdq_op_context *ctx);
    // Inputs that it lays out anew when the graph is compiled, where they are known by then: a bit
    // each. What is made of constants alone is computed once for it.
    uint64_t packs;
    // Of an op whose first result is the plain formula on the codes that its first input is:
    // whether these and all parameters are known, and which they are. NULL: never.
    bool (*weight_codes)(const qdq_op_context *ctx, const qdq_lowering *to,
                         qdq_weight_codes *weight_codes);
    // Whether an input of `packs` may be laid out as its codes (`coded` is set), and become floats
    // while it is read. NULL: never.
    bool (*packs_weight_codes)(const qdq_op_context *ctx);
} qdq_op;

// The port that an input of a node belongs to.
static inline const qdq_port_desc *qdq_op_port(const qdq_op *op, size_t input) {
    return &op->inputs[input < op->input_count ? input : op->input_count - 1];
}

static inline bool qdq_port_is_variadic(const qdq_op *op, const qdq_port_desc *input) {
    return op->variadic && input == &op->inputs[op->input_count - 1];
}

// The tables of a description, with their counts.
#define QDQ_OP_TABLES(input_table, output_table, attr_table)                                   \
    .inputs = (input_table), .input_count = sizeof(input_table) / sizeof(input_table)[0],      \
    .outputs = (output_table), .output_count = sizeof(output_table) / sizeof(output_table)[0], \
    .attrs = (attr_table), .attr_count = sizeof(attr_table) / sizeof(attr_table)[0]

// The op with this name, or NULL.
const qdq_op *qdq_op_find(const char *name);
// What made-up data for a port should be like.
qdq_fill qdq_fill_of(const char *op, const char *port);

//---- A node as its op sees it -----------------------------------------------

typedef struct qdq_type {
    qdq_dtype dtype;
    qdq_shape shape;
} qdq_type;

// The node that makes an operand.
typedef struct qdq_maker {
    const struct qdq_op *op;  // NULL: none does, it is an input or a constant
    const void *attrs;
    qdq_dtype x_dtype;  // of its first input
} qdq_maker;

// Elements of a constant that are not in memory.
typedef struct qdq_stored {
    // Copies row-major bytes at..at + bytes. False if they cannot be read; who made it knows why.
    bool (*read)(const struct qdq_stored *self, size_t at, size_t bytes, void *out);
} qdq_stored;

// What a float32 operand was before it was dequantized: (code - zero_point) * scale.
struct qdq_quantized {
    qdq_dtype dtype;           // an integer of at most 8 bits, each in a byte
    const void *data;          // of constant codes in memory; else NULL
    const qdq_stored *stored;  // of those that have to be read; else NULL
    int axis;             // the dim whose entries have parameters of their own; -1: one for all
    size_t count;         // of parameters
    const float *scales;  // finite, not 0
    const int32_t *zero_points;  // numbers that the dtype has
};

typedef struct qdq_operand {
    bool given;  // something is connected
    bool valid;  // and its type is known
    qdq_type type;
    const void *data;          // row-major, where it is a constant in memory; else NULL
    const qdq_stored *stored;  // where it is one that has to be read; else NULL
    bool constant;             // it is one, or is made of constants alone
    qdq_maker maker;
    // Asked: it may be read as these. Lowered: it is these that the stage is given. NULL: neither.
    const qdq_quantized *quantized;
    const qdq_weight_codes *weight_codes;  // likewise; its type stays that of the floats
} qdq_operand;

struct qdq_op_context {
    const qdq_op *op;
    const char *node;
    const void *attrs;
    size_t input_count;                 // ports, with those of a variadic one counted each
    qdq_type outputs[QDQ_MAX_OUTPUTS];  // filled in by infer
    size_t output_count;                // likewise
    bool returned;                      // a result is an output of the graph
    qdq_findings *findings;
    // As many as there are ports or inputs, whichever are more; what is beyond is not even zero, as
    // that would be most of the work of checking small nodes.
    qdq_operand inputs[QDQ_MAX_INPUTS];
};

// Checks a node against its description, then lets the op infer. True if it has no errors.
bool qdq_op_check(qdq_op_context *ctx);

// Adds a finding about a port or attribute of the node.
void qdq_report_violation(const qdq_op_context *ctx, qdq_core_rule rule, const char *port,
                          const char *found, const char *wanted);

// Whether a rule of a target is about the op of a node.
bool qdq_rule_applies(const qdq_rule *rule, const qdq_op_context *ctx);

// Adds a finding of a target's rule, whose id begins with the name of the target.
void qdq_report_target_violation(const qdq_op_context *ctx, const qdq_rule *rule, const char *port,
                                 const char *found, const char *wanted);

//---- Stages: what an op becomes ---------------------------------------------

typedef enum qdq_origin { QDQ_FROM_NUMBERS, QDQ_FROM_INPUT, QDQ_FROM_OUTPUT } qdq_origin;

// The parameters of a stage: known numbers, or those of a port.
typedef struct qdq_stage_param {
    bool is_int;
    qdq_grid grid;
    size_t count;
    qdq_origin origin;
    const uint32_t *values;  // QDQ_FROM_NUMBERS
    size_t port;             // QDQ_FROM_INPUT, QDQ_FROM_OUTPUT
} qdq_stage_param;

// Constant floats as what they are made of: (code - zero_point) * scale with one rounding, and
// another one to their dtype.
struct qdq_weight_codes {
    qdq_dtype dtype;   // int8, uint8, int4, uint4
    const void *data;  // a byte each; or
    const qdq_stored *stored;
    qdq_stage_param scale, zero_point;  // numbers
};

// A link from input port `x` to output port `y`; with `reduce`, a reduction of input port `x` to
// the output ports `results`; or, with `whole`, work on all inputs and outputs in `units`.
struct qdq_stage {
    size_t x;
    const void *params;
    qdq_tile_fn *fn;
    size_t y;
    qdq_stage_param stage_params[QDQ_MAX_STAGE_PARAMS];
    size_t stage_param_count;
    const qdq_reduce_fns *reduce;
    qdq_grid grid;
    size_t results[QDQ_MAX_REDUCED];
    size_t result_count;
    qdq_tensor_op_fn *tensor_op;
    size_t units, cost;  // of qdq_tensor_op
    bool chunks;         // `whole` hands over pieces of output 0 where it is given a put
    // Inputs that `params` have in a form of their own, which takes so many bytes: the function
    // does not read them.
    uint64_t packed;
    size_t packed_bytes;
};

#endif
