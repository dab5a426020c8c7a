// SPDX-License-Identifier: Apache-2.0
// Running a graph: compile it to a plan once, create execs from the plan, run them often.
#ifndef QDQ_EXEC_H
#define QDQ_EXEC_H

#include <qdq/graph.h>
#include <qdq/numerics.h>
#include <qdq/parallel.h>

#ifdef __cplusplus
extern "C" {
#endif

//---- Compiling --------------------------------------------------------------

typedef enum qdq_float_storage {
    QDQ_FLOAT_DECLARED = 0,  // every value has the dtype that the graph declares
    QDQ_FLOAT_BFLOAT16,      // float values that are neither input nor output become bfloat16
} qdq_float_storage;

typedef struct qdq_compile_options {
    const char *target;            // rules and numerics; NULL: the graph's own
    const qdq_numerics *numerics;  // NULL: the target's; else these, for every node
    qdq_float_storage float_storage;
    const char *isa;   // cap of the instruction set ("portable", "avx2", ...); NULL: the best
    bool materialize;  // store every value in tiles of the arena, node by node
    // Integer execution: products of dequantized numbers are computed on their integers, which
    // rounds less than the graph says. Not with `materialize` or a `float_storage`:
    // QDQ_ERR_ARGUMENT.
    bool fast;
} qdq_compile_options;

// Steps in order, and where every value lies. Immutable: any number of threads and execs may use
// one plan at a time. Independent of the graph, which may be destroyed.
typedef struct qdq_plan qdq_plan;

// NULL with `err` set: the first error of the graph's report (QDQ_ERR_GRAPH; QDQ_ERR_UNSUPPORTED
// if only the target refuses it), or memory (a NULL graph too), or a limit, or an option that is
// none: an unknown target or instruction set, an enumerator out of range, also in the numerics.
// QDQ_ERR_IO: a file of constants cannot be read or has been written to. NULL `options`: all
// defaults. Takes at most `bytes` of the graph's limits and 64 MiB, the plan included.
QDQ_API qdq_plan *qdq_graph_compile(qdq_graph *graph, const qdq_compile_options *options,
                                    qdq_error *err);
// All execs of the plan must be gone. NULL is fine.
QDQ_API void qdq_plan_destroy(qdq_plan *plan);

//---- Inputs and outputs -----------------------------------------------------

// 0 for a NULL plan; NULL for an index that there is not.
QDQ_API size_t qdq_plan_input_count(const qdq_plan *plan);
QDQ_API size_t qdq_plan_output_count(const qdq_plan *plan);
QDQ_API const qdq_tensor_info *qdq_plan_input(const qdq_plan *plan, size_t index);
QDQ_API const qdq_tensor_info *qdq_plan_output(const qdq_plan *plan, size_t index);

//---- Running ----------------------------------------------------------------

typedef struct qdq_exec_options {
    const qdq_allocator *allocator;  // NULL: the C library
    qdq_parallel parallel;           // all zero: serial
    bool poison;  // fill the arena before each run, and scratch before it is used again, with 0xFF
                  // (builds without NDEBUG always do)
} qdq_exec_options;

// An arena and the inputs and outputs bound to it. One thread at a time.
typedef struct qdq_exec qdq_exec;

// NULL with `err` set when memory runs out (QDQ_ERR_MEMORY) or the plan is NULL (QDQ_ERR_ARGUMENT).
// An error that `err` already has stays, so that of compiling is told. After this nothing allocates
// and running cannot fail.
QDQ_API qdq_exec *qdq_exec_create(const qdq_plan *plan, const qdq_exec_options *options,
                                  qdq_error *err);
// NULL is fine.
QDQ_API void qdq_exec_destroy(qdq_exec *exec);

// Makes the graph read an input from (or write an output to) the caller's row-major memory: `data`
// holds elements of the tensor's own dtype, `bytes` must be its size, and it must stay valid and
// untouched during runs. NULL goes back to the exec's own memory. Memory of an output must not
// overlap any other bound memory.
QDQ_API qdq_status qdq_exec_bind(qdq_exec *exec, const char *name, void *data, size_t bytes,
                                 qdq_error *err);

// Copies `count` elements of `dtype` into an input; NULL data is refused. The dtype is the input's
// own, or float32 for any float type (rounded half to even). Elements of a block float are float32
// too; a run rounds them, bound or copied, as a tile holds them. Inputs that nobody wrote or bound
// are zero.
QDQ_API qdq_status qdq_exec_write(qdq_exec *exec, const char *name, qdq_dtype dtype,
                                  const void *data, size_t count, qdq_error *err);

// Computes all outputs. Never fails: run-time scales that are zero, negative or NaN give what the
// numerics say, and a NULL exec does nothing.
QDQ_API void qdq_exec_run(qdq_exec *exec);

// Computes one step of the plan (qdq_plan_get_step), to time it or to show how far a run has come.
// All steps in order make a run, once every input is written or bound. Does nothing where there is
// no such step or no exec.
QDQ_API void qdq_exec_run_step(qdq_exec *exec, size_t step);

// Copies an output (as it is after the last run) to `data`. The dtype is the output's own, or
// float32 for any float type. NULL data is refused.
QDQ_API qdq_status qdq_exec_read(const qdq_exec *exec, const char *name, qdq_dtype dtype,
                                 void *data, size_t count, qdq_error *err);

#ifdef __cplusplus
}
#endif
#endif
