// SPDX-License-Identifier: Apache-2.0
// Copies standard input and pipes to nameless files.
#include "tools/io/streams.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/common.h"
#include "tools/failure.h"
#include "tools/io/file_kind.h"
#include "tools/io/tensor_io.h"
#include "tools/options.h"
#include "tools/options/option_number.h"

const char *stream_path(const char *file) { return strcmp(file, "-") == 0 ? "/dev/stdin" : file; }

// Returns the descriptor that a path stands for; -1 if it is another path.
static int descriptor_of(const char *file) {
    static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
    const char *path = stream_path(file);
    if (strcmp(path, "/dev/stdin") == 0) return 0;
    for (size_t i = 0; i < 2; i++) {
        size_t length = strlen(folders[i]);
        char *end = NULL;
        if (strncmp(path, folders[i], length) != 0) continue;
        long number = strtol(path + length, &end, 10);
        if (end != path + length && *end == '\0' && number >= 0 && number < 65536)
            return (int)number;
    }
    return -1;
}

//---- Copying ----------------------------------------------------------------

static bool write_all(int to, const char *data, size_t count) {
    while (count > 0) {
        ssize_t put = write(to, data, count);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return false;
        data += put;
        count -= (size_t)put;
    }
    return true;
}

bool stream_copy(int from, int to, uint64_t most) {
    char data[1 << 14];
    for (uint64_t left = most; left > 0;) {
        ssize_t got = read(from, data, left < sizeof data ? (size_t)left : sizeof data);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return false;
        if (got == 0) return true;
        if (!write_all(to, data, (size_t)got)) return false;
        left -= (uint64_t)got;
    }
    return true;
}

// Copies a stream to a nameless file and returns its descriptor; -1 after a message.
static int copy_of(int from, const char *file, uint64_t most, int *code) {
    FILE *copy = tmpfile();
    int descriptor = -1;
    if (copy && stream_copy(from, fileno(copy), most)) descriptor = dup(fileno(copy));
    if (descriptor < 0)
        *code =
            tell_failure(QDQ_ERR_IO, "%s: cannot be copied to a file: %s", file, strerror(errno));
    if (copy) (void)fclose(copy);
    return descriptor;
}

// Copies `file` if it is standard input or a pipe. The copy takes over the descriptor that the
// caller's shell opened, so that its path stays valid. For a named pipe, sets *out to the copy's
// descriptor.
static int take_file(streams *s, const char *file, uint64_t most, int *out) {
    int own = descriptor_of(file), code = EXIT_OK;
    bool is_word = strcmp(file, "-") == 0;
    struct stat facts;
    *out = -1;
    if (is_word && s->has_stdin)
        return tell_failure(QDQ_ERR_ARGUMENT,
                            "standard input is given twice, wanted '-' at most once");
    s->has_stdin |= is_word;
    if ((own >= 0 ? fstat(own, &facts) : stat(file, &facts)) != 0) return EXIT_OK;
    if (!S_ISFIFO(facts.st_mode) && !S_ISSOCK(facts.st_mode) &&
        !(is_word && S_ISCHR(facts.st_mode)))
        return EXIT_OK;
    int from = own >= 0 ? own : open(file, O_RDONLY | O_CLOEXEC);
    if (from < 0)
        return tell_failure(QDQ_ERR_IO, "%s: cannot be opened: %s", file, strerror(errno));
    int copy = copy_of(from, is_word ? "standard input" : file, most, &code);
    if (own < 0) close(from);
    if (copy < 0 || own < 0) {
        *out = copy;
        return code;
    }
    if (dup2(copy, own) < 0)
        code = tell_failure(QDQ_ERR_IO, "%s: cannot be replaced: %s", file, strerror(errno));
    close(copy);
    return code;
}

//---- Words ------------------------------------------------------------------

// Replaces the word that names a pipe by the path of its copy.
static int rename_word(streams *s, const char **word, const tensor_spec *spec, int descriptor) {
    size_t capacity = strlen(*word) + 32;
    char **words = realloc(s->words, (s->count + 1) * sizeof *words);
    if (words) s->words = words;
    char *text = words ? malloc(capacity) : NULL;
    if (!text) return tell_failure(QDQ_ERR_MEMORY, "no memory for the name of pipe '%s'", *word);
    snprintf(text, capacity, "%s%s/dev/fd/%d%s%s", spec->name, *spec->name ? "=" : "", descriptor,
             *spec->tensor ? "#" : "", spec->tensor);
    words[s->count++] = text;
    *word = text;
    return EXIT_OK;
}

static int take_graphs(streams *s, options *opt) {
    size_t most;
    if (!options_number("max-file-bytes", opt->load.max_file_bytes, 1, (size_t)64 << 20, &most))
        return EXIT_USAGE;
    for (size_t i = 0; i < opt->operands.count; i++) {
        static const tensor_spec no_tensor = {.name = ""};
        const char **word = &opt->operands.items[i];
        int descriptor, code = take_file(s, *word, (uint64_t)most + 1, &descriptor);
        if (code == EXIT_OK && descriptor >= 0) code = rename_word(s, word, &no_tensor, descriptor);
        if (code != EXIT_OK) return code;
    }
    return EXIT_OK;
}

static int take_tensors(streams *s, string_list *list) {
    for (size_t i = 0; i < list->count; i++) {
        tensor_spec spec;
        if (!tensor_spec_parse(list->items[i], &spec)) continue;  // reported by its user
        int descriptor, code = take_file(s, spec.file, UINT64_MAX, &descriptor);
        if (code == EXIT_OK && descriptor >= 0)
            code = rename_word(s, &list->items[i], &spec, descriptor);
        if (code != EXIT_OK) return code;
    }
    return EXIT_OK;
}

int streams_take(streams *s, const command_row *command, options *opt) {
    if (strncmp(command->operands, "GRAPH", 5) != 0) return EXIT_OK;
    int code = take_graphs(s, opt);
    string_list *files;
    if (code == EXIT_OK && s->has_stdin && opt->data.samples && strcmp(opt->data.samples, "-") == 0)
        code = tell_failure(QDQ_ERR_ARGUMENT,
                            "standard input is given twice, wanted '-' at most once");
    for (size_t i = 0; code == EXIT_OK && (files = options_files(command, opt, i)); i++)
        code = take_tensors(s, files);
    return code;
}

void streams_close(streams *s) {
    for (size_t i = 0; i < s->count; i++) free(s->words[i]);
    free(s->words);
    *s = (streams){.count = 0};
}

//---- Graphs -----------------------------------------------------------------

static qdq_graph *parse_copy(const char *path, FILE *file, const qdq_graph_options *graph_options,
                             qdq_error *err) {
    struct stat facts = {0};
    bool known = fstat(fileno(file), &facts) == 0;
    size_t length = known ? (size_t)facts.st_size : 0;
    char *text = malloc(length + 1);
    qdq_graph *graph = NULL;
    if (!text) {
        err->status = QDQ_ERR_MEMORY;
        snprintf(err->text, sizeof err->text, "%.512s: out of memory: %zu bytes", path, length);
    } else {
        length = fread(text, 1, length, file);
        graph = qdq_graph_parse(text, length, path, ".", graph_options, err);
    }
    free(text);
    return graph;
}

static qdq_graph *read_graph(const char *path, const qdq_graph_options *graph_options,
                             qdq_error *err) {
    struct stat facts;
    int descriptor = descriptor_of(path);
    if (descriptor < 0 || fstat(descriptor, &facts) != 0 || !S_ISREG(facts.st_mode))
        return qdq_graph_load(stream_path(path), graph_options, err);
    FILE *file = fopen(stream_path(path), "rb");
    if (!file) return qdq_graph_load(stream_path(path), graph_options, err);  // reports why
    qdq_graph *graph = parse_copy(path, file, graph_options, err);
    (void)fclose(file);
    return graph;
}

qdq_graph *stream_read_graph(const char *path, const qdq_graph_options *graph_options,
                             qdq_error *err) {
    if (is_no_graph(stream_path(path), err)) return NULL;
    qdq_graph *graph = read_graph(path, graph_options, err);
    if (!graph) tell_binary(stream_path(path), err);
    return graph;
}
