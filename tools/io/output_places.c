// SPDX-License-Identifier: Apache-2.0
#include "tools/io/output_places.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/common.h"
#include "tools/failure.h"
#include "tools/io/stream_out.h"
#include "tools/io/tensor_io.h"
#include "tools/options.h"

enum { FOLDER_BYTES = 4096 + 2 };

static const char *folder_of(const char *file, char out[FOLDER_BYTES]) {
    const char *slash = strrchr(file, '/');
    snprintf(out, FOLDER_BYTES, "%.*s.", slash ? (int)(slash - file) + 1 : 0, file);
    return out;
}

// Checks that the folder of a file takes new files. A file is replaced by renaming, so its own mode
// does not matter.
static int check_folder(const char *file) {
    char folder[FOLDER_BYTES];
    if (access(folder_of(file, folder), W_OK | X_OK) == 0) return EXIT_OK;
    return tell_failure(QDQ_ERR_IO, "%s: its folder takes no new file: %s", file, strerror(errno));
}

int place_check(const char *file) {
    struct stat facts;
    if (lstat(file, &facts) == 0 && !S_ISREG(facts.st_mode))
        return tell_failure(QDQ_ERR_IO, "%s: is not a regular file, wanted a new or a regular one",
                            file);
    return check_folder(file);
}

// Checks a file that is opened and written, which may be a device or a pipe.
static int check_opened(const char *file) {
    struct stat facts;
    if (stat(file, &facts) != 0) return check_folder(file);
    if (S_ISDIR(facts.st_mode)) errno = EISDIR;
    if (!S_ISDIR(facts.st_mode) && access(file, W_OK) == 0) return EXIT_OK;
    return tell_failure(QDQ_ERR_IO, "%s: cannot be written: %s", file, strerror(errno));
}

static int check_word(const char *option, const char *file) {
    if (!*file)
        return tell_failure(QDQ_ERR_ARGUMENT, "%s is empty, wanted the file to write", option);
    if (strcmp(file, "-") != 0) return EXIT_OK;
    return tell_failure(QDQ_ERR_ARGUMENT,
                        "%s is '-', but only `qdq run` writes to standard output; give a file, or "
                        "./- for one of this name",
                        option);
}

//---- Files that the command reads -------------------------------------------

// True if two paths lead to one regular file.
static bool is_same_file(const char *a, const char *b) {
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && S_ISREG(x.st_mode) && x.st_dev == y.st_dev &&
           x.st_ino == y.st_ino;
}

// True if `file` is a sample in a folder of samples, which is read as a whole.
static bool is_sample_of(const char *folder, const char *file) {
    char parent[FOLDER_BYTES];
    struct stat x, y;
    return stat(folder, &x) == 0 && S_ISDIR(x.st_mode) && stat(folder_of(file, parent), &y) == 0 &&
           x.st_dev == y.st_dev && x.st_ino == y.st_ino && access(file, F_OK) == 0 &&
           (has_ending(file, ".npz") || has_ending(file, ".npy") ||
            has_ending(file, ".safetensors"));
}

bool place_is_read(const string_list *files, const char *file) {
    tensor_spec spec;
    for (size_t i = 0; i < files->count; i++)
        if (tensor_spec_parse(files->items[i], &spec) && is_same_file(spec.file, file)) return true;
    return false;
}

// True if the command reads a file. `run` may write an output over its tensors: over an input, as a
// loop over states does, which it has read by then, or over a file of --expect, which it reads
// then.
static bool is_read(const command_row *command, options *opt, const char *file, bool tensors) {
    option_file other;
    const string_list *files;
    for (size_t i = 0; i < opt->operands.count; i++)
        if (is_same_file(opt->operands.items[i], file)) return true;
    for (size_t i = 0; tensors && (files = options_files(command, opt, i)); i++)
        if (place_is_read(files, file)) return true;
    for (size_t i = 0; options_file(command, opt, i, &other); i++)
        if (other.read && (is_same_file(other.file, file) || is_sample_of(other.file, file)))
            return true;
    return false;
}

static int tell_is_read(const char *option, const char *file) {
    return tell_failure(QDQ_ERR_ARGUMENT,
                        "%s is '%s', which the command reads, wanted another file", option, file);
}

//---- Files to write ---------------------------------------------------------

static int check_place(const command_row *command, options *opt, const char *option,
                       const char *file, bool renamed) {
    int code = check_word(option, file);
    if (code != EXIT_OK) return code;
    if (is_read(command, opt, file, true)) return tell_is_read(option, file);
    return renamed ? place_check(file) : check_opened(file);
}

// Checks that the outputs of a run go to different files, none of which is its graph.
static int check_run_outputs(const command_row *command, options *opt) {
    tensor_spec spec, other;
    for (size_t i = 0; i < opt->outputs.count; i++) {
        if (!tensor_spec_parse(opt->outputs.items[i], &spec) || is_stream(spec.file)) continue;
        if (is_read(command, opt, spec.file, false)) return tell_is_read("-o", spec.file);
        for (size_t k = 0; k < i; k++)
            if (tensor_spec_parse(opt->outputs.items[k], &other) &&
                (strcmp(other.file, spec.file) == 0 || is_same_file(other.file, spec.file)))
                return tell_failure(QDQ_ERR_ARGUMENT,
                                    "%s is given with -o twice, wanted a file for each output",
                                    spec.file);
    }
    return EXIT_OK;
}

int places_check(const command_row *command, options *opt) {
    bool own = strcmp(command->name, "run") == 0;
    int code = own ? check_run_outputs(command, opt) : EXIT_OK;
    for (size_t i = 0; code == EXIT_OK && !own && i < opt->outputs.count; i++)
        code = check_place(command, opt, "-o", opt->outputs.items[i], true);
    option_file one;
    for (size_t i = 0; code == EXIT_OK && options_file(command, opt, i, &one); i++) {
        char option[32];
        snprintf(option, sizeof option, "--%s", one.option);
        if (!one.read) code = check_place(command, opt, option, one.file, one.renamed);
    }
    return code;
}
