// SPDX-License-Identifier: Apache-2.0
// qdq open: writes the graph and the inputs of a link to files, and prints the command to run.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/base64.h"
#include "runtime/base/words.h"
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

enum { MOST_WORDS = 14, PATH_BYTES = 4200 };

// The files to write; "": none.
typedef struct link_files {
    const char *graph;
    char inputs[PATH_BYTES], got[PATH_BYTES];
} link_files;

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
    *code = graph ? check_to_write(graph, NULL) : report_error(&err);
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

// Writes tensors of the link to a .safetensors file and opens it; without a name there are none.
static int write_tensors(json_span text, const char *out) {
    qdq_error err = {0};
    if (!*out) return EXIT_OK;
    unsigned char *bytes = malloc(text.length);
    size_t count = bytes ? qdq_base64_decode("-_", text.at + 1, text.length - 2, bytes) : 0;
    if (bytes && (count == SIZE_MAX || count < 2))
        (void)source_fail(&err, QDQ_ERR_PARSE, "the tensors of the link are not in base64url");
    else if (!bytes)
        (void)source_fail(&err, QDQ_ERR_MEMORY, "no memory for the tensors");
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

static word_list words_of(const permalink *link, const link_files *files) {
    word_list list = {.count = 0};
    bool reads = qdq_has_word("run compare explain bisect", link->command);
    add(&list, "", link->command);
    add(&list, "", files->graph);
    add(&list, "--target", link->target);
    add(&list, "--targets", link->targets);
    add(&list, "", link->fast ? "--fast" : "");
    add(&list, "--got", files->got);
    if (reads) add(&list, "-i", files->inputs);
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

static void json_words(const permalink *link, const word_list *list, const link_files *files) {
    qdq_json json;
    json_begin(&json);
    json_string_key(&json, "graph", files->graph);
    json_string_key(&json, "inputs", *files->inputs ? files->inputs : NULL);
    json_string_key(&json, "got", *files->got ? files->got : NULL);
    json_uint_key(&json, "left_out", link->left_out);
    qdq_json_key(&json, "words");
    qdq_json_begin_line(&json);
    for (size_t i = 0; i < list->count; i++) qdq_json_string(&json, list->words[i]);
    qdq_json_end_array(&json);
    json_end(&json);
}

// Sets `out` to STEM.KIND.safetensors for a graph in STEM.json; "" if the link has no such tensors.
static int name_tensors(json_span tensors, const char *graph, const char *kind,
                        char out[PATH_BYTES]) {
    *out = '\0';
    if (!tensors.length) return EXIT_OK;
    int stem = (int)(strlen(graph) - (has_ending(graph, ".json") ? strlen(".json") : 0));
    if (snprintf(out, PATH_BYTES, "%.*s.%s.safetensors", stem, graph, kind) >= PATH_BYTES)
        return tell_failure(QDQ_ERR_ARGUMENT, "the name after -o is too long");
    return place_check(out);
}

static int write_files(const permalink *link, link_files *files, const options *opt) {
    int code = name_tensors(link->inputs, files->graph, "inputs", files->inputs);
    if (code == EXIT_OK) code = name_tensors(link->got, files->graph, "got", files->got);
    if (code == EXIT_OK) code = write_graph(link->graph, files->graph, opt);
    if (code == EXIT_OK) code = write_tensors(link->inputs, files->inputs);
    return code == EXIT_OK ? write_tensors(link->got, files->got) : code;
}

int run_open(const options *opt) {
    permalink link;
    link_files files;
    qdq_error err = {0};
    if (opt->outputs.count != 1)
        return tell_failure(QDQ_ERR_ARGUMENT,
                            "%zu files are given with -o, wanted one: -o OUT.json",
                            opt->outputs.count);
    files.graph = opt->outputs.items[0];
    char *text = fragment_read(opt->operands.items[0], &err);
    if (!text || !permalink_read(text, &link, &err)) {
        free(text);
        return report_error(&err);
    }
    int code = write_files(&link, &files, opt);
    if (code == EXIT_OK) {
        word_list list = words_of(&link, &files);
        if (opt->json)
            json_words(&link, &list, &files);
        else
            tell_words(&link, &list);
    }
    free(text);
    return code;
}
