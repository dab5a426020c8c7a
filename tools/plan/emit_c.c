// SPDX-License-Identifier: Apache-2.0
#include "tools/plan/emit_c.h"

#include <qdq/inspect.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/common.h"
#include "tools/failure.h"
#include "tools/findings.h"
#include "tools/io/replace_file.h"
#include "tools/options.h"
#include "tools/options/plan.h"

// Returns an option that does not apply to the plan in the C file; NULL if none is given.
static const char *other_plan(const options *opt) {
    const plan_options *own = opt->own;
    if (opt->compile.fast) return "--fast";
    if (opt->compile.tiles) return "--tiles";
    if (opt->compile.materialize) return "--materialize";
    if (opt->compile.float_storage) return "--float-storage";
    if (opt->compile.keep.count) return "--keep";
    if (opt->compile.device) return "--device";
    if (own->map) return "--map";
    if (opt->json) return "--json";
    if (opt->html) return "--html";
    if (own->pages) return "--pages";
    if (own->memory_csv) return "--memory-csv";
    return own->trace ? "--trace" : NULL;
}

// Prints a finding for everything that C cannot express. EXIT_OK if nothing is printed.
static int check_graph(qdq_graph *graph) {
    qdq_error err = {0};
    const qdq_report *report = qdq_graph_validate_c(graph, &err);
    if (!report) return report_error(&err);
    if (!report->errors) return EXIT_OK;
    print_findings(stderr, report, NULL, LIST_ALL);
    return EXIT_REFUSED;
}

// Copies the sizes and the declaration from the head of a C file: the lines from the first macro to
// the first function.
static void copy_declarations(FILE *from, FILE *out) {
    char *line = NULL;
    size_t capacity = 0;
    bool began = false, ended = false;
    while (!ended && getline(&line, &capacity, from) > 0) {
        if (!began && strncmp(line, "#define ", 8) != 0) continue;
        if (!began) {
            int length = (int)(strstr(line, "_ARENA_BYTES") - line) - 8;
            fprintf(out, "#ifndef %.*s_QDQ_H\n#define %.*s_QDQ_H\n\n#include <stdint.h>\n\n",
                    length, line + 8, length, line + 8);
            fprintf(out, "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n");
        }
        began = true, ended = strncmp(line, "void ", 5) == 0;
        fputs(line, out);
    }
    free(line);
    fprintf(out, "\n#ifdef __cplusplus\n}\n#endif\n#endif\n");
}

static int write_header(const char *c_path, const char *path) {
    static const char head[] = "// Written by qdq with the C file that has this function.\n";
    char *text = NULL;
    size_t size = 0;
    qdq_error err = {0};
    FILE *from = fopen(c_path, "r"), *out = open_memstream(&text, &size);
    if (from && out) copy_declarations(from, out);
    bool made = from && out;
    if (from) (void)fclose(from);
    if (out && fclose(out) != 0) made = false;
    int code = EXIT_OK;
    if (!made)
        code = tell_failure(QDQ_ERR_IO, "%s: cannot be read for --emit-header", c_path);
    else if (replace_file(path, head, sizeof head - 1, text, size, &err) != QDQ_OK)
        code = tell_failure(err.status, "%s: %s", path, err.text);
    free(text);
    return code;
}

int emit_c(qdq_graph *graph, const options *opt) {
    const plan_options *own = opt->own;
    qdq_error err = {0};
    if (own->emit_header && strcmp(own->emit_c, own->emit_header) == 0)
        return tell_failure(QDQ_ERR_ARGUMENT, "--emit-c and --emit-header are both '%s'",
                            own->emit_c);
    const char *other = other_plan(opt);
    if (other)
        return tell_failure(QDQ_ERR_ARGUMENT,
                            "--emit-c writes a plan of its own, row-major and node by node; leave "
                            "out %s",
                            other);
    qdq_graph *deployed = qdq_graph_deployed(graph, opt->load.target, &err);
    if (!deployed) return report_error(&err);
    int code = check_graph(deployed);
    if (code == EXIT_OK && qdq_graph_write_c(deployed, own->emit_c, &err) != QDQ_OK)
        code = report_error(&err);
    if (code == EXIT_OK && own->emit_header) code = write_header(own->emit_c, own->emit_header);
    qdq_graph_destroy(deployed);
    return code;
}
