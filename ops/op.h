// SPDX-License-Identifier: Apache-2.0
// An op is one constant description: its ports, its attributes, a function that infers the types of
// its results, and a function that lowers a node to stages of a plan. Parsing, checking, help and
// documents read the description; nothing else knows the ops by name.
#ifndef QDQ_OPS_OP_H
#define QDQ_OPS_OP_H

#include "include/qdq/inspect.h"
#include "include/qdq/ops/node.h"
#include "ops/dtype_set.h"
#include "ops/op_context.h"
#include "ops/op_fusion.h"
#include "ops/stage.h"
#include "runtime/base/scratch.h"

typedef struct qdq_port_desc {
    const char *name;
    // Inputs: of the qdq_value in the op's struct. Optional outputs: of the qdq_bool that asks for
    // the output.
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
    QDQ_ATTR_MAYBE_WORD,  // an enum that may be unset, laid out as qdq_maybe_word
    QDQ_ATTR_DTYPE,       // qdq_dtype
    QDQ_ATTR_INTS,        // qdq_ints
    QDQ_ATTR_FLOATS,      // qdq_floats; JSON: a number or an array, nested at will
    QDQ_ATTR_NUMBERS,     // qdq_numbers; JSON: a number or an array, nested at will
    QDQ_ATTR_VALUE,       // qdq_value, which is not read; JSON: its name. At most one for an op
} qdq_attr_kind;

// The layout of qdq_maybe_qtype and of every other optional enum.
typedef struct qdq_maybe_word {
    float set;
    int value;
} qdq_maybe_word;

typedef struct qdq_attr_desc {
    const char *name;
    qdq_attr_kind kind;
    size_t offset;             // in the op's struct
    const char *const *words;  // NULL-terminated
    const char *default_text;  // QDQ_REQUIRED: there is none
    const char *summary;
} qdq_attr_desc;

// The default of an attribute that has to be given. A port may stand in for an attribute that is
// its plural (scales for scale, zps for zero_point).
#define QDQ_REQUIRED "required"

typedef struct qdq_op {
    const char *name;
    const char *summary;
    size_t attrs_size;
    const qdq_port_desc *inputs, *outputs;
    size_t input_count, output_count;
    bool variadic;  // the last input port is a qdq_values
    const qdq_attr_desc *attrs;
    size_t attr_count;
    // Checks rules that the tables cannot express, and fills in the types of the outputs. Called if
    // the first input is valid; other inputs may be invalid.
    void (*infer)(qdq_op_context *ctx);
    // `infer` is also called if the type of the first input is unknown, and checks the rest.
    bool infers_without_x;
    // Fills in attributes that the operands determine, and returns true if it did. Called once,
    // before the node is checked. NULL: no attribute depends on the operands.
    bool (*complete)(const qdq_op_context *ctx, void *attrs, qdq_mempool *mempool);
    // A bit for each port whose elements, if constant, are read before the graph is compiled.
    uint64_t looks_at;
    // Writes the stages of a node without findings, at most QDQ_MAX_STAGES, and returns how many;
    // 0 when memory runs out or a constant cannot be read.
    size_t (*lower)(const qdq_op_context *ctx, const qdq_lowering *to, qdq_stage *stages);
    // True if targets have their own numerics for this op. `by_chip`: only `multiply_add` matters,
    // set if a chip computes the op, and `sfpu_generation`. `by_float_ops`, `by_pair_sums`,
    // `by_qlinear`: the field of this name matters. Every other op computes the same for all
    // targets.
    bool by_target, by_chip, by_float_ops, by_pair_sums, by_qlinear;
    // Hooks of integer execution, weight packing and fusion; NULL: none.
    const qdq_op_fusion *fusion;
} qdq_op;

// Returns the fusion hooks of an op, all of them NULL if it has none.
static inline const qdq_op_fusion *qdq_fusion_of(const qdq_op *op) {
    static const qdq_op_fusion none = {0};
    return op->fusion ? op->fusion : &none;
}

// Returns the port that an input of a node belongs to.
static inline const qdq_port_desc *qdq_op_port(const qdq_op *op, size_t input) {
    return &op->inputs[input < op->input_count ? input : op->input_count - 1];
}

// Returns the port of an input as a set of ports: a bit for each, the first is 1.
static inline uint64_t qdq_port_bit(const qdq_op *op, size_t input) {
    return UINT64_C(1) << (input < op->input_count ? input : op->input_count - 1);
}

// True if a set of ports has the port of an input.
static inline bool qdq_ports_have(const qdq_op *op, uint64_t ports, size_t input) {
    return ports & qdq_port_bit(op, input);
}

static inline bool qdq_port_is_variadic(const qdq_op *op, const qdq_port_desc *input) {
    return op->variadic && input == &op->inputs[op->input_count - 1];
}

// The tables of a description, with their counts.
#define QDQ_OP_TABLES(input_table, output_table, attr_table)                                   \
    .inputs = (input_table), .input_count = sizeof(input_table) / sizeof(input_table)[0],      \
    .outputs = (output_table), .output_count = sizeof(output_table) / sizeof(output_table)[0], \
    .attrs = (attr_table), .attr_count = sizeof(attr_table) / sizeof(attr_table)[0]

// True if the first `size` bytes of the op's struct hold no part of a field without the rest.
bool qdq_op_has_whole_fields(const qdq_op *op, size_t size);
// True if an attribute differs from its default; `field` is its address in the op's struct.
bool qdq_attr_is_set(const qdq_attr_desc *attr, const void *field);
// True if an attribute is the same in two structs of its op.
bool qdq_attr_is_equal(const qdq_attr_desc *attr, const void *a, const void *b);
// Returns the op with this name, or NULL.
const qdq_op *qdq_op_find(const char *name);
// True if only another profile of the build has an op with this name.
bool qdq_op_is_lacked(const char *name);
// Returns the kind of random data that suits a port.
qdq_fill qdq_fill_of(const char *op, const char *port);

#endif
