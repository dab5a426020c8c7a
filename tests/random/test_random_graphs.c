// SPDX-License-Identifier: Apache-2.0
// Random graphs of all ops give the same bits fused, node by node and on devices, in rows and in
// tiles, on one to three threads, with every instruction set and plain C, and after being written
// and read again. Kept values have the bits that they have as outputs. Where scales are powers of
// two, fast execution gives the same bits too. With floats stored as bfloat16, each node computes
// its own numbers, rounded. Buffers on a device never overlap, and all but outputs are freed.
// Broken graphs are refused.
//
//     test_random_graphs [--seed N] [--count N] [--write FOLDER] [--digest]
//
// --write only writes the graphs as files; --digest prints one line for each graph, so that two
// builds can be compared. A failure names the seed of its graph.
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/numerics/dtype.h"
#include "tests/device_plan_check.h"
#include "tests/random/random.h"

// The bytes of all outputs, one after the other.
typedef struct results {
    unsigned char *bytes;
    size_t count;
} results;

static char folder[64];
static size_t ops_seen[256], on_integers;

static bool told(uint64_t seed, const char *what, const char *why) {
    printf("FAIL seed %llu: %s: %s\n", (unsigned long long)seed, what, why);
    return false;
}

//---- Runs -------------------------------------------------------------------

static void write_inputs(const random_graph *g, uint64_t seed, qdq_exec *exec) {
    random_source r = {seed ^ 0x5EED};
    for (size_t i = 0; i < g->input_count; i++) {
        const random_input *input = &g->inputs[i];
        char *data = calloc(input->count, 8);
        if (!data) abort();
        random_elements(&r, g->taste, input->dtype, input->fill, data, input->count);
        if (qdq_exec_write(exec, input->name, input->dtype, data, input->count, NULL)) abort();
        free(data);
    }
}

static results read_outputs(const qdq_exec *exec, const qdq_plan *plan) {
    results r = {0};
    for (size_t i = 0; i < qdq_plan_output_count(plan); i++)
        r.count += qdq_plan_output(plan, i)->bytes;
    unsigned char *at = r.bytes = malloc(r.count + 1);
    if (!at) abort();
    for (size_t i = 0; i < qdq_plan_output_count(plan); i++) {
        const qdq_tensor_info *y = qdq_plan_output(plan, i);
        if (qdq_exec_read(exec, y->name, y->dtype, at, qdq_shape_count(y->shape), NULL)) abort();
        at += y->bytes;
    }
    return r;
}

// Says how the lifetimes of a plan are broken; NULL: they are not.
static const char *lifetimes_broken(const qdq_plan *plan) {
    qdq_plan_stats stats = qdq_plan_get_stats(plan);
    for (size_t i = 0; i < stats.value_count; i++) {
        const qdq_plan_value *v = qdq_plan_get_value(plan, i);
        if (v->first_step > v->last_step) return "a value ends before it begins";
        if (v->last_step >= stats.step_count) return "a value lives after the last step";
    }
    return stats.peak_live_bytes > stats.arena_bytes ? "the peak is above the arena" : NULL;
}

static results run(const random_graph *g, uint64_t seed, qdq_compile_options options, int threads,
                   qdq_error *err) {
    results r = {0};
    qdq_exec_options how = {.poison = true, .parallel = qdq_parallel_openmp(threads)};
    how.parallel.least = 0;
    qdq_plan *plan = qdq_graph_compile(g->graph, &options, err);
    qdq_exec *exec = plan ? qdq_exec_create(plan, &how, err) : NULL;
    const char *broken = plan ? lifetimes_broken(plan) : NULL;
    if (!broken && qdq_plan_device(plan)) broken = device_plan_broken(plan);
    if (broken && !err->status) {
        err->status = QDQ_ERR_GRAPH;
        snprintf(err->text, sizeof err->text, "%s", broken);
    }
    if (exec && !broken) {
        write_inputs(g, seed, exec);
        qdq_exec_run(exec);
        r = read_outputs(exec, plan);
    }
    for (size_t i = 0; exec && i < qdq_plan_get_stats(plan).step_count; i++)
        on_integers += strstr(qdq_plan_get_step(plan, i)->text, " on codes ") != NULL;
    qdq_exec_destroy(exec), qdq_plan_destroy(plan);
    return r;
}

static bool equals(const random_graph *g, uint64_t seed, qdq_compile_options options, int threads,
                   const results *wanted, const char *what) {
    qdq_error err = {0};
    results got = run(g, seed, options, threads, &err);
    bool same = got.bytes && got.count == wanted->count &&
                (!wanted->bytes || memcmp(got.bytes, wanted->bytes, got.count) == 0);
    if (!same) told(seed, what, err.status ? err.text : "other bits");
    free(got.bytes);
    return same;
}

//---- A graph ----------------------------------------------------------------

static bool write_file(const random_graph *g, uint64_t seed, const char *where, char path[512]) {
    qdq_error err = {0};
    snprintf(path, 512, "%s/random_%llu.json", where, (unsigned long long)seed);
    return qdq_graph_write(g->graph, path, &err) == QDQ_OK || told(seed, "write", err.text);
}

static bool check_reloaded(const random_graph *g, uint64_t seed, const results *wanted) {
    char path[512];
    qdq_error err = {0};
    random_graph again = *g;
    if (!write_file(g, seed, folder, path)) return false;
    again.graph = qdq_graph_load(path, NULL, &err);
    bool same = again.graph ? equals(&again, seed, (qdq_compile_options){0}, 1, wanted, "reloaded")
                            : told(seed, "load", err.text);
    qdq_graph_destroy(again.graph);
    unlink(path);
    strcpy(strrchr(path, '.'), ".safetensors");
    unlink(path);
    return same;
}

static bool check_ways(const random_graph *g, uint64_t seed, const results *wanted) {
    qdq_compile_options fused = {.layout = QDQ_PLAN_ROWS}, apart = {.materialize = true};
    qdq_compile_options portable = {.layout = QDQ_PLAN_ROWS, .isa = "portable"};
    qdq_compile_options tiled = {.layout = QDQ_PLAN_TILES};
    qdq_compile_options kept = {.layout = QDQ_PLAN_ROWS, .keep_all = true};
    qdq_compile_options plain_tiles = {.layout = QDQ_PLAN_TILES, .isa = "portable"};
    bool same = equals(g, seed, fused, 2, wanted, "2 threads");
    same &= equals(g, seed, fused, 3, wanted, "3 threads");
    same &= equals(g, seed, portable, 1, wanted, "portable");
    same &= equals(g, seed, apart, 1, wanted, "materialized");
    same &= equals(g, seed, apart, 2, wanted, "materialized, 2 threads");
    same &= equals(g, seed, tiled, 1, wanted, "tiled");
    same &= equals(g, seed, tiled, 3, wanted, "tiled, 3 threads");
    same &= equals(g, seed, plain_tiles, 1, wanted, "tiled, portable");
    same &= equals(g, seed, kept, 2, wanted, "kept");
    const char *device = seed % 2 ? "n150" : "p150";
    same &= equals(g, seed, (qdq_compile_options){.device = qdq_device_find(device, NULL)}, 1,
                   wanted, device);
    for (size_t i = 0; qdq_isa_get(i).name; i++) {
        qdq_compile_options isa = {.layout = QDQ_PLAN_ROWS, .isa = qdq_isa_get(i).name};
        if (qdq_isa_get(i).available) same &= equals(g, seed, isa, 1, wanted, isa.isa);
    }
    return same;
}

// Gives most inputs and first outputs tiles of random shapes.
static void give_tiles(const random_graph *g, uint64_t seed) {
    static const uint32_t heights[] = {32, 16, 8, 4, 2, 1};
    random_source random = {seed};
    size_t nodes = qdq_graph_node_count(g->graph);
    for (size_t i = 0; i < g->input_count + nodes; i++) {
        const char *name = i < nodes ? qdq_graph_node(g->graph, i).name : g->inputs[i - nodes].name;
        qdq_tile_shape tile = {heights[random_below(&random, 6)],
                               random_below(&random, 2) ? 32 : 16, false};
        tile.transpose = tile.height >= 16 && random_below(&random, 2);
        if (random_below(&random, 3)) qdq_set_tile(g->graph, qdq_graph_find(g->graph, name), tile);
    }
}

// Runs with values in tiles of all shapes.
static bool check_tile_shapes(const random_graph *g, uint64_t seed, const results *wanted) {
    qdq_compile_options tiled = {.layout = QDQ_PLAN_TILES}, apart = {.materialize = true};
    random_graph shaped = random_graph_make(seed, g->taste, false);
    give_tiles(&shaped, seed);
    bool same = equals(&shaped, seed, tiled, 1, wanted, "tiles of all shapes");
    same &= equals(&shaped, seed, tiled, 3, wanted, "tiles of all shapes, 3 threads");
    same &= equals(&shaped, seed, apart, 2, wanted, "tiles of all shapes, materialized");
    qdq_graph_destroy(shaped.graph);
    return same;
}

//---- Kept values ------------------------------------------------------------

// The values that nodes make, and their outputs in a graph that returns them all.
typedef struct every_value {
    const char *names[RANDOM_MAX_MADE];
    char outputs[RANDOM_MAX_MADE][16];
    size_t count;
} every_value;

static void list_values(const random_graph *g, const random_graph *returning, every_value *all) {
    for (size_t i = 0; i < g->made_count; i++) {
        snprintf(all->outputs[i], sizeof all->outputs[i], "every%zu", i);
        qdq_output(returning->graph, all->outputs[i], returning->made[i]);
        all->names[i] = qdq_value_name(g->graph, g->made[i]);
    }
    all->count = g->made_count;
}

static qdq_exec *run_exec(const random_graph *g, uint64_t seed, const qdq_plan *plan) {
    qdq_exec *exec = qdq_exec_create(plan, &(qdq_exec_options){.poison = true}, NULL);
    if (!exec) abort();
    write_inputs(g, seed, exec);
    qdq_exec_run(exec);
    return exec;
}

static const qdq_tensor_info *output_info(const qdq_plan *plan, const char *name) {
    size_t i = 0;
    while (strcmp(qdq_plan_output(plan, i)->name, name) != 0) i++;
    return qdq_plan_output(plan, i);
}

// Compares each kept value of a run with the output that returns it.
static bool compare_kept(uint64_t seed, const qdq_exec *exec, const qdq_exec *returning,
                         const qdq_plan *returning_plan, const every_value *all, size_t step,
                         const char *what) {
    bool same = true;
    for (size_t i = 0; i < all->count; i += step) {
        qdq_error err = {0};
        const qdq_tensor_info *info = output_info(returning_plan, all->outputs[i]);
        size_t count = qdq_shape_count(info->shape);
        char *wanted = malloc(info->bytes + 1), *got = malloc(info->bytes + 1);
        if (!wanted || !got ||
            qdq_exec_read(returning, info->name, info->dtype, wanted, count, NULL))
            abort();
        if (qdq_exec_read(exec, all->names[i], info->dtype, got, count, &err))
            same = told(seed, what, err.text);
        else if (memcmp(got, wanted, info->bytes) != 0)
            same = told(seed, what, all->names[i]);
        free(wanted), free(got);
    }
    return same;
}

static bool check_kept(const random_graph *g, uint64_t seed) {
    qdq_error err = {0};
    every_value all = {0};
    random_graph returning = random_graph_make(seed, g->taste, false);
    list_values(g, &returning, &all);
    const char *third[RANDOM_MAX_MADE];
    size_t count = 0;
    for (size_t i = 0; i < all.count; i += 3) third[count++] = all.names[i];
    const qdq_compile_options ways[] = {
        {.layout = QDQ_PLAN_ROWS, .keep_all = true},
        {.layout = QDQ_PLAN_TILES, .keep_all = true},
        {.materialize = true},
        {.layout = QDQ_PLAN_ROWS, .keep = third, .keep_count = count},
        {.layout = QDQ_PLAN_TILES, .keep = third, .keep_count = count},
    };
    static const char *const names[] = {"keep all", "tiled, keep all", "materialize", "keep",
                                        "tiled, keep"};
    qdq_plan *wanted_plan = qdq_graph_compile(returning.graph, NULL, &err);
    if (!wanted_plan) return told(seed, "returning every value", err.text);
    qdq_exec *wanted = run_exec(&returning, seed, wanted_plan);
    bool same = true;
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        qdq_plan *plan = qdq_graph_compile(g->graph, &ways[i], &err);
        if (!plan) return told(seed, names[i], err.text);
        qdq_exec *exec = run_exec(g, seed, plan);
        same &= compare_kept(seed, exec, wanted, wanted_plan, &all, i < 3 ? 1 : 3, names[i]);
        qdq_exec_destroy(exec), qdq_plan_destroy(plan);
    }
    qdq_exec_destroy(wanted), qdq_plan_destroy(wanted_plan);
    qdq_graph_destroy(returning.graph);
    return same;
}

//---- Stored as bfloat16 -----------------------------------------------------

// A run that stores floats as bfloat16, and one that returns every value, in float32.
typedef struct stored_runs {
    const random_graph *g;
    uint64_t seed;
    const qdq_plan *plain;
    const qdq_exec *wanted, *stored;
    every_value all;
    bool equal[RANDOM_MAX_MADE];  // whether nodes read the same elements in both
} stored_runs;

// The place of a value in `all`; its count for inputs and constants.
static size_t made_index(const stored_runs *r, qdq_value value) {
    size_t i = 0;
    while (i < r->all.count && r->g->made[i].id != value.id) i++;
    return i;
}

// Whether a node has the same operands in both runs: none that another node makes, or with
// `chained` those that are equal. A scatter that adds rounds each sum to the dtype of y, and is
// left out.
static bool can_be_compared(const stored_runs *r, size_t node, bool chained) {
    bool same = strncmp(qdq_graph_node(r->g->graph, node).op, "Scatter", 7) != 0;
    for (size_t i = 0; i < qdq_graph_node(r->g->graph, node).input_count; i++) {
        size_t made = made_index(r, qdq_graph_node_input(r->g->graph, node, i));
        same &= made == r->all.count || (chained && r->equal[made]);
    }
    return same;
}

// Whether a bfloat16 is within its rounding of a float32, or both are below normal numbers. The
// wide number that was rounded to either may lie between them, so this is not exact.
static bool is_near(float got, float number) {
    if (!isfinite(number) || isnan(got)) return true;
    if (isinf(got)) return number * copysignf(1, got) >= 0x1.FFp127F;  // rounds to infinity
    return fabsf(got - number) <= fabsf(number) * 0x1.01p-8F + FLT_MIN;
}

static bool compare_numbers(const stored_runs *r, const char *name, const float *numbers,
                            const float *got, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (is_near(got[i], numbers[i])) continue;
        char text[160];
        snprintf(text, sizeof text, "%s, element %zu: got %a, its number is %a", name, i,
                 (double)got[i], (double)numbers[i]);
        return told(r->seed, "stored as bfloat16", text);
    }
    return true;
}

// Compares a value of both runs, and notes whether nodes read the same.
static bool compare_stored(stored_runs *r, size_t made, bool comparable) {
    const qdq_tensor_info *info = output_info(r->plain, r->all.outputs[made]);
    const char *name = r->all.names[made];
    bool is_float = qdq_dtype_get(info->dtype)->kind == QDQ_KIND_FLOAT, same = true;
    qdq_dtype dtype = is_float ? QDQ_FLOAT32 : info->dtype;
    size_t count = qdq_shape_count(info->shape);
    void *wanted = calloc(count + 1, QDQ_MAX_ELEMENT_BYTES);
    void *got = calloc(count + 1, QDQ_MAX_ELEMENT_BYTES);
    if (!wanted || !got || qdq_exec_read(r->wanted, info->name, dtype, wanted, count, NULL) ||
        qdq_exec_read(r->stored, name, dtype, got, count, NULL))
        abort();
    float *numbers = wanted;
    if (info->dtype == QDQ_FLOAT32) {
        same = !comparable || compare_numbers(r, name, numbers, got, count);
        for (size_t i = 0; i < count; i++)
            numbers[i] = qdq_round_to_dtype(QDQ_BFLOAT16, numbers[i], NULL);
    }
    r->equal[made] = memcmp(wanted, got, count * qdq_dtype_size(dtype)) == 0;
    free(wanted), free(got);
    return same;
}

// With floats stored as bfloat16, a node computes from the same operands the numbers that it
// computes without, rounded. With the numerics of an imaginary backend, which every second graph
// has, only nodes that read no results are compared: orders of sums may go by the dtype of an
// operand. The backend is no chip, which computes functions by other kernels for each dtype.
static bool check_stored(const random_graph *g, uint64_t seed) {
    qdq_error err = {0};
    stored_runs r = {.g = g, .seed = seed};
    random_source numbers = {seed ^ 0x570E};
    qdq_numerics numerics = random_numerics(&numbers);
    numerics.bfloat16_store = 0, numerics.float_overflow = 0, numerics.multiply_add = 0;
    bool chained = seed & 1;
    random_graph rounded = random_graph_make_rounded(seed, g->taste);
    list_values(g, &rounded, &r.all);
    qdq_compile_options declared = {.numerics = chained ? NULL : &numerics}, narrow = declared;
    narrow.float_storage = QDQ_FLOAT_BFLOAT16, narrow.keep_all = true;
    qdq_plan *plain = qdq_graph_compile(rounded.graph, &declared, &err);
    qdq_plan *plan = plain ? qdq_graph_compile(g->graph, &narrow, &err) : NULL;
    if (!plan) {
        qdq_plan_destroy(plain), qdq_graph_destroy(rounded.graph);
        return told(seed, "stored as bfloat16", err.text);
    }
    qdq_exec *wanted = run_exec(&rounded, seed, plain), *stored = run_exec(g, seed, plan);
    r.plain = plain, r.wanted = wanted, r.stored = stored;
    bool same = true;
    for (size_t n = 0, made = 0; n < qdq_graph_node_count(g->graph); n++) {
        bool comparable = can_be_compared(&r, n, chained);
        for (size_t i = 0; i < qdq_graph_node(g->graph, n).output_count; i++, made++)
            same &= compare_stored(&r, made, comparable);
    }
    qdq_exec_destroy(stored), qdq_exec_destroy(wanted);
    qdq_plan_destroy(plan), qdq_plan_destroy(plain);
    qdq_graph_destroy(rounded.graph);
    return same;
}

//---- Other options ----------------------------------------------------------

// Options that change the results, though in the same way in every mode: floats between nodes
// stored as bfloat16, and the numerics of an imaginary backend.
static bool check_others(const random_graph *g, uint64_t seed) {
    random_source r = {seed ^ 0x07E6};
    const qdq_numerics numerics = random_numerics(&r);
    const qdq_compile_options options[] = {{.float_storage = QDQ_FLOAT_BFLOAT16},
                                           {.numerics = &numerics}};
    static const char *const what[] = {"bfloat16 storage", "other numerics"};
    bool same = true;
    for (int i = 0; i < 2; i++) {
        qdq_error err = {0};
        qdq_compile_options apart = options[i], portable = options[i];
        qdq_compile_options tiled = options[i];
        apart.materialize = true, portable.isa = "portable", tiled.layout = QDQ_PLAN_TILES;
        portable.layout = QDQ_PLAN_ROWS;
        results wanted = run(g, seed, options[i], 1, &err);
        if (!wanted.bytes) {
            same = told(seed, what[i], err.text);
        } else {
            same &= equals(g, seed, apart, 2, &wanted, what[i]);
            same &= equals(g, seed, tiled, 2, &wanted, what[i]);
            same &= equals(g, seed, portable, 1, &wanted, what[i]);
        }
        free(wanted.bytes);
    }
    return same;
}

static bool check_fast(const random_graph *g, uint64_t seed, const results *wanted) {
    qdq_error err = {0};
    qdq_compile_options fast = {.fast = true};
    if (g->taste == RANDOM_EXACT) return equals(g, seed, fast, 2, wanted, "fast");
    results r = run(g, seed, fast, 2, &err);
    free(r.bytes);
    return r.bytes || told(seed, "fast", err.text);
}

static uint64_t digest_of(const results *r) {
    uint64_t hash = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < r->count; i++) hash = (hash ^ r->bytes[i]) * UINT64_C(1099511628211);
    return hash;
}

static void note_ops(const random_graph *g) {
    for (size_t i = 0; i < qdq_graph_node_count(g->graph); i++)
        for (size_t op = 0; op < qdq_op_count(); op++)
            ops_seen[op] += !strcmp(qdq_op_get(op).name, qdq_graph_node(g->graph, i).op);
}

static bool check_valid(uint64_t seed, bool digest) {
    qdq_error err = {0};
    random_graph g = random_graph_make(seed, seed % 3 ? RANDOM_ODD : RANDOM_EXACT, false);
    results wanted = run(&g, seed, (qdq_compile_options){0}, 1, &err);
    note_ops(&g);
    bool fine = wanted.bytes || told(seed, "fused", err.text);
    if (fine && digest)
        printf("%llu %016llx\n", (unsigned long long)seed, (unsigned long long)digest_of(&wanted));
    if (fine && !digest) {
        fine = check_ways(&g, seed, &wanted);
        fine &= check_tile_shapes(&g, seed, &wanted);
        fine &= check_reloaded(&g, seed, &wanted);
        fine &= check_kept(&g, seed);
        fine &= check_fast(&g, seed, &wanted);
        fine &= check_others(&g, seed);
        fine &= check_stored(&g, seed);
    }
    free(wanted.bytes);
    qdq_graph_destroy(g.graph);
    return fine;
}

// A broken graph is refused by every entry, or turns out to be valid and runs. Nothing crashes.
static bool check_broken(uint64_t seed) {
    qdq_error err = {0};
    random_graph g = random_graph_make(seed, RANDOM_ODD, true);
    const qdq_report *report = qdq_graph_validate(g.graph, NULL, &err);
    if (!report) return told(seed, "broken", err.text);
    size_t errors = report->errors;
    for (size_t t = 0; t < qdq_target_count(); t++)
        (void)qdq_graph_validate(g.graph, qdq_target_get(t).name, NULL);
    results r = run(&g, seed, (qdq_compile_options){0}, 1, &err);
    bool fine = (r.bytes == NULL) == (errors > 0 || err.status == QDQ_ERR_LIMIT) ||
                told(seed, "broken", errors ? "ran" : err.text);
    free(r.bytes);
    qdq_graph_destroy(g.graph);
    return fine;
}

//---- Many graphs ------------------------------------------------------------

static bool every_op_was_there(void) {
    bool all = true;
    size_t rarest = 0;
    for (size_t op = 0; op < qdq_op_count(); op++) {
        if (ops_seen[op] < ops_seen[rarest]) rarest = op;
        if (ops_seen[op]) continue;
        printf("FAIL no graph has an op %s\n", qdq_op_get(op).name);
        all = false;
    }
    printf("rarest op: %s, %zu times\n", qdq_op_get(rarest).name, ops_seen[rarest]);
    return all;
}

static int write_all(uint64_t seed, uint64_t count, const char *where) {
    int failed = 0;
    for (uint64_t i = 0; i < count; i++) {
        char path[512];
        random_graph g = random_graph_make(seed + i, RANDOM_ODD, false);
        failed += !write_file(&g, seed + i, where, path);
        qdq_graph_destroy(g.graph);
    }
    return failed > 0;
}

int main(int argc, char **argv) {
    uint64_t seed = 1, count = 500, failed = 0;
    const char *where = NULL;
    bool digest = false;
    for (int i = 1; i < argc; i++) {
        bool more = i + 1 < argc;
        if (more && !strcmp(argv[i], "--seed"))
            seed = strtoull(argv[++i], NULL, 10);
        else if (more && !strcmp(argv[i], "--count"))
            count = strtoull(argv[++i], NULL, 10);
        else if (more && !strcmp(argv[i], "--write"))
            where = argv[++i];
        else if (!strcmp(argv[i], "--digest"))
            digest = true;
        else
            return fprintf(stderr, "unknown: %s; see the head of the file\n", argv[i]), 2;
    }
    if (where) return write_all(seed, count, where);
    const char *slow = digest ? NULL : getenv("QDQ_SLOW");  // as in unit.h
    if (slow) seed += count * strtoull(slow, NULL, 10), count = (count + 3) / 4;
    strcpy(folder, "/tmp/qdq-random-XXXXXX");
    if (!mkdtemp(folder)) return 1;
    for (uint64_t i = 0; i < count; i++) {
        failed += !check_valid(seed + i, digest);
        if (!digest) failed += !check_broken(seed + i);
    }
    rmdir(folder);
    if (digest) return failed > 0;
    if (count >= qdq_op_count()) failed += !every_op_was_there();
    printf("%zu steps on codes\n", on_integers);
    if (count >= 500 && !on_integers) failed++;
    printf("%llu graphs from seed %llu, %llu failed\n", (unsigned long long)count,
           (unsigned long long)seed, (unsigned long long)failed);
    return failed > 0;
}
