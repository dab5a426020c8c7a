// SPDX-License-Identifier: Apache-2.0
// Every public function survives NULL, numbers outside of enums and names that are not UTF-8:
// it fails or does nothing, as its comment says, and never crashes. Each function is called so in
// a process of its own.
//
//     test_misuse [--list]     --list prints the functions that have a case
#include <fenv.h>
#include <signal.h>
#include <sys/wait.h>

#include "tests/api/misuse.h"
#include "tests/unit.h"

static const misuse_case *const all[] = {misuse_base, misuse_graph, misuse_exec};
enum { LISTS = sizeof all / sizeof all[0] };

// Runs a case whose caller rounds up: no function, failed or not, may change the rounding mode.
static void run_case(const misuse_case *c) {
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};  // that cmocka handles
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) signal(signals[i], SIG_DFL);
    fesetround(FE_UPWARD);
    c->run();
    EXPECT(fegetround() == FE_UPWARD);
    _exit(0);
}

static bool survives(const misuse_case *c) {
    int status;
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) run_case(c);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFSIGNALED(status)) print_error("%s: signal %d\n", c->name, WTERMSIG(status));
    if (WIFEXITED(status) && WEXITSTATUS(status)) print_error("%s fails\n", c->name);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void every_public_function_survives_misuse(void **state) {
    (void)state;
    size_t failed = 0;
    for (int i = 0; i < LISTS; i++)
        for (const misuse_case *c = all[i]; c->name; c++) failed += !survives(c);
    assert_int_equal(failed, 0);
}

int main(int argc, char **argv) {
    if (argc == 2 && strcmp(argv[1], "--list") == 0) {
        for (int i = 0; i < LISTS; i++)
            for (const misuse_case *c = all[i]; c->name; c++) puts(c->name);
        return 0;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_public_function_survives_misuse)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
