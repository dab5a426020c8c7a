// SPDX-License-Identifier: Apache-2.0
// Writes a page: the template up to its data, the data, and the rest of the template. Text from
// files occurs only in strings of the JSON, in which characters of markup are escaped.
#include "tools/html/report_file.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "tools/common.h"
#include "tools/failure.h"
#include "tools/html/bits_json.h"
#include "tools/html/graph_json.h"
#include "tools/html/page.h"
#include "tools/options.h"

static void to_page(void *self, const char *bytes, size_t count) {
    FILE *file = self;
    size_t from = 0;
    for (size_t i = 0; i < count; i++) {
        if (!strchr("<>&", bytes[i]) || !bytes[i]) continue;
        fwrite(bytes + from, 1, i - from, file);
        fprintf(file, "\\u%04x", (unsigned char)bytes[i]);
        from = i + 1;
    }
    fwrite(bytes + from, 1, count - from, file);
}

int report_file_open(report_file *r, const char *command, const options *opt,
                     const qdq_graph *graph) {
    *r = (report_file){.path = opt->html, .command = command};
    if (!opt->html) return EXIT_OK;
    r->file = fopen(opt->html, "w");
    if (!r->file)
        return tell_failure(QDQ_ERR_IO, "%s: cannot be written: %s", opt->html, strerror(errno));
    fwrite(html_page_begin, 1, html_page_begin_bytes, r->file);
    qdq_json_init(&r->json, to_page, r->file, 0);
    qdq_json_begin_object(&r->json);
    json_uint_key(&r->json, "version", JSON_VERSION);
    json_string_key(&r->json, "qdq", qdq_version());
    json_string_key(&r->json, "command", command);
    json_string_key(&r->json, "call", opt->call);
    json_string_key(&r->json, "seed", opt->fill);
    json_string_key(&r->json, "file", opt->operands.items[0]);
    qdq_json_key(&r->json, "graph");
    json_graph(&r->json, graph);
    return EXIT_OK;
}

int report_file_bits(report_file *r, const char *target, const qdq_report *report) {
    if (!r->file || report->errors) return EXIT_OK;
    if (r->stage == REPORT_BEGUN) {
        qdq_json_key(&r->json, "targets");
        qdq_json_begin_array(&r->json);
        r->stage = REPORT_TARGETS;
    }
    qdq_json_begin_object(&r->json);
    json_string_key(&r->json, "name", target);
    bool written = html_bits(&r->json, report);
    qdq_json_end_object(&r->json);
    return written ? EXIT_OK : tell_failure(QDQ_ERR_MEMORY, "no memory to list the nodes");
}

qdq_json *report_file_json(report_file *r) {
    if (!r->file) return NULL;
    if (r->stage == REPORT_TARGETS) qdq_json_end_array(&r->json);
    if (r->stage != REPORT_COMMAND) qdq_json_key(&r->json, r->command);
    r->stage = REPORT_COMMAND;
    return &r->json;
}

// Removes a file, but not a device such as /dev/null.
static void remove_page(const char *path) {
    struct stat info;
    if (stat(path, &info) == 0 && S_ISREG(info.st_mode)) (void)remove(path);
}

int report_file_close(report_file *r, int code) {
    if (!r->file) return code;
    bool good = code == EXIT_OK || code == EXIT_FINDINGS;
    if (good) {
        qdq_json_end_object(&r->json);
        fwrite(html_page_end, 1, html_page_end_bytes, r->file);
    }
    bool broken = fflush(r->file) != 0 || ferror(r->file);
    int why = errno;
    broken = fclose(r->file) != 0 || broken;
    r->file = NULL;
    if (good && !broken) return code;
    remove_page(r->path);
    return good ? tell_failure(QDQ_ERR_IO, "%s: cannot be written: %s", r->path, strerror(why))
                : code;
}
