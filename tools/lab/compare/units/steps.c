// SPDX-License-Identifier: Apache-2.0
// A target that computes an element without multiplier and shift, with floats or codes, is taken
// for one that multiplies the other target's sum by its scale in float32 and rounds once. It is
// asked for only if this gives its code.
#include "tools/lab/compare/units/steps.h"

#include <math.h>
#include <stdlib.h>

#include "tools/common.h"
#include "tools/elements.h"
#include "tools/failure.h"

//---- Opening ----------------------------------------------------------------

static int run_watched(steps *s, const feed *from, void *const *results) {
    unit *u = s->unit;
    u->first.watch = sums_watch(&s->of[0]);
    u->other.watch = sums_watch(&s->of[1]);
    int code = unit_run(u, 0, from, results);
    if (code == EXIT_OK) code = unit_run_other(u, from, results);
    u->first.watch = u->other.watch = (piece_watch){0};
    return code;
}

static int no_memory(void) { return tell_failure(QDQ_ERR_MEMORY, "no memory to look for causes"); }

int steps_open(steps *s, unit *u, const feed *from) {
    *s = (steps){.unit = u, .output = SIZE_MAX};
    void **results = calloc(u->output_count + 1, sizeof *results);
    const qdq_allocator *allocator = u->exec_options->allocator;
    bool ready = results && sums_open(&s->of[0], &u->first, allocator) &&
                 sums_open(&s->of[1], &u->other, allocator);
    for (size_t i = 0; ready && i < u->output_count; i++) {
        results[i] = elements_take(allocator, u->outputs[i].info.bytes);
        ready = results[i] != NULL;
    }
    int code = ready ? run_watched(s, from, results) : no_memory();
    for (size_t i = 0; results && i < u->output_count; i++) elements_free(results[i]);
    free(results);
    return code == EXIT_OK && (s->of[0].failed || s->of[1].failed) ? no_memory() : code;
}

void steps_close(steps *s) {
    sums_close(&s->of[0]);
    sums_close(&s->of[1]);
}

//---- Steps ------------------------------------------------------------------

// In the order in which they are tried: a first rounding may itself give a half.
enum { TWICE = 1, SCALE = 2, TIES = 4, CLAMP = 8, ALL = 15 };

// Returns the code of the first side with a set of steps of the other.
static int64_t code_with(const rescaling side[2], unsigned set) {
    rescaling r = side[0];
    const rescaling *b = &side[1];
    if (set & TWICE) r.first = b->first;
    if (set & SCALE)
        r.sum = b->sum, r.multiplier = b->multiplier, r.shift = b->shift, r.product = b->product,
        r.zero = b->zero;
    if (set & TIES) r.ties = b->ties;
    if (set & CLAMP) r.least = b->least, r.greatest = b->greatest;
    return rescaling_code(&r);
}

static int count_of(unsigned set) {
    int count = 0;
    for (; set; set &= set - 1) count++;
    return count;
}

// Returns in how many ways a step explains the codes: the first side with the other's step gives
// `b`, and the other with the first's gives `a`. A first rounding explains the codes if they are
// equal without it, and only then: a coarse one may hide any other step.
static int ways_of(const rescaling side[2], unsigned step, int64_t a, int64_t b) {
    bool alone = code_with(side, step) == b, back = code_with(side, ALL & ~step) == a;
    if (step != TWICE || (side[0].first >= 0) == (side[1].first >= 0)) return alone + back;
    return 2 * (side[0].first >= 0 ? alone : back);
}

// Finds the steps that turn code `a` into `b`: the one that explains it in the most ways, or the
// fewest that do so together. 0: all of them do not.
static unsigned find_steps(const rescaling side[2], int64_t a, int64_t b) {
    if (code_with(side, 0) != a || code_with(side, ALL) != b) return 0;
    for (int ways = 2; ways > 0; ways--)
        for (unsigned one = 1; one < ALL; one *= 2)
            if (ways_of(side, one, a, b) == ways) return one;
    for (int count = 2; count < count_of(ALL); count++)
        for (unsigned set = 1; set < ALL; set++)
            if (count_of(set) == count && code_with(side, set) == b) return set;
    return ALL;
}

//---- Names ------------------------------------------------------------------

#define ID(id, name) CAUSE_##id,
#define NAME(id, name) name,
enum { STEP_CAUSES(ID) CAUSE_COUNT };
static const char *const names[] = {STEP_CAUSES(NAME)};
#undef ID
#undef NAME

static bool either_product(const rescaling side[2], rescaling_product wanted) {
    return side[0].product == wanted || side[1].product == wanted;
}

static bool has_eight_bits(const rescaling *r) {
    return r->product == PRODUCT_EXACT && r->shift == 8;
}

static const char *name_of_scale(const rescaling side[2]) {
    if (side[0].product != side[1].product)
        return names[either_product(side, PRODUCT_FLOAT32) ? CAUSE_FLOAT32_SCALE
                                                           : CAUSE_FLOAT64_SCALE];
    if (has_eight_bits(&side[0]) || has_eight_bits(&side[1])) return names[CAUSE_EIGHT_BITS];
    return names[side[0].sum != side[1].sum ? CAUSE_ROUNDED_OPERANDS : CAUSE_MULTIPLIER];
}

static const char *name_of_ties(const rescaling side[2]) {
    for (int i = 0; i < 2; i++)
        if (side[i].ties == TIES_UP && side[i].first >= 0) return names[CAUSE_UP_IN_BLOCK];
    bool up = side[0].ties == TIES_UP || side[1].ties == TIES_UP;
    return names[up ? CAUSE_HALF_UP : CAUSE_HALVES];
}

static const char *name_of(const rescaling side[2], unsigned step) {
    switch (step) {
    case TWICE: return names[CAUSE_DOUBLE_ROUNDING];
    case SCALE: return name_of_scale(side);
    case TIES: return name_of_ties(side);
    case CLAMP:
    default: return names[CAUSE_RANGE];
    }
}

//---- One element ------------------------------------------------------------

static rescaling_ties ties_of(const steps *s, int side, size_t output) {
    qdq_numerics n = {0};
    qdq_error err = {0};
    size_t node = sums_maker(&s->of[side], output);
    const qdq_graph *graph = s->of[side].of->of->graph;
    if (node != SIZE_MAX)
        (void)qdq_graph_numerics(graph, s->unit->pair->targets[side], node, &n, &err);
    return n.rounding == QDQ_ROUND_HALF_AWAY ? TIES_AWAY
           : n.rounding == QDQ_ROUND_HALF_UP ? TIES_UP
                                             : TIES_EVEN;
}

// Describes a side without a multiplier by the other side.
static void take_for_float(steps *s, size_t output, const rescaling *other, int side,
                           rescaling *out) {
    if (s->output != output)
        for (int i = 0; i < 2; i++) s->ties[i] = ties_of(s, i, output);
    s->output = output;
    *out = *other;
    out->product = PRODUCT_FLOAT32;
    out->first = -1;
    out->ties = s->ties[side];
}

// Takes the side for float with the other side's multiplier, or a neighbour of it: an engine may
// have cut the multiplier. Returns the steps of `find_steps`.
static unsigned find_beside_float(steps *s, size_t output, rescaling side[2], int as_float,
                                  int64_t a, int64_t b) {
    static const int offsets[] = {0, 1, -1};
    const double few_bits = 0x1p20;  // a neighbour would be another scale
    unsigned found = 0;
    for (size_t i = 0; !found && i < sizeof offsets / sizeof *offsets; i++) {
        take_for_float(s, output, &side[!as_float], as_float, &side[as_float]);
        if (fabs(side[as_float].multiplier) < few_bits && offsets[i]) break;
        side[as_float].multiplier += offsets[i];
        found = find_steps(side, a, b);
    }
    return found;
}

uint32_t steps_explain(steps *s, size_t output, size_t at, int64_t a, int64_t b) {
    rescaling side[2];
    bool first = sums_find(&s->of[0], output, at, &side[0]),
         other = sums_find(&s->of[1], output, at, &side[1]);
    if (!first && !other) return 0;
    unsigned found =
        first && other ? find_steps(side, a, b) : find_beside_float(s, output, side, first, a, b);
    uint32_t reasons = 0;
    for (unsigned one = 1; one < ALL; one *= 2)
        if (found & one) reasons |= add_step_reason(&s->unit->reasons, name_of(side, one));
    return reasons;
}
