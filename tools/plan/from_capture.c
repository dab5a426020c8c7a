// SPDX-License-Identifier: Apache-2.0
#include "tools/plan/from_capture.h"

#include <inttypes.h>
#include <qdq/capture.h>
#include <string.h>

#include "tools/common.h"
#include "tools/failure.h"
#include "tools/options/plan.h"

enum { MOST_LINES = 20 };

// Where differences go: to a list in JSON, or to stdout.
typedef struct listing {
    qdq_json *json;
    size_t count;
} listing;

//---- Differences ------------------------------------------------------------

static void json_difference(qdq_json *json, const qdq_capture_field *f) {
    qdq_json_begin_object(json);
    json_uint_key(json, "node", f->counter);
    json_string_key(json, "program", f->program);
    json_string_key(json, "subject", f->subject);
    json_string_key(json, "field", f->name);
    json_string_key(json, "captured", f->captured);
    json_string_key(json, "planned", f->planned);
    qdq_json_end_object(json);
}

static void print_difference(const qdq_capture_field *f) {
    printf("  node %zu, %s%s%s: %s is %s in the capture, %s in the plan\n", f->counter, f->program,
           *f->program ? ", " : "", f->subject, f->name, f->captured, f->planned);
}

static void see_field(void *self, const qdq_capture_field *field) {
    listing *l = self;
    if (field->equal) return;
    if (l->json)
        json_difference(l->json, field);
    else if (l->count < MOST_LINES)
        print_difference(field);
    l->count++;
}

//---- Output -----------------------------------------------------------------

static void print_totals(const qdq_graph *graph, const listing *l, const qdq_capture_totals *t) {
    const char *name;
    if (l->count > MOST_LINES) printf("  and %zu more\n", l->count - MOST_LINES);
    printf("%zu of %zu fields equal\n", t->equal, t->fields);
    if (t->given)
        printf("given            %zu addresses of tensors that are older than the capture\n",
               t->given);
    if (t->unrecorded)
        printf("not recorded     %zu addresses, 0 in a capture without dispatch\n", t->unrecorded);
    if (t->unmodelled)
        printf("not modelled     %zu buffers without a tensor, as binaries of kernels\n",
               t->unmodelled);
    if (t->unknown) printf("ops not known    %zu programs of", t->unknown);
    for (size_t i = 0; (name = qdq_capture_unknown(graph, i)); i++)
        printf("%s %s", i ? "," : "", name);
    if (t->unknown) printf("\n");
}

static void json_totals(qdq_json *json, const qdq_graph *graph, const qdq_capture_totals *t) {
    const char *name;
    json_uint_key(json, "fields", t->fields);
    json_uint_key(json, "equal", t->equal);
    json_uint_key(json, "given", t->given);
    json_uint_key(json, "not_recorded", t->unrecorded);
    json_uint_key(json, "not_modelled", t->unmodelled);
    json_uint_key(json, "unknown_programs", t->unknown);
    qdq_json_key(json, "unknown");
    qdq_json_begin_array(json);
    for (size_t i = 0; (name = qdq_capture_unknown(graph, i)); i++) qdq_json_string(json, name);
    qdq_json_end_array(json);
}

static void json_chip(qdq_json *json, const qdq_device *device) {
    qdq_json_key(json, "device");
    qdq_json_begin_object(json);
    json_string_key(json, "name", device->name);
    json_uint_key(json, "grid_x", device->grid_x);
    json_uint_key(json, "grid_y", device->grid_y);
    json_uint_key(json, "l1_base", device->l1_base);
    qdq_json_end_object(json);
}

static int compare(qdq_graph *graph, const qdq_plan *plan, const options *opt) {
    const qdq_device *device = qdq_plan_device(plan)->device;
    qdq_capture_totals totals;
    qdq_error err = {0};
    qdq_json json;
    listing l = {.json = opt->json ? &json : NULL};
    if (opt->json) {
        json_begin(&json);
        json_string_key(&json, "graph", opt->operands.items[0]);
        json_chip(&json, device);
        qdq_json_key(&json, "differences");
        qdq_json_begin_array(&json);
    } else {
        printf("%s on %s, %" PRIu64 " x %" PRIu64 " cores, L1 from %" PRIu64 "\n",
               opt->operands.items[0], device->name, device->grid_x, device->grid_y,
               device->l1_base);
    }
    qdq_status status = qdq_capture_compare(graph, plan, see_field, &l, &totals, &err);
    if (opt->json) qdq_json_end_array(&json);
    if (opt->json && status == QDQ_OK) json_totals(&json, graph, &totals);
    if (opt->json) json_end(&json);
    if (status != QDQ_OK) return report_error(&err);
    if (!opt->json) print_totals(graph, &l, &totals);
    return totals.equal == totals.fields ? EXIT_OK : EXIT_FINDINGS;
}

// Refuses options whose reports --from-capture replaces.
static int check_alone(const options *opt) {
    const plan_options *own = opt->own;
    const struct {
        const char *name;
        bool given;
    } others[] = {{"map", own->map},     {"pages", own->pages},   {"memory-csv", own->memory_csv},
                  {"trace", own->trace}, {"emit-c", own->emit_c}, {"html", opt->html}};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (others[i].given)
            return tell_failure(QDQ_ERR_ARGUMENT,
                                "--from-capture and --%s are both given; leave out one of them",
                                others[i].name);
    return EXIT_OK;
}

int plan_from_capture(qdq_graph *graph, const options *opt) {
    options with = *opt;
    qdq_error err = {0};
    int code = check_alone(opt);
    if (code != EXIT_OK) return code;
    if (!qdq_graph_is_capture(graph))
        return tell_failure(QDQ_ERR_ARGUMENT,
                            "%s is no ttnn graph capture, wanted the list that "
                            "ttnn.graph.end_graph_capture returns, as JSON; leave out "
                            "--from-capture to plan a graph",
                            opt->operands.items[0]);
    if (!opt->compile.device) {
        if (qdq_capture_device(graph, &with.compile.device_numbers, &err) != QDQ_OK)
            return tell_failure(err.status, "%s: %s", opt->operands.items[0], err.text);
        with.compile.device = with.compile.device_numbers.name;
    }
    const qdq_report *report;
    qdq_plan *plan = compile_graph(graph, &with, (qdq_parallel){0}, &report, &code);
    if (!plan) return code;
    if (qdq_plan_device(plan))
        code = compare(graph, plan, &with);
    else
        code = tell_failure(QDQ_ERR_ARGUMENT,
                            "--from-capture is about a device, and there is none; leave out "
                            "--device none");
    qdq_plan_destroy(plan);
    return code;
}
