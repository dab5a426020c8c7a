// SPDX-License-Identifier: Apache-2.0
// The macros for attribute values in C++: their contents, from constants and variables, and how
// long they live.
#include <cstdio>
#include <qdq/qdq.h>

static int failed;

static void expect(const char *claim, bool fine) {
    std::printf("%s %s\n", fine ? "ok" : "FAIL", claim);
    failed += !fine;
}

// A list with the caller's number; each call runs the same line of code.
static qdq_numbers zero_points(int first) { return QDQ_ZPS(first, 2); }

static const qdq_floats at_file_scope = QDQ_SCALES(0.5f, 0.25);

static void single_values() {
    long long rows = 2;
    size_t cols = 3;
    qdq_shape shape = QDQ_SHAPE(rows, cols, 4);
    expect("a shape has rank and dims", shape.rank == 3 && shape.dims[0] == 2 &&
                                            shape.dims[1] == 3 && shape.dims[2] == 4 &&
                                            shape.dims[3] == 0);
    expect("an integer is set",
           QDQ_INT(-1).set == QDQ_GIVEN && QDQ_INT(-1).value == -1 && QDQ_INT(cols).value == 3);
    expect("a number is set", QDQ_FLOAT(1).set == QDQ_GIVEN && QDQ_FLOAT(0.5f).value == 0.5);
}

static void lists() {
    qdq_floats scale = QDQ_SCALE(0.25), scales = QDQ_SCALES(1, 2.5f, 0.5);
    expect("a scale is a scalar", scale.scalar && scale.count == 1 && scale.data[0] == 0.25f);
    expect("scales are none", !scales.scalar && scales.count == 3 && scales.data[0] == 1 &&
                                  scales.data[1] == 2.5f && scales.data[2] == 0.5f);
    qdq_numbers zp = QDQ_ZP(3), first = zero_points(7);
    expect("a zero point is a scalar", zp.scalar && zp.count == 1 && zp.data[0] == 3);
    expect("a list outlives the call that makes it",
           !first.scalar && first.count == 2 && first.data[0] == 7 && first.data[1] == 2);
    qdq_ints ints = QDQ_INTS(-1, 16);
    expect("integers", ints.count == 2 && ints.data[0] == -1 && ints.data[1] == 16);
    qdq_value a = {3}, b = {5};
    qdq_values values = QDQ_VALUES(a, b);
    expect("values", values.count == 2 && values.data[0].id == 3 && values.data[1].id == 5);
    expect("two lists of one line are apart", QDQ_SCALE(1).data != QDQ_SCALE(1).data);
    expect("a list at file scope", at_file_scope.count == 2 && at_file_scope.data[1] == 0.25f);
}

int main() {
    single_values();
    lists();
    return failed != 0;
}
