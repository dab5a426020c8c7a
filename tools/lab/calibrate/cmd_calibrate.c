// SPDX-License-Identifier: Apache-2.0
// qdq calibrate: runs a graph on every sample of a data set, and writes the statistics of its
// values.
#include "tools/commands.h"
#include "tools/common.h"
#include "tools/elements.h"
#include "tools/lab/calibrate/calibrate_kind.h"
#include "tools/lab/calibrate/calibration.h"
#include "tools/lab/dataset/data_run.h"
#include "tools/options.h"

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
    static const data_run_task task = {
        .kind = &calibrate_kind, .begin = calibration_begin, .add = calibration_add};
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
