// SPDX-License-Identifier: Apache-2.0
// A target: the rules of a backend, and the numerics it computes with. Each target is one constant
// description in graph/targets/; graph/targets/target.c lists them.
#ifndef QDQ_GRAPH_CORE_TARGET_H
#define QDQ_GRAPH_CORE_TARGET_H

#include "include/qdq/coding.h"
#include "include/qdq/evidence.h"
#include "include/qdq/inspect.h"
#include "ops/op.h"

// A version of a backend: a release, or a variant of one (a chip). Numbers of releases grow with
// time; a rule names the first release that has it and the first that no longer has it. Variants
// have no order; the first one of a release is the release's default.
typedef struct qdq_named_version {
    const char *name;  // "10.13", "wormhole"
    int release;
    int variant;
} qdq_named_version;

typedef struct qdq_target_version qdq_target_version;

// A pattern of nodes that a backend replaces before it runs a graph (graph/rewrite/rewrite.h).
typedef struct qdq_pattern qdq_pattern;

enum { QDQ_MAX_TARGET_OPTIONS = 12 };

// The device whose memory a target has unless the user names another.
typedef struct qdq_target_device {
    const char *name;  // NULL: none
    qdq_arch arch;     // that a given device must have; QDQ_ARCH_NONE: any
} qdq_target_device;

// Ops of qdq_quantized_form.
#define QDQ_PRODUCTS "MatMul Convolution ConvTranspose"
#define QDQ_CODE_MOVES "MaxPool StaticReshape StaticTranspose Slice"

// The rules of a target that a mend answers (graph/transform/mend/).
typedef struct qdq_mended_rules {
    const char *mend;   // its name: "signed codes"
    const char *rules;  // ids, with spaces between them
} qdq_mended_rules;

typedef struct qdq_evidence_row {
    qdq_evidence shown;
    bool (*covers)(const qdq_op_context *ctx);  // `shown.condition` as a check; NULL: every node
} qdq_evidence_row;

typedef struct qdq_target {
    const char *name;
    const char *summary;
    const qdq_rule *rules;
    size_t rule_count;
    const qdq_mended_rules *mended;  // up to a row without a mend; NULL: none
    qdq_quantized_form quantized;
    const struct qdq_target *base;  // whose rules hold too; NULL: none
    // oldest release first; none if all are alike
    const qdq_named_version *versions;
    size_t version_count;
    const qdq_target_option_info *options;
    size_t option_count;
    // The rewrites of a graph before the backend runs it, pass by pass, up to a row without a pass;
    // NULL: the backend runs the nodes as given.
    const qdq_pattern *patterns;
    // True if its optimizer computes constants before a run; NULL: it does not.
    bool (*folds_constants)(const qdq_target_version *version);
    const char
        *as_is;  // option under which no pattern applies: ":level=disabled"; NULL: no patterns
    // The evidence for its numbers. The first row that covers a node at a version is the evidence
    // for it. A node without a row has the evidence of `base`, at the version of the same name, or
    // unknown bits. Up to a row of zeros.
    const qdq_evidence_row *evidence;
    // quant_min and quant_max may be equal, have fractions, and apply to float8; constant scales
    // may be float64 and zero points int64; parameters of blocks may have any shape of their count
    bool lenient_parameters;
    // A zero point that is a tensor is int32: no mend writes several zero points as numbers, which
    // would stay a tensor of the dtype of the codes
    bool int32_zero_points;
    // Plans hold values in tiles unless the caller chooses another layout.
    bool tiles;
    // A constant scale may be 0: quotients are infinite or NaN, and saturate.
    bool runs_zero_scales;
    bool fixed_point;         // it has a Requantize by multiplier and shift
    const char *onnx_domain;  // of ops that its importer of ONNX models adds; NULL: none
    // A Requantize is computed as Dequantize and Quantize, whose rules hold for its two sides
    bool halves_requantize;
    // Returns the dtype that the backend gives the output of a node without `dtype`; NONE: as in
    // the core. NULL: as in its base, or as in the core if it has no base.
    qdq_dtype (*default_dtype)(const qdq_op_context *ctx);
    // The numerics of a node at a version.
    qdq_numerics (*numerics)(const qdq_op_context *ctx, const qdq_target_version *version);
    // The device that tensors lie in at a version; NULL: there is none, and memory_config, layout
    // and tile mean nothing.
    qdq_target_device (*device)(const qdq_target_version *version);
    // With a device: the ids of the rules about its memory, by qdq_failure_kind
    // (runtime/tenstorrent/memory_failure.h).
    const char *const *memory_rules;
} qdq_target;

// A target at one version.
struct qdq_target_version {
    const qdq_target *target;
    const char *name;  // NULL if the target has no versions
    int release, variant;
    int options[QDQ_MAX_TARGET_OPTIONS];  // indices of words
    bool given_numerics;  // the caller gave the numerics, which also take lenient constants
};

// Finds "TARGET" (the default of its newest release) or "TARGET@VERSION", either with options
// behind it: ":OPTION=WORD". False with `err` set, including a did-you-mean, if there is none.
bool qdq_target_version_find(const char *name, qdq_target_version *out, qdq_error *err);

// Returns the device of "TARGET" or "TARGET@VERSION", which exists.
qdq_target_device qdq_target_device_of(const char *name);

// Returns the numerics of a node at a version.
qdq_numerics qdq_target_numerics(const qdq_target_version *version, const qdq_op_context *ctx);

// Writes the default of a graph's own target (NULL: none) to the attribute `dtype` of a node that
// has none. False if there is nothing to write.
bool qdq_target_fill_dtype(const qdq_target *own, const qdq_op_context *ctx, void *attrs);

// Writes the dtype of the first result to `dtype` of a node that has none, so that no target
// decides it again. False if there is nothing to write.
bool qdq_target_keep_dtype(const qdq_op_context *ctx, void *attrs);

// True if a rule holds at a version.
bool qdq_rule_holds(const qdq_rule *rule, const qdq_target_version *version);

// Returns the version whose rules of memory hold: `version` if its target has a device, else the
// first target with one.
qdq_target_version qdq_memory_version(const qdq_target_version *version);

// Returns target number `index`, as qdq_target_get counts; NULL if it is out of range.
const qdq_target *qdq_target_at(size_t index);

size_t qdq_evidence_count(const qdq_target *target);
// Returns evidence number `index` of a target, counted on through its bases; NULL: there are fewer.
const qdq_evidence_row *qdq_evidence_row_at(const qdq_target_version *version, size_t index);
// Returns the number of the first row, from number `from` on, about an op at a version; a number
// without a row if none is.
size_t qdq_evidence_next(const qdq_target_version *version, const char *op, size_t from);

// Rows of evidence: versions, ops, the ops in words, the condition in words, the backend that the
// numbers were compared with; then the data compared, and the date. _IF: the first argument checks
// the condition. UNLIKE: the backend gave other numbers, by more than rounding.
#define QDQ_EVIDENCE_ROW(bits, kind, covers, ...) \
    { {bits, kind, __VA_ARGS__}, covers }
#define QDQ_DEFINED(...) QDQ_EVIDENCE_ROW(QDQ_BITS_EXACT, "definition", NULL, __VA_ARGS__, "", "")
#define QDQ_RUN_IF(covers, ...) QDQ_EVIDENCE_ROW(QDQ_BITS_EXACT, "run", covers, __VA_ARGS__)
#define QDQ_RUN(versions, ops, what, ...) QDQ_RUN_IF(NULL, versions, ops, what, "", __VA_ARGS__)
#define QDQ_CLOSE_IF(covers, ...) QDQ_EVIDENCE_ROW(QDQ_BITS_CLOSE, "run", covers, __VA_ARGS__)
#define QDQ_UNLIKE_IF(covers, ...) QDQ_EVIDENCE_ROW(QDQ_BITS_UNKNOWN, "run", covers, __VA_ARGS__)
#define QDQ_VENDORS_MODEL(versions, ops, what, ...) \
    QDQ_EVIDENCE_ROW(QDQ_BITS_EXACT, "vendor's model", NULL, versions, ops, what, "", __VA_ARGS__)
#define QDQ_READ_IF(covers, ...) \
    QDQ_EVIDENCE_ROW(QDQ_BITS_READ, "read from source", covers, __VA_ARGS__, "", "")

#endif
