// SPDX-License-Identifier: Apache-2.0
// Parses --shard, and reports unreadable samples of a state.
#include "tools/lab/dataset/shard.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/utf8.h"
#include "tools/common.h"
#include "tools/failure.h"
#include "tools/options.h"

enum { MOST_DIGITS = 7 };

bool shard_parse(const char *text, shard *out) {
    *out = (shard){1, 1};
    if (!text) return true;
    size_t first = strspn(text, "0123456789");
    size_t second = text[first] == '/' ? strspn(text + first + 1, "0123456789") : 0;
    if (first > 0 && first <= MOST_DIGITS && second > 0 && second <= MOST_DIGITS &&
        text[first + 1 + second] == '\0') {
        *out = (shard){strtoll(text, NULL, 10), strtoll(text + first + 1, NULL, 10)};
        if (out->number >= 1 && out->number <= out->count && out->count <= MOST_SHARDS) return true;
    }
    (void)tell_failure(QDQ_ERR_ARGUMENT, "--shard is '%s', wanted i/n with 1 <= i <= n <= %d", text,
                       (int)MOST_SHARDS);
    return false;
}

const char *shown_name(const char *name, char *out, size_t capacity) {
    return qdq_utf8_show(out, capacity, name, strlen(name));
}

int refuse_unreadable(const state *s, const char *where) {
    char shown[SHOWN_BYTES];
    return tell_failure(QDQ_ERR_IO, "%s: none of %zu sample%s could be read; the first is %s",
                        where, s->unreadable.count, s->unreadable.count == 1 ? "" : "s",
                        shown_name(s->unreadable.items[0], shown, sizeof shown));
}

bool max_unreadable_parse(const char *text, double *percent) {
    char *end = NULL;
    *percent = text ? strtod(text, &end) : 100;
    if (!text || (end != text && !*end && *percent >= 0 && *percent <= 100)) return true;
    (void)tell_failure(QDQ_ERR_ARGUMENT, "--max-unreadable is '%s', wanted percent from 0 to 100",
                       text);
    return false;
}

int check_unreadable(const state *s, const char *where, const options *opt) {
    enum { NAMED = 5 };
    char names[NAMED * 128 + 1] = "", shown[96];
    double percent;
    size_t lost = s->unreadable.count, at = 0;
    int64_t all = s->taken + (int64_t)lost;
    if (!max_unreadable_parse(opt->data.max_unreadable, &percent)) return EXIT_USAGE;
    if (s->shard_count > 1 || (double)lost * 100 <= percent * (double)all) return EXIT_OK;
    for (size_t i = 0; i < lost && i < NAMED; i++)
        at += (size_t)snprintf(names + at, sizeof names - at, "%s%s", i ? ", " : "",
                               shown_name(s->unreadable.items[i], shown, sizeof shown));
    return tell_failure(QDQ_ERR_PARSE,
                        "%s: %zu of %" PRId64 " samples could not be read, more than "
                        "--max-unreadable %g allows: %s%s",
                        where, lost, all, percent, names, lost > NAMED ? ", ..." : "");
}

int report_unreadable(const state *s) {
    char shown[SHOWN_BYTES];
    if (s->unreadable.count == 0) return EXIT_OK;
    fprintf(stderr, "qdq: %zu of %" PRId64 " samples could not be read and are not in the state:\n",
            s->unreadable.count, s->taken + (int64_t)s->unreadable.count);
    for (size_t i = 0; i < s->unreadable.count; i++)
        fprintf(stderr, "  %s\n", shown_name(s->unreadable.items[i], shown, sizeof shown));
    return EXIT_FINDINGS;
}
