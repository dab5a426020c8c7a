// SPDX-License-Identifier: Apache-2.0
// Rules: the mistakes and surprises that a check can find. A rule is a row of a table; the core
// rules are here, the rules of a target in graph/targets/.
//
// A core rule is found while a node is built. A target's rule is a row with id, severity, sentence,
// hint, source, the ops it is about, a check, and the releases between which it holds.
#ifndef QDQ_OPS_RULE_H
#define QDQ_OPS_RULE_H

#include "include/qdq/graph.h"

struct qdq_op_context;
struct qdq_value_context;

typedef struct qdq_rule {
    const char *id;  // "core/axis-range"
    qdq_severity severity;
    qdq_status status;  // the error of compiling a graph that breaks it
    const char *summary;
    const char *hint;    // how to mend it, unless the finding knows better
    const char *source;  // where it is documented
    // Rules of a target: the ops that the rule is about ("Quantize Dequantize"), and the check of a
    // node without core errors. Core rules are checked while a node is built, and leave both NULL.
    const char *ops;
    bool but_ops;  // the rule is about all ops except these
    void (*check)(const struct qdq_op_context *ctx, const struct qdq_rule *rule);
    // The same for a rule about the placement of a value on a device (graph/memory/layout_rules.h):
    // `ops` are the ops that compute the value, NULL for all values.
    void (*check_value)(const struct qdq_value_context *ctx, const struct qdq_rule *rule);
    // A dtype whose inputs and constants are no outputs of the graph either, which no node says.
    qdq_dtype not_returned;
    // The rule is about nodes of a model that have what its opset lacks, which no node says.
    bool newer_than_opset;
    // Releases of the target (graph/core/target.h): the first with the rule, the first without it
    // again; 0: no bound.
    int since, until;
    // Names of the versions that have the rule ("wormhole blackhole"), if it goes by variant.
    const char *versions;
    // The most that is known of the bits of a node with such a finding; NONE: as without it.
    qdq_bits bits;
} qdq_rule;

// X(enumerator, id, severity, status, summary, hint)
// clang-format off
#define QDQ_CORE_RULES(X)                                                                          \
    X(OP_UNKNOWN, "op-unknown", ERROR, GRAPH, "every op is one that `qdq ops` lists",     \
      "see `qdq ops`")                                                                             \
    X(OP_UNSUPPORTED, "op-unsupported", ERROR, UNSUPPORTED,                                        \
      "every op in an ONNX model or a oneDNN Graph file is of a supported kind",                          \
      "see `qdq ops`; there are no backward ops")                                \
    X(PORT_UNKNOWN, "port-unknown", ERROR, GRAPH, "every input names a port that the op has",      \
      "see `qdq ops OP`")                                                                          \
    X(PORT_MISSING, "port-missing", ERROR, GRAPH, "every required port has a value",   \
      "connect it under \"inputs\"")                                                               \
    X(PORT_DTYPE, "port-dtype", ERROR, GRAPH, "a value has a dtype that its port accepts",           \
      "see `qdq ops OP`")                                                                          \
    X(PORT_COUNT, "port-count", ERROR, GRAPH, "a port has one value, a variadic port a list of at least one", \
      "see `qdq ops OP`")                                                                          \
    X(PORT_SHAPE, "port-shape", ERROR, GRAPH, "the shapes of a node's inputs fit each other",         \
      "see docs/ops_neural_network.md")                                                            \
    X(ATTR_REQUIRED, "attr-required", ERROR, GRAPH, "every attribute without a default is given",  \
      "see `qdq ops OP`")                                                                          \
    X(ATTR_UNKNOWN, "attr-unknown", ERROR, GRAPH, "every attribute is one that the op has",        \
      "see `qdq ops OP`")                                                                          \
    X(ATTR_TYPE, "attr-type", ERROR, GRAPH, "an attribute has the type that the op wants",       \
      "see `qdq ops OP`")                                                                          \
    X(ATTR_VALUE, "attr-value", ERROR, GRAPH, "an attribute has a value that the op accepts",  \
      "see `qdq ops OP`")                                                                          \
    X(ATTRIBUTE_NOT_SET, "attribute-not-set", ERROR, GRAPH,                                        \
      "an optional number of the C API is written with its macro",                                 \
      "a bare number, as in `.axis = 1`, is not in the field `value`")                             \
    X(DTYPE_UNKNOWN, "dtype-unknown", ERROR, GRAPH, "every dtype is one that `qdq ops --dtypes` lists",            \
      "see `qdq ops --dtypes`")                                                                    \
    X(DTYPE_RESULT, "dtype-result", ERROR, GRAPH, "`dtype` is one that the op can make",           \
      "see `qdq ops OP`")                                                                          \
    X(DTYPE_REQUIRED, "dtype-required", ERROR, GRAPH,                                              \
      "Cast has a `dtype`, and so does Requantize of a float", "give the dtype of the result")         \
    X(AXIS_RANGE, "axis-range", ERROR, GRAPH, "`axis` lies in [-rank, rank - 1] of x",             \
      "count dims from 0, or from the end with -1")                                                \
    X(INDEX_RANGE, "index-range", ERROR, GRAPH,                                                    \
      "a constant index lies in [-dim, dim - 1] of the dim that it is for",                        \
      "an index that is no constant is clamped to this range")                                     \
    X(AXIS_REQUIRED, "axis-required", ERROR, GRAPH,                                                \
      "Requantize with a per-channel side has an `axis`", "give the dim of the channels")        \
    X(SCALE_MISSING, "scale-missing", ERROR, GRAPH, "a scale is given",                            \
      "give it as an attribute or as a port")                                                      \
    X(SCALE_TWICE, "scale-twice", ERROR, GRAPH, "a scale is given as attribute or as port, not both", \
      "remove one of the two")                                                                     \
    X(SCALE_COUNT, "scale-count", ERROR, GRAPH, "there is one scale for each tensor, channel or block", \
      "give 1 per tensor, dim[axis] per channel, or 1 for each block")                            \
    X(SCALE_VALUE, "scale-value", ERROR, GRAPH, "a constant scale is finite and not zero as float32", \
      "use the smallest scale that covers the data; for a channel of zeros, 1")                    \
    X(SCALE_NEGATIVE, "scale-negative", WARNING, GRAPH, "a constant scale is positive",            \
      "give its magnitude: a negative scale mirrors the values")                                                       \
    X(LIST_NESTING, "list-nesting", WARNING, GRAPH,                                                \
      "a list of scales or zero points is flat, or nested like the block grid",                    \
      "flatten it: numbers are read in row-major order, however they are nested")                          \
    X(FIXED_POINT, "fixed-point", ERROR, GRAPH,                                                    \
      "Requantize with a multiplier has a shift and no scale, 1 or dim[axis] of each, in the range of its rounding", \
      "the scale is multiplier * 2^-shift")                                                        \
    X(ZERO_POINT_TWICE, "zero-point-twice", ERROR, GRAPH,                                          \
      "a zero point is given as attribute or as port, not both", "remove one of the two")          \
    X(ZERO_POINT_COUNT, "zero-point-count", ERROR, GRAPH,                                          \
      "there is one zero point, or one for each scale", "give one for all, or one for each scale")               \
    X(ZERO_POINT_VALUE, "zero-point-value", ERROR, GRAPH,                                          \
      "a zero point is a whole number of at most 32 bits", "round it")                             \
    X(ZERO_POINT_RANGE, "zero-point-range", WARNING, GRAPH,                                        \
      "a constant zero point lies in the range of the quantized type",                             \
      "outside this range, 0 has no exact code")                                                        \
    X(ZERO_POINT_DOMAIN, "zero-point-domain", ERROR, GRAPH,                                        \
      "`zero_point_domain` agrees with the zero point and the quantized type",                     \
      "int: integers, or a constant of whole numbers; float: any number, for integer types; "      \
      "none: no zero point")                \
    X(GROUP_SHAPE, "group-shape", ERROR, GRAPH,                                                    \
      "`group_shape` is for per_group only, with an entry in 1..dim (or -1) for each dim of x",    \
      "use -1 for a whole dim")                                                               \
    X(QTYPE_COUNT, "qtype-count", ERROR, GRAPH, "`qtype` agrees with the number of scales and zero points",    \
      "leave qtype out: the counts decide it")                                                        \
    X(QTYPE_AMBIGUOUS, "qtype-ambiguous", ERROR, GRAPH,                                            \
      "a scale beside an `axis` without a qtype fits channels or blocks, not both",                \
      "give qtype per_channel with a flat scale, or per_group with group_shape")                                                                                \
    X(QUANT_RANGE, "quant-range", ERROR, GRAPH,                                                    \
      "quant_min < quant_max, both in the range of the result's dtype; they are whole numbers and for integer dtypes, unless the target accepts others", \
      "leave them out for the full range") \
    X(NAME_FORM, "name-form", ERROR, GRAPH,                                                        \
      "every name has 1 to 255 bytes of UTF-8, none of them a control character", "choose another name")    \
    X(NAME_DUPLICATE, "name-duplicate", ERROR, GRAPH, "every name is given once",                  \
      "rename one of them")                                                                        \
    X(VALUE_UNKNOWN, "value-unknown", ERROR, GRAPH, "every value that is used exists",             \
      "name an input, a constant, a node, or an output of a node as node.port")                         \
    X(CYCLE, "cycle", ERROR, GRAPH, "no node needs its own result", "remove one of these edges")        \
    X(SHAPE, "shape", ERROR, GRAPH, "a shape has at most 8 dims, each of them at least 1",         \
      "a scalar has the shape []")                                                                 \
    X(SIZE, "size", ERROR, LIMIT, "a tensor has at most 2^31 elements",                            \
      "raise --max-elements or --max-bytes if you trust the file")                                                    \
    X(CONSTANT_DATA, "constant-data", ERROR, GRAPH,                                                \
      "a constant's data has as many elements as its shape, each in the range of its dtype",       \
      "give it flat, in row-major order")                                                                \
    X(MEMORY_CONFIG, "memory-config", ERROR, GRAPH,                                                \
      "a memory_config, a layout and a tile have words and numbers that can be",                   \
      "see docs/format.md#9-memory-of-a-device")                                                   \
    X(MEMORY_CONFIG_IGNORED, "memory-config-ignored", WARNING, GRAPH,                              \
      "a memory_config, a layout, a tile and an output_tensor are for a target that has a device",                     \
      "results never depend on it; target ttnn has a device")                                      \
    X(QUEUE_IGNORED, "queue-ignored", WARNING, GRAPH, "`queue_id` is left out",                    \
      "leave it out: a run has no command queues, and newer releases of ttnn no longer have the keyword") \
    X(ATTRIBUTE_IGNORED, "attribute-ignored", WARNING, GRAPH,                                      \
      "an attribute of a quantizing op that is given has an effect", "leave it out")                           \
    X(OUTPUT_MISSING, "output-missing", ERROR, GRAPH, "a graph has at least one output",           \
      "name a value under \"outputs\"")                                                            \
    X(VALUE_UNUSED, "value-unused", WARNING, GRAPH, "every value is used",                         \
      "remove it, or make it an output")
// clang-format on

typedef enum qdq_core_rule {
#define QDQ_CORE_RULE_ENUMERATOR(E, id, severity, status, summary, hint) QDQ_RULE_##E,
    QDQ_CORE_RULES(QDQ_CORE_RULE_ENUMERATOR)
#undef QDQ_CORE_RULE_ENUMERATOR
        QDQ_CORE_RULE_COUNT
} qdq_core_rule;

extern const qdq_rule qdq_core_rules[QDQ_CORE_RULE_COUNT];

#endif
