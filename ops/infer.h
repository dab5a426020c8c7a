// SPDX-License-Identifier: Apache-2.0
// Checks that the `infer` functions of several ops share, and the words of attributes that several
// ops have.
#ifndef QDQ_OPS_INFER_H
#define QDQ_OPS_INFER_H

#include "ops/op.h"

extern const char *const qdq_data_format_words[];  // NXC, NCX
extern const char *const qdq_auto_pad_words[];     // None, SAME_UPPER, SAME_LOWER, VALID
extern const char *const qdq_broadcast_words[];    // numpy, none

//---- Checks -----------------------------------------------------------------

// Adds the finding that a port has the shape `found`.
void qdq_report_shape(const qdq_op_context *ctx, const char *port, qdq_shape found,
                      const char *wanted);

// Reports a finding unless the attribute is given.
bool qdq_require_attr(const qdq_op_context *ctx, const char *attr, bool given);

// Returns the dim that an axis attribute names, or -1 with a finding.
int qdq_check_axis(const qdq_op_context *ctx, const char *attr, int64_t axis, int rank);

// Reports a finding unless the input, if given, has the dtype of the first input.
bool qdq_check_same_dtype(const qdq_op_context *ctx, size_t input);

// Reports a finding unless the input, if both are given, has the dtype of the other.
bool qdq_check_dtype_as(const qdq_op_context *ctx, size_t input, size_t other);

// Reports a finding unless the input, if given, has one element.
bool qdq_check_one(const qdq_op_context *ctx, size_t input);

// Reports a finding unless the input, if given, has this shape; `why` names the source of the
// shape: "the channels of x".
bool qdq_check_shape(const qdq_op_context *ctx, size_t input, qdq_shape wanted, const char *why);

// True if an input is given and its type is known.
static inline bool qdq_has_input(const qdq_op_context *ctx, size_t input) {
    return input < ctx->input_count && qdq_input_at(ctx, input).valid;
}

// Computes the common shape of two shapes by numpy's rule. False if they cannot be broadcast.
bool qdq_broadcast_shapes(qdq_shape a, qdq_shape b, qdq_shape *out);

// True if numpy's rule broadcasts `shape` to `to`.
bool qdq_broadcasts_to(qdq_shape shape, qdq_shape to);

// Reports a finding unless the shape of the input, if given, can be broadcast to `to`. `name`
// describes `to`: "the shape of x".
bool qdq_check_broadcasts_to(const qdq_op_context *ctx, size_t input, qdq_shape to,
                             const char *name);

// Returns the dim of the channels.
static inline int qdq_channel_dim(qdq_shape shape, qdq_data_format format) {
    return format == QDQ_NCX ? 1 : shape.rank - 1;
}

#endif
