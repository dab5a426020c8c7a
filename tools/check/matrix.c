// SPDX-License-Identifier: Apache-2.0
// Checks a graph against every target and prints the verdicts as a matrix.
#include "tools/check/matrix.h"

#include <qdq/inspect.h>
#include <stdlib.h>
#include <string.h>

#include "tools/check/text_width.h"
#include "tools/check/unchecked.h"
#include "tools/colour.h"
#include "tools/common.h"
#include "tools/failure.h"
#include "tools/io/watch.h"
#include "tools/options.h"

const char *verdict_text(verdict v) {
    static const char *const texts[] = {"ok", "warning", "unknown", "unchecked", "refused"};
    return texts[v];
}

//---- Rows -------------------------------------------------------------------

// Copies the names: findings last until the next validation.
static bool add_row_of_finding(matrix *m, const qdq_finding *f) {
    matrix_row row = {.name = strdup(f->node), .op = strdup(f->op)};
    m->rows[m->count++] = row;
    return row.name && row.op;
}

// Orders rows by name, and equal names by row.
static int compare_rows(const void *a, const void *b) {
    const named_row *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order ? order : (x->row > y->row) - (x->row < y->row);
}

static void sort_rows(matrix *m) {
    for (size_t i = 0; i < m->count; i++) m->by_name[i] = (named_row){m->rows[i].name, i};
    qsort(m->by_name, m->count, sizeof *m->by_name, compare_rows);
    for (size_t i = 1; i < m->count; i++) {
        const named_row *at = &m->by_name[i];
        m->rows[at->row].twice = at->row >= m->nodes && strcmp(at[-1].name, at->name) == 0;
    }
}

static bool make_rows(matrix *m, qdq_graph *graph, const qdq_report *report) {
    size_t nodes = qdq_graph_node_count(graph), most = nodes + report->count + 1;
    m->nodes = nodes;
    m->rows = calloc(most, sizeof *m->rows);
    m->by_name = calloc(most, sizeof *m->by_name);
    m->cells = calloc(most, m->targets);
    m->columns = calloc(m->targets, sizeof *m->columns);
    if (!m->rows || !m->by_name || !m->cells || !m->columns) return false;
    for (; m->count < nodes; m->count++) {
        qdq_node_info node = qdq_graph_node(graph, m->count);
        m->rows[m->count] =
            (matrix_row){.name = node.name, .op = node.op, .original = node.original};
    }
    for (size_t i = 0; i < report->count; i++) {
        const qdq_finding *f = &report->findings[i];
        if (*f->node && *f->op && !add_row_of_finding(m, f)) return false;
    }
    sort_rows(m);
    return true;
}

// Finds the first position in by_name whose name is not less than `name`.
static size_t place_of(const matrix *m, const char *name) {
    size_t low = 0, high = m->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(m->by_name[middle].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

//---- Cells ------------------------------------------------------------------

static verdict verdict_of(const qdq_finding *f) {
    static const char unknown[] = "/op-unknown";
    if (f->severity == QDQ_SEVERITY_ERROR) return VERDICT_REFUSED;
    const char *rule = strchr(f->rule, '/');
    return rule && strcmp(rule, unknown) == 0 ? VERDICT_UNKNOWN : VERDICT_WARNING;
}

// Notes a verdict in the first row of a name; copy_verdicts fills the others.
static void note(matrix *m, size_t target, const char *node, verdict found) {
    size_t place = *node ? place_of(m, node) : m->count;
    if (place == m->count || strcmp(m->by_name[place].name, node) != 0) return;
    unsigned char *cell = &m->cells[m->by_name[place].row * m->targets + target];
    if (found > *cell) *cell = (unsigned char)found;
}

// Notes every node with unknown bits: a finding names only the first of an op.
static void note_bits(matrix *m, const qdq_report *report, size_t target) {
    for (size_t i = 0; i < report->node_count; i++)
        if (report->nodes[i].bits == QDQ_BITS_UNKNOWN)
            note(m, target, report->nodes[i].node, VERDICT_WARNING);
}

// Copies the verdicts of the first row of a name to the other rows of this name.
static void copy_verdicts(matrix *m) {
    for (size_t i = 1; i < m->count; i++) {
        const named_row *from = &m->by_name[i - 1], *to = &m->by_name[i];
        if (strcmp(from->name, to->name) == 0)
            memcpy(&m->cells[to->row * m->targets], &m->cells[from->row * m->targets], m->targets);
    }
}

static bool note_unchecked(matrix *m, const qdq_graph *graph, const qdq_report *report,
                           size_t target) {
    unchecked_nodes nodes;
    bool done = unchecked_find(graph, report, qdq_target_get(target).name, &nodes);
    for (size_t i = 0; done && i < nodes.count; i++) {
        unsigned char *cell = &m->cells[nodes.items[i] * m->targets + target];
        if (*cell < VERDICT_UNCHECKED) *cell = VERDICT_UNCHECKED;
        m->unchecked = true;
    }
    unchecked_release(&nodes);
    return done;
}

static int no_memory(void) {
    return tell_failure(QDQ_ERR_MEMORY, "no memory for the matrix of nodes and targets");
}

// Checks the graph against a target and notes its findings. Every report repeats the core's
// findings, which are counted only with the core.
static int fill_column(matrix *m, qdq_graph *graph, const options *opt, size_t target) {
    qdq_error err = {0};
    const char *name = qdq_target_get(target).name;
    const qdq_report *report = qdq_graph_validate_on(graph, name, device_for(opt, name), &err);
    if (!report) return report_error(&err);
    matrix_column *column = &m->columns[target];
    column->findings = report->errors + report->warnings - report->count;
    column->nodes = report->node_count, column->exact = report->nodes_with[QDQ_BITS_EXACT];
    for (size_t i = 0; i < report->count; i++) {
        const qdq_finding *f = &report->findings[i];
        note(m, target, f->node, verdict_of(f));
        if (strcmp(f->target, name) != 0) continue;
        column->findings++;
        if (f->severity == QDQ_SEVERITY_ERROR)
            m->errors++;
        else
            m->warnings++;
    }
    note_bits(m, report, target);
    return note_unchecked(m, graph, report, target) ? EXIT_OK : no_memory();
}

int matrix_open(matrix *m, qdq_graph *graph, const options *opt) {
    qdq_error err = {0};
    *m = (matrix){.targets = qdq_target_count()};
    const qdq_report *report = qdq_graph_validate(graph, "core", &err);
    if (!report) return report_error(&err);
    if (!make_rows(m, graph, report)) return no_memory();
    int code = EXIT_OK;
    for (size_t t = 0; t < m->targets && code == EXIT_OK; t++) {
        watch_tell(opt->watch, "target %zu of %zu, %s", t + 1, m->targets, qdq_target_get(t).name);
        code = fill_column(m, graph, opt, t);
    }
    copy_verdicts(m);
    watch_clear(opt->watch);
    return code;
}

void matrix_close(matrix *m) {
    for (size_t i = m->nodes; i < m->count; i++)
        free((void *)(uintptr_t)m->rows[i].name), free((void *)(uintptr_t)m->rows[i].op);
    free(m->rows);
    free(m->by_name);
    free(m->cells);
    free(m->columns);
}

//---- Lines ------------------------------------------------------------------

enum { MOST_LINES = 20, MOST_SHARED_LINES = 40, MOST_NAME_COLUMNS = 48 };

// A printed line: one node, or several nodes of one op with the same verdicts.
typedef struct matrix_line {
    size_t row, nodes;
} matrix_line;

typedef struct matrix_lines {
    matrix_line *items;
    size_t count;
    size_t fine;  // nodes that are ok for every target
    size_t left;  // other nodes, left out because the matrix is full
} matrix_lines;

static bool is_fine(const matrix *m, size_t row) {
    for (size_t t = 0; t < m->targets; t++)
        if (m->cells[row * m->targets + t] != VERDICT_OK) return false;
    return true;
}

static bool fare_alike(const matrix *m, size_t a, size_t b) {
    return strcmp(m->rows[a].op, m->rows[b].op) == 0 &&
           memcmp(&m->cells[a * m->targets], &m->cells[b * m->targets], m->targets) == 0;
}

// Returns a line for the node: with `share` an existing line of the same op and verdicts, else a
// new line. NULL if the node gets no line.
static matrix_line *line_of(const matrix *m, matrix_lines *lines, size_t row, bool share) {
    for (size_t i = 0; share && i < lines->count; i++)
        if (fare_alike(m, lines->items[i].row, row)) return &lines->items[i];
    if (share && lines->count == MOST_SHARED_LINES) return NULL;
    lines->items[lines->count] = (matrix_line){row, 0};
    return &lines->items[lines->count++];
}

static void make_lines(const matrix *m, matrix_lines *lines, bool all) {
    size_t told = 0;
    for (size_t i = 0; i < m->count; i++) told += !m->rows[i].twice && !is_fine(m, i);
    for (size_t i = 0; i < m->count; i++) {
        if (m->rows[i].twice) continue;
        if (!all && is_fine(m, i)) {
            lines->fine++;
            continue;
        }
        matrix_line *line = line_of(m, lines, i, !all && told > MOST_LINES);
        if (line)
            line->nodes++;
        else
            lines->left++;
    }
}

static const char *label_of(const matrix *m, const matrix_line *line, bool all, char out[512]) {
    char name[512];
    text_cut(m->rows[line->row].name, all ? SIZE_MAX : MOST_NAME_COLUMNS, name);
    if (line->nodes == 1)
        snprintf(out, 512, "%s", name);
    else
        snprintf(out, 512, "%.400s and %zu more", name, line->nodes - 1);
    return out;
}

static void print_cell(const char *text, size_t width) {
    size_t columns = text_width(text);
    printf("%s%*s  ", text, (int)(columns < width ? width - columns : 0), "");
}

// Prints a verdict, padded to `width` unless that is 0.
static void print_verdict(verdict v, size_t width) {
    static const colour colours[] = {[VERDICT_OK] = COLOUR_NONE,
                                     [VERDICT_WARNING] = COLOUR_YELLOW,
                                     [VERDICT_UNKNOWN] = COLOUR_FAINT,
                                     [VERDICT_UNCHECKED] = COLOUR_FAINT,
                                     [VERDICT_REFUSED] = COLOUR_RED};
    const char *text = verdict_text(v);
    size_t length = strlen(text);
    colour_print(stdout, colours[v], text, length);
    if (width) printf("%*s  ", (int)(length < width ? width - length : 0), "");
}

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

static void print_lines(const matrix *m, const matrix_lines *lines, bool all) {
    size_t names = strlen("exact bits"), ops = strlen("op");
    size_t cells = strlen(verdict_text(m->unchecked ? VERDICT_UNCHECKED : VERDICT_REFUSED));
    char label[512];
    for (size_t i = 0; i < lines->count; i++) {
        names = larger(names, text_width(label_of(m, &lines->items[i], all, label)));
        ops = larger(ops, text_width(m->rows[lines->items[i].row].op));
    }
    for (size_t t = 0; t < m->targets; t++) cells = larger(cells, strlen(qdq_target_get(t).name));
    print_cell("node", names);
    print_cell("op", ops);
    for (size_t t = 0; t + 1 < m->targets; t++) print_cell(qdq_target_get(t).name, cells);
    printf("%s\n", qdq_target_get(m->targets - 1).name);
    for (size_t i = 0; i < lines->count; i++) {
        const unsigned char *row = &m->cells[lines->items[i].row * m->targets];
        print_cell(label_of(m, &lines->items[i], all, label), names);
        print_cell(m->rows[lines->items[i].row].op, ops);
        for (size_t t = 0; t + 1 < m->targets; t++) print_verdict(row[t], cells);
        print_verdict(row[m->targets - 1], 0);
        printf("\n");
    }
    print_cell("exact bits", names);
    print_cell("", ops);
    for (size_t t = 0; t < m->targets; t++) {
        char text[64] = "";
        if (m->columns[t].nodes)
            snprintf(text, sizeof text, "%zu/%zu", m->columns[t].exact, m->columns[t].nodes);
        if (t + 1 < m->targets)
            print_cell(text, cells);
        else
            printf("%s\n", text);
    }
}

bool matrix_print(const matrix *m, bool all) {
    matrix_lines lines = {.items = calloc(m->count + 1, sizeof *lines.items)};
    if (!lines.items) return false;
    make_lines(m, &lines, all);
    if (lines.count) print_lines(m, &lines, all);
    if (lines.left) printf("and %zu more nodes that are not ok everywhere\n", lines.left);
    if (lines.fine)
        printf("%zu %s%s ok everywhere\n", lines.fine, lines.count ? "more " : "",
               lines.fine == 1 ? "node is" : "nodes are");
    if (m->unchecked) printf("unchecked: not by every rule, because of errors at other nodes\n");
    bool folded = lines.fine || lines.left;
    for (size_t i = 0; i < lines.count; i++) folded |= lines.items[i].nodes > 1;
    free(lines.items);
    return folded;
}

void matrix_json(qdq_json *json, const matrix *m) {
    qdq_json_begin_array(json);
    for (size_t i = 0; i < m->count; i++) {
        if (m->rows[i].twice) continue;
        qdq_json_begin_object(json);
        json_string_key(json, "name", m->rows[i].name);
        if (m->rows[i].original) json_original(json, m->rows[i].name, m->rows[i].original);
        json_string_key(json, "op", m->rows[i].op);
        for (size_t t = 0; t < m->targets; t++)
            json_string_key(json, qdq_target_get(t).name,
                            verdict_text(m->cells[i * m->targets + t]));
        qdq_json_end_object(json);
    }
    qdq_json_end_array(json);
}
