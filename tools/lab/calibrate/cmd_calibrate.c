// SPDX-License-Identifier: Apache-2.0
// qdq calibrate: runs a graph on every sample of a data set, and writes the statistics of its
// values.
#include <stdlib.h>

#include "tools/commands.h"
#include "tools/common.h"
#include "tools/elements.h"
#include "tools/failure.h"
#include "tools/lab/calibrate/calibrate_kind.h"
#include "tools/lab/dataset/data_run.h"
#include "tools/options.h"
#include "tools/spill.h"

typedef struct calibration {
    const options *opt;
    session session;
    void *elements;  // room for the largest value
} calibration;

static int no_memory(const char *what) {
    return tell_failure(QDQ_ERR_MEMORY, "no memory for %s", what);
}

static int begin(void *with, state *s) {
    calibration *c = with;
    size_t count = qdq_plan_kept_count(c->session.plan), most = 1;
    int code = state_add_graph(s, c->session.graph, c->opt->load.target, c->session.exec);
    if (code != EXIT_OK) return code;
    for (size_t i = 0; i < count; i++) {
        const qdq_tensor_info *info = qdq_plan_kept(c->session.plan, i);
        const char *const texts[] = {info->name, qdq_dtype_name(info->dtype)};
        if (!statistics_count(info->dtype)) continue;
        if (state_add_row(&s->tables[0], texts) == SIZE_MAX) return no_memory("the statistics");
        if (info->bytes > most) most = info->bytes;
    }
    if (s->tables[0].rows == 0)
        return tell_failure(QDQ_ERR_GRAPH,
                            "%s has no float value, so there is nothing to calibrate",
                            c->opt->operands.items[0]);
    c->elements = elements_take(c->session.exec_options.allocator, most);
    return c->elements ? EXIT_OK : no_memory("the elements of a value");
}

static int add(void *with, state *s, size_t index) {
    const calibration *c = with;
    const qdq_plan *plan = c->session.plan;
    size_t value = 0;
    (void)index;
    qdq_exec_run(c->session.exec);
    for (size_t i = 0; i < qdq_plan_kept_count(plan); i++) {
        const qdq_tensor_info *info = qdq_plan_kept(plan, i);
        size_t count = qdq_shape_count(info->shape);
        qdq_error err = {0};
        if (!statistics_count(info->dtype)) continue;
        if (qdq_exec_read(c->session.exec, info->name, info->dtype, c->elements, count, &err) !=
            QDQ_OK)
            return report_error(&err);
        statistics one = calibrate_statistics(&s->tables[0], value++);
        statistics_add(&one, info->dtype, c->elements, count);
        if (c->opt->spill) spill_trim(c->opt->spill);
    }
    return EXIT_OK;
}

// Returns options that keep every value, row-major and without a device.
static options options_to_keep(const options *opt) {
    static const char *all[] = {"all"};
    options own = *opt;
    own.compile.keep = (string_list){.items = all, .count = 1};
    own.compile.rows = true;
    own.compile.device = "none";
    own.compile.device_numbers = *qdq_device_find("none", NULL);
    return own;
}

int run_calibrate(const options *opt) {
    static const data_run_task task = {.kind = &calibrate_kind, .begin = begin, .add = add};
    calibration c = {.opt = opt};
    data_run_plan plan;
    options own = options_to_keep(opt);
    int code = data_run_plan_read(opt, &plan);
    if (code != EXIT_OK) return code;
    code = session_start(&c.session, &own);
    if (code == EXIT_OK) code = data_run_start(&plan, &task, &c.session, &c);
    session_close(&c.session);
    elements_free(c.elements);
    return code;
}
