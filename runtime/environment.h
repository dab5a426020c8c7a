// SPDX-License-Identifier: Apache-2.0
// The floating-point environment that arithmetic needs: round to nearest, no flushing. Callers may
// have another; it is set for a run and then put back.
#ifndef QDQ_RUNTIME_ENVIRONMENT_H
#define QDQ_RUNTIME_ENVIRONMENT_H

#if defined(__x86_64__)

// The control word of the vector unit: exceptions masked, round to nearest, no flushing. Its low
// six bits are flags.
enum { QDQ_CONTROL = 0x1F80, QDQ_CONTROL_FLAGS = 0x3F };

typedef unsigned qdq_environment;

static inline qdq_environment qdq_environment_enter(void) {
    unsigned now = __builtin_ia32_stmxcsr();
    if ((now & ~(unsigned)QDQ_CONTROL_FLAGS) != QDQ_CONTROL) __builtin_ia32_ldmxcsr(QDQ_CONTROL);
    return now;
}

static inline void qdq_environment_leave(qdq_environment before) {
    if ((before & ~(unsigned)QDQ_CONTROL_FLAGS) != QDQ_CONTROL) __builtin_ia32_ldmxcsr(before);
}

#elif defined(__aarch64__)

// Of the control register all bits are 0 by default: round to nearest, no flushing, no traps. Its
// flags are in a register of their own.
typedef unsigned qdq_environment;

#if defined(__clang__)
static inline unsigned qdq_control(void) { return (unsigned)__builtin_arm_rsr64("fpcr"); }
static inline void qdq_control_set(unsigned bits) { __builtin_arm_wsr64("fpcr", bits); }
#else
static inline unsigned qdq_control(void) { return __builtin_aarch64_get_fpcr(); }
static inline void qdq_control_set(unsigned bits) { __builtin_aarch64_set_fpcr(bits); }
#endif

static inline qdq_environment qdq_environment_enter(void) {
    unsigned now = qdq_control();
    if (now) qdq_control_set(0);
    return now;
}

static inline void qdq_environment_leave(qdq_environment before) {
    if (before) qdq_control_set(before);
}

#else
#include <fenv.h>

typedef fenv_t qdq_environment;

static inline qdq_environment qdq_environment_enter(void) {
    fenv_t before;
    fegetenv(&before);
    fesetenv(FE_DFL_ENV);
    return before;
}

static inline void qdq_environment_leave(qdq_environment before) { fesetenv(&before); }

#endif
#endif
