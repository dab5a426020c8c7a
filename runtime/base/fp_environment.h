// SPDX-License-Identifier: Apache-2.0
// The floating-point environment that arithmetic needs: round to nearest, no flushing of denormals.
// Callers may have another environment. Every public function that computes, reads or writes
// numbers sets the environment for the call (QDQ_FIXED_ENVIRONMENT), and every task on another
// thread for the task. Products of bfloat16 flush: denormal inputs and results become zeros of the
// same sign.
#ifndef QDQ_RUNTIME_BASE_FP_ENVIRONMENT_H
#define QDQ_RUNTIME_BASE_FP_ENVIRONMENT_H

#include <fenv.h>
#include <stdbool.h>

// Keeps a function out of line, so that its arithmetic stays between two changes of the
// environment. Compilers do not know that arithmetic depends on the environment and may move it.
#define QDQ_APART __attribute__((noinline))

#if defined(__x86_64__)

// The control word of the vector unit: exceptions masked, round to nearest, no flushing. Its low
// six bits are flags.
enum { QDQ_CONTROL = 0x1F80, QDQ_CONTROL_FLAGS = 0x3F };

// The x87 unit has a rounding mode in its own control word, which strtod and printf obey.
typedef struct qdq_fp_environment {
    unsigned control;
    int rounding;
} qdq_fp_environment;

static inline bool qdq_environment_is_fixed(qdq_fp_environment e) {
    return (e.control & ~(unsigned)QDQ_CONTROL_FLAGS) == QDQ_CONTROL && e.rounding == FE_TONEAREST;
}

static inline qdq_fp_environment qdq_fp_environment_enter(void) {
    qdq_fp_environment now = {__builtin_ia32_stmxcsr(), fegetround()};
    if (!qdq_environment_is_fixed(now)) {
        fesetround(FE_TONEAREST);
        __builtin_ia32_ldmxcsr(QDQ_CONTROL);
    }
    return now;
}

static inline void qdq_fp_environment_leave(qdq_fp_environment before) {
    if (!qdq_environment_is_fixed(before)) {
        fesetround(before.rounding);
        __builtin_ia32_ldmxcsr(before.control);
    }
}

// FTZ and DAZ. x86 compares a result with the least normal number after rounding.
enum { QDQ_CONTROL_FLUSH = 0x8040 };

typedef unsigned qdq_flushing;

static inline qdq_flushing qdq_flushing_enter(void) {
    unsigned now = __builtin_ia32_stmxcsr();
    __builtin_ia32_ldmxcsr(QDQ_CONTROL | QDQ_CONTROL_FLUSH);
    return now;
}

static inline void qdq_flushing_leave(qdq_flushing before) { __builtin_ia32_ldmxcsr(before); }

#elif defined(__aarch64__)

// All bits of the control register are 0 by default: round to nearest, no flushing, no traps. The
// flags are in another register.
typedef unsigned qdq_fp_environment;

#if defined(__clang__)
static inline unsigned qdq_control(void) { return (unsigned)__builtin_arm_rsr64("fpcr"); }
static inline void qdq_control_set(unsigned bits) { __builtin_arm_wsr64("fpcr", bits); }
static inline unsigned qdq_flags(void) { return (unsigned)__builtin_arm_rsr64("fpsr"); }
static inline void qdq_flags_set(unsigned bits) { __builtin_arm_wsr64("fpsr", bits); }
#else
static inline unsigned qdq_control(void) { return __builtin_aarch64_get_fpcr(); }
static inline void qdq_control_set(unsigned bits) { __builtin_aarch64_set_fpcr(bits); }
static inline unsigned qdq_flags(void) { return __builtin_aarch64_get_fpsr(); }
static inline void qdq_flags_set(unsigned bits) { __builtin_aarch64_set_fpsr(bits); }
#endif

static inline qdq_fp_environment qdq_fp_environment_enter(void) {
    unsigned now = qdq_control();
    if (now) qdq_control_set(0);
    return now;
}

static inline void qdq_fp_environment_leave(qdq_fp_environment before) {
    if (before) qdq_control_set(before);
}

// FZ, and the flag that reports a flushed result. Arm compares a result with the least normal
// number before rounding, so a result that would round up to this number is flushed too.
enum { QDQ_CONTROL_FLUSH = 1 << 24, QDQ_FLAG_UNDERFLOW = 1 << 3 };

typedef unsigned qdq_flushing;

static inline qdq_flushing qdq_flushing_enter(void) {
    unsigned now = qdq_control();
    qdq_flags_set(qdq_flags() & ~(unsigned)QDQ_FLAG_UNDERFLOW);
    qdq_control_set(QDQ_CONTROL_FLUSH);
    return now;
}

// Restores the control register. True if a result was flushed.
static inline bool qdq_flushing_leave(qdq_flushing before) {
    bool flushed = qdq_flags() & QDQ_FLAG_UNDERFLOW;
    qdq_control_set(before);
    return flushed;
}

#else

typedef fenv_t qdq_fp_environment;

static inline qdq_fp_environment qdq_fp_environment_enter(void) {
    fenv_t before;
    fegetenv(&before);
    fesetenv(FE_DFL_ENV);
    return before;
}

static inline void qdq_fp_environment_leave(qdq_fp_environment before) { fesetenv(&before); }

#endif

static inline void qdq_environment_restore(const qdq_fp_environment *before) {
    qdq_fp_environment_leave(*before);
}

// As the first statement of a function: the function has the fixed environment until it returns,
// and its caller gets the old one back, whichever return is taken. Compilers may move the
// function's own arithmetic across the change, so arithmetic belongs in functions that it calls
// (QDQ_APART).
#define QDQ_FIXED_ENVIRONMENT                                 \
    __attribute__((cleanup(qdq_environment_restore), unused)) \
    const qdq_fp_environment qdq_callers_environment = qdq_fp_environment_enter()

#endif
