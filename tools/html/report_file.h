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
    qdq_json json;  // inside the top object; a command writes the value of the key of its name
} report_file;

// Begins the page of a graph, up to and including the key of the command. EXIT_OK, or another exit
// code after a message.
int report_file_open(report_file *r, const char *command, const options *opt,
                     const qdq_graph *graph);
// Returns the writer; NULL without --html.
qdq_json *report_file_json(report_file *r);
// Ends the page of a command that ends with `code`, and returns the exit code. A failed command
// leaves no page.
int report_file_close(report_file *r, int code);

#endif
