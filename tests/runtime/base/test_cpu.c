// SPDX-License-Identifier: Apache-2.0
// The names of instruction sets on each kind of machine, and how a name limits which are used.
#include "runtime/base/cpu.h"
#include "tests/unit.h"

typedef struct named {
    const char *name, *contains[5];
} named;

// The instruction sets of this machine in order, one of another kind of machine, and the error it
// gives.
#if defined(__x86_64__)
#define WANTED "portable, avx2, avx_vnni, avx512, avx512_bf16, amx"
static const named here[] = {{"portable", {NULL}},
                             {"avx2", {"portable"}},
                             {"avx_vnni", {"portable", "avx2"}},
                             {"avx512", {"portable", "avx2"}},
                             {"avx512_bf16", {"portable", "avx2", "avx512"}},
                             {"amx", {"portable", "avx2", "avx512", "avx512_bf16"}}};
static const char foreign[] = "neon", said[] = "only for aarch64";
#elif defined(__aarch64__)
#define WANTED "portable, neon, neon_dot"
static const named here[] = {
    {"portable", {NULL}}, {"neon", {"portable"}}, {"neon_dot", {"portable", "neon"}}};
static const char foreign[] = "avx2", said[] = "only for x86-64";
#else
#define WANTED "portable"
static const named here[] = {{"portable", {NULL}}};
static const char foreign[] = "avx2", said[] = "only for x86-64";
#endif

enum { HERE = sizeof here / sizeof here[0] };

static int index_of(const char *name) {
    for (int i = 0; i < QDQ_ISA_COUNT; i++)
        if (strcmp(qdq_isa_get((size_t)i).name, name) == 0) return i;
    return -1;
}

static uint32_t capped(const char *name) {
    qdq_error err = {0};
    uint32_t isas = 0;
    if (!qdq_cpu_cap(name, &isas, &err)) fail_msg("%s: %s", name, err.text);
    return isas;
}

static void a_name_allows_its_instruction_set_and_those_it_includes(void **state) {
    (void)state;
    for (size_t i = 0; i < HERE; i++) {
        uint32_t kept = 1u << index_of(here[i].name);
        for (int k = 0; here[i].contains[k]; k++) kept |= 1u << index_of(here[i].contains[k]);
        assert_int_equal(capped(here[i].name), qdq_cpu_isas() & kept);
    }
    assert_int_equal(capped("portable"), 1);
    assert_int_equal(capped(NULL), qdq_cpu_isas());
}

// A machine with an instruction set has those that it includes.
static void included_instruction_sets_are_available(void **state) {
    (void)state;
    for (size_t i = 0; i < HERE; i++)
        for (int k = 0; here[i].contains[k]; k++)
            if (qdq_isa_get((size_t)index_of(here[i].name)).available)
                assert_true(qdq_isa_get((size_t)index_of(here[i].contains[k])).available);
}

static void a_machine_has_instruction_sets_of_its_own_kind_only(void **state) {
    (void)state;
    uint32_t all = 0;
    for (size_t i = 0; i < HERE; i++) all |= 1u << index_of(here[i].name);
    assert_int_equal(qdq_cpu_isas() & ~all, 0);
    assert_true(qdq_cpu_isas() & 1);
#if defined(QDQ_SIMD_NEON)
    assert_true(qdq_cpu_isas() >> QDQ_ISA_NEON & 1);
#endif
    for (size_t i = 0; i < QDQ_ISA_COUNT; i++)
        assert_int_equal(qdq_isa_get(i).available, qdq_cpu_isas() >> i & 1);
    assert_null(qdq_isa_get(QDQ_ISA_COUNT).name);
}

static void names_of_other_machines_differ_from_unknown_names(void **state) {
    (void)state;
    uint32_t isas;
    qdq_error err = {0};
    char text[256];
    assert_false(qdq_cpu_cap(foreign, &isas, &err));
    snprintf(text, sizeof text, "instruction set '%s' is %s, wanted one of: " WANTED, foreign,
             said);
    assert_string_equal(err.text, text);
    assert_int_equal(err.status, QDQ_ERR_ARGUMENT);
    err = (qdq_error){0};
    assert_false(qdq_cpu_cap("portible", &isas, &err));
    assert_string_equal(err.text, "instruction set 'portible' is unknown, wanted one of: " WANTED
                                  "; did you mean 'portable'?");
}

static void a_build_with_assertions_takes_a_cap_from_the_environment(void **state) {
    (void)state;
    uint32_t all = qdq_cpu_isas();
    const char *name = getenv("QDQ_ISA");
    char before[32] = "";
    if (name) snprintf(before, sizeof before, "%s", name);
    assert_int_equal(setenv("QDQ_ISA", "portable", 1), 0);
#if defined(NDEBUG)
    assert_int_equal(qdq_cpu_isas(), all);
#else
    assert_int_equal(qdq_cpu_isas(), 1);
    assert_false(qdq_cpu_has_avx2() || qdq_cpu_has_avx512());
#endif
    assert_int_equal(setenv("QDQ_ISA", before, 1), 0);
    assert_int_equal(qdq_cpu_isas(), all);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_build_with_assertions_takes_a_cap_from_the_environment),
        cmocka_unit_test(a_name_allows_its_instruction_set_and_those_it_includes),
        cmocka_unit_test(included_instruction_sets_are_available),
        cmocka_unit_test(a_machine_has_instruction_sets_of_its_own_kind_only),
        cmocka_unit_test(names_of_other_machines_differ_from_unknown_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
