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
#include "tools/link/permalink.h"
#include "tools/link/structure.h"
#include "tools/options.h"
#include "tools/options/link.h"
#include "tools/options/option_number.h"
#include "tools/session.h"

#define LINK_PAGE "qdq.html"

// The texts of a graph and its inputs; `inputs` is NULL without -i.
typedef struct content {
    char *graph, *inputs;
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
    const char *command = own->command ? own->command : opt->targets ? "compare" : "run";
    if (!qdq_has_word("run check compare plan", command))
        return tell_failure(QDQ_ERR_ARGUMENT,
                            "--command is '%s', wanted run, check, compare or plan", command);
    bool compares = strcmp(command, "compare") == 0;
    if (compares ? opt->load.target != NULL : opt->targets != NULL)
        return tell_misuse("link", "%s takes %s", command, compares ? "--targets" : "--target");
    if (opt->compile.fast && strcmp(command, "check") == 0)
        return tell_misuse("link", "check takes no --fast");
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

static int take_content(const options *opt, content *out) {
    session s;
    qdq_error err = {0};
    bool given = opt->inputs.count > 0;
    void **inputs = NULL;
    int code = given ? session_start_nodes(&s, opt, opt->load.target) : session_load(&s, opt);
    if (code == EXIT_OK) code = check_to_write(s.graph, false);
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
    return qdq_has_word("run compare", link->command);
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

static int tell_too_long(const char *base, const char *fragment) {
    size_t takes = fragment ? strlen(base) + 1 + strlen(fragment) : (size_t)LINK_TEXT_LIMIT + 1;
    return tell_failure(QDQ_ERR_LIMIT,
                        "the structure of the graph takes %s%zu characters in a link, wanted at "
                        "most %d; --until NODE ends a model earlier",
                        fragment ? "" : "at least ", takes,
                        fragment ? LINK_BUDGET : LINK_TEXT_LIMIT);
}

int run_link(const options *opt) {
    const link_options *own = opt->own;
    const char *base = own->base ? own->base : LINK_PAGE;
    permalink link = {0};
    content c = {NULL, NULL};
    qdq_error err = {0};
    if (strpbrk(base, "# \t\r\n"))
        return tell_failure(QDQ_ERR_ARGUMENT,
                            "--base has a space or a #, wanted the address of the page");
    int code = take_words(opt, &link);
    if (code == EXIT_OK) code = take_content(opt, &c);
    char *fragment = code == EXIT_OK ? fitting_fragment(&link, base, &c, &err) : NULL;
    if (code == EXIT_OK && err.status != QDQ_OK) code = report_error(&err);
    if (code == EXIT_OK && !fits(base, fragment)) code = tell_too_long(base, fragment);
    if (code == EXIT_OK) {
        tell_left_out(&link, c.inputs != NULL);
        printf("%s#%s\n", base, fragment);
    }
    free(fragment);
    free(c.graph);
    free(c.inputs);
    return code;
}
