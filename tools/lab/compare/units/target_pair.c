// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/compare/units/target_pair.h"

#include <stdlib.h>
#include <string.h>

#include "tools/common.h"
#include "tools/failure.h"

static int no_memory(void) {
    return tell_failure(QDQ_ERR_MEMORY, "no memory for the graphs of the targets");
}

//---- Opening ----------------------------------------------------------------

static int open_own(target_pair *p, const char *target) {
    qdq_error err = {0};
    qdq_status status = deployed_open_target(&p->own, p->given, p->ids, target, &err);
    return status == QDQ_OK ? EXIT_OK : report_error(&err);
}

uint32_t target_pair_cause(const target_pair *p, const char *cause) {
    for (size_t i = 0; i < p->cause_count; i++)
        if (strcmp(p->causes[i], cause) == 0) return UINT32_C(1) << i;
    return 0;
}

static void list_causes(target_pair *p, const qdq_graph *graph) {
    for (size_t i = 0; i < qdq_graph_rewrite_count(graph); i++) {
        qdq_rewrite_info w = qdq_graph_rewrite(graph, i);
        if (w.reason || !w.cause || target_pair_cause(p, w.cause)) continue;
        if (p->cause_count < MAX_SWITCHES) p->causes[p->cause_count++] = w.cause;
    }
}

int target_pair_open(target_pair *p, target_pair *first, qdq_graph *given, size_t ids,
                     const char *target) {
    *p = (target_pair){.given = given, .ids = ids, .first = &first->own};
    p->targets[0] = first == p ? target : first->targets[1];
    p->targets[1] = target;
    int code = open_own(p, target);
    if (code != EXIT_OK) return code;
    p->cut = calloc(ids, sizeof *p->cut);
    if (!p->cut) return no_memory();
    for (size_t v = 0; v < ids; v++) p->cut[v] = p->own.own[v].id && p->first->own[v].id;
    list_causes(p, p->first->graph);
    list_causes(p, p->own.graph);
    return EXIT_OK;
}

void target_pair_close(target_pair *p) {
    for (size_t i = 0; i < p->between_count; i++) deployed_close(&p->between[i].graph);
    deployed_close(&p->own);
    free(p->cut);
    *p = (target_pair){0};
}

//---- Graphs between ---------------------------------------------------------

static uint32_t causes_of(const target_pair *p, const reason_list *reasons, uint32_t on) {
    uint32_t causes = UINT32_MAX;
    for (size_t k = 0; k < reasons->count; k++)
        if (!(on >> k & 1)) causes &= ~target_pair_cause(p, reasons->names[k]);
    return causes;
}

static qdq_graph *make_between(const target_pair *p, uint32_t causes) {
    qdq_error err = {0};
    const char *names[MAX_SWITCHES];
    size_t count = 0;
    for (size_t i = 0; i < p->cause_count; i++)
        if (causes >> i & 1) names[count++] = p->causes[i];
    qdq_graph *graph =
        qdq_graph_deployed_between(p->given, p->targets[0], p->targets[1], names, count, &err);
    if (!graph) (void)report_error(&err);
    return graph;
}

const deployed *target_pair_between(target_pair *p, const reason_list *reasons, uint32_t on) {
    uint32_t causes = causes_of(p, reasons, on);
    for (size_t i = 0; i < p->between_count; i++)
        if (p->between[i].causes == causes) return &p->between[i].graph;
    qdq_graph *graph = make_between(p, causes);
    if (!graph) return NULL;
    size_t at = p->between_count;
    if (at < MAX_BETWEEN)
        p->between_count++;
    else
        at = p->oldest, p->oldest = (p->oldest + 1) % MAX_BETWEEN,
        deployed_close(&p->between[at].graph);
    p->between[at].causes = causes;
    if (deployed_open(&p->between[at].graph, p->given, p->ids, graph)) return &p->between[at].graph;
    (void)no_memory();
    return NULL;
}
