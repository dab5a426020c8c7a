// SPDX-License-Identifier: Apache-2.0
// Nodes of movement ops that are refused, each with the sentence that says why. A node is its JSON
// without the inputs that all graphs share.
#include <stdio.h>

#include "tests/network.h"

typedef struct refusal {
    const char *op, *inputs, *attrs, *rule, *words;
} refusal;

// x is float32 [4, 6], one a float32 scalar, half a float16 scalar; `deep` is [2, 8, 3, 4], square
// [4, 4]. i, i2 and i64 are indices: int32 [2, 6], int32 [3, 2], int64 [2].
static const char head[] =
    "{\"format\": \"qdq/1\", \"inputs\": ["
    "{\"name\": \"x\", \"dtype\": \"float32\", \"shape\": [4, 6]},"
    "{\"name\": \"one\", \"dtype\": \"float32\", \"shape\": []},"
    "{\"name\": \"half\", \"dtype\": \"float16\", \"shape\": []},"
    "{\"name\": \"deep\", \"dtype\": \"float32\", \"shape\": [2, 8, 3, 4]},"
    "{\"name\": \"bits\", \"dtype\": \"bool\", \"shape\": [4, 6]},"
    "{\"name\": \"i\", \"dtype\": \"int32\", \"shape\": [2, 6]},"
    "{\"name\": \"i2\", \"dtype\": \"int32\", \"shape\": [3, 2]},"
    "{\"name\": \"i64\", \"dtype\": \"int64\", \"shape\": [2]}],"
    "\"constants\": [{\"name\": \"far\", \"dtype\": \"int32\", \"shape\": [2], \"data\": [1, 4]},"
    "{\"name\": \"pairs\", \"dtype\": \"int64\", \"shape\": [2, 2], \"data\": [3, 5, -4, -7]}],";

// clang-format off
static const refusal refusals[] = {
    {"Slice", "'x': 'x'", "'starts': [], 'ends': []", "core/attr-required", "node 'n': Slice: starts is missing"},
    {"Slice", "'x': 'x'", "'starts': [1, 2], 'ends': [3]", "core/attr-value", "ends has 1 entries, wanted 2, one for each start"},
    {"Slice", "'x': 'x'", "'starts': [1], 'ends': [3], 'axes': [0, 1]", "core/attr-value", "axes has 2 entries, wanted 1, one for each start"},
    {"Slice", "'x': 'x'", "'starts': [1], 'ends': [3], 'steps': [0]", "core/attr-value", "steps has 0 at index 0, wanted any other number"},
    {"Slice", "'x': 'x'", "'starts': [1, 1], 'ends': [3, 3], 'axes': [1, -1]", "core/attr-value", "axes has dim 1 twice, wanted each dim of x once at most"},
    {"Slice", "'x': 'x'", "'starts': [1], 'ends': [3], 'axes': [2]", "core/axis-range", "axes is 2, wanted -2 to 1"},
    {"Slice", "'x': 'x'", "'starts': [3], 'ends': [3]", "core/attr-value", "ends has 3 at index 0, which leaves no index of dim 0, wanted at least one index"},
    {"Slice", "'x': 'x'", "'starts': [9], 'ends': [12]", "core/attr-value", "which leaves no index of dim 0"},
    {"Slice", "'x': 'x'", "'starts': [1], 'ends': [2], 'steps': [-1]", "core/attr-value", "which leaves no index of dim 0"},
    {"Pad", "'x': 'x'", "'pads': [1, 1]", "core/attr-value", "pads has 2 entries, wanted 4, two for each dim"},
    {"Pad", "'x': 'x'", "'pads': [1, 1, 0, 0], 'axes': [0, 0]", "core/attr-value", "axes has dim 0 twice, wanted each dim of x once at most"},
    {"Pad", "'x': 'x'", "'pads': [4, 0, 0, 0], 'mode': 'reflect'", "core/attr-value", "pads have 4 for dim 0, wanted at most 3, which mode reflect can take from 4 indices"},
    {"Pad", "'x': 'x'", "'pads': [5, 0, -1, 0], 'mode': 'wrap'", "core/attr-value", "pads have 5 for dim 0, wanted at most 3, which mode wrap can take from 3 indices"},
    {"Pad", "'x': 'x'", "'pads': [-4, 0, 3, 0], 'mode': 'edge'", "core/attr-value", "pads remove all indices of dim 0, wanted at least one index"},
    {"Pad", "'x': 'x'", "'pads': [-2, 0, -2, 0]", "core/attr-value", "pads remove all indices of dim 0"},
    {"Pad", "'x': 'x'", "'pads': [1, 0, 9000000000000, 0]", "core/attr-value", "pads has 9000000000000 at index 2, wanted -2^40 to 2^40"},
    {"Pad", "'x': 'x', 'value': 'half'", "'pads': [1, 0, 0, 0]", "core/port-dtype", "value is float16, wanted float32, as x is"},
    {"Pad", "'x': 'x', 'value': 'x'", "'pads': [1, 0, 0, 0]", "core/port-shape", "value has the shape [4, 6], wanted one element"},
    {"Expand", "'x': 'x'", "'shape': [4, 5]", "core/port-shape", "x has the shape [4, 6], wanted one that can be broadcast with [4, 5]"},
    {"Expand", "'x': 'x'", "'shape': [0, 6]", "core/attr-value", "shape has 0 at index 0, wanted 1 or more"},
    {"Expand", "'x': 'x'", "'shape': [1, 1, 1, 1, 1, 1, 1, 4, 6]", "core/attr-value", "shape has 9 entries, wanted at most 8"},
    {"Tile", "'x': 'x'", "'repeats': [2]", "core/attr-value", "repeats has 1 entries, wanted 2, one for each dim of x"},
    {"Tile", "'x': 'x'", "'repeats': [2, 0]", "core/attr-value", "repeats has 0 at index 1, wanted 1 or more"},
    {"Gather", "'x': 'x', 'indices': 'far'", "", "core/index-range", "node 'n': Gather: indices has 4 at element 1, wanted -4 to 3"},
    {"Gather", "'x': 'x', 'indices': 'i'", "'axis': 2", "core/axis-range", "axis is 2, wanted -2 to 1"},
    {"Gather", "'x': 'x', 'indices': 'x'", "", "core/port-dtype", "indices is float32, wanted one of: int32, int64, uint32, uint64"},
    {"GatherElements", "'x': 'x', 'indices': 'i64'", "", "core/port-shape", "indices has the shape [2], wanted 2 dims, none longer than in [4, 6], but for dim 0"},
    {"GatherND", "'x': 'x', 'indices': 'i'", "", "core/port-shape", "indices has the shape [2, 6], wanted a last dim of 1 to 2, to index dims of [4, 6]"},
    {"GatherND", "'x': 'x', 'indices': 'i2'", "'batch_dims': 2", "core/attr-value", "batch_dims is 2, wanted 0 to 1, as x and indices have more dims"},
    {"GatherND", "'x': 'x', 'indices': 'i2'", "'batch_dims': 1", "core/port-shape", "to index dims of [4, 6], after the first 1 of them"},
    {"GatherND", "'x': 'x', 'indices': 'pairs'", "", "core/index-range", "indices has -7 at element 3, wanted -6 to 5"},
    {"ScatterElements", "'x': 'x', 'indices': 'i', 'updates': 'x'", "", "core/port-shape", "updates has the shape [4, 6], wanted [2, 6]: the shape of indices"},
    {"ScatterElements", "'x': 'x', 'indices': 'i', 'updates': 'bits'", "", "core/port-dtype", "updates is bool, wanted float32, as x is"},
    {"ScatterElements", "'x': 'bits', 'indices': 'i', 'updates': 'bits'", "'reduction': 'add'", "core/attr-value", "reduction is add for bool, wanted none, or one of: float32, float16, bfloat16, int8"},
    {"ScatterND", "'x': 'x', 'indices': 'i2', 'updates': 'x'", "", "core/port-shape", "updates has the shape [4, 6], wanted [3]: an update for each tuple of indices"},
    {"DepthToSpace", "'x': 'x'", "'blocksize': 2", "core/port-shape", "x has the shape [4, 6], wanted 4 dims: [N, C, H, W]"},
    {"DepthToSpace", "'x': 'deep'", "", "core/attr-required", "blocksize is missing"},
    {"DepthToSpace", "'x': 'deep'", "'blocksize': 3", "core/attr-value", "blocksize is 3, wanted 1 or more, a number whose square divides the channels of x, [2, 8, 3, 4]"},
    {"SpaceToDepth", "'x': 'deep'", "'blocksize': 2", "core/attr-value", "blocksize is 2, wanted 1 or more, a divisor of height and width of x, [2, 8, 3, 4]"},
    {"Trilu", "'x': 'one'", "", "core/port-shape", "x has the shape [], wanted at least 2 dims"},
    {"EyeLike", "'x': 'deep'", "", "core/port-shape", "x has the shape [2, 8, 3, 4], wanted 2 dims"},
    {"EyeLike", "'x': 'x'", "'dtype': 'float8_e5m2'", "core/dtype-result", "dtype is float8_e5m2, wanted one of: float32"},
    {"OneHot", "'indices': 'i64', 'values': 'i64'", "'depth': 0", "core/attr-value", "depth is 0, wanted 1 or more"},
    {"OneHot", "'indices': 'i64', 'values': 'i64'", "", "core/attr-required", "depth is missing"},
    {"OneHot", "'indices': 'i64', 'values': 'i64'", "'depth': 3, 'axis': 2", "core/axis-range", "axis is 2, wanted -2 to 1"},
    {"OneHot", "'indices': 'i64', 'values': 'x'", "'depth': 3", "core/port-shape", "values has the shape [4, 6], wanted [2]: the off value and the on value"},
    {"CumSum", "'x': 'x'", "", "core/attr-required", "axis is missing"},
    {"CumSum", "'x': 'x'", "'axis': 2", "core/axis-range", "axis is 2, wanted -2 to 1"},
};
// clang-format on

// Appends text with ' for ".
static void append(char *to, size_t capacity, const char *text) {
    size_t at = strlen(to);
    for (; *text && at + 1 < capacity; text++) to[at++] = (char)(*text == '\'' ? '"' : *text);
    to[at] = '\0';
}

static void every_mistake_is_named(void **state) {
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(refusals); i++) {
        const refusal *r = &refusals[i];
        char text[4096], node[1024];
        qdq_error err = {0};
        snprintf(text, sizeof text, "%s", head);
        snprintf(node, sizeof node,
                 "'nodes': [{'op': '%s', 'name': 'n', 'inputs': {%s}, 'attrs': {%s}}],"
                 "'outputs': [{'name': 'y', 'value': 'n'}]}",
                 r->op, r->inputs, r->attrs);
        append(text, sizeof text, node);
        qdq_graph *g = qdq_graph_parse(text, strlen(text), "bad", NULL, NULL, &err);
        if (!g) fail_msg("%s: %s", r->words, err.text);
        network_refuses(g, r->rule, r->words);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_mistake_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
