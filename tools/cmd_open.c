// SPDX-License-Identifier: Apache-2.0
// qdq open: writes the graph and the inputs of a link to files, and prints the command to run.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/base64.h"
#include "tools/commands.h"
#include "tools/common.h"
#include "tools/failure.h"
#include "tools/io/output_places.h"
#include "tools/io/replace_file.h"
#include "tools/io/tensor_io.h"
#include "tools/io/zip/byte_source.h"
#include "tools/link/fragment.h"
#include "tools/link/permalink.h"
#include "tools/options.h"
#include "tools/shell_word.h"

enum { MOST_WORDS = 12, PATH_BYTES = 4200 };

// The words of a command.
typedef struct word_list {
    const char *words[MOST_WORDS];
    size_t count;
} word_list;

//---- Files ------------------------------------------------------------------

// Reads the graph of the link. NULL after a message.
static qdq_graph *read_graph(json_span text, const char *name, const options *opt, int *code) {
    qdq_graph_options how;
    qdq_error err = {0};
    *code = EXIT_USAGE;
    if (!graph_options_of(opt, name, &how)) return NULL;
    qdq_graph *graph = qdq_graph_parse(text.at, text.length, name, NULL, &how, &err);
    *code = graph ? check_to_write(graph, false) : report_error(&err);
    if (*code == EXIT_OK) return graph;
    qdq_graph_destroy(graph);
    return NULL;
}

static int write_graph(json_span text, const char *out, const options *opt) {
    int code;
    qdq_error err = {0};
    qdq_graph *graph = read_graph(text, "the graph of the link", opt, &code);
    if (graph && qdq_graph_write_whole(graph, out, 0, &err) != QDQ_OK) code = report_error(&err);
    qdq_graph_destroy(graph);
    return code;
}

// Writes the inputs to a .safetensors file and opens it.
static int write_inputs(json_span text, const char *out) {
    qdq_error err = {0};
    unsigned char *bytes = malloc(text.length);
    size_t count = bytes ? qdq_base64_decode("-_", text.at + 1, text.length - 2, bytes) : 0;
    if (bytes && (count == SIZE_MAX || count < 2))
        (void)source_fail(&err, QDQ_ERR_PARSE, "the inputs of the link are not in base64url");
    else if (!bytes)
        (void)source_fail(&err, QDQ_ERR_MEMORY, "no memory for the inputs");
    else
        (void)replace_file(out, bytes, 1, bytes + 1, count - 1, &err);
    free(bytes);
    qdq_tensor_file *file = err.status == QDQ_OK ? tensor_file_open(out, &err) : NULL;
    qdq_tensor_file_close(file);
    return err.status == QDQ_OK ? EXIT_OK : report_error(&err);
}

//---- The command ------------------------------------------------------------

static void add(word_list *list, const char *option, const char *word) {
    if (!*word) return;
    if (*option) list->words[list->count++] = option;
    list->words[list->count++] = word;
}

static word_list words_of(const permalink *link, const char *graph, const char *inputs) {
    word_list list = {.count = 0};
    bool reads = strcmp(link->command, "run") == 0 || strcmp(link->command, "compare") == 0;
    add(&list, "", link->command);
    add(&list, "", graph);
    add(&list, "--target", link->target);
    add(&list, "--targets", link->targets);
    add(&list, "", link->fast ? "--fast" : "");
    if (reads) add(&list, "-i", inputs);
    if (reads) add(&list, "--fill", link->fill);
    return list;
}

static void tell_words(const permalink *link, const word_list *list) {
    if (link->left_out)
        fprintf(stderr,
                "qdq: the link has the structure of a graph: %zu constants are left out and are "
                "inputs\n",
                link->left_out);
    printf("qdq");
    for (size_t i = 0; i < list->count; i++) {
        putchar(' ');
        print_shell_word(stdout, list->words[i]);
    }
    putchar('\n');
}

static void json_words(const permalink *link, const word_list *list, const char *graph,
                       const char *inputs) {
    qdq_json json;
    json_begin(&json);
    json_string_key(&json, "graph", graph);
    json_string_key(&json, "inputs", *inputs ? inputs : NULL);
    json_uint_key(&json, "left_out", link->left_out);
    qdq_json_key(&json, "words");
    qdq_json_begin_line(&json);
    for (size_t i = 0; i < list->count; i++) qdq_json_string(&json, list->words[i]);
    qdq_json_end_array(&json);
    json_end(&json);
}

// Sets `inputs` to STEM.inputs.safetensors for a graph in STEM.json; "" if the link has none.
static int name_inputs(const permalink *link, const char *graph, char inputs[PATH_BYTES]) {
    *inputs = '\0';
    if (!link->inputs.length) return EXIT_OK;
    int stem = (int)(strlen(graph) - (has_ending(graph, ".json") ? strlen(".json") : 0));
    if (snprintf(inputs, PATH_BYTES, "%.*s.inputs.safetensors", stem, graph) >= PATH_BYTES)
        return tell_failure(QDQ_ERR_ARGUMENT, "the name after -o is too long");
    return place_check(inputs);
}

int run_open(const options *opt) {
    permalink link;
    char inputs[PATH_BYTES];
    qdq_error err = {0};
    if (opt->outputs.count != 1)
        return tell_failure(QDQ_ERR_ARGUMENT,
                            "%zu files are given with -o, wanted one: -o OUT.json",
                            opt->outputs.count);
    const char *graph = opt->outputs.items[0];
    char *text = fragment_read(opt->operands.items[0], &err);
    if (!text || !permalink_read(text, &link, &err)) {
        free(text);
        return report_error(&err);
    }
    int code = name_inputs(&link, graph, inputs);
    if (code == EXIT_OK) code = write_graph(link.graph, graph, opt);
    if (code == EXIT_OK && *inputs) code = write_inputs(link.inputs, inputs);
    if (code == EXIT_OK) {
        word_list list = words_of(&link, graph, inputs);
        if (opt->json)
            json_words(&link, &list, graph, inputs);
        else
            tell_words(&link, &list);
    }
    free(text);
    return code;
}
