// SPDX-License-Identifier: Apache-2.0
// Reads labels: an array of integers, or a text file with an integer in each line.
#include "tools/lab/dataset/labels.h"

#include <errno.h>
#include <qdq/exec.h>
#include <qdq/inspect.h>
#include <stdlib.h>
#include <string.h>

#include "tools/common.h"
#include "tools/elements.h"
#include "tools/failure.h"
#include "tools/io/file_kind.h"
#include "tools/io/streams.h"
#include "tools/io/tensor_io.h"
#include "tools/options.h"

// What the labels are read for.
typedef struct label_reader {
    labels *l;
    const char *output;
    tensor_spec spec;
    qdq_shape wanted;  // of the array: [samples, rows ...]
    qdq_budget *memory;
} label_reader;

//---- The output -------------------------------------------------------------

static int find_output(label_reader *r, const qdq_graph *graph, const qdq_plan *plan) {
    size_t outputs = qdq_plan_output_count(plan);
    if (!tensor_spec_of_result(graph, r->l->word, &r->spec))
        return tell_failure(QDQ_ERR_ARGUMENT, "--labels is '%s', wanted [OUTPUT=]FILE[#TENSOR]",
                            r->l->word);
    if (!*r->spec.name && outputs != 1)
        return tell_failure(QDQ_ERR_ARGUMENT,
                            "--labels is '%s', but the graph has %zu outputs; name the one that "
                            "decides: --labels %s=%s",
                            r->l->word, outputs, qdq_plan_output(plan, 0)->name, r->l->word);
    while (r->l->output < outputs && *r->spec.name &&
           strcmp(qdq_plan_output(plan, r->l->output)->name, r->spec.name) != 0)
        r->l->output++;
    if (r->l->output < outputs) return EXIT_OK;
    return tell_failure(QDQ_ERR_ARGUMENT, "--labels: the graph has no output '%s'", r->spec.name);
}

// Derives the shape of the labels: the output's for all runs, without its last dim.
static int find_shape(label_reader *r, const qdq_tensor_info *info) {
    char text[128];
    qdq_shape shape = info->shape;
    r->output = info->name;
    if (shape.rank < 1 || shape.dims[shape.rank - 1] < 2)
        return tell_failure(QDQ_ERR_ARGUMENT,
                            "--labels: output '%s' has shape %s, wanted classes in the last dim",
                            info->name, qdq_write_shape(shape, text, sizeof text));
    r->l->classes = (size_t)shape.dims[shape.rank - 1];
    r->l->rows = qdq_shape_count(shape) / r->l->classes;
    r->wanted = shape;
    r->wanted.rank = shape.rank > 1 ? shape.rank - 1 : 1;
    r->wanted.dims[0] = (int64_t)r->l->runs * (shape.rank > 1 ? shape.dims[0] : 1);
    r->l->truth =
        elements_take(&r->memory->allocator, (r->l->runs * r->l->rows + 1) * sizeof *r->l->truth);
    return r->l->truth ? EXIT_OK : tell_failure(QDQ_ERR_MEMORY, "no memory for labels");
}

//---- Classes ----------------------------------------------------------------

static int note(const label_reader *r, size_t at, double class) {
    char where[128];
    if (class >= 0 && class < (double)r->l->classes) {
        r->l->truth[at] = (uint32_t) class;
        return EXIT_OK;
    }
    return tell_failure(QDQ_ERR_PARSE,
                        "%s: label %s is %.0f, wanted 0 to %zu: output '%s' has %zu classes",
                        r->spec.file, index_text(r->wanted, at, where, sizeof where), class,
                        r->l->classes - 1, r->output, r->l->classes);
}

// True if two shapes are equal without dims of 1.
static bool same_dims(qdq_shape a, qdq_shape b) {
    int i = 0, k = 0;
    for (;; i++, k++) {
        while (i < a.rank && a.dims[i] == 1) i++;
        while (k < b.rank && b.dims[k] == 1) k++;
        if (i >= a.rank || k >= b.rank) return i >= a.rank && k >= b.rank;
        if (a.dims[i] != b.dims[k]) return false;
    }
}

static int refuse_shape(const label_reader *r, const char *found) {
    char wants[128];
    return tell_failure(
        QDQ_ERR_PARSE, "%s: has %s, wanted %s: a class for each row of output '%s' and each sample",
        r->spec.file, found, qdq_write_shape(r->wanted, wants, sizeof wants), r->output);
}

//---- Files ------------------------------------------------------------------

static int read_array(label_reader *r) {
    qdq_error err = {0};
    tensor_source source = {.from = &r->memory->allocator};
    loaded_tensor array = {0};
    qdq_shape shape;
    char found[160] = "shape ";
    const size_t head = strlen(found);
    snprintf(r->spec.name, sizeof r->spec.name, "labels");
    if (tensor_shape(&r->spec, "labels", &shape, &err) != QDQ_OK) return report_error(&err);
    (void)qdq_write_shape(shape, found + head, sizeof found - head);
    if (!same_dims(shape, r->wanted)) return refuse_shape(r, found);
    if (tensor_load(&source, &r->spec, "labels", shape, &array, &err) != QDQ_OK)
        return report_error(&err);
    tensor_source_close(&source);
    int code = EXIT_OK;
    if (qdq_dtype_is_real(array.dtype))
        code = tell_failure(QDQ_ERR_PARSE,
                            "%s: has dtype %s, wanted integers; convert it in numpy with "
                            "y.astype('int64')",
                            r->spec.file, qdq_dtype_name(array.dtype));
    size_t count = qdq_shape_count(shape),
           bytes = code == EXIT_OK ? qdq_dtype_size(array.dtype) : 0;
    for (size_t i = 0; code == EXIT_OK && i < count; i++) {
        double class;
        to_doubles(array.dtype, (const char *)array.data + i * bytes, 1, &class);
        code = note(r, i, class);
    }
    tensor_release(&array);
    return code;
}

// Reads the integer of a line. False if the line has anything else.
static bool read_line(const char *line, double *class) {
    char *end;
    errno = 0;
    long long value = strtoll(line, &end, 10);
    *class = (double)value;
    return errno == 0 && end > line && strspn(end, " \t\r\n") == strlen(end);
}

static int read_lines(const label_reader *r, FILE *file) {
    size_t count = qdq_shape_count(r->wanted), at = 0, number = 0;
    char line[64], found[64];
    int code = EXIT_OK;
    while (code == EXIT_OK && at <= count && fgets(line, sizeof line, file)) {
        double class;
        bool whole = strchr(line, '\n') || feof(file);  // else it is longer, or has a byte 0
        number++;
        if (whole && strspn(line, " \t\r\n") == strlen(line)) continue;
        if (!whole || !read_line(line, &class))
            code = tell_failure(QDQ_ERR_PARSE, "%s:%zu: is no integer; wanted a class in each line",
                                r->spec.file, number);
        else if (at < count)
            code = note(r, at, class);
        at++;
    }
    if (code == EXIT_OK && ferror(file))
        code = tell_failure(QDQ_ERR_IO, "%s: cannot be read: %s", r->spec.file, strerror(errno));
    if (code != EXIT_OK || at == count) return code;
    if (at < count)
        snprintf(found, sizeof found, "%zu lines", at);
    else
        snprintf(found, sizeof found, "more than %zu lines", count);
    return refuse_shape(r, found);
}

static int read_text(const label_reader *r) {
    FILE *file = fopen(stream_path(r->spec.file), "r");
    if (!file)
        return tell_failure(QDQ_ERR_IO, "%s: cannot be opened: %s", r->spec.file, strerror(errno));
    const qdq_shape list = {.rank = 1, .dims = {(int64_t)qdq_shape_count(r->wanted)}};
    int code = same_dims(list, r->wanted) ? read_lines(r, file)
                                          : refuse_shape(r, "lines of text, a list of classes");
    (void)fclose(file);
    return code;
}

static bool is_array(const label_reader *r) {
    const char *file = stream_path(r->spec.file);
    file_kind kind = file_kind_of(file);
    return *r->spec.tensor || kind == KIND_NPY || kind == KIND_NPZ || kind == KIND_SAFETENSORS ||
           has_ending(file, ".npy") || has_ending(file, ".npz") || has_ending(file, ".safetensors");
}

//---- Entry ------------------------------------------------------------------

int labels_open(labels *l, const options *opt, const qdq_graph *graph, const qdq_plan *plan,
                size_t runs) {
    const string_list *given = &opt->data.labels;
    *l = (labels){.runs = runs};
    if (!given->count) return EXIT_OK;
    if (given->count != 1)
        return tell_failure(QDQ_ERR_ARGUMENT,
                            "--labels is given %zu times, wanted once: the classes of one output",
                            given->count);
    if (opt->fill || (!opt->inputs.count && !opt->data.samples))
        return tell_failure(QDQ_ERR_ARGUMENT,
                            "--labels is given for random inputs; give the samples with --data "
                            "or -i");
    l->word = given->items[0];
    label_reader r = {.l = l, .memory = opt->memory};
    int code = find_output(&r, graph, plan);
    if (code == EXIT_OK) code = find_shape(&r, qdq_plan_output(plan, l->output));
    if (code != EXIT_OK) return code;
    return is_array(&r) ? read_array(&r) : read_text(&r);
}

void labels_close(labels *l) {
    elements_free(l->truth);
    *l = (labels){0};
}

void labels_digest(const labels *l, unsigned char digest[QDQ_SHA256_BYTES]) {
    const uint64_t sizes[] = {l->runs, l->rows, l->classes};
    qdq_sha256 hash;
    qdq_sha256_begin(&hash);
    qdq_sha256_add(&hash, sizes, sizeof sizes);
    qdq_sha256_add(&hash, l->truth, l->runs * l->rows * sizeof *l->truth);
    qdq_sha256_end(&hash, digest);
}

//---- Counts -----------------------------------------------------------------

static size_t decide(const double *row, size_t classes) {
    size_t best = 0;
    for (size_t i = 1; i < classes; i++)
        if (row[i] > row[best]) best = i;
    return best;
}

void labels_count(const labels *l, size_t run, const double *real, const double *quantized,
                  label_counts *counts) {
    for (size_t row = 0; row < l->rows; row++) {
        size_t truth = l->truth[run * l->rows + row];
        size_t a = decide(real + row * l->classes, l->classes);
        size_t b = decide(quantized + row * l->classes, l->classes);
        counts->rows++;
        counts->real += a == truth;
        counts->quantized += b == truth;
        counts->alike += a == b;
    }
}

static double percent(size_t part, size_t of) { return of ? 100.0 * (double)part / (double)of : 0; }

void label_counts_text(const label_counts *n) {
    printf("top-1: %.1f %% float, %.1f %% quantized, %zu of %zu right, %.1f %% as in float\n",
           percent(n->real, n->rows), percent(n->quantized, n->rows), n->quantized, n->rows,
           percent(n->alike, n->rows));
}

void label_counts_json(qdq_json *json, const char *output, const label_counts *n) {
    qdq_json_key(json, "labels");
    qdq_json_begin_object(json);
    json_string_key(json, "output", output);
    json_uint_key(json, "rows", n->rows);
    json_uint_key(json, "float", n->real);
    json_uint_key(json, "quantized", n->quantized);
    json_uint_key(json, "alike", n->alike);
    qdq_json_end_object(json);
}
