// SPDX-License-Identifier: Apache-2.0
// Noise of products nearly adds up, so the products with the greatest noise are the first choice: a
// binary search finds how many of them are needed, and each of them is then taken back if the
// others suffice. Noise does not add up exactly, and products share the codes of a value. So sets
// of fewer products are tried: few sets of a size all, others in the order of the noise that their
// sum predicts, as long as the prediction comes as near to the wanted noise as predictions have
// been wrong.
#include "tools/lab/quantize/keep_search.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    WINDOW = 64,       // products among which sets of one size differ
    MOST_TRIALS = 48,  // sets of one size
    FEW_SETS = 24
};

// A set of products: the first ones, and the bits of the window behind them.
typedef struct candidate {
    uint64_t bits;
    double noise;  // predicted
    bool tried;
} candidate;

typedef struct searching {
    keep_search *s;
    bool *set;     // [product]: the set to try
    double doubt;  // greatest measured / predicted noise, or its reciprocal
    bool *fails;   // [size]: the first products, so many, do not fit
    candidate *list;
    size_t count, capacity;
    size_t first, width;  // of the window
    double outside;       // noise of products behind the window
} searching;

static double predicted(const keep_search *s, const bool *kept) {
    double noise = 0;
    for (size_t i = 0; i < s->count; i++) noise += kept[i] ? 0 : s->noises[i];
    return noise;
}

// Tries the set; keeps it as the result if it fits.
static int try_set(searching *a, bool *fits) {
    keep_search *s = a->s;
    double noise = NAN, expected = predicted(s, a->set);
    *fits = false;
    s->trials++;
    int code = s->measure(s->with, a->set, fits, &noise);
    double factor = noise > 0 && expected > 0 ? noise / expected : 1;
    if (factor < 1) factor = 1 / factor;
    if (isfinite(factor) && factor > a->doubt) a->doubt = factor;
    if (code == 0 && *fits) {
        memcpy(s->kept, a->set, s->count * sizeof *s->kept);
        s->found = true;
    }
    return code;
}

static int try_first(searching *a, size_t count, bool *fits) {
    for (size_t i = 0; i < a->s->count; i++) a->set[i] = i < count;
    int code = try_set(a, fits);
    a->fails[count] = !*fits;
    return code;
}

// Finds how many of the products with the greatest noise are needed.
static int search_count(searching *a) {
    size_t low = 0, high = a->s->count - 1;  // at least one stays on codes
    bool fits;
    int code = try_first(a, 0, &fits);
    if (code != 0 || fits || !high) return code;
    code = try_first(a, high, &fits);
    if (code != 0 || !fits) return code;
    while (code == 0 && high - low > 1) {
        size_t middle = low + (high - low) / 2;
        code = try_first(a, middle, &fits);
        if (fits)
            high = middle;
        else
            low = middle;
    }
    return code;
}

static size_t size_of(const keep_search *s) {
    size_t size = 0;
    for (size_t i = 0; i < s->count; i++) size += s->kept[i];
    return size;
}

// Takes back each product, the one with the least noise first.
static int take_back(searching *a) {
    keep_search *s = a->s;
    bool fits;
    int code = 0;
    for (size_t i = s->count; code == 0 && i-- > 0;) {
        if (!s->kept[i]) continue;
        memcpy(a->set, s->kept, s->count * sizeof *a->set);
        a->set[i] = false;
        code = try_set(a, &fits);
    }
    return code;
}

//---- Sets of one size -------------------------------------------------------

static int add(searching *a, uint64_t bits) {
    double noise = a->outside;
    for (size_t i = 0; i < a->count; i++)
        if (a->list[i].bits == bits) return 0;
    for (size_t i = 0; i < a->width; i++) noise += bits >> i & 1 ? 0 : a->s->noises[a->first + i];
    if (a->count == a->capacity) {
        size_t capacity = 2 * a->capacity + 64;
        candidate *more = realloc(a->list, capacity * sizeof *more);
        if (!more) return -1;
        a->list = more, a->capacity = capacity;
    }
    a->list[a->count++] = (candidate){bits, noise, false};
    return 0;
}

// Adds the sets that exchange one product for the next one, whose noise is not greater.
static int add_next(searching *a, uint64_t bits) {
    int code = 0;
    for (size_t i = 0; code == 0 && i + 1 < a->width; i++)
        if ((bits >> i & 3) == 1) code = add(a, bits + (UINT64_C(1) << i));
    return code;
}

// Begins with the `size` products of the greatest noise.
static int begin_size(searching *a, size_t size) {
    const keep_search *s = a->s;
    a->count = 0;
    a->first = size > WINDOW / 2 ? size - WINDOW / 2 : 0;
    a->width = s->count - a->first < WINDOW ? s->count - a->first : WINDOW;
    a->outside = 0;
    for (size_t i = a->first + a->width; i < s->count; i++) a->outside += s->noises[i];
    return add(a, (UINT64_C(1) << (size - a->first)) - 1);
}

static candidate *least_noise(const searching *a) {
    candidate *best = NULL;
    for (size_t i = 0; i < a->count; i++)
        if (!a->list[i].tried && (!best || a->list[i].noise < best->noise)) best = &a->list[i];
    return best;
}

// True if there are few sets of a size.
static bool has_few_sets(size_t count, size_t size) {
    size_t sets = 1;
    for (size_t i = 0; i < size && sets <= FEW_SETS; i++) sets = sets * (count - i) / (i + 1);
    return sets <= FEW_SETS;
}

// Tries sets of a size until one fits.
static int try_size(searching *a, size_t size, bool *fits) {
    const keep_search *s = a->s;
    bool all = has_few_sets(s->count, size);
    int code = begin_size(a, size);
    *fits = false;
    for (size_t n = 0; code == 0 && n < MOST_TRIALS && !*fits; n++) {
        candidate *best = least_noise(a);
        if (!best || (!all && best->noise > s->wanted * a->doubt)) break;
        uint64_t bits = best->bits;
        best->tried = true;
        for (size_t i = 0; i < s->count; i++)
            a->set[i] = i < a->first || (i < a->first + a->width && bits >> (i - a->first) & 1);
        if (n > 0 || !a->fails[size]) code = try_set(a, fits);
        if (code == 0) code = add_next(a, bits);
    }
    return code;
}

// Tries sets of fewer products than found: with one fewer as long as they fit, then of each size
// with few sets.
static int try_fewer(searching *a) {
    size_t most = a->s->found ? size_of(a->s) : a->s->count;
    bool fits = true;
    int code = 0;
    while (code == 0 && fits && most > 0) {
        code = try_size(a, most - 1, &fits);
        most -= fits;
    }
    for (size_t size = 0; code == 0 && !fits && size + 1 < most; size++)
        if (has_few_sets(a->s->count, size)) code = try_size(a, size, &fits);
    return code;
}

int keep_search_run(keep_search *s) {
    searching a = {.s = s,
                   .set = calloc(s->count + 1, sizeof *a.set),
                   .fails = calloc(s->count + 1, sizeof *a.fails),
                   .doubt = 1.25};
    s->found = false, s->trials = 0;
    int code = a.set && a.fails ? 0 : -1;
    if (code == 0 && s->count) code = search_count(&a);
    if (code == 0 && s->found) code = take_back(&a);
    if (code == 0) code = try_fewer(&a);
    free(a.list);
    free(a.fails);
    free(a.set);
    return code;
}
