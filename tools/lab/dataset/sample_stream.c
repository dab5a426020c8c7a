// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/dataset/sample_stream.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/common.h"
#include "tools/failure.h"

const char sample_stream_word[] = "-";

enum { SIZE_BYTES = 8, PART_BYTES = 1 << 16 };

int sample_stream_open(sample_stream *s, uint64_t most) {
    *s = (sample_stream){.most = most};
    return make_folder(s->folder, sizeof s->folder);
}

static void remove_file(sample_stream *s) {
    if (*s->path) (void)unlink(s->path);
    *s->path = '\0';
}

void sample_stream_close(sample_stream *s) {
    remove_file(s);
    if (*s->folder) (void)rmdir(s->folder);
    *s->folder = '\0';
}

static int ends_early(void) {
    return tell_failure(QDQ_ERR_PARSE, "standard input ends within a sample, wanted for each the "
                                       "size of a file in 8 bytes, and the file");
}

// Reads a size. *more is false at the end of the stream.
static int read_size(const sample_stream *s, uint64_t *size, bool *more) {
    unsigned char bytes[SIZE_BYTES];
    size_t got = fread(bytes, 1, sizeof bytes, stdin);
    *size = 0;
    *more = got > 0;
    if (ferror(stdin))
        return tell_failure(QDQ_ERR_IO, "standard input cannot be read: %s", strerror(errno));
    if (!*more) return EXIT_OK;
    if (got < sizeof bytes) return ends_early();
    for (size_t i = 0; i < sizeof bytes; i++) *size |= (uint64_t)bytes[i] << 8 * i;
    if (*size <= s->most) return EXIT_OK;
    return tell_failure(QDQ_ERR_LIMIT,
                        "standard input has a sample of %" PRIu64 " bytes, more than the limit of "
                        "%" PRIu64 " (--max-bytes); is each file preceded by its size in 8 bytes?",
                        *size, s->most);
}

static const char *ending_of(const unsigned char *bytes, size_t count) {
    if (count >= 6 && memcmp(bytes, "\x93NUMPY", 6) == 0) return "npy";
    if (count >= 2 && memcmp(bytes, "PK", 2) == 0) return "npz";
    return "safetensors";
}

// Copies `left` bytes to a file whose name follows from the first of them.
static int copy(sample_stream *s, uint64_t left) {
    unsigned char part[PART_BYTES];
    FILE *file = NULL;
    int code = EXIT_OK;
    do {
        size_t wanted = left < sizeof part ? (size_t)left : sizeof part;
        size_t got = fread(part, 1, wanted, stdin);
        if (got < wanted) code = ends_early();
        if (code == EXIT_OK && !file) {
            snprintf(s->path, sizeof s->path, "%s/sample.%s", s->folder, ending_of(part, got));
            file = fopen(s->path, "wb");
        }
        if (code == EXIT_OK && (!file || fwrite(part, 1, got, file) < got))
            code = tell_failure(QDQ_ERR_IO, "%s: cannot be written: %s", s->path, strerror(errno));
        left -= got;
    } while (code == EXIT_OK && left);
    if (file && fclose(file) != 0 && code == EXIT_OK)
        code = tell_failure(QDQ_ERR_IO, "%s: cannot be written: %s", s->path, strerror(errno));
    return code;
}

int sample_stream_next(sample_stream *s, bool *more) {
    uint64_t size;
    remove_file(s);
    int code = read_size(s, &size, more);
    return code == EXIT_OK && *more ? copy(s, size) : code;
}
