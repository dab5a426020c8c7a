// SPDX-License-Identifier: Apache-2.0
// A libFuzzer target: reads any bytes as a state, of a kind that has a column of each form and a
// table that grows.
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "tools/common.h"
#include "tools/failure.h"
#include "tools/lab/dataset/kinds.h"
#include "tools/lab/dataset/state_file.h"

static const state_column values[] = {{"values", 1, QDQ_UINT8, false},
                                      {"ranges", 2, QDQ_FLOAT64, false},
                                      {"counts", 3, QDQ_INT64, false},
                                      {"sums", 4, QDQ_INT64, true}};
static const state_column causes[] = {
    {"causes", 1, QDQ_UINT8, false}, {"rows", 1, QDQ_INT64, false}, {"met", 1, QDQ_INT64, false}};
static const state_table_kind tables[] = {{.columns = values, .column_count = 4},
                                          {.columns = causes, .column_count = 3, .grows = true}};
static const state_kind kind = {
    .command = "fuzz", .rows = "values", .tables = tables, .table_count = 2};

// In place of the kinds of the commands.
const state_kind *state_kind_find(const char *command) {
    return strcmp(command, kind.command) == 0 ? &kind : NULL;
}

// In place of the tool's messages: making a state needs them, reading one does not.
int report_error(const qdq_error *err) { return (int)err->status; }

int tell_failure(qdq_status status, const char *format, ...) {
    (void)format;
    return (int)status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    state s;
    qdq_error err = {0};
    fuzz_bound_growth(size, 1 << 17, 256);
    (void)state_read(&s, fuzz_file(data, size), &err);
    state_release(&s);
    fuzz_free_growth();
    return 0;
}
