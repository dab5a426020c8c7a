// SPDX-License-Identifier: Apache-2.0
// qdq plan: prints the steps, the arena, the lifetime of each value, a map of the arena, and the
// memory of the device.
#include <qdq/inspect.h>
#include <qdq/tile.h>
#include <string.h>

#include "runtime/base/did_you_mean.h"
#include "tools/check/bits.h"
#include "tools/commands.h"
#include "tools/common.h"
#include "tools/failure.h"
#include "tools/html/report_file.h"
#include "tools/options.h"
#include "tools/options/plan.h"
#include "tools/plan/capture.h"
#include "tools/plan/device_text.h"
#include "tools/plan/device_view.h"
#include "tools/plan/emit_c.h"
#include "tools/plan/from_capture.h"
#include "tools/plan/memory_csv.h"
#include "tools/plan/memory_json.h"
#include "tools/plan/rewrites.h"

//---- The picture ------------------------------------------------------------

enum {
    MAP_COLUMNS = 64,
    MAP_STEPS = 32,  // a tiled plan of up to so many is drawn unasked
};

// Prints a row per step and a column per range of the arena, with the letter of the value there. If
// a value replaces another in place, the cell shows the newer value.
static void print_map(const qdq_plan *plan) {
    qdq_plan_stats stats = qdq_plan_get_stats(plan);
    if (stats.arena_bytes == 0) {
        printf("\nThe arena is empty: every value lives in L1 or in the caller's memory.\n");
        return;
    }
    size_t columns = stats.arena_bytes / 512 < MAP_COLUMNS ? stats.arena_bytes / 512 : MAP_COLUMNS;
    if (columns == 0) columns = 1;
    printf("\narena, %.0f bytes a column ('.' is free)\n",
           (double)stats.arena_bytes / (double)columns);
    for (size_t step = 0; step < stats.step_count; step++) {
        char row[MAP_COLUMNS + 1];
        memset(row, '.', columns);
        row[columns] = '\0';
        for (size_t v = 0; v < stats.value_count; v++) {
            const qdq_plan_value *value = qdq_plan_get_value(plan, v);
            if (step < value->first_step || step > value->last_step) continue;
            size_t begin = value->offset * columns / stats.arena_bytes;
            size_t end = (value->offset + value->bytes) * columns / stats.arena_bytes;
            if (end == begin) end++;
            for (size_t c = begin; c < end && c < columns; c++) row[c] = letter_of(v);
        }
        printf("  step %-3zu |%s|\n", step, row);
    }
}

//---- Text -------------------------------------------------------------------

static double percent(size_t part, size_t whole) {
    return whole ? 100.0 * (double)part / (double)whole : 0;
}

// Returns the bytes of a value's tiles that hold no element. Elements that share bytes, or an
// exponent, do so in groups that divide a tile.
static size_t padding_of(const qdq_plan_value *v) {
    if (!v->tiles) return 0;
    size_t elements = qdq_shape_count(v->shape), tile = v->bytes / v->tiles;
    size_t whole = (size_t)v->tile.height * v->tile.width;
    size_t rest = elements % whole * tile;
    return v->bytes - elements / whole * tile - (rest + whole - 1) / whole;
}

static size_t pages_of(const qdq_plan_value *v, const qdq_plan_stats *stats) {
    return stats->tiled ? (v->bytes + stats->page_bytes - 1) / stats->page_bytes : 0;
}

// Prints a line for each value, in a tiled plan with the padding and the pages of its tiles.
static void print_values(const qdq_plan *plan, const qdq_plan_stats *stats) {
    char shape[128], tiles[32], more[64] = "";
    if (stats->value_count == 0) return;
    if (stats->tiled) snprintf(more, sizeof more, " %9s %6s", "padding", "pages");
    printf("\n   %-24s %-9s %-18s %9s%s %10s %10s  %s\n", "value", "dtype", "shape", "tiles", more,
           "bytes", "offset", "steps");
    for (size_t i = 0; i < stats->value_count; i++) {
        const qdq_plan_value *v = qdq_plan_get_value(plan, i);
        snprintf(tiles, sizeof tiles, "row-major");
        if (v->tiles) snprintf(tiles, sizeof tiles, "%zu", v->tiles);
        if (stats->tiled)
            snprintf(more, sizeof more, " %7.1f %% %6zu", percent(padding_of(v), v->bytes),
                     pages_of(v, stats));
        printf(" %c %-24s %-9s %-18s %9s%s %10zu %10zu  %zu-%zu", letter_of(i), v->name,
               qdq_dtype_name(v->dtype), qdq_write_shape(v->shape, shape, sizeof shape), tiles,
               more, v->bytes, v->offset, v->first_step, v->last_step);
        print_tile(v->tile);
        printf("\n");
    }
}

static const char *block_noun(const qdq_plan_step *step) {
    if (strcmp(step->shape, "tensor_op") == 0) return "unit";
    return step->tiled ? "tile" : "strip";
}

static size_t tiled_values(const qdq_plan *plan, const qdq_plan_stats *stats) {
    size_t count = 0;
    for (size_t i = 0; i < stats->value_count; i++) count += qdq_plan_get_value(plan, i)->tiles > 0;
    return count;
}

// Prints a step in a line:
// " 3  x -> Quantize q -> output y  (blocks, 4 strips, streamed, reads 4096, writes 1024 bytes)"
// " 3  q -> Quantize r  (blocks, 4 tiles, row-major to tiles, reads 4096, writes 1024 bytes)"
static void print_step(size_t number, const qdq_plan_step *step, bool node_by_node) {
    bool tiles = strstr(step->reads, "tiles") || strstr(step->writes, "tiles");
    printf(" %3zu  %s  (%s, %zu %s%s", number, step->text, step->shape, step->blocks,
           block_noun(step), step->blocks == 1 ? "" : "s");
    if (step->streamed) printf(", streamed");
    if (tiles) printf(", %s to %s", step->reads, step->writes);
    printf(", reads %zu, writes %zu bytes", step->read_bytes, step->write_bytes);
    if (step->scratch_bytes) printf(", copies in %zu bytes of scratch", step->scratch_bytes);
    printf(")\n");
    // A tensor op always begins a step, which its shape already shows.
    if (step->apart && !node_by_node && strcmp(step->apart, "tensor-op") != 0)
        printf("      not fused with the step that makes '%s': %s\n", step->apart_from,
               step->apart_text);
}

static bool is_node_by_node(const qdq_plan *plan) {
    const qdq_plan_step *step;
    for (size_t i = 0; (step = qdq_plan_get_step(plan, i)); i++)
        if (step->apart && strcmp(step->apart, "node-by-node") == 0) return true;
    return false;
}

static void print_plan(const qdq_plan *plan, bool map) {
    qdq_plan_stats s = qdq_plan_get_stats(plan);
    bool node_by_node = is_node_by_node(plan);
    size_t bytes = 0;
    for (size_t i = 0; i < s.value_count; i++) bytes += qdq_plan_get_value(plan, i)->bytes;
    if (s.tiled)
        printf("arena            %zu bytes, tiled (%zu pages of %zu)\n", s.arena_bytes,
               s.arena_bytes / s.page_bytes, s.page_bytes);
    else
        printf("arena            %zu bytes, row-major; inputs and outputs are streamed\n",
               s.arena_bytes);
    printf("peak of live     %zu bytes, the least possible (arena is %.2f times it)\n",
           s.peak_live_bytes,
           s.peak_live_bytes ? (double)s.arena_bytes / (double)s.peak_live_bytes : 1);
    if (s.tiles) printf("tiles            %zu in %zu values\n", s.tiles, tiled_values(plan, &s));
    printf("padding          %zu bytes (%.1f %% of %zu bytes of values)\n", s.padding_bytes,
           percent(s.padding_bytes, bytes), bytes);
    printf("inputs, outputs  %zu bytes, row-major\n", s.io_bytes);
    printf("constants        %zu bytes\n", s.constant_bytes);
    printf("scratch          %zu bytes\n", s.scratch_bytes);
    printf("moved by steps   %zu bytes, %.2f times the necessary %zu\n", s.moved_bytes,
           moved_over_necessary(plan), s.necessary_bytes);
    printf("operations       %zu\n\nsteps%s\n", s.operations, node_by_node ? ", node by node" : "");
    for (size_t i = 0; i < s.step_count; i++)
        print_step(i, qdq_plan_get_step(plan, i), node_by_node);
    print_values(plan, &s);
    bool short_and_tiled = s.tiled && !qdq_plan_device(plan) && s.step_count <= MAP_STEPS;
    if (map || short_and_tiled) print_map(plan);
    print_device(plan);
}

//---- JSON -------------------------------------------------------------------

static void json_value(qdq_json *json, const qdq_plan *plan, size_t value) {
    const qdq_plan_value *v = qdq_plan_get_value(plan, value);
    qdq_plan_stats stats = qdq_plan_get_stats(plan);
    qdq_json_begin_object(json);
    json_string_key(json, "name", v->name);
    json_string_key(json, "dtype", qdq_dtype_name(v->dtype));
    qdq_json_key(json, "shape");
    json_shape(json, v->shape);
    qdq_json_key(json, "padded_shape");
    json_shape(json, v->padded_shape);
    json_uint_key(json, "tiles", v->tiles);
    json_tile(json, v->tile);
    json_uint_key(json, "bytes", v->bytes);
    json_uint_key(json, "padding_bytes", padding_of(v));
    json_uint_key(json, "pages", pages_of(v, &stats));
    json_uint_key(json, "offset", v->offset);
    json_uint_key(json, "first_step", v->first_step);
    json_uint_key(json, "last_step", v->last_step);
    json_value_buffer(json, plan, value);
    qdq_json_end_object(json);
}

// Writes "not_fused": null, or the step that this one was not fused with, and the reason.
static void json_apart(qdq_json *json, const qdq_plan_step *step) {
    qdq_json_key(json, "not_fused");
    if (!step->apart) {
        qdq_json_null(json);
        return;
    }
    qdq_json_begin_object(json);
    json_string_key(json, "value", step->apart_from);
    json_string_key(json, "reason", step->apart);
    json_string_key(json, "because", step->apart_text);
    qdq_json_end_object(json);
}

static void json_step(qdq_json *json, const qdq_plan_step *step) {
    qdq_json_begin_object(json);
    json_string_key(json, "chain", step->text);
    json_string_key(json, "shape", step->shape);
    json_string_key(json, "blocks_are", step->tiled ? "tiles" : "strips");
    json_uint_key(json, "blocks", step->blocks);
    json_string_key(json, "reads", step->reads);
    json_string_key(json, "writes", step->writes);
    qdq_json_key(json, "streamed");
    qdq_json_bool(json, step->streamed);
    json_uint_key(json, "read_bytes", step->read_bytes);
    json_uint_key(json, "write_bytes", step->write_bytes);
    json_uint_key(json, "scratch_bytes", step->scratch_bytes);
    json_apart(json, step);
    qdq_json_end_object(json);
}

static void json_plan(qdq_json *json, const qdq_plan *plan) {
    qdq_plan_stats s = qdq_plan_get_stats(plan);
    json_uint_key(json, "arena_bytes", s.arena_bytes);
    json_uint_key(json, "peak_live_bytes", s.peak_live_bytes);
    json_uint_key(json, "padding_bytes", s.padding_bytes);
    json_uint_key(json, "tiles", s.tiles);
    qdq_json_key(json, "tiled");
    qdq_json_bool(json, s.tiled);
    json_uint_key(json, "page_bytes", s.page_bytes);
    json_uint_key(json, "io_bytes", s.io_bytes);
    json_uint_key(json, "constant_bytes", s.constant_bytes);
    json_uint_key(json, "scratch_bytes", s.scratch_bytes);
    json_traffic(json, plan);
    json_uint_key(json, "operations", s.operations);
    qdq_json_key(json, "values");
    qdq_json_begin_array(json);
    for (size_t i = 0; i < s.value_count; i++) json_value(json, plan, i);
    qdq_json_end_array(json);
    qdq_json_key(json, "steps");
    qdq_json_begin_array(json);
    for (size_t i = 0; i < s.step_count; i++) json_step(json, qdq_plan_get_step(plan, i));
    qdq_json_end_array(json);
}

// `bits`: the report with the bits of the nodes.
static void print_json(const qdq_plan *plan, const qdq_graph *deployed, const options *opt,
                       size_t paged, const qdq_report *bits) {
    qdq_json json;
    json_begin(&json);
    json_string_key(&json, "graph", opt->operands.items[0]);
    json_plan(&json, plan);
    json_rewrites(&json, deployed);
    json_device(&json, plan);
    if (paged != SIZE_MAX) json_pages(&json, plan, paged);
    json_bits(&json, bits);
    json_end(&json);
}

static int write_page(const qdq_plan *plan, const qdq_graph *deployed, const options *opt,
                      const char *target, const qdq_report *bits) {
    report_file page;
    int code = report_file_open(&page, "plan", opt, deployed);
    if (code == EXIT_OK) code = report_file_bits(&page, target, bits);
    qdq_json *json = report_file_json(&page);
    if (json) {
        qdq_json_begin_object(json);
        json_plan(json, plan);
        json_rewrites(json, deployed);
        json_device(json, plan);
        qdq_json_end_object(json);
    }
    return report_file_close(&page, code);
}

//---- The device -------------------------------------------------------------

// Finds the buffer that --pages names. Sets *out to SIZE_MAX without the option.
static int find_paged(const qdq_device_plan *p, const char *name, size_t *out) {
    *out = SIZE_MAX;
    if (!name) return EXIT_OK;
    for (size_t i = 0; i < p->buffer_count; i++)
        if (strcmp(p->buffers[i].name, name) == 0) *out = i;
    if (*out != SIZE_MAX) return EXIT_OK;
    const char *near = NULL;
    for (size_t i = 0; i < p->buffer_count && !near; i++)
        near = qdq_did_you_mean(name, &p->buffers[i].name, 1);
    return tell_failure(QDQ_ERR_ARGUMENT, "--pages is '%.200s', wanted a buffer%s%s%s", name,
                        near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

// Writes the reports that go to files.
static int write_reports(const qdq_plan *plan, const plan_options *own) {
    const qdq_device_plan *p = qdq_plan_device(plan);
    int code = EXIT_OK;
    if (!p && (own->pages || own->memory_csv || own->trace))
        return tell_failure(QDQ_ERR_ARGUMENT,
                            "--pages, --memory-csv and --trace are about a device, and there is "
                            "none; add --device");
    if (own->memory_csv) code = memory_csv_write(p, own->memory_csv);
    if (code == EXIT_OK && own->trace) code = capture_write(p, own->trace);
    return code;
}

static int show_plan(const qdq_plan *plan, qdq_graph *graph, const qdq_graph *deployed,
                     const options *opt) {
    const plan_options *own = opt->own;
    const char *target = opt->load.target ? opt->load.target : qdq_graph_target(graph);
    size_t paged;
    int code = write_reports(plan, own);
    if (code == EXIT_OK) code = find_paged(qdq_plan_device(plan), own->pages, &paged);
    if (code != EXIT_OK) return code;
    qdq_error err = {0};
    const qdq_report *bits = qdq_graph_validate_on(graph, target, device_of_plan(opt), &err);
    if (!bits) return report_error(&err);
    if (opt->json)
        print_json(plan, deployed, opt, paged, bits);
    else
        print_plan(plan, own->map);
    if (!opt->json) print_rewrites(deployed);
    if (!opt->json && paged != SIZE_MAX) print_pages(plan, paged);
    return write_page(plan, deployed, opt, target, bits);
}

static qdq_graph *deployed_graph(qdq_graph *graph, const options *opt, int *code) {
    qdq_error err = {0};
    qdq_graph *deployed = qdq_graph_deployed(graph, opt->load.target, &err);
    if (!deployed) *code = report_error(&err);
    return deployed;
}

int run_plan(const options *opt) {
    const plan_options *own = opt->own;
    int code;
    if (own->emit_header && !own->emit_c)
        return tell_failure(QDQ_ERR_ARGUMENT, "--emit-header is for the file of --emit-c, which is "
                                              "not given");
    qdq_graph *graph = load_graph(opt->operands.items[0], opt, &code);
    if (!graph) return code;
    if (own->emit_c || own->from_capture) {
        code = own->from_capture ? plan_from_capture(graph, opt) : emit_c(graph, opt);
        qdq_graph_destroy(graph);
        return code;
    }
    const qdq_report *report;
    qdq_plan *plan = compile_graph(graph, opt, (qdq_parallel){0}, &report, &code);
    qdq_graph *deployed = plan ? deployed_graph(graph, opt, &code) : NULL;
    if (deployed) code = show_plan(plan, graph, deployed, opt);
    qdq_graph_destroy(deployed);
    qdq_plan_destroy(plan);
    qdq_graph_destroy(graph);
    return code;
}
