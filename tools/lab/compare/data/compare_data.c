// SPDX-License-Identifier: Apache-2.0
// Compares targets sample by sample. A first pass over the nodes computes nothing: it lists the
// rows of the state, so that they do not depend on samples. Each sample then meets the rows in the
// same order.
#include "tools/lab/compare/data/compare_data.h"

#include <stdlib.h>
#include <string.h>

#include "tools/common.h"
#include "tools/elements.h"
#include "tools/failure.h"
#include "tools/lab/compare/data/pair_state.h"
#include "tools/options.h"

typedef struct data_comparison {
    comparison *c;
    const data_run_plan *plan;
    session *session;
    void **inputs;  // memory of the exec to which samples are loaded
    state *state;   // state of the current call
    size_t row;     // the next row
    int64_t sample;
    double *scratch;
    size_t scratch_count;
} data_comparison;

static int no_memory(void) {
    return tell_failure(QDQ_ERR_MEMORY, "no memory to compare a data set");
}

//---- Rows -------------------------------------------------------------------

// Appends a line to a text from malloc, which may move. False if memory runs out.
static bool add_line(char **text, const char *line) {
    size_t old = *text ? strlen(*text) : 0, bytes = strlen(line);
    char *more = realloc(*text, old + bytes + 2);
    if (!more) return false;
    if (old) more[old++] = '\n';
    memcpy(more + old, line, bytes + 1);
    *text = more;
    return true;
}

static bool list_group(const data_comparison *d, const node_pair *pair, char **out) {
    bool grouped = pair->group && *pair->group;
    if (!add_line(out, grouped ? pair->group : "")) return false;
    for (size_t i = 0; grouped && i < pair->node_count; i++)
        if (!add_line(out, qdq_graph_node(d->c->graph, pair->nodes[i]).name)) return false;
    return true;
}

static bool list_numerics(const node_pair *pair, char **out) {
    bool done = add_line(out, "");
    for (size_t i = 0; done && i < pair->reasons.count; i++)
        done = add_line(out, pair->reasons.names[i]);
    return done;
}

static bool list_left_out(const data_comparison *d, const node_comparison *n, char **out) {
    bool done = add_line(out, "");
    for (size_t i = 0; done && i < d->c->left_out_count; i++)
        if (n->left_out >> i & 1) done = add_line(out, d->c->left_out[i]);
    return done;
}

static bool add_row(const data_comparison *d, const node_comparison *n, size_t target,
                    size_t output) {
    const node_pair *pair = &n->pairs[target - 1];
    const qdq_tensor_info *info = &n->outputs[output].info;
    qdq_node_info node = qdq_graph_node(d->c->graph, n->node);
    char shape[256], *group = NULL, *numerics = NULL, *left_out = NULL;
    bool done = list_group(d, pair, &group) && list_numerics(pair, &numerics) &&
                list_left_out(d, n, &left_out);
    const char *const texts[] = {info->name,
                                 node.name,
                                 node.op,
                                 group,
                                 d->state->targets.items[target],
                                 qdq_dtype_name(info->dtype),
                                 pair->x_dtype ? qdq_dtype_name(pair->x_dtype) : "",
                                 numerics,
                                 left_out,
                                 qdq_write_shape(info->shape, shape, sizeof shape)};
    done = done && state_add_row(&d->state->tables[0], texts) != SIZE_MAX;
    free(group), free(numerics), free(left_out);
    return done;
}

static bool add_results(data_comparison *d, const node_comparison *n, size_t target, size_t output,
                        const pair_results *results) {
    pair_results r = *results;
    const node_pair *pair = &n->pairs[target - 1];
    r.info = &n->outputs[output].info;
    r.pair = &pair->values[output];
    r.reasons = &pair->reasons;
    r.sample = d->sample;
    if (r.pair->local.elements > d->scratch_count) {
        elements_free(d->scratch);
        d->scratch_count = r.pair->local.elements;
        d->scratch =
            elements_take_numbers(d->session->exec_options.allocator, 2 * d->scratch_count);
        if (!d->scratch) d->scratch_count = 0;
    }
    r.scratch = d->scratch;
    return d->scratch && pair_state_add(d->state, d->row++, &r);
}

static int take(void *with, const node_comparison *n, size_t target, size_t output,
                const void *first, const void *local, const void *overall) {
    data_comparison *d = with;
    const pair_results results = {.first = first, .local = local, .overall = overall};
    bool done = d->c->describes ? add_row(d, n, target, output)
                                : add_results(d, n, target, output, &results);
    return done ? EXIT_OK : no_memory();
}

static int pass_nodes(const data_comparison *d) {
    int code = EXIT_OK;
    for (size_t i = 0; code == EXIT_OK && i < qdq_graph_node_count(d->c->graph); i++) {
        node_comparison n;
        code = compare_node(d->c, i, &n);
        node_comparison_release(&n);
    }
    return code;
}

//---- The task ---------------------------------------------------------------

static int begin(void *with, state *s) {
    data_comparison *d = with;
    int code = EXIT_OK;
    d->state = s;
    for (size_t t = 0; code == EXIT_OK && t < d->c->target_count; t++)
        code = data_run_add_target(s, d->session->graph, d->c->targets[t], d->plan->opt,
                                   &d->session->exec_options);
    for (size_t i = 0; i < d->c->left_out_count; i++)
        if (!text_list_add(&s->refused, d->c->left_out[i])) return no_memory();
    if (code == EXIT_OK) code = comparison_open(d->c, d->session->plan);
    if (code != EXIT_OK) return code;
    d->c->sink = (comparison_sink){take, d};
    d->c->describes = true;
    code = pass_nodes(d);
    d->c->describes = false;
    if (code == EXIT_OK && s->tables[0].rows == 0)
        return tell_failure(QDQ_ERR_GRAPH, "%s has no node, so there is nothing to compare",
                            d->plan->opt->operands.items[0]);
    return code;
}

// Gives copies of a sample's inputs to the comparison, which frees its inputs as it goes.
static int give_sample(const data_comparison *d) {
    const qdq_plan *plan = d->session->plan;
    size_t count = qdq_plan_input_count(plan);
    void **copies = calloc(count + 1, sizeof *copies);
    bool done = copies != NULL;
    for (size_t i = 0; done && i < count; i++) {
        size_t bytes = qdq_plan_input(plan, i)->bytes;
        copies[i] = elements_take(d->session->exec_options.allocator, bytes);
        done = copies[i] != NULL;
        if (done) memcpy(copies[i], d->inputs[i], bytes);
    }
    if (done) comparison_give(d->c, plan, copies);
    for (size_t i = 0; !done && copies && i < count; i++) elements_free(copies[i]);
    free(copies);
    return done ? EXIT_OK : no_memory();
}

static int add(void *with, state *s, size_t index) {
    data_comparison *d = with;
    d->state = s;
    d->sample = (int64_t)index;
    d->row = 0;
    int code = give_sample(d);
    return code == EXIT_OK ? pass_nodes(d) : code;
}

int compare_data(comparison *c, const data_run_plan *plan, session *s) {
    static const data_run_task task = {
        .kind = &compare_kind, .reports = true, .begin = begin, .add = add};
    int code;
    data_comparison d = {.c = c, .plan = plan, .session = s};
    c->watch = NULL;  // progress shows samples instead of nodes
    d.inputs = session_bind_inputs(s, &code);
    if (d.inputs) code = data_run_start(plan, &task, s, &d);
    comparison_close(c);
    qdq_exec_destroy(s->exec);
    s->exec = NULL;
    session_free_inputs(s, d.inputs);
    elements_free(d.scratch);
    return code;
}
