// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/quantize/equalization.h"

#include <math.h>
#include <qdq/inspect.h>
#include <stdio.h>
#include <stdlib.h>

#include "tools/common.h"

void equalization_release(equalization *e) {
    for (size_t i = 0; i < e->count; i++) free(e->taken[i].exponents);
    free(e->taken);
    qdq_equalize_sites_destroy(e->sites);
    *e = (equalization){0};
}

static const char *name_of(const qdq_graph *graph, size_t node) {
    return qdq_graph_node(graph, node).original;
}

//---- Text -------------------------------------------------------------------

static void print_site(const equalization *e, const equalized_site *taken, const qdq_graph *graph) {
    const qdq_equalize_site *site = qdq_equalize_site_get(e->sites, taken->site);
    printf("  %s -> ", name_of(graph, site->producer));
    for (size_t i = 0; i < site->reader_count; i++)
        printf("%s%s", i ? ", " : "", name_of(graph, site->readers[i].node));
    printf(": %.3g x, %s, %.1f -> ", taken->ratio, taken->candidate->label, taken->before);
    if (isinf(taken->after))
        printf("no element differs\n");
    else
        printf("%.1f dB\n", taken->after);
}

void equalization_text(const equalization *e, const qdq_graph *graph) {
    size_t sites = qdq_equalize_site_count(e->sites);
    if (!e->sites) return;
    printf("equalized %zu of %zu site%s\n", e->count, sites, sites == 1 ? "" : "s");
    for (size_t i = 0; i < e->count; i++) print_site(e, &e->taken[i], graph);
    if (sites > e->count)
        printf("  %zu other%s: less than 0.1 dB better\n", sites - e->count,
               sites - e->count == 1 ? "" : "s");
    if (e->inexact)
        printf("  %zu change%s of factors left out: a number would under- or overflow\n",
               e->inexact, e->inexact == 1 ? "" : "s");
    if (e->samples) printf("float outputs: same bits on %zu of %zu samples\n", e->same, e->samples);
}

//---- JSON -------------------------------------------------------------------

static void json_decibels(qdq_json *json, const char *key, double value) {
    qdq_json_key(json, key);
    if (isfinite(value))
        qdq_json_double(json, value);
    else
        qdq_json_null(json);
}

static void json_site(qdq_json *json, const equalization *e, const equalized_site *taken,
                      const qdq_graph *graph) {
    const qdq_equalize_site *site = qdq_equalize_site_get(e->sites, taken->site);
    qdq_json_begin_object(json);
    json_string_key(json, "from", name_of(graph, site->producer));
    qdq_json_key(json, "to");
    qdq_json_begin_array(json);
    for (size_t i = 0; i < site->reader_count; i++)
        qdq_json_string(json, name_of(graph, site->readers[i].node));
    qdq_json_end_array(json);
    json_decibels(json, "ratio", taken->ratio);
    json_string_key(json, "method", factor_method_names[taken->candidate->method]);
    qdq_json_key(json, "alpha");
    if (taken->candidate->method == FACTORS_OF_ACTIVATIONS)
        qdq_json_double(json, taken->candidate->alpha);
    else
        qdq_json_null(json);
    json_decibels(json, "before", taken->before);
    json_decibels(json, "after", taken->after);
    qdq_json_end_object(json);
}

void equalization_json(qdq_json *json, const equalization *e, const qdq_graph *graph) {
    if (!e->sites) return;
    qdq_json_key(json, "equalized");
    qdq_json_begin_array(json);
    for (size_t i = 0; i < e->count; i++) json_site(json, e, &e->taken[i], graph);
    qdq_json_end_array(json);
    json_uint_key(json, "sites", qdq_equalize_site_count(e->sites));
    qdq_json_key(json, "float_outputs");
    qdq_json_begin_object(json);
    json_uint_key(json, "same", e->same);
    json_uint_key(json, "samples", e->samples);
    qdq_json_end_object(json);
}
