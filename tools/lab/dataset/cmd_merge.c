// SPDX-License-Identifier: Apache-2.0
// qdq merge: merges states of shards, of any kind, into the state of all samples, and writes it or
// prints its report.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/commands.h"
#include "tools/common.h"
#include "tools/failure.h"
#include "tools/io/watch.h"
#include "tools/lab/dataset/data_run.h"
#include "tools/lab/dataset/shard.h"
#include "tools/lab/dataset/state_file.h"
#include "tools/options.h"
#include "tools/options/merge.h"

enum { NAMED_SHARDS = 20 };

typedef struct merging {
    const options *opt;
    const merge_options *own;
    state sum;
    size_t *owners;  // [shard - 1]: 1 + the operand that has it; 0: none
} merging;

//---- Checking ---------------------------------------------------------------

static const char *path_of(const merging *m, size_t operand) {
    return m->opt->operands.items[operand];
}

static int check_shards(merging *m, const state *s, size_t operand) {
    int64_t count = s->shard_count;
    for (size_t i = 0; i < s->shards_held; i++) {
        size_t *owner = &m->owners[s->shards[i] - 1];
        if (*owner)
            return tell_failure(QDQ_ERR_PARSE, "%s: shard %" PRId64 "/%" PRId64 " is in %s too",
                                path_of(m, operand), s->shards[i], count, path_of(m, *owner - 1));
        *owner = operand + 1;
    }
    return EXIT_OK;
}

// Checks that a state may be merged. `first`: the first state before any merge.
static int check_state(merging *m, const state *s, const state *first, size_t operand) {
    const char *differs = state_differs(first, s);
    if (s->next != COMPLETE)
        return tell_failure(QDQ_ERR_PARSE,
                            "%s: is a checkpoint of a run that has not ended; end it with "
                            "qdq %s --resume",
                            path_of(m, operand), s->kind->command);
    if (s->kind != first->kind)
        return tell_failure(QDQ_ERR_PARSE, "%s: is a state of qdq %s, and %s one of qdq %s",
                            path_of(m, operand), s->kind->command, path_of(m, 0),
                            first->kind->command);
    if (differs)
        return tell_failure(QDQ_ERR_PARSE, "%s: has another %s than %s", path_of(m, operand),
                            differs, path_of(m, 0));
    return check_shards(m, s, operand);
}

static int report_lost(const merging *m, int64_t count, size_t held) {
    char text[512] = "";
    size_t used = 0, named = 0, lost = (size_t)count - held;
    for (int64_t i = 0; i < count && named < NAMED_SHARDS; i++) {
        if (m->owners[i]) continue;
        int bytes = snprintf(text + used, sizeof text - used, "%s%" PRId64 "/%" PRId64,
                             named++ ? ", " : "", i + 1, count);
        used += (size_t)bytes;
    }
    return tell_failure(QDQ_ERR_PARSE,
                        "%zu shard%s missing: %s%s; add %s, or --partial for a state that lacks %s",
                        lost, lost == 1 ? " is" : "s are", text, lost > named ? ", ..." : "",
                        lost == 1 ? "it" : "them", lost == 1 ? "it" : "them");
}

//---- Merging ----------------------------------------------------------------

static int add_state(merging *m, const state *s, size_t operand, const state *first) {
    int code = check_state(m, s, first, operand);
    if (code != EXIT_OK || operand == 0) return code;
    return state_merge(&m->sum, s) ? EXIT_OK : tell_failure(QDQ_ERR_MEMORY, "no memory to merge");
}

// Reads and merges one operand after another, so that only two states are in memory at a time.
static int add_states(merging *m) {
    qdq_error err = {0};
    if (state_read(&m->sum, path_of(m, 0), &err) != QDQ_OK) return report_error(&err);
    int64_t count = m->sum.shard_count;
    m->owners = calloc((size_t)count, sizeof *m->owners);
    if (!m->owners) return tell_failure(QDQ_ERR_MEMORY, "no memory for the list of shards");
    int code = add_state(m, &m->sum, 0, &m->sum);
    for (size_t i = 1; code == EXIT_OK && i < m->opt->operands.count; i++) {
        state s;
        state run = m->sum;  // merging all shards changes the number of shards
        run.shard_count = count;
        watch_tell(m->opt->watch, "state %zu of %zu", i + 1, m->opt->operands.count);
        if (state_read(&s, path_of(m, i), &err) != QDQ_OK) return report_error(&err);
        code = add_state(m, &s, i, &run);
        state_release(&s);
    }
    watch_clear(m->opt->watch);
    size_t held = 0;
    for (int64_t i = 0; i < count; i++) held += m->owners[i] != 0;
    if (code == EXIT_OK && held < (size_t)count && !m->own->partial)
        return report_lost(m, count, held);
    return code;
}

static int write_sum(const merging *m) {
    const char *out = m->opt->outputs.items[0];
    const state *s = &m->sum;
    int code = write_state(s, out, "was written", m->opt);
    if (code != EXIT_OK) return code;
    printf("%s: %zu %s, %" PRId64 " sample%s, %zu of %" PRId64 " shard%s\n", out, s->tables[0].rows,
           s->kind->rows, s->taken, s->taken == 1 ? "" : "s", s->shards_held, s->shard_count,
           s->shard_count == 1 ? "" : "s");
    if (s->kind->warn) s->kind->warn(s, out);
    return EXIT_OK;
}

int run_merge(const options *opt) {
    merging m = {.opt = opt, .own = opt->own};
    if (opt->outputs.count > 1 || (opt->outputs.count == 1 && opt->json))
        return tell_failure(QDQ_ERR_ARGUMENT,
                            opt->json ? "-o and --json are both given, wanted one of them"
                                      : "-o is given twice, wanted one file");
    int code = add_states(&m);
    bool complete = m.sum.shards_held == 1 && m.sum.shard_count == 1;
    if (code == EXIT_OK && complete && !m.sum.taken && m.sum.unreadable.count)
        code = refuse_unreadable(&m.sum, path_of(&m, 0));
    if (code == EXIT_OK) code = check_unreadable(&m.sum, path_of(&m, 0), opt);
    if (code == EXIT_OK)
        code = opt->outputs.count ? write_sum(&m) : m.sum.kind->report(&m.sum, opt);
    if ((code == EXIT_OK || code == EXIT_FINDINGS) && report_unreadable(&m.sum) != EXIT_OK)
        code = EXIT_FINDINGS;
    state_release(&m.sum);
    free(m.owners);
    return code;
}
