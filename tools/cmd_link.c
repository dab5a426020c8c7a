// SPDX-License-Identifier: Apache-2.0
// qdq link: writes a graph, a command and its inputs as a link to a page. What does not fit into
// the link is left out, and the inputs that take its place are filled.
#include <stdlib.h>
#include <string.h>

#include "runtime/base/words.h"
#include "tools/commands.h"
#include "tools/common.h"
#include "tools/failure.h"
#include "tools/link/fragment.h"
#include "tools/link/link_arrays.h"
#include "tools/link/permalink.h"
#include "tools/link/structure.h"
#include "tools/options.h"
#include "tools/options/link.h"
#include "tools/options/option_number.h"
#include "tools/session.h"

#define LINK_PAGE "http://localhost:8000/"

// The texts of a graph, its inputs (NULL without -i) and results (NULL without --got).
typedef struct content {
    char *graph, *inputs, *got;
} content;

//---- Options ----------------------------------------------------------------

static bool copy_word(const char *option, const char *word, char *out, size_t capacity) {
    if (!word) return true;
    if (*word && strlen(word) < capacity && permalink_word_fits(word)) {
        memcpy(out, word, strlen(word) + 1);
        return true;
    }
    (void)tell_failure(QDQ_ERR_ARGUMENT,
                       "--%s is '%.100s', wanted letters, digits and . _ @ , + - for a link",
                       option, word);
    return false;
}

// Takes the options that belong into the link. EXIT_OK, or another code after a message.
static int take_words(const options *opt, permalink *link) {
    const link_options *own = opt->own;
    size_t seed;
    const char *command = own->command      ? own->command
                          : opt->targets    ? "compare"
                          : own->gots.count ? "explain"
                                            : "run";
    if (!qdq_has_word(LINK_COMMANDS, command))
        return tell_failure(
            QDQ_ERR_ARGUMENT,
            "--command is '%s', wanted run, check, compare, explain, bisect or plan", command);
    if ((strcmp(command, "explain") == 0) != (own->gots.count > 0))
        return tell_misuse("link", own->gots.count ? "%s takes no --got" : "%s needs --got",
                           command);
    bool compares = qdq_has_word("compare bisect", command);
    if (compares ? opt->load.target != NULL : opt->targets != NULL)
        return tell_misuse("link", "%s takes %s", command, compares ? "--targets" : "--target");
    if (opt->compile.fast && qdq_has_word("check explain bisect", command))
        return tell_misuse("link", "%s takes no --fast", command);
    if (!options_number("fill", opt->fill, 0, 0, &seed)) return EXIT_USAGE;
    if (!copy_word("command", command, link->command, sizeof link->command) ||
        !copy_word("target", opt->load.target, link->target, sizeof link->target) ||
        !copy_word("targets", opt->targets, link->targets, sizeof link->targets) ||
        !copy_word("fill", opt->fill, link->fill, sizeof link->fill))
        return EXIT_USAGE;
    link->fast = opt->compile.fast;
    return EXIT_OK;
}

//---- The graph and its inputs -----------------------------------------------

// Takes the graph, and the arrays of -i and --got as they are: explain reads them by their names.
static int take_explained(const options *opt, content *out) {
    const link_options *own = opt->own;
    session s;
    qdq_error err = {0};
    int code = session_load(&s, opt);
    if (code == EXIT_OK) code = check_to_write(s.graph, NULL);
    if (code == EXIT_OK) out->got = link_arrays(&own->gots, &err);
    if (out->got && opt->inputs.count) out->inputs = link_arrays(&opt->inputs, &err);
    if (code == EXIT_OK && err.status == QDQ_OK) out->graph = structure_text(s.graph, &err);
    session_close(&s);
    return err.status == QDQ_OK ? code : report_error(&err);
}

static int take_content(const options *opt, content *out) {
    session s;
    qdq_error err = {0};
    bool given = opt->inputs.count > 0;
    void **inputs = NULL;
    int code = given ? session_start_nodes(&s, opt, opt->load.target) : session_load(&s, opt);
    if (code == EXIT_OK) code = check_to_write(s.graph, NULL);
    if (code == EXIT_OK && given) inputs = session_take_inputs(&s, opt, &code);
    if (code == EXIT_OK && given) out->inputs = structure_of_inputs(s.plan, inputs, &err);
    if (code == EXIT_OK) out->graph = structure_text(s.graph, &err);
    if (inputs) session_free_inputs(&s, inputs);
    session_close(&s);
    return err.status == QDQ_OK ? code : report_error(&err);
}

//---- The link ---------------------------------------------------------------

static json_span span_of(const char *text) { return (json_span){text, text ? strlen(text) : 0}; }

static bool reads_inputs(const permalink *link) {
    return qdq_has_word("run compare bisect", link->command);
}

// Returns the fragment of a graph and its inputs (NULL: filled). NULL with `err` set, or without if
// no reader takes its text.
static char *fragment_of(permalink *link, const char *graph, const char *inputs, qdq_error *err) {
    if (reads_inputs(link) && !inputs && !*link->fill) memcpy(link->fill, "1", 2);
    link->graph = span_of(graph);
    link->inputs = span_of(inputs);
    char *text = permalink_write(link);
    bool readable = text && strlen(text) <= LINK_TEXT_LIMIT;
    char *fragment = readable ? fragment_write(text, err) : NULL;
    if (!text && err->status == QDQ_OK) err->status = QDQ_ERR_MEMORY;
    free(text);
    return fragment;
}

static bool fits(const char *base, const char *fragment) {
    return fragment && strlen(base) + 1 + strlen(fragment) <= LINK_BUDGET;
}

// Returns a fragment that fits: of all, or with as many constants as fit, the small ones first.
// NULL with `err` set, or without as fragment_of.
static char *fitting_fragment(permalink *link, const char *base, const content *c, qdq_error *err) {
    static const size_t sizes[] = {SIZE_MAX - 1, 16384, 4096, 1024, 256, 64, 24, 8};
    char *found = NULL;
    if (!structure_needs_file(c->graph)) found = fragment_of(link, c->graph, c->inputs, err);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        if (err->status != QDQ_OK || fits(base, found)) return found;
        free(found);
        char *graph = structure_without(c->graph, sizes[i], &link->left_out);
        found = graph ? fragment_of(link, graph, NULL, err) : NULL;
        if (!graph) err->status = QDQ_ERR_MEMORY;
        free(graph);
    }
    return found;
}

static void tell_left_out(const permalink *link, bool inputs) {
    if (link->left_out)
        fprintf(stderr,
                "qdq: the link has the structure of the graph: %zu constants do not fit into %d "
                "characters and are inputs, filled from seed %s\n",
                link->left_out, LINK_BUDGET, *link->fill ? link->fill : "1");
    else if (inputs && !link->inputs.length)
        fprintf(stderr,
                "qdq: the inputs do not fit into %d characters and are filled from seed %s\n",
                LINK_BUDGET, link->fill);
}

// Returns the fragment of an explanation, of which nothing can be left out. NULL as fragment_of.
static char *explain_fragment(permalink *link, const content *c, qdq_error *err) {
    link->got = span_of(c->got);
    return structure_needs_file(c->graph) ? NULL : fragment_of(link, c->graph, c->inputs, err);
}

static int tell_too_long(const permalink *link, const char *base, const char *fragment) {
    bool explains = link->got.length > 0;
    size_t takes = fragment ? strlen(base) + 1 + strlen(fragment) : (size_t)LINK_TEXT_LIMIT + 1;
    return tell_failure(QDQ_ERR_LIMIT,
                        "the %s of the graph take%s %s%zu characters in a link, wanted at most %d; "
                        "%s",
                        explains ? "nodes, inputs and results" : "structure", explains ? "" : "s",
                        fragment ? "" : "at least ", takes,
                        fragment ? LINK_BUDGET : LINK_TEXT_LIMIT,
                        explains ? "`qdq explain -o` cuts out the node that differs"
                                 : "--until NODE ends a model earlier");
}

int run_link(const options *opt) {
    const link_options *own = opt->own;
    const char *base = own->base ? own->base : LINK_PAGE;
    permalink link = {0};
    content c = {NULL, NULL, NULL};
    qdq_error err = {0};
    if (strpbrk(base, "# \t\r\n"))
        return tell_failure(QDQ_ERR_ARGUMENT,
                            "--base has a space or a #, wanted the address of the page");
    int code = take_words(opt, &link);
    bool explains = strcmp(link.command, "explain") == 0;
    if (code == EXIT_OK) code = explains ? take_explained(opt, &c) : take_content(opt, &c);
    char *fragment = code != EXIT_OK ? NULL
                     : explains      ? explain_fragment(&link, &c, &err)
                                     : fitting_fragment(&link, base, &c, &err);
    if (code == EXIT_OK && err.status != QDQ_OK) code = report_error(&err);
    if (code == EXIT_OK && !fits(base, fragment)) code = tell_too_long(&link, base, fragment);
    if (code == EXIT_OK) {
        tell_left_out(&link, c.inputs != NULL);
        printf("%s#%s\n", base, fragment);
    }
    free(fragment);
    free(c.graph);
    free(c.inputs);
    free(c.got);
    return code;
}
