// SPDX-License-Identifier: Apache-2.0
// Writes outputs to standard output and to pipes.
#include "tools/io/stream_out.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/failure.h"
#include "tools/io/streams.h"
#include "tools/io/tensor_io.h"
#include "tools/options/string_list.h"

bool is_stream(const char *file) {
    struct stat facts;
    if (strcmp(file, "-") == 0) return true;
    return stat(file, &facts) == 0 && S_ISFIFO(facts.st_mode);
}

int check_stdout(const string_list *outputs, const char *printed) {
    size_t count = 0;
    for (size_t i = 0; i < outputs->count; i++) {
        tensor_spec spec;
        if (tensor_spec_parse(outputs->items[i], &spec)) count += strcmp(spec.file, "-") == 0;
    }
    if (count == 0) return EXIT_SUCCESS;
    const char *other = count > 1 ? "another --output" : printed;
    if (other)
        return tell_failure(QDQ_ERR_ARGUMENT,
                            "--output - and %s both write to standard output, wanted one of them",
                            other);
    if (isatty(STDOUT_FILENO))
        return tell_failure(QDQ_ERR_ARGUMENT,
                            "--output - writes tensors to a terminal, wanted a file or a pipe");
    return EXIT_SUCCESS;
}

static qdq_status fail(qdq_error *err, const char *file, const char *what) {
    bool is_stdout = strcmp(file, "-") == 0;
    err->status = is_stdout ? QDQ_ERR_LIMIT : QDQ_ERR_IO;
    snprintf(err->text, sizeof err->text, "%.512s %s: %s", is_stdout ? "standard output" : file,
             what, strerror(errno));
    return err->status;
}

static qdq_status send(int from, const char *file, qdq_error *err) {
    bool is_stdout = strcmp(file, "-") == 0;
    int to = is_stdout ? STDOUT_FILENO : open(file, O_WRONLY | O_CLOEXEC);
    if (to < 0) return fail(err, file, "cannot be opened");
    qdq_status status =
        stream_copy(from, to, UINT64_MAX) ? QDQ_OK : fail(err, file, "cannot be written");
    if (!is_stdout) close(to);
    return status;
}

static qdq_status save_in(const char *folder, const char *file, const qdq_tensor *tensors,
                          size_t count, bool npy, qdq_error *err) {
    char path[640];
    snprintf(path, sizeof path, "%.512s/tensors.%s", folder, npy ? "npy" : "safetensors");
    qdq_status status = npy ? tensor_save(path, tensors, err)
                            : qdq_tensor_file_write(path, tensors, count, NULL, err);
    int from = status == QDQ_OK ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (status == QDQ_OK && from < 0) status = fail(err, path, "cannot be opened");
    (void)unlink(path);  // before anything can stop the program
    (void)rmdir(folder);
    if (status == QDQ_OK) status = send(from, file, err);
    if (from >= 0) close(from);
    return status;
}

qdq_status stream_save(const char *file, const qdq_tensor *tensors, size_t count, bool npy,
                       qdq_error *err) {
    char folder[512];
    const char *place = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%.480s/qdq-XXXXXX", place && *place ? place : "/tmp");
    if (!mkdtemp(folder)) return fail(err, folder, "cannot be made");
    return save_in(folder, file, tensors, count, npy, err);
}
