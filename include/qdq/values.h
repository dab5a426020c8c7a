// SPDX-License-Identifier: Apache-2.0
// Attribute values: the types of the fields of an op's struct, and macros that write the values.
#ifndef QDQ_VALUES_H
#define QDQ_VALUES_H

#include <qdq/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

// Marks an optional field as given. Only QDQ_INT, QDQ_REAL, QDQ_FLOAT, QDQ_QTYPE and QDQ_MODE write
// it. A bare number, as in `.axis = 1`, lands in `set` and not in `value`; the node then has the
// finding core/attribute-not-set.
#define QDQ_GIVEN (-10974577)

// An integer that can be unset, for attributes where 0 is not the default. quant_min and quant_max
// stand for value + fraction (QDQ_REAL takes any number below 2^63 in magnitude); other attributes
// ignore the fraction.
typedef struct qdq_int {
    double set;  // 0 or QDQ_GIVEN
    int64_t value;
    double fraction;
} qdq_int;

// A number that can be unset.
typedef struct qdq_float {
    double set;  // 0 or QDQ_GIVEN
    double value;
} qdq_float;

// `true` of C is QDQ_TRUE; `false` is QDQ_UNSET, the default of the attribute.
typedef enum qdq_bool { QDQ_UNSET = 0, QDQ_TRUE = 1, QDQ_FALSE = 2 } qdq_bool;

// Lists; the data is copied when the node is added. `scalar` marks a single number, as opposed to a
// list of one: some targets compute the two differently.
typedef struct qdq_floats {
    const float *data;
    size_t count;
    bool scalar;
} qdq_floats;
typedef struct qdq_numbers {
    const double *data;
    size_t count;
    bool scalar;
} qdq_numbers;
typedef struct qdq_ints {
    const int64_t *data;
    size_t count;
} qdq_ints;

typedef struct qdq_values {
    const qdq_value *data;
    size_t count;
} qdq_values;

// In C a list lives as long as the block of code that it is written in. In C++ it lives as long as
// its thread, and each pass through its line of code overwrites it.
#ifndef __cplusplus

#define QDQ_INT(v) ((qdq_int){QDQ_GIVEN, (v), 0})
#define QDQ_REAL(v) ((qdq_int){QDQ_GIVEN, (int64_t)(v), (double)(v) - (double)(int64_t)(v)})
#define QDQ_FLOAT(v) ((qdq_float){QDQ_GIVEN, (v)})
#define QDQ_SCALE(s) ((qdq_floats){(const float[]){(s)}, 1, true})
#define QDQ_SCALES(...)                         \
    ((qdq_floats){(const float[]){__VA_ARGS__}, \
                  sizeof((const float[]){__VA_ARGS__}) / sizeof(float), false})
#define QDQ_ZP(z) ((qdq_numbers){(const double[]){(z)}, 1, true})
#define QDQ_ZPS(...)                              \
    ((qdq_numbers){(const double[]){__VA_ARGS__}, \
                   sizeof((const double[]){__VA_ARGS__}) / sizeof(double), false})
#define QDQ_INTS(...)                           \
    ((qdq_ints){(const int64_t[]){__VA_ARGS__}, \
                sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t)})
#define QDQ_VALUES(...)                             \
    ((qdq_values){(const qdq_value[]){__VA_ARGS__}, \
                  sizeof((const qdq_value[]){__VA_ARGS__}) / sizeof(qdq_value)})

#else

#define QDQ_INT(v) (qdq_int{QDQ_GIVEN, static_cast<int64_t>(v), 0})
#define QDQ_REAL(v)                              \
    (qdq_int{QDQ_GIVEN, static_cast<int64_t>(v), \
             static_cast<double>(v) - static_cast<double>(static_cast<int64_t>(v))})
#define QDQ_FLOAT(v) (qdq_float{QDQ_GIVEN, static_cast<double>(v)})
#define QDQ_LIST(list, element, ...)                                    \
    ([](auto... qdq_given) {                                            \
        static thread_local element qdq_kept[sizeof...(qdq_given)];     \
        const element qdq_now[] = {static_cast<element>(qdq_given)...}; \
        for (size_t qdq_i = 0; qdq_i < sizeof...(qdq_given); qdq_i++)   \
            qdq_kept[qdq_i] = qdq_now[qdq_i];                           \
        list qdq_made{};                                                \
        qdq_made.data = qdq_kept;                                       \
        qdq_made.count = sizeof...(qdq_given);                          \
        return qdq_made;                                                \
    }(__VA_ARGS__))
#define QDQ_SCALAR(list, element, number) \
    ([](list qdq_one) {                   \
        qdq_one.scalar = true;            \
        return qdq_one;                   \
    }(QDQ_LIST(list, element, number)))
#define QDQ_SCALE(s) QDQ_SCALAR(qdq_floats, float, s)
#define QDQ_SCALES(...) QDQ_LIST(qdq_floats, float, __VA_ARGS__)
#define QDQ_ZP(z) QDQ_SCALAR(qdq_numbers, double, z)
#define QDQ_ZPS(...) QDQ_LIST(qdq_numbers, double, __VA_ARGS__)
#define QDQ_INTS(...) QDQ_LIST(qdq_ints, int64_t, __VA_ARGS__)
#define QDQ_VALUES(...) QDQ_LIST(qdq_values, qdq_value, __VA_ARGS__)

#endif

#ifdef __cplusplus
}
#endif
#endif
