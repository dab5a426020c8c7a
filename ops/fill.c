// SPDX-License-Identifier: Apache-2.0
// The kind of random data that suits each port. One table serves all ops, as ports of one name mean
// the same everywhere.
#include <string.h>

#include "ops/op.h"

static const struct {
    const char *op;    // NULL: every op
    const char *port;  // the whole name, or its end after an underscore
    qdq_fill fill;
} rows[] = {
    {NULL, "scale", QDQ_FILL_SCALE},        {NULL, "zero_point", QDQ_FILL_ZERO_POINT},
    {NULL, "weights", QDQ_FILL_SMALL},      {NULL, "slope", QDQ_FILL_SMALL},
    {NULL, "gamma", QDQ_FILL_NEAR_ONE},     {NULL, "variance", QDQ_FILL_POSITIVE},
    {NULL, "seed", QDQ_FILL_COUNT},         {NULL, "offset", QDQ_FILL_COUNT},
    {NULL, "probability", QDQ_FILL_HALF},   {"MatMul", "b", QDQ_FILL_SMALL},
    {"Divide", "b", QDQ_FILL_POSITIVE},     {"Log", "x", QDQ_FILL_POSITIVE},
    {"Sqrt", "x", QDQ_FILL_POSITIVE},       {"Reciprocal", "x", QDQ_FILL_POSITIVE},
    {"ReduceProd", "x", QDQ_FILL_NEAR_ONE}, {NULL, "indices", QDQ_FILL_COUNT},
    {"Log1p", "x", QDQ_FILL_POSITIVE},      {"Rsqrt", "x", QDQ_FILL_POSITIVE},
};

static bool is_port(const char *name, const char *wanted) {
    size_t length = strlen(name), end = strlen(wanted);
    if (length < end || strcmp(name + length - end, wanted) != 0) return false;
    return length == end || name[length - end - 1] == '_';
}

qdq_fill qdq_fill_of(const char *op, const char *port) {
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if ((!rows[i].op || strcmp(rows[i].op, op) == 0) && is_port(port, rows[i].port))
            return rows[i].fill;
    return QDQ_FILL_ANY;
}
