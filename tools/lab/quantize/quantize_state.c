// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>
#include <qdq/fingerprint.h>
#include <string.h>

#include "tools/common.h"
#include "tools/failure.h"
#include "tools/lab/calibrate/calibrate_kind.h"
#include "tools/lab/calibrate/calibration.h"
#include "tools/lab/dataset/state_file.h"
#include "tools/lab/quantize/quantize_read.h"
#include "tools/options.h"

static int check_state(const quantization *q) {
    const char *file = q->own->state;
    const state *s = &q->state;
    qdq_fingerprint print;
    qdq_error err = {0};
    if (s->kind != &calibrate_kind)
        return tell_failure(QDQ_ERR_PARSE, "%s: is a state of qdq %s, wanted one of qdq calibrate",
                            file, s->kind->command);
    if (s->next != COMPLETE)
        return tell_failure(QDQ_ERR_PARSE,
                            "%s: is a checkpoint of a run that has not ended; end it with "
                            "qdq calibrate --resume",
                            file);
    if ((int64_t)s->shards_held != s->shard_count)
        return tell_failure(QDQ_ERR_PARSE,
                            "%s: has %zu of %" PRId64 " shards; add the others with qdq merge",
                            file, s->shards_held, s->shard_count);
    if (!s->taken)
        return tell_failure(QDQ_ERR_PARSE, "%s: has no sample; calibrate with samples", file);
    if (qdq_graph_fingerprint(q->graph, "core", q->session.exec, 1, &print, &err) != QDQ_OK)
        return report_error(&err);
    if (strncmp(s->fingerprints.items[0], print.text, strlen("qdq1") + QDQ_FINGERPRINT_PART) != 0)
        return tell_failure(QDQ_ERR_PARSE,
                            "%s: is of another graph than %s; calibrate this graph, with the same "
                            "--shape, --dim and --until",
                            file, q->opt->operands.items[0]);
    return EXIT_OK;
}

int quantize_state_read(quantization *q) {
    qdq_error err = {0};
    if (!q->own->state) return EXIT_OK;
    if (state_read(&q->state, q->own->state, &err) != QDQ_OK) return report_error(&err);
    int code = check_state(q);
    if (code == EXIT_OK) q->state.kind->warn(&q->state, q->own->state);
    return code;
}

int quantize_state_collect(quantization *q) {
    return q->own->state ? EXIT_OK : calibrate_in_process(&q->session, q->opt, &q->state);
}
