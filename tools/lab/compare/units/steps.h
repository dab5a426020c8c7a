// SPDX-License-Identifier: Apache-2.0
// The causes of differences between two targets, if at least one rounds by multiplier and shift.
// An element is computed again with a step of the other target's arithmetic: the step with which
// the difference vanishes is its cause.
#ifndef QDQ_TOOLS_LAB_COMPARE_UNITS_STEPS_H
#define QDQ_TOOLS_LAB_COMPARE_UNITS_STEPS_H

#include "tools/lab/compare/units/sums.h"
#include "tools/lab/compare/units/unit.h"

// X(id, cause): every name that a step may have; docs/command_line.md says when.
// clang-format off
#define STEP_CAUSES(X)                        \
    X(DOUBLE_ROUNDING,  "double rounding")    \
    X(FLOAT32_SCALE,    "float32 scale")      \
    X(FLOAT64_SCALE,    "float64 scale")      \
    X(EIGHT_BITS,       "8-bit fraction")     \
    X(ROUNDED_OPERANDS, "rounded operands")   \
    X(MULTIPLIER,       "multiplier")         \
    X(UP_IN_BLOCK,      "half up in a block") \
    X(HALF_UP,          "half up")            \
    X(HALVES,           "tie")                \
    X(RANGE,            "saturation range")
// clang-format on

typedef struct steps {
    unit *unit;
    sums of[2];  // of the piece of the first target and of the other
    // Halves of targets without a multiplier, for output `output`; SIZE_MAX: not asked yet.
    size_t output;
    rescaling_ties ties[2];
} steps;

// Runs both pieces of a unit whose rewrites differ, and keeps their sums. EXIT_OK, or another exit
// code after a message; close it in either case.
int steps_open(steps *s, unit *u, const feed *from);
void steps_close(steps *s);

// Returns the reasons why element `at` of an output is `a` in the first target and `b` in the
// other, as a set of the unit's reasons, to which it adds their names; 0: no step explains it.
uint32_t steps_explain(steps *s, size_t output, size_t at, int64_t a, int64_t b);

#endif
