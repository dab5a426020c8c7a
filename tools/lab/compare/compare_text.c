// SPDX-License-Identifier: Apache-2.0
// Prints the result of comparing the nodes of a graph.
#include "tools/lab/compare/compare_text.h"

#include <stdlib.h>
#include <string.h>

#include "tools/common.h"
#include "tools/io/tensor_io.h"

static const char *plural(size_t count) { return count == 1 ? "" : "s"; }

//---- One node ---------------------------------------------------------------

static void print_difference(FILE *out, qdq_dtype dtype, const value_pair *v) {
    const difference *d = &v->local;
    if (!d->different) {
        fprintf(out, "%s", v->overall ? "equal from the same inputs" : "equal");
    } else {
        fprintf(out, "%zu of %zu differ", d->different, d->elements);
        print_closeness(out, dtype, d, &v->closeness);
        if (d->nan_count) fprintf(out, ", %zu NaN on one side", d->nan_count);
    }
    if (d->within) fprintf(out, ", %zu within the tolerance", d->within);
    if (v->overall != d->different)
        fprintf(out, "; %zu of %zu differ when each runs the whole graph", v->overall, d->elements);
    fprintf(out, "\n");
}

static void print_causes(FILE *out, const comparison *c, const node_comparison *n, size_t t,
                         size_t output) {
    const node_pair *pair = &n->pairs[t];
    const value_pair *v = &pair->values[output];
    const qdq_tensor_info *info = &n->outputs[output].info;
    for (size_t i = 0; i < v->local.cause_count; i++) {
        const cause *why = &v->local.causes[i];
        const example *e = &v->examples[i];
        char name[1024], index[256], x[32], a[32], b[32];
        fprintf(out, "  %s: %zu element%s, %s %s: ",
                cause_text(&pair->reasons, why->switches, name, sizeof name), why->count,
                plural(why->count), why->count == 1 ? "at" : "e.g.",
                index_text(info->shape, why->first, index, sizeof index));
        if (e->has_x) fprintf(out, "x %s, ", element_text(pair->x_dtype, e->x, x));
        fprintf(out, "%s %s, %s %s\n", c->targets[0], element_text(info->dtype, e->values[0], a),
                c->targets[t + 1], element_text(info->dtype, e->values[1], b));
    }
}

static bool is_equal(const value_pair *v) { return !v->local.different && !v->overall; }

// Prints "Quantize", or "QLinearMatMul in place of xf, wf, m, q".
static void print_op(FILE *out, const comparison *c, size_t node, const node_pair *pair) {
    enum { MAX_NAMES = 8 };
    if (!pair || !pair->group) {
        fprintf(out, "%s", qdq_graph_node(c->graph, node).op);
        return;
    }
    fprintf(out, "%s in place of ", pair->group);
    for (size_t i = 0; i < pair->node_count && i < MAX_NAMES; i++)
        fprintf(out, "%s%s", i ? ", " : "", qdq_graph_node(c->graph, pair->nodes[i]).name);
    if (pair->node_count > MAX_NAMES) fprintf(out, " and %zu more", pair->node_count - MAX_NAMES);
}

static void print_pairs(FILE *out, const comparison *c, const node_comparison *n, bool all) {
    const char *original = qdq_graph_node(c->graph, n->node).original;
    char head[1300];
    for (size_t i = 0; i < n->output_count; i++)
        for (size_t t = 0; t < n->pair_count; t++) {
            const value_pair *v = &n->pairs[t].values[i];
            if (v->absent || (!all && is_equal(v))) continue;
            fprintf(out, "%s", node_head(n->outputs[i].info.name, original, head, sizeof head));
            print_op(out, c, n->node, &n->pairs[t]);
            fprintf(out, "), %s and %s: ", c->targets[0], c->targets[t + 1]);
            print_difference(out, n->outputs[i].info.dtype, v);
            print_causes(out, c, n, t, i);
        }
}

// True if all targets compute the node as the first target does.
static bool is_same_numerics(const node_comparison *n) {
    for (size_t t = 0; t < n->pair_count; t++)
        if (n->pairs[t].reasons.count) return false;
    return true;
}

// Returns the first pair in which nodes are grouped; NULL: none.
static const node_pair *find_group(const node_comparison *n) {
    for (size_t t = 0; t < n->pair_count; t++)
        if (n->pairs[t].group) return &n->pairs[t];
    return NULL;
}

static void print_equal(FILE *out, const comparison *c, const node_comparison *n, size_t within) {
    qdq_node_info info = qdq_graph_node(c->graph, n->node);
    char head[1300];
    fprintf(out, "%s", node_head(info.name, info.original, head, sizeof head));
    print_op(out, c, n->node, find_group(n));
    fprintf(out, "): equal%s", is_same_numerics(n) ? "" : " on these inputs");
    if (within) fprintf(out, ", %zu within the tolerance", within);
    for (size_t i = 0, told = 0; i < c->left_out_count; i++)
        if (n->left_out >> i & 1)
            fprintf(out, "%s%s", told++ ? ", " : "; left out: ", c->left_out[i]);
    fprintf(out, "%s\n", n->left_out ? ", which may differ here" : "");
}

//---- The list ---------------------------------------------------------------

// True if another target has a result of the node.
static bool is_compared(const node_comparison *n) {
    for (size_t t = 0; t < n->pair_count; t++)
        for (size_t i = 0; i < n->output_count; i++)
            if (!n->pairs[t].values[i].absent) return true;
    return false;
}

static node_lines judge(const node_comparison *n) {
    node_lines lines = {.outcome = NODE_EQUAL, .node = n->node};
    double own = 0, overall = 0;
    for (size_t t = 0; t < n->pair_count; t++)
        for (size_t i = 0; i < n->output_count; i++) {
            const value_pair *v = &n->pairs[t].values[i];
            double elements = (double)v->local.elements;
            if (v->absent) continue;
            if ((double)v->local.different / elements > own)
                own = (double)v->local.different / elements;
            if ((double)v->overall / elements > overall) overall = (double)v->overall / elements;
            if (v->local.steps > lines.steps) lines.steps = v->local.steps;
            lines.within += v->local.within;
        }
    if (overall > 0) lines.outcome = NODE_INHERITS, lines.share = overall;
    if (own > 0) lines.outcome = NODE_DIFFERS, lines.share = own;
    return lines;
}

static size_t count_lines(const char *text) {
    size_t lines = 0;
    for (; *text; text++) lines += *text == '\n';
    return lines;
}

static bool write_lines(node_lines *lines, const comparison *c, const node_comparison *n,
                        bool all) {
    size_t size = 0;
    FILE *out = open_memstream(&lines->text, &size);
    if (!out) return false;
    if (lines->outcome == NODE_EQUAL)
        print_equal(out, c, n, lines->within);
    else
        print_pairs(out, c, n, all);
    if (fclose(out) != 0) return false;
    lines->line_count = count_lines(lines->text);
    return true;
}

static node_lines *new_item(compare_list *list) {
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? 2 * list->capacity : 64;
        node_lines *items = realloc(list->items, capacity * sizeof *items);
        if (!items) return NULL;
        list->items = items;
        list->capacity = capacity;
    }
    return &list->items[list->count];
}

bool compare_list_add(compare_list *list, const comparison *c, const node_comparison *n,
                      bool prints, bool all) {
    node_lines lines = judge(n);
    if (!is_compared(n)) return true;
    if (find_group(n)) list->groups++;
    list->counts[lines.outcome]++;
    list->within += lines.within;
    if (lines.outcome == NODE_EQUAL) {
        list->equal_here += !is_same_numerics(n);
        list->equal_elsewise += n->left_out != 0;
    }
    if (!prints || (lines.outcome == NODE_EQUAL && !all)) return true;
    node_lines *item = new_item(list);
    if (!item || !write_lines(&lines, c, n, all)) {
        free(lines.text);
        return false;
    }
    *item = lines;
    list->count++;
    return true;
}

void compare_list_release(compare_list *list) {
    for (size_t i = 0; i < list->count; i++) free(list->items[i].text);
    free(list->items);
}

//---- Printing ---------------------------------------------------------------

static int worst_first(const void *a, const void *b) {
    const node_lines *x = a, *y = b;
    if (x->outcome != y->outcome) return x->outcome < y->outcome ? -1 : 1;
    if (x->share != y->share) return x->share > y->share ? -1 : 1;
    if (x->steps != y->steps) return x->steps > y->steps ? -1 : 1;
    return x->node < y->node ? -1 : 1;
}

// Prints the nodes with this outcome from item `at` on, in at most `room` lines. Returns the item
// at which the next outcome begins.
static size_t print_outcome(const compare_list *list, size_t at, node_outcome outcome, size_t room,
                            const char *what) {
    size_t lines = 0, left = 0;
    for (; at < list->count && list->items[at].outcome == outcome; at++) {
        const node_lines *item = &list->items[at];
        bool fits = left == 0 && (lines == 0 || lines + item->line_count <= room);
        if (fits)
            printf("%s", item->text);
        else
            left++;
        lines += item->line_count;
    }
    if (left)
        printf("and %zu more node%s %s\n", left, left == 1 ? " that differs" : "s that differ",
               what);
    return at;
}

static void print_equal_count(const compare_list *list, const comparison *c) {
    size_t equal = list->counts[NODE_EQUAL];
    if (!equal) return;
    const char *groups = !list->groups ? "" : equal == 1 ? " or group" : " and groups";
    printf("%zu node%s%s %s equal", equal, plural(equal), groups, equal == 1 ? "is" : "are");
    if (list->equal_here) printf(", %zu of them only on these inputs", list->equal_here);
    for (size_t i = 0; i < c->left_out_count; i++)
        printf("%s%s", i ? ", " : "; left out: ", c->left_out[i]);
    if (list->equal_elsewise) printf(", which may differ at %zu of them", list->equal_elsewise);
    printf("\n");
}

void compare_list_print(compare_list *list, const comparison *c, const char *path, bool all) {
    enum { OWN_LINES = 50, INHERITED_LINES = 20 };
    const size_t *counts = list->counts;
    if (list->count) qsort(list->items, list->count, sizeof *list->items, worst_first);
    size_t at = print_outcome(list, 0, NODE_DIFFERS, all ? SIZE_MAX : OWN_LINES, "by themselves");
    at = print_outcome(list, at, NODE_INHERITS, all ? SIZE_MAX : INHERITED_LINES,
                       "by what they are given");
    (void)print_outcome(list, at, NODE_EQUAL, SIZE_MAX, "");
    print_equal_count(list, c);
    printf("%s: %zu of %zu nodes%s differ", path, counts[NODE_DIFFERS],
           counts[NODE_DIFFERS] + counts[NODE_INHERITS] + counts[NODE_EQUAL],
           list->groups ? " and groups" : "");
    if (counts[NODE_INHERITS])
        printf(", and %zu more by what they are given", counts[NODE_INHERITS]);
    if (list->within)
        printf("; %zu element%s within the tolerance", list->within,
               list->within == 1 ? " is" : "s are");
    printf("\n");
}
