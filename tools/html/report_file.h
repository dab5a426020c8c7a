// SPDX-License-Identifier: Apache-2.0
// The file of --html: a page whose script shows the JSON that a command writes into it.
#ifndef QDQ_TOOLS_HTML_REPORT_FILE_H
#define QDQ_TOOLS_HTML_REPORT_FILE_H

#include <qdq/graph.h>
#include <stdio.h>

#include "runtime/base/json_writer.h"

typedef struct options options;

typedef struct report_file {
    FILE *file;  // NULL: --html is not given
    const char *path;
    const char *command;
    enum { REPORT_BEGUN, REPORT_TARGETS, REPORT_COMMAND } stage;  // the key that is being written
    qdq_json json;                                                // inside the top object
} report_file;

// Begins the page of a graph. EXIT_OK, or another exit code after a message.
int report_file_open(report_file *r, const char *command, const options *opt,
                     const qdq_graph *graph);
// Adds how well the bits of the nodes are known that a target runs, before the command's own data.
// Nothing for a graph with errors. EXIT_OK, or another exit code after a message.
int report_file_bits(report_file *r, const char *target, const qdq_report *report);
// Returns the writer, for the value of the key of the command's name; NULL without --html.
qdq_json *report_file_json(report_file *r);
// Ends the page of a command that ends with `code`, and returns the exit code. A failed command
// leaves no page.
int report_file_close(report_file *r, int code);

#endif
