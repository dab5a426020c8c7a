// SPDX-License-Identifier: Apache-2.0
// Prints an explanation as text of at most 40 lines, or as JSON.
#ifndef QDQ_TOOLS_LAB_EXPLAIN_EXPLAIN_REPORT_H
#define QDQ_TOOLS_LAB_EXPLAIN_EXPLAIN_REPORT_H

#include "runtime/base/json_writer.h"
#include "tools/lab/explain/explain.h"

// The other side of an explanation.
typedef struct report_title {
    const char *graph;    // its file
    const char *command;  // command that reproduces it: "qdq explain net.json --got got.npz"
    const char *against;  // side that computed: "target onnx"
    const char *given;    // name of the other side: "given"
    const char *target;   // of the side that computed
} report_title;

void explain_text(const session *s, const replay *base, const explanation *e,
                  const report_title *title);
// Writes the keys of an explanation into an object.
void json_explanation(qdq_json *json, const session *s, const replay *base, const explanation *e,
                      const report_title *title);
// Prints the object, with the bits of the nodes that the target runs. EXIT_OK, or another exit code
// after a message.
int explain_json(const session *s, const replay *base, const explanation *e,
                 const report_title *title, const options *opt);

// Writes the command line of the options to `out`, quoted for a shell. `gots`: the files of --got.
const char *explain_command(const char *command, const options *opt, const string_list *gots,
                            char *out, size_t capacity);

#endif
