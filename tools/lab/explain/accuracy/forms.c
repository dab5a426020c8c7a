// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/explain/accuracy/forms.h"

#include "tools/common.h"

static qdq_status open_runs(replay *r, qdq_error *err) {
    return replay_has_room(r, err) ? replay_run(r, err) : err->status;
}

static qdq_status open_deployed(opened_forms *f, const accuracy_graphs *graphs, const char *target,
                                const given_values *inputs, const given_values *real_inputs,
                                const options *opt, qdq_error *err) {
    const session *s = graphs->quantized, *real = graphs->real;
    if (replay_open(&f->deployed, s->graph, target, inputs, &s->exec_options, opt, err) != QDQ_OK ||
        replay_open(&f->real, real->graph, session_core_or(real, NULL), real_inputs,
                    &s->exec_options, opt, err) != QDQ_OK ||
        open_runs(&f->deployed, err) != QDQ_OK || replay_run(&f->real, err) != QDQ_OK)
        return err->status;
    return reference_open(&f->deployed_ref, &f->deployed, &f->real, err);
}

static qdq_status open_written(opened_forms *f, const accuracy_graphs *graphs,
                               const given_values *inputs, const options *opt, qdq_error *err) {
    const session *s = graphs->quantized;
    // The target of a rewritten graph rewrites nothing.
    if (replay_open(&f->written, s->graph, f->deployed.target, inputs, &s->exec_options, opt,
                    err) != QDQ_OK ||
        open_runs(&f->written, err) != QDQ_OK)
        return err->status;
    return reference_open(&f->written_ref, &f->written, &f->real, err);
}

qdq_status forms_open(opened_forms *f, const accuracy_graphs *graphs, const char *target,
                      const given_values *inputs, const given_values *real_inputs,
                      const options *opt, qdq_error *err) {
    *f = (opened_forms){0};
    qdq_status status = open_deployed(f, graphs, target, inputs, real_inputs, opt, err);
    bool rewritten = f->deployed.form.owned != NULL;
    if (status == QDQ_OK && rewritten) status = open_written(f, graphs, inputs, opt, err);
    f->forms = (accuracy_forms){rewritten ? &f->written_ref : &f->deployed_ref, &f->deployed_ref};
    return status;
}

qdq_status forms_again(opened_forms *f, qdq_error *err) {
    bool rewritten = f->forms.written != f->forms.deployed;
    if (replay_again(&f->real, err) != QDQ_OK || replay_again(&f->deployed, err) != QDQ_OK ||
        reference_again(&f->deployed_ref, err) != QDQ_OK)
        return err->status;
    if (!rewritten) return QDQ_OK;
    qdq_status status = replay_again(&f->written, err);
    return status == QDQ_OK ? reference_again(&f->written_ref, err) : status;
}

void forms_close(opened_forms *f) {
    reference_close(&f->written_ref);
    reference_close(&f->deployed_ref);
    replay_close(&f->written);
    replay_close(&f->deployed);
    replay_close(&f->real);
    *f = (opened_forms){0};
}
