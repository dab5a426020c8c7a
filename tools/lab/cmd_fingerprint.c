// SPDX-License-Identifier: Apache-2.0
// qdq fingerprint: prints hashes of a graph at a target, and names the hashes that are not as
// expected.
#include <qdq/fingerprint.h>
#include <string.h>

#include "tools/commands.h"
#include "tools/common.h"
#include "tools/failure.h"
#include "tools/options.h"
#include "tools/options/fingerprint.h"
#include "tools/options/option_number.h"
#include "tools/session.h"

enum { PARTS = 4, PART_DIGITS = QDQ_FINGERPRINT_PART - 1 };

static const char *const part_names[PARTS] = {"graph", "target", "numerics", "outputs"};
static const char prefix[] = "qdq1-";

// Returns the offset of part `i` in the text of a fingerprint.
static size_t part_at(size_t i) { return sizeof prefix - 1 + i * (PART_DIGITS + 1); }

static bool is_fingerprint(const char *text) {
    if (strlen(text) != QDQ_FINGERPRINT_TEXT - 1) return false;
    if (strncmp(text, prefix, sizeof prefix - 1) != 0) return false;
    for (size_t i = 0; i < PARTS; i++) {
        const char *part = text + part_at(i);
        if (strspn(part, "0123456789abcdef") != PART_DIGITS) return false;
        if (i + 1 < PARTS && part[PART_DIGITS] != '-') return false;
    }
    return true;
}

static int check_expected(const char *text) {
    if (!text || is_fingerprint(text)) return EXIT_OK;
    return tell_failure(
        QDQ_ERR_ARGUMENT,
        "--expect-fingerprint is '%s', wanted %s and four parts of %d digits 0 to f, "
        "as qdq fingerprint prints it",
        text, prefix, PART_DIGITS);
}

static bool part_differs(const char *expected, const char *text, size_t i) {
    return strncmp(expected + part_at(i), text + part_at(i), PART_DIGITS) != 0;
}

//---- Printing ---------------------------------------------------------------

static void print_text(const qdq_fingerprint *f, const char *expected, size_t seed) {
    printf("graph     %s\ntarget    %s  %s\nnumerics  %s\noutputs   %s  seed %zu\n%s\n", f->graph,
           f->target, f->target_name, f->numerics, f->outputs, seed, f->text);
    if (!expected) return;
    const char *between = "differs from the expected fingerprint in ";
    if (strcmp(expected, f->text) == 0) printf("as expected");
    for (size_t i = 0; i < PARTS; i++) {
        if (!part_differs(expected, f->text, i)) continue;
        printf("%s%s", between, part_names[i]);
        between = ", ";
    }
    printf("\n");
}

static void json_parts(qdq_json *json, const qdq_fingerprint *f) {
    const char *const parts[PARTS] = {f->graph, f->target, f->numerics, f->outputs};
    qdq_json_key(json, "parts");
    qdq_json_begin_object(json);
    for (size_t i = 0; i < PARTS; i++) json_string_key(json, part_names[i], parts[i]);
    qdq_json_end_object(json);
}

static void print_json(const qdq_fingerprint *f, const options *opt, size_t seed) {
    const fingerprint_options *own = opt->own;
    qdq_json json;
    json_begin(&json);
    json_string_key(&json, "graph", opt->operands.items[0]);
    json_string_key(&json, "target", f->target_name);
    json_uint_key(&json, "seed", seed);
    json_string_key(&json, "fingerprint", f->text);
    json_parts(&json, f);
    if (own->expect_fingerprint) {
        json_string_key(&json, "expected", own->expect_fingerprint);
        qdq_json_key(&json, "different");
        qdq_json_begin_line(&json);
        for (size_t i = 0; i < PARTS; i++)
            if (part_differs(own->expect_fingerprint, f->text, i))
                qdq_json_string(&json, part_names[i]);
        qdq_json_end_array(&json);
    }
    json_end(&json);
}

//---- The command ------------------------------------------------------------

static int print_fingerprint(const session *s, const options *opt, size_t seed) {
    const fingerprint_options *own = opt->own;
    qdq_fingerprint f;
    qdq_error err = {0};
    if (qdq_graph_fingerprint(s->graph, opt->load.target, s->exec, seed, &f, &err) != QDQ_OK)
        return report_error(&err);
    if (opt->json)
        print_json(&f, opt, seed);
    else
        print_text(&f, own->expect_fingerprint, seed);
    bool as_expected = !own->expect_fingerprint || strcmp(own->expect_fingerprint, f.text) == 0;
    return as_expected ? EXIT_OK : EXIT_FINDINGS;
}

int run_fingerprint(const options *opt) {
    const fingerprint_options *own = opt->own;
    session s = {0};
    size_t seed;
    if (!options_number("seed", own->seed, 0, 1, &seed)) return EXIT_USAGE;
    int code = check_expected(own->expect_fingerprint);
    if (code != EXIT_OK) return code;
    code = session_start(&s, opt);
    if (code == EXIT_OK) code = print_fingerprint(&s, opt, seed);
    session_close(&s);
    return code;
}
