// SPDX-License-Identifier: Apache-2.0
#include "tools/io/output_places.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/common.h"
#include "tools/failure.h"
#include "tools/options.h"

// Checks that the folder of a file takes new files. A file is replaced by renaming, so its own mode
// does not matter.
static int check_folder(const char *file) {
    char folder[4096 + 2];
    const char *slash = strrchr(file, '/');
    snprintf(folder, sizeof folder, "%.*s.", slash ? (int)(slash - file) + 1 : 0, file);
    if (access(folder, W_OK | X_OK) == 0) return EXIT_OK;
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

int place_check_option(const char *option, const char *file, bool renamed) {
    if (!file) return EXIT_OK;
    int code = check_word(option, file);
    if (code != EXIT_OK) return code;
    return renamed ? place_check(file) : check_opened(file);
}

int places_check(const command_row *command, const options *opt) {
    bool own = strcmp(command->name, "run") == 0;
    for (size_t i = 0; !own && i < opt->outputs.count; i++) {
        int code = place_check_option("-o", opt->outputs.items[i], true);
        if (code != EXIT_OK) return code;
    }
    return place_check_option("--html", opt->html, false);
}
