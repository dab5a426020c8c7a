// SPDX-License-Identifier: Apache-2.0
// qdq calibrate: runs a graph on every sample of a data set, and writes the statistics of its
// values.
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/calibrate/samples.h"
#include "tools/calibrate/shard.h"
#include "tools/calibrate/state_file.h"
#include "tools/commands.h"
#include "tools/common.h"
#include "tools/failure.h"
#include "tools/session.h"

enum { CHECKPOINT_SECONDS = 10 };

typedef struct calibration {
    const options *opt;
    session session;
    samples data;
    shard shard;
    state state;
    const char *out;
    char *checkpoint;  // the path of the state of a run that has not ended
    void *elements;    // of the largest value
} calibration;

static int no_memory(const char *what) {
    return tell_failure(QDQ_ERR_MEMORY, "no memory for %s", what);
}

//---- The state --------------------------------------------------------------

static int list_values(calibration *c) {
    size_t count = qdq_plan_kept_count(c->session.plan), most = 1;
    for (size_t i = 0; i < count; i++) {
        const qdq_tensor_info *info = qdq_plan_kept(c->session.plan, i);
        if (!statistics_count(info->dtype)) continue;
        if (!text_list_add(&c->state.values, info->name) ||
            !text_list_add(&c->state.dtypes, qdq_dtype_name(info->dtype)))
            return no_memory("the names of values");
        if (info->bytes > most) most = info->bytes;
    }
    if (c->state.values.count == 0)
        return tell_failure(QDQ_ERR_GRAPH,
                            "%s has no float value, so there is nothing to calibrate",
                            c->opt->operands.items[0]);
    c->elements = malloc(most);
    return c->elements && state_make_arrays(&c->state) ? EXIT_OK : no_memory("the statistics");
}

// Begins a state without samples.
static int begin_state(calibration *c) {
    qdq_fingerprint print;
    qdq_error err = {0};
    state *s = &c->state;
    if (qdq_graph_fingerprint(c->session.graph, c->opt->target, c->session.exec, 1, &print, &err) !=
        QDQ_OK)
        return report_error(&err);
    memcpy(s->fingerprint, print.text, sizeof s->fingerprint);
    memcpy(s->target, print.target_name, sizeof s->target);
    memcpy(s->listing, c->data.listing, sizeof s->listing);
    s->sample_count = (int64_t)c->data.count;
    s->shard_count = c->shard.count;
    s->shards = malloc(sizeof *s->shards);
    if (!s->shards) return no_memory("the state");
    s->shards[0] = c->shard.number;
    s->shards_held = 1;
    return list_values(c);
}

static int write_state(const calibration *c, const char *path) {
    qdq_error err = {0};
    watch_hold_signals(c->opt->watch);
    qdq_status status = state_write(&c->state, path, &err);
    watch_release_signals(c->opt->watch);
    return status == QDQ_OK ? EXIT_OK : report_error(&err);
}

//---- Resuming ---------------------------------------------------------------

// Takes over the state of a file that a run of the same shard has left.
static int take_state(calibration *c, const char *path) {
    state found;
    qdq_error err = {0};
    if (state_read(&found, path, &err) != QDQ_OK) return report_error(&err);
    const char *differs = state_differs(&c->state, &found);
    bool other_shard = found.shards_held != 1 || found.shards[0] != c->shard.number;
    if (!differs && other_shard) differs = "shard";
    if (!differs) {
        state_release(&c->state);
        c->state = found;
        return EXIT_OK;
    }
    state_release(&found);
    return tell_failure(QDQ_ERR_PARSE,
                        "%s is of another %s, so it cannot be resumed; remove it, or leave out "
                        "--resume to begin anew",
                        path, differs);
}

static int resume(calibration *c) {
    if (!c->opt->resume) return EXIT_OK;
    if (access(c->checkpoint, F_OK) == 0) return take_state(c, c->checkpoint);
    return access(c->out, F_OK) == 0 ? take_state(c, c->out) : EXIT_OK;
}

//---- Samples ----------------------------------------------------------------

static int add_values(calibration *c) {
    size_t value = 0;
    const qdq_plan *plan = c->session.plan;
    for (size_t i = 0; i < qdq_plan_kept_count(plan); i++) {
        const qdq_tensor_info *info = qdq_plan_kept(plan, i);
        size_t count = qdq_shape_count(info->shape);
        qdq_error err = {0};
        if (!statistics_count(info->dtype)) continue;
        if (qdq_exec_read(c->session.exec, info->name, info->dtype, c->elements, count, &err) !=
            QDQ_OK)
            return report_error(&err);
        statistics s = state_value(&c->state, value++);
        statistics_add(&s, info->dtype, c->elements, count);
    }
    return EXIT_OK;
}

static int add_sample(calibration *c, size_t index) {
    unsigned char digest[QDQ_SHA256_BYTES];
    char name[SHOWN_BYTES], shown[SHOWN_BYTES];
    qdq_error err = {0};
    qdq_status status = sample_load(&c->data, index, c->session.exec, digest, &err);
    if (status == QDQ_ERR_MEMORY) return report_error(&err);
    if (status != QDQ_OK) {
        (void)sample_name(&c->data, index, name, sizeof name);
        watch_clear(c->opt->watch);
        fprintf(stderr, "qdq: %s: %s\n", shown_name(name, shown, sizeof shown), err.text);
        return state_add_unreadable(&c->state, name) ? EXIT_OK : no_memory("the names of samples");
    }
    qdq_exec_run(c->session.exec);
    state_add_digest(c->state.samples, digest);
    c->state.taken++;
    return add_values(c);
}

static int add_samples(calibration *c, size_t interval) {
    double last = now();
    int64_t first = c->shard.number - 1, step = c->shard.count, all = c->state.sample_count;
    int64_t own = first < all ? (all - first + step - 1) / step : 0;
    while (c->state.next != COMPLETE && c->state.next < own) {
        watch_tell(c->opt->watch, "sample %" PRId64 " of %" PRId64, c->state.next + 1, own);
        int code = add_sample(c, (size_t)(first + c->state.next * step));
        c->state.next++;
        if (code == EXIT_OK && now() - last >= (double)interval && c->state.next < own) {
            code = write_state(c, c->checkpoint);
            last = now();
        }
        if (code != EXIT_OK) return code;
    }
    watch_clear(c->opt->watch);
    c->state.next = COMPLETE;
    return EXIT_OK;
}

//---- The command ------------------------------------------------------------

// Every value is kept, in rows and without a device.
static options options_to_keep(const options *opt) {
    static const char *all[] = {"all"};
    options own = *opt;
    own.keep = (string_list){.items = all, .count = 1};
    own.device = "none";
    own.device_numbers = *qdq_device_find("none", NULL);
    return own;
}

static int prepare(calibration *c, const options *own) {
    size_t length = strlen(c->out) + sizeof ".part";
    c->checkpoint = malloc(length);
    if (!c->checkpoint) return no_memory("a path");
    snprintf(c->checkpoint, length, "%s.part", c->out);
    int code = session_start(&c->session, own);
    if (code == EXIT_OK)
        code = samples_open(&c->data, c->opt->data, c->session.graph, c->session.plan);
    if (code == EXIT_OK) code = begin_state(c);
    return code == EXIT_OK ? resume(c) : code;
}

static int finish(const calibration *c) {
    int code = write_state(c, c->out);
    if (code != EXIT_OK) return code;
    if (unlink(c->checkpoint) != 0 && errno != ENOENT)
        return tell_failure(QDQ_ERR_IO, "%s: cannot be removed: %s", c->checkpoint,
                            strerror(errno));
    printf("%s: %zu values, %" PRId64 " samples, shard %" PRId64 "/%" PRId64 "\n", c->out,
           c->state.values.count, c->state.taken, c->shard.number, c->shard.count);
    return report_unreadable(&c->state);
}

int run_calibrate(const options *opt) {
    size_t interval;
    calibration c = {.opt = opt};
    options own = options_to_keep(opt);
    if (opt->outputs.count != 1 || !opt->data)
        return tell_failure(QDQ_ERR_ARGUMENT,
                            "%s is missing or given twice, wanted --data WHERE -o "
                            "STATE",
                            opt->data ? "-o" : "--data");
    if (!options_number("checkpoint", opt->checkpoint, 0, CHECKPOINT_SECONDS, &interval) ||
        !shard_parse(opt->shard, &c.shard))
        return EXIT_USAGE;
    c.out = opt->outputs.items[0];
    int code = prepare(&c, &own);
    if (code == EXIT_OK) code = add_samples(&c, interval);
    if (code == EXIT_OK) code = finish(&c);
    samples_close(&c.data);
    state_release(&c.state);
    session_close(&c.session);
    free(c.elements);
    free(c.checkpoint);
    return code;
}
