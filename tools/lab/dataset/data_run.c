// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/dataset/data_run.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/common.h"
#include "tools/failure.h"
#include "tools/io/watch.h"
#include "tools/lab/dataset/state_file.h"
#include "tools/options.h"
#include "tools/options/option_number.h"

enum { CHECKPOINT_SECONDS = 10 };

typedef struct data_run {
    const data_run_plan *plan;
    const data_run_task *task;
    const session *session;
    void *with;
    data_listing listing;  // of --listing
    samples data;
    state state;
    char *checkpoint;  // path of the state of an unfinished run
} data_run;

static int no_memory(const char *what) {
    return tell_failure(QDQ_ERR_MEMORY, "no memory for %s", what);
}

static bool plan_streams(const data_run_plan *plan) {
    return strcmp(plan->opt->data.samples, sample_stream_word) == 0;
}

//---- The state --------------------------------------------------------------

int write_state(const state *s, const char *path, const char *saved, const options *opt) {
    qdq_error err = {0};
    watch_hold_signals(opt->watch);
    qdq_status status = state_write(s, path, &err);
    if (status == QDQ_OK) watch_saved(opt->watch, "%s %s", path, saved);
    watch_release_signals(opt->watch);
    return status == QDQ_OK ? EXIT_OK : report_error(&err);
}

// Begins an empty state.
static int begin_state(data_run *w) {
    state *s = &w->state;
    memcpy(s->listing, w->data.listing, sizeof s->listing);
    s->sample_count = (int64_t)w->data.count;
    s->shard_count = w->plan->shard.count;
    s->shards = malloc(sizeof *s->shards);
    if (!s->shards) return no_memory("the state");
    s->shards[0] = w->plan->shard.number;
    s->shards_held = 1;
    return w->task->begin(w->with, s);
}

int data_run_add_target(state *s, qdq_graph *graph, const char *target, const options *opt,
                        const qdq_exec_options *exec_options) {
    qdq_compile_options compile;
    qdq_error err = {0};
    if (!compile_options_of(opt, &compile)) return EXIT_USAGE;
    compile.target = target;
    compile.layout = QDQ_PLAN_ROWS;
    compile.device = qdq_device_find("none", NULL);
    compile.parallel = exec_options->parallel;
    qdq_plan *plan = qdq_graph_compile(graph, &compile, &err);
    if (!plan) return report_error(&err);
    qdq_exec *exec = qdq_exec_create(plan, exec_options, &err);
    int code = exec ? state_add_graph(s, graph, target, exec) : report_error(&err);
    qdq_exec_destroy(exec);
    qdq_plan_destroy(plan);
    return code;
}

//---- Resuming ---------------------------------------------------------------

// Continues with the state that a run of the same shard left in a file.
static int take_state(data_run *w, const char *path) {
    state found;
    qdq_error err = {0};
    if (state_read(&found, path, &err) != QDQ_OK) return report_error(&err);
    const char *differs = state_differs(&w->state, &found);
    bool other_shard = found.shards_held != 1 || found.shards[0] != w->plan->shard.number;
    if (!differs && other_shard) differs = "shard";
    if (!differs) {
        state_release(&w->state);
        w->state = found;
        return EXIT_OK;
    }
    state_release(&found);
    return tell_failure(QDQ_ERR_PARSE,
                        "%s is of another %s, so it cannot be resumed; remove it, or leave out "
                        "--resume to begin anew",
                        path, differs);
}

static int resume(data_run *w) {
    if (!w->plan->opt->data.resume) return EXIT_OK;
    if (access(w->checkpoint, F_OK) == 0) return take_state(w, w->checkpoint);
    return access(w->plan->out, F_OK) == 0 ? take_state(w, w->plan->out) : EXIT_OK;
}

//---- Samples ----------------------------------------------------------------

static int add_sample(data_run *w, size_t index) {
    unsigned char digest[QDQ_SHA256_BYTES];
    char name[SHOWN_BYTES];
    qdq_error err = {0};
    qdq_status status = sample_load(&w->data, index, w->session->exec, digest, &err);
    if (status == QDQ_ERR_MEMORY) return report_error(&err);
    if (status != QDQ_OK) {
        sample_tell(&w->data, index, &err, w->plan->opt->watch);
        (void)sample_name(&w->data, index, name, sizeof name);
        return state_add_unreadable(&w->state, name) ? EXIT_OK : no_memory("the names of samples");
    }
    state_add_digest(w->state.samples, digest);
    w->state.taken++;
    return w->task->add(w->with, &w->state, index);
}

// Adds the samples of a stream, which are the shard.
static int add_stream(data_run *w) {
    state *s = &w->state;
    for (bool more = true; more;) {
        watch_tell(w->plan->opt->watch, "sample %" PRId64, s->next + 1);
        int code = samples_next(&w->data, &more);
        if (code == EXIT_OK && more)
            code = add_sample(
                w, (size_t)(w->plan->shard.number - 1 + s->next++ * w->plan->shard.count));
        if (code != EXIT_OK) return code;
    }
    watch_clear(w->plan->opt->watch);
    s->next = COMPLETE;
    if (s->taken || s->unreadable.count || s->shard_count > 1) return EXIT_OK;
    return tell_failure(QDQ_ERR_PARSE, "standard input has no sample");
}

// Says which samples the checkpoint holds.
static const char *checkpoint_text(const data_run *w, int64_t own, char out[128]) {
    snprintf(out, 128, "has %" PRId64 " of %" PRId64 " samples, from which --resume goes on",
             w->state.next, own);
    return out;
}

static int add_samples(data_run *w) {
    double last = now();
    char saved[128];
    state *s = &w->state;
    int64_t first = w->plan->shard.number - 1, step = w->plan->shard.count, all = s->sample_count;
    int64_t own = first < all ? (all - first + step - 1) / step : 0;
    if (s->next > 0 && s->next < own)
        watch_saved(w->plan->opt->watch, "%s %s", w->checkpoint, checkpoint_text(w, own, saved));
    while (s->next != COMPLETE && s->next < own) {
        watch_tell(w->plan->opt->watch, "sample %" PRId64 " of %" PRId64, s->next + 1, own);
        int code = add_sample(w, (size_t)(first + s->next * step));
        s->next++;
        if (code == EXIT_OK && now() - last >= (double)w->plan->interval && s->next < own) {
            const char *text = checkpoint_text(w, own, saved);
            code = write_state(s, w->checkpoint, text, w->plan->opt);
            last = now();
        }
        if (code != EXIT_OK) return code;
    }
    watch_clear(w->plan->opt->watch);
    s->next = COMPLETE;
    return EXIT_OK;
}

//---- Entry ------------------------------------------------------------------

int data_options_check(const options *opt) {
    const char *alone = opt->outputs.count     ? "-o"
                        : opt->data.shard      ? "--shard"
                        : opt->data.resume     ? "--resume"
                        : opt->data.checkpoint ? "--checkpoint"
                                               : NULL;
    if (!alone || opt->data.samples) return EXIT_OK;
    return tell_failure(QDQ_ERR_ARGUMENT, "%s is given without --data; add --data WHERE", alone);
}

int data_run_plan_read(const options *opt, data_run_plan *out) {
    *out = (data_run_plan){.opt = opt};
    if (opt->outputs.count != 1 || !opt->data.samples)
        return tell_failure(QDQ_ERR_ARGUMENT,
                            "%s is missing or given twice, wanted --data WHERE -o "
                            "STATE",
                            opt->data.samples ? "-o" : "--data");
    if (!options_number("checkpoint", opt->data.checkpoint, 0, CHECKPOINT_SECONDS,
                        &out->interval) ||
        !shard_parse(opt->data.shard, &out->shard) ||
        !max_unreadable_parse(opt->data.max_unreadable, &(double){0}))
        return EXIT_USAGE;
    out->out = opt->outputs.items[0];
    if (plan_streams(out) && opt->data.listing)
        return tell_failure(QDQ_ERR_ARGUMENT,
                            "--listing is given with --data -, wanted --data FOLDER");
    if (plan_streams(out) && (opt->data.resume || opt->data.checkpoint))
        return tell_failure(QDQ_ERR_ARGUMENT,
                            "%s is given with --data -, but a stream cannot be read again; leave "
                            "it out",
                            opt->data.resume ? "--resume" : "--checkpoint");
    return EXIT_OK;
}

static int prepare(data_run *w) {
    size_t length = strlen(w->plan->out) + sizeof ".part";
    state_open(&w->state, w->task->kind);
    w->checkpoint = malloc(length);
    if (!w->checkpoint) return no_memory("a path");
    snprintf(w->checkpoint, length, "%s.part", w->plan->out);
    const char *where = w->plan->opt->data.samples;
    const session *own = w->session;
    qdq_budget *memory = w->plan->opt->memory;
    const char *listing = w->plan->opt->data.listing;
    int code = listing ? listing_read(&w->listing, listing, &w->plan->shard) : EXIT_OK;
    if (code != EXIT_OK) return code;
    if (plan_streams(w->plan))
        code = samples_open_stream(&w->data, own->graph, own->plan, memory);
    else if (listing)
        code = samples_open_listed(&w->data, where, &w->listing, own->graph, own->plan, memory);
    else
        code = samples_open(&w->data, where, own->graph, own->plan, memory);
    if (code == EXIT_OK) code = begin_state(w);
    return code == EXIT_OK ? resume(w) : code;
}

// Fails if no sample of the data could be read. A shard may have only unreadable samples: it can
// still be merged with other shards.
static int check_samples(const data_run *w) {
    const state *s = &w->state;
    if (s->shard_count > 1 || s->taken || !s->unreadable.count) return EXIT_OK;
    if (w->data.problem.status == QDQ_OK) return refuse_unreadable(s, w->plan->opt->data.samples);
    return samples_refuse(&w->data, s->unreadable.count);
}

static int finish(const data_run *w) {
    const state *s = &w->state;
    int code = check_samples(w);
    if (code == EXIT_OK) code = check_unreadable(s, w->plan->opt->data.samples, w->plan->opt);
    if (code == EXIT_OK) code = write_state(s, w->plan->out, "is complete", w->plan->opt);
    if (code != EXIT_OK) return code;
    if (unlink(w->checkpoint) != 0 && errno != ENOENT)
        return tell_failure(QDQ_ERR_IO, "%s: cannot be removed: %s", w->checkpoint,
                            strerror(errno));
    if (w->task->reports)
        code = s->kind->report(s, w->plan->opt);
    else
        printf("%s: %zu %s, %" PRId64 " sample%s, shard %" PRId64 "/%" PRId64 "\n", w->plan->out,
               s->tables[0].rows, s->kind->rows, s->taken, s->taken == 1 ? "" : "s",
               w->plan->shard.number, w->plan->shard.count);
    if (s->kind->warn) s->kind->warn(s, w->plan->out);
    return report_unreadable(s) == EXIT_OK ? code : EXIT_FINDINGS;
}

int data_run_start(const data_run_plan *plan, const data_run_task *task, const session *s,
                   void *with) {
    data_run w = {.plan = plan, .task = task, .session = s, .with = with};
    int code = prepare(&w);
    if (code == EXIT_OK) code = w.data.streams ? add_stream(&w) : add_samples(&w);
    if (code == EXIT_OK) code = finish(&w);
    samples_close(&w.data);
    listing_release(&w.listing);
    state_release(&w.state);
    free(w.checkpoint);
    return code;
}
