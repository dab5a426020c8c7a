// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/calibrate/calibration.h"

#include "tools/common.h"
#include "tools/elements.h"
#include "tools/failure.h"
#include "tools/io/inputs.h"
#include "tools/io/watch.h"
#include "tools/lab/calibrate/calibrate_kind.h"
#include "tools/lab/dataset/samples.h"
#include "tools/options.h"
#include "tools/spill.h"

static int no_memory(const char *what) {
    return tell_failure(QDQ_ERR_MEMORY, "no memory for %s", what);
}

int calibration_begin(void *with, state *s) {
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

int calibration_add(void *with, state *s, size_t index) {
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

//---- In process -------------------------------------------------------------

// Compiles the graph for its own target, row-major and without a device, and keeps every value.
static int compile(calibration *c) {
    qdq_compile_options compile;
    qdq_error err = {0};
    session *s = &c->session;
    if (!compile_options_of(c->opt, &compile)) return EXIT_USAGE;
    compile.target = NULL;
    compile.layout = QDQ_PLAN_ROWS;
    compile.device = qdq_device_find("none", NULL);
    compile.parallel = s->exec_options.parallel;
    compile.keep_all = true;
    s->plan = qdq_graph_compile(s->graph, &compile, &err);
    s->exec = qdq_exec_create(s->plan, &s->exec_options, &err);
    return s->exec ? EXIT_OK : report_error(&err);
}

// Adds the samples of --data that can be read.
static int add_samples(calibration *c, state *s) {
    samples data;
    int code = samples_open(&data, c->opt->data.samples, c->session.graph, c->session.plan,
                            c->opt->memory);
    for (size_t i = 0; code == EXIT_OK && i < data.count; i++) {
        unsigned char digest[QDQ_SHA256_BYTES];
        qdq_error err = {0};
        watch_tell(c->opt->watch, "calibrating, sample %zu of %zu", i + 1, data.count);
        qdq_status status = sample_load(&data, i, c->session.exec, digest, &err);
        if (status == QDQ_ERR_MEMORY) {
            code = report_error(&err);
        } else if (status != QDQ_OK) {
            sample_tell(&data, i, &err, c->opt->watch);
        } else {
            s->taken++;
            code = calibration_add(c, s, i);
        }
    }
    watch_clear(c->opt->watch);
    if (code == EXIT_OK && !s->taken) code = samples_refuse(&data, data.count);
    samples_close(&data);
    return code;
}

static int add_run(calibration *c, state *s) {
    int code = give_inputs(c->session.graph, c->session.plan, c->session.exec, c->opt);
    if (code != EXIT_OK) return code;
    s->taken++;
    return calibration_add(c, s, 0);
}

int calibrate_in_process(const session *of, const options *opt, state *out) {
    options own = *opt;
    own.load.target = NULL;
    calibration c = {.opt = &own,
                     .session = {.graph = of->graph, .exec_options = of->exec_options}};
    state_open(out, &calibrate_kind);
    int code = compile(&c);
    if (code == EXIT_OK) code = calibration_begin(&c, out);
    if (code == EXIT_OK) code = own.data.samples ? add_samples(&c, out) : add_run(&c, out);
    out->next = COMPLETE;
    elements_free(c.elements);
    qdq_exec_destroy(c.session.exec);
    qdq_plan_destroy(c.session.plan);
    return code;
}
