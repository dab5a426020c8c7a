// SPDX-License-Identifier: Apache-2.0
// Rules: what a check can find. A rule is a row; the rows of the core are here, those of a target
// in graph/targets/.
//
// A core rule is found while a node is built. A target's rule is a row with id, severity,
// sentence, hint, source, the ops it is about, a check, and the releases between which it holds.
#ifndef QDQ_OPS_RULE_H
#define QDQ_OPS_RULE_H

#include "include/qdq/graph.h"

struct qdq_op_context;

typedef struct qdq_rule {
    const char *id;  // "core/axis-range"
    qdq_severity severity;
    qdq_status status;  // what compiling a graph that breaks it fails with
    const char *summary;
    const char *hint;    // how to mend it, unless the finding knows better
    const char *source;  // where it is documented
    // Of a target: the ops that it is about ("Quantize Dequantize"), and what finds that a node
    // without core errors breaks it. The core finds as it goes, and leaves these NULL.
    const char *ops;
    bool but_ops;  // it is about all other ops than these
    void (*check)(const struct qdq_op_context *ctx, const struct qdq_rule *rule);
    // Releases of the target (graph/target.h): the first with the rule, the first without it
    // again; 0: no bound.
    int since, until;
} qdq_rule;

// X(enumerator, id, severity, status, summary, hint)
// clang-format off
#define QDQ_CORE_RULES(X)                                                                          \
    X(OP_UNKNOWN, "op-unknown", ERROR, GRAPH, "every op is one of those that `qdq ops` lists",     \
      "see `qdq ops`")                                                                             \
    X(OP_UNSUPPORTED, "op-unsupported", ERROR, UNSUPPORTED,                                        \
      "every kind of op in a oneDNN Graph file is one that is supported",                          \
      "see `qdq ops`; there are no backward ops")                                \
    X(PORT_UNKNOWN, "port-unknown", ERROR, GRAPH, "every input names a port that the op has",      \
      "see `qdq ops OP`")                                                                          \
    X(PORT_MISSING, "port-missing", ERROR, GRAPH, "every port that is not optional has a value",   \
      "connect it under \"inputs\"")                                                               \
    X(PORT_DTYPE, "port-dtype", ERROR, GRAPH, "a value has a dtype that its port takes",           \
      "see `qdq ops OP`")                                                                          \
    X(PORT_COUNT, "port-count", ERROR, GRAPH, "a port has one value; a variadic one a list of 1 to 64", \
      "see `qdq ops OP`")                                                                          \
    X(PORT_SHAPE, "port-shape", ERROR, GRAPH, "the shapes of a node's inputs go together",         \
      "see docs/ops_neural_network.md")                                                            \
    X(ATTR_REQUIRED, "attr-required", ERROR, GRAPH, "every attribute without a default is given",  \
      "see `qdq ops OP`")                                                                          \
    X(ATTR_UNKNOWN, "attr-unknown", ERROR, GRAPH, "every attribute is one that the op has",        \
      "see `qdq ops OP`")                                                                          \
    X(ATTR_TYPE, "attr-type", ERROR, GRAPH, "an attribute is of the type that the op wants",       \
      "see `qdq ops OP`")                                                                          \
    X(ATTR_VALUE, "attr-value", ERROR, GRAPH, "an attribute lies in the range that the op wants",  \
      "see `qdq ops OP`")                                                                          \
    X(DTYPE_UNKNOWN, "dtype-unknown", ERROR, GRAPH, "every dtype is one that there is",            \
      "see `qdq ops --dtypes`")                                                                    \
    X(DTYPE_RESULT, "dtype-result", ERROR, GRAPH, "`dtype` is one that the op can make",           \
      "see `qdq ops OP`")                                                                          \
    X(DTYPE_REQUIRED, "dtype-required", ERROR, GRAPH,                                              \
      "Cast, and Requantize of a float, have a `dtype`", "say which dtype the result has")         \
    X(AXIS_RANGE, "axis-range", ERROR, GRAPH, "`axis` lies in [-rank, rank - 1] of x",             \
      "count dims from 0, or from the end with -1")                                                \
    X(AXIS_REQUIRED, "axis-required", ERROR, GRAPH,                                                \
      "Requantize with a per-channel side has an `axis`", "say which dim the channels are")        \
    X(SCALE_MISSING, "scale-missing", ERROR, GRAPH, "a scale is given",                            \
      "give it as an attribute or as a port")                                                      \
    X(SCALE_TWICE, "scale-twice", ERROR, GRAPH, "a scale is given as attribute or as port, not both", \
      "remove one of the two")                                                                     \
    X(SCALE_COUNT, "scale-count", ERROR, GRAPH, "there are as many scales as parts of x they serve", \
      "one per tensor, dim[axis] per channel, one per block per group")                            \
    X(SCALE_VALUE, "scale-value", ERROR, GRAPH, "a constant scale is finite and not zero as float32", \
      "use the smallest scale that covers the data; for a channel of zeros, 1")                    \
    X(SCALE_NEGATIVE, "scale-negative", WARNING, GRAPH, "a constant scale is positive",            \
      "a negative scale mirrors the values")                                                       \
    X(LIST_NESTING, "list-nesting", WARNING, GRAPH,                                                \
      "a list of scales or zero points is flat, or nested like the block grid",                    \
      "its numbers are read in row-major order, however they are nested")                          \
    X(ZERO_POINT_TWICE, "zero-point-twice", ERROR, GRAPH,                                          \
      "a zero point is given as attribute or as port, not both", "remove one of the two")          \
    X(ZERO_POINT_COUNT, "zero-point-count", ERROR, GRAPH,                                          \
      "there is one zero point, or one for each scale", "one zero point serves all")               \
    X(ZERO_POINT_VALUE, "zero-point-value", ERROR, GRAPH,                                          \
      "a zero point is a whole number of at most 32 bits", "round it")                             \
    X(ZERO_POINT_RANGE, "zero-point-range", WARNING, GRAPH,                                        \
      "a constant zero point lies in the range of the quantized type",                             \
      "real 0 has no exact code otherwise")                                                        \
    X(ZERO_POINT_DOMAIN, "zero-point-domain", ERROR, GRAPH,                                        \
      "`zero_point_domain` agrees with the zero point and the quantized type",                     \
      "int: integers, or a constant of whole numbers; float: any number, for integer types; "      \
      "none: no zero point")                \
    X(GROUP_SHAPE, "group-shape", ERROR, GRAPH,                                                    \
      "`group_shape` goes with per_group and has an entry in 1..dim (or -1) for each dim of x",    \
      "-1 stands for the whole dim")                                                               \
    X(QTYPE_COUNT, "qtype-count", ERROR, GRAPH, "`qtype` of Requantize agrees with the counts",    \
      "leave qtype out: the counts say it")                                                        \
    X(QUANT_RANGE, "quant-range", ERROR, GRAPH,                                                    \
      "quant_min < quant_max, both in the range of the result's dtype; whole, and of integers, unless the target takes others", \
      "leave them out for the whole range") \
    X(NAME_FORM, "name-form", ERROR, GRAPH,                                                        \
      "every name has 1 to 255 bytes of UTF-8, none of them a control character", "give it such a name")    \
    X(NAME_DUPLICATE, "name-duplicate", ERROR, GRAPH, "every name is given once",                  \
      "rename one of them")                                                                        \
    X(VALUE_UNKNOWN, "value-unknown", ERROR, GRAPH, "every value that is used exists",             \
      "values are inputs, constants, nodes, and their ports as node.port")                         \
    X(CYCLE, "cycle", ERROR, GRAPH, "no node needs its own result", "cut one of its edges")        \
    X(SHAPE, "shape", ERROR, GRAPH, "a shape has at most 8 dims, each of them at least 1",         \
      "a scalar has the shape []")                                                                 \
    X(SIZE, "size", ERROR, LIMIT, "a tensor has at most 2^31 elements",                            \
      "raise the limit if the file is trusted")                                                    \
    X(CONSTANT_DATA, "constant-data", ERROR, GRAPH,                                                \
      "a constant's data has as many elements as its shape, each in the range of its dtype",       \
      "data is flat and row-major")                                                                \
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
