// SPDX-License-Identifier: Apache-2.0
// Numbers print with the fewest digits that read back as the same number.
#include <float.h>
#include <math.h>

#include "runtime/base/number.h"
#include "tests/unit.h"

static void check(double value, bool is_float32, const char *wanted) {
    char out[QDQ_NUMBER_BYTES];
    assert_string_equal(qdq_number_text(out, value, is_float32), wanted);
}

static void the_text_is_the_shortest_that_reads_back(void **state) {
    (void)state;
    check(0, false, "0");
    check(-1.5, false, "-1.5");
    check(0.1, false, "0.1");
    check(0.1F, true, "0.1");
    check(0.1F, false, "0.10000000149011612");
    check(1e-8, false, "1e-8");
    check(1e22, false, "1e22");
    check(123456789, false, "123456789");
    check(FLT_TRUE_MIN, true, "1e-45");
    check(DBL_TRUE_MIN, false, "5e-324");
    check(-DBL_MAX, false, "-1.7976931348623157e308");
    check((double)NAN, false, "NaN");
    check((double)INFINITY, true, "Infinity");
    check((double)-INFINITY, true, "-Infinity");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_text_is_the_shortest_that_reads_back)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
