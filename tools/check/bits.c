// SPDX-License-Identifier: Apache-2.0
// Prints how well the bits of nodes are known, in one line or as JSON.
#include "tools/check/bits.h"

#include "tools/check/evidence_json.h"
#include "tools/common.h"
#include "tools/failure.h"
#include "tools/options.h"

enum { SHOWN_NAMES = 3 };

const char *bits_word(qdq_bits bits) {
    static const char *const words[] = {
        [QDQ_BITS_NONE] = "",     [QDQ_BITS_UNKNOWN] = "unknown", [QDQ_BITS_CLOSE] = "close",
        [QDQ_BITS_READ] = "read", [QDQ_BITS_EXACT] = "exact",
    };
    return words[bits];
}

bool bits_are_exact(const qdq_report *report) {
    return report->nodes_with[QDQ_BITS_EXACT] == report->node_count;
}

static void print_names(FILE *out, const qdq_report *report, qdq_bits bits) {
    size_t shown = 0;
    for (size_t i = 0; i < report->node_count && shown < SHOWN_NAMES; i++)
        if (report->nodes[i].bits == bits)
            fprintf(out, "%s'%s'", shown++ ? ", " : " (", report->nodes[i].original);
    if (shown) fprintf(out, "%s)", report->nodes_with[bits] > shown ? ", ..." : "");
}

void print_bits(FILE *out, const qdq_report *report) {
    fprintf(out, "bits: %zu of %zu node%s exact", report->nodes_with[QDQ_BITS_EXACT],
            report->node_count, report->node_count == 1 ? "" : "s");
    for (int bits = QDQ_BITS_READ; bits >= QDQ_BITS_UNKNOWN; bits--) {
        if (!report->nodes_with[bits]) continue;
        fprintf(out, ", %zu %s", report->nodes_with[bits], bits_word((qdq_bits)bits));
        if (bits != QDQ_BITS_READ) print_names(out, report, (qdq_bits)bits);
    }
}

void tell_bits(const char *command, const qdq_report *report, const char *target,
               const options *opt) {
    if (opt->quiet || bits_are_exact(report)) return;
    fprintf(stderr, "qdq %s: %s: ", command, target);
    print_bits(stderr, report);
    fprintf(stderr, "\n");
}

static void json_node(qdq_json *json, const qdq_node_bits *node) {
    qdq_json_begin_object(json);
    json_string_key(json, "node", node->node);
    json_original(json, node->node, node->original);
    json_string_key(json, "op", node->op);
    json_string_key(json, "bits", bits_word(node->bits));
    qdq_json_key(json, "from_same_inputs");
    qdq_json_bool(json, node->from_same_inputs);
    json_string_key(json, "rule", node->rule);
    qdq_json_key(json, "evidence");
    if (node->evidence)
        json_evidence(json, *node->evidence);
    else
        qdq_json_null(json);
    qdq_json_end_object(json);
}

// `target`: a further key; NULL: none.
static void json_counts(qdq_json *json, const char *target, const qdq_report *report) {
    qdq_json_begin_object(json);
    if (target) json_string_key(json, "target", target);
    for (int bits = QDQ_BITS_EXACT; bits >= QDQ_BITS_UNKNOWN; bits--)
        json_uint_key(json, bits_word((qdq_bits)bits), report->nodes_with[bits]);
    qdq_json_key(json, "nodes");
    qdq_json_begin_array(json);
    for (size_t i = 0; i < report->node_count; i++) json_node(json, &report->nodes[i]);
    qdq_json_end_array(json);
    qdq_json_end_object(json);
}

void json_bits(qdq_json *json, const qdq_report *report) {
    qdq_json_key(json, "bits");
    json_counts(json, NULL, report);
}

int json_bits_of(qdq_json *json, qdq_graph *graph, const char *target, const qdq_device *device) {
    qdq_error err = {0};
    const qdq_report *report = qdq_graph_validate_on(graph, target, device, &err);
    if (!report) return report_error(&err);
    json_bits(json, report);
    return EXIT_OK;
}

int json_bits_of_each(qdq_json *json, qdq_graph *graph, const char *const *targets, size_t count,
                      const options *opt) {
    qdq_json_key(json, "bits");
    qdq_json_begin_array(json);
    qdq_error err = {0};
    for (size_t i = 0; i < count && err.status == QDQ_OK; i++) {
        const qdq_device *device = device_for(opt, targets[i]);
        const qdq_report *report = qdq_graph_validate_on(graph, targets[i], device, &err);
        if (report) json_counts(json, targets[i], report);
    }
    qdq_json_end_array(json);
    return err.status == QDQ_OK ? EXIT_OK : report_error(&err);
}
