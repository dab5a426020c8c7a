// SPDX-License-Identifier: Apache-2.0
// Shared by the cases of test_misuse.c. Each case runs in a process of its own, so that a crash is
// one failed case; EXPECT ends that process.
#ifndef QDQ_TESTS_API_MISUSE_H
#define QDQ_TESTS_API_MISUSE_H

#include <limits.h>
#include <qdq/qdq.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// A case for a public function, with the function's name.
typedef struct misuse_case {
    const char *name;
    void (*run)(void);
} misuse_case;

// Tables that end with a row of zeros.
extern const misuse_case misuse_base[], misuse_graph[], misuse_exec[];

// Defines a case and its row: CASE(name) { body }, and ROW(name) in the table.
#define CASE(name) static void misuse_##name(void)
#define ROW(name) \
    { #name, misuse_##name }

#define EXPECT(condition)                                                            \
    do {                                                                             \
        if (!(condition)) {                                                          \
            fprintf(stderr, "%s:%d: wanted %s\n", __FILE__, __LINE__, (#condition)); \
            _exit(1);                                                                \
        }                                                                            \
    } while (0)

// The call fails with this status and a message, and accepts a NULL err.
#define FAILS(wanted, call)                      \
    do {                                         \
        qdq_error misuse_error = {0}, *err;      \
        err = NULL;                              \
        (void)(call);                            \
        err = &misuse_error;                     \
        (void)(call);                            \
        EXPECT(misuse_error.status == (wanted)); \
        EXPECT(strlen(misuse_error.text) > 10);  \
    } while (0)

// Numbers outside every enum. Unsigned, as most compilers make enums.
static const unsigned misuse_numbers[] = {77, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF};
enum { MISUSE_NUMBERS = sizeof misuse_numbers / sizeof misuse_numbers[0] };

// x of 4 float32, quantized to the output "y".
static inline qdq_graph *misuse_small_graph(void) {
    qdq_graph *g = qdq_graph_create("small", NULL);
    qdq_value x = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(4));
    qdq_output(g, "y", qdq_quantize(g, x, (qdq_quantize_attrs){.scales = QDQ_SCALE(0.5F)}));
    return g;
}

// Whether the graph has errors.
static inline bool misuse_is_broken(qdq_graph *g) {
    const qdq_report *report = qdq_graph_validate(g, NULL, NULL);
    EXPECT(report);
    return report->errors > 0;
}

#endif
