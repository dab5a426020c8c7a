// SPDX-License-Identifier: Apache-2.0
// Prints the failure that stops a command, on stderr and as JSON.
#include "tools/failure.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "runtime/base/did_you_mean.h"
#include "tools/common.h"
#include "tools/findings.h"

static struct {
    bool json, waits, told;
    qdq_error error;
    const qdq_budget *memory;
} failure;

static const char *kind_of(qdq_status status) {
    switch (status) {
    case QDQ_OK: break;
    case QDQ_ERR_ARGUMENT: return "argument";
    case QDQ_ERR_PARSE: return "parse";
    case QDQ_ERR_GRAPH: return "graph";
    case QDQ_ERR_UNSUPPORTED: return "unsupported";
    case QDQ_ERR_IO: return "io";
    case QDQ_ERR_MEMORY: return "memory";
    case QDQ_ERR_LIMIT: return "limit";
    }
    return "none";
}

void failure_to_json(void) { failure.json = true; }

void failure_wait(void) { failure.waits = true; }

void failure_limit(const qdq_budget *memory) { failure.memory = memory; }

//---- As JSON ----------------------------------------------------------------

static void json_findings_of(qdq_json *json, qdq_graph *graph, const char *const *targets,
                             const qdq_device *const *devices, size_t count) {
    for (size_t t = 0; t < count; t++) {
        const qdq_report *report = qdq_graph_validate_on(graph, targets[t], devices[t], NULL);
        const char *target = targets[t] ? targets[t] : qdq_graph_target(graph);
        for (size_t i = 0; report && i < report->count; i++)
            if (t == 0 || strcmp(report->findings[i].target, "core") != 0)
                json_finding(json, target, &report->findings[i]);
    }
}

static void json_error(qdq_json *json, qdq_graph *graph, const char *const *targets,
                       const qdq_device *const *devices, size_t count) {
    failure.told = true;
    qdq_json_key(json, "error");
    qdq_json_begin_object(json);
    json_uint_key(json, "code", (size_t)exit_code(failure.error.status));
    json_string_key(json, "kind", kind_of(failure.error.status));
    json_string_key(json, "message", failure.error.text);
    qdq_json_key(json, "findings");
    qdq_json_begin_array(json);
    json_findings_of(json, graph, targets, devices, count);
    qdq_json_end_array(json);
    qdq_json_end_object(json);
}

bool json_failure(qdq_json *json) {
    if (failure.error.status == QDQ_OK || failure.told) return false;
    json_error(json, NULL, NULL, NULL, 0);
    failure.told = false;
    failure.error.status = QDQ_OK;  // another graph may fail as well
    return true;
}

// Keeps the first failure, and prints it as JSON unless stdout already has other output.
static int keep(qdq_status status, const char *text, qdq_graph *graph, const char *const *targets,
                const qdq_device *const *devices, size_t count) {
    if (failure.error.status == QDQ_OK) {
        failure.error.status = status;
        snprintf(failure.error.text, sizeof failure.error.text, "%s", text);
    }
    if (failure.json && !failure.waits && !failure.told) {
        qdq_json json;
        json_begin(&json);
        json_error(&json, graph, targets, devices, count);
        json_end(&json);
    }
    return exit_code(status);
}

//---- As text ----------------------------------------------------------------

// Appends the limit to a sentence about a lack of memory.
static qdq_status name_limit(const qdq_budget *memory, char *text, size_t capacity) {
    size_t length = strlen(text);
    snprintf(text + length, capacity - length,
             " within --max-bytes, of which %zu bytes are left; raise it", memory->had);
    return QDQ_ERR_LIMIT;
}

int tell_failure(qdq_status status, const char *format, ...) {
    char text[sizeof failure.error.text];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (status == QDQ_ERR_MEMORY && failure.memory && failure.memory->exceeded)
        status = name_limit(failure.memory, text, sizeof text);
    fprintf(stderr, "qdq: %s\n", text);
    return keep(status, text, NULL, NULL, NULL, 0);
}

int tell_misuse(const char *command, const char *format, ...) {
    char text[sizeof failure.error.text];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fprintf(stderr, "qdq %s: %s; see `qdq help %s`\n", command, text, command);
    return keep(QDQ_ERR_ARGUMENT, text, NULL, NULL, NULL, 0);
}

int tell_refusal(const qdq_error *err, qdq_graph *graph, const char *const *targets,
                 const qdq_device *const *devices, size_t count) {
    return keep(err->status, err->text, graph, targets, devices, count);
}

int tell_unknown(const char *what, const char *name, const char *const *names, size_t count) {
    char list[512] = "";
    size_t at = 0;
    for (size_t i = 0; i < count && at < sizeof list; i++)
        at += (size_t)snprintf(list + at, sizeof list - at, " %s", names[i]);
    const char *nearest = qdq_did_you_mean(name, names, count);
    return tell_failure(QDQ_ERR_ARGUMENT, "there is no %s '%s', wanted one of:%s%s%s%s%s", what,
                        name, list, at < sizeof list ? "" : " ...",
                        nearest ? "; did you mean '" : "", nearest ? nearest : "",
                        nearest ? "'?" : "");
}
