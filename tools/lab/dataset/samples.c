// SPDX-License-Identifier: Apache-2.0
// Lists and loads the samples of a data set.
#include "tools/lab/dataset/samples.h"

#include <dirent.h>
#include <errno.h>
#include <qdq/inspect.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "runtime/base/utf8.h"
#include "tools/common.h"
#include "tools/elements.h"
#include "tools/failure.h"
#include "tools/io/watch.h"
#include "tools/lab/dataset/data_digest.h"

enum { MOST_PATH = 4096, SHOWN_NAME = 512 };

//---- A folder ---------------------------------------------------------------

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool add_name(samples *s, const char *name) {
    if (s->count % 256 == 0) {
        char **more = realloc(s->names, (s->count + 256) * sizeof *more);
        if (!more) return false;
        s->names = more;
    }
    s->names[s->count] = malloc(strlen(name) + 1);
    if (!s->names[s->count]) return false;
    memcpy(s->names[s->count++], name, strlen(name) + 1);
    return true;
}

static int no_memory(void) { return tell_failure(QDQ_ERR_MEMORY, "no memory for the samples"); }

static int read_folder(samples *s, DIR *folder, size_t *others, char other[MOST_PATH]) {
    for (struct dirent *entry; (entry = readdir(folder));) {
        if (entry->d_name[0] == '.') continue;
        if (is_array_file_name(entry->d_name)) {
            if (!add_name(s, entry->d_name)) return no_memory();
        } else if ((*others)++ == 0 || strcmp(entry->d_name, other) < 0) {
            snprintf(other, MOST_PATH, "%s", entry->d_name);
        }
    }
    return EXIT_OK;
}

static int list_folder(samples *s) {
    char other[MOST_PATH] = "", shown[SHOWN_NAME];
    size_t others = 0;
    DIR *folder = opendir(s->where);
    if (!folder)
        return tell_failure(QDQ_ERR_IO, "%s: cannot be opened: %s", s->where, strerror(errno));
    int code = read_folder(s, folder, &others, other);
    (void)closedir(folder);
    if (code != EXIT_OK) return code;
    qdq_utf8_show(shown, sizeof shown, other, strlen(other));
    if (others)
        fprintf(stderr, "qdq: %s: '%s'%s no sample: samples end in .npz, .npy or .safetensors\n",
                s->where, shown, others > 1 ? " and other entries are" : " is");
    if (s->count == 0)
        return tell_failure(QDQ_ERR_PARSE,
                            "%s: has no file that ends in .npz, .npy or .safetensors", s->where);
    qsort(s->names, s->count, sizeof *s->names, by_name);
    data_digest(s->where, s->names, s->count, s->listing);
    return EXIT_OK;
}

static bool is_folder(const samples *s) { return s->names || s->listed; }

static const char *file_name(const samples *s, size_t index) {
    return s->listed ? listing_name(s->listed, index) : s->names[index];
}

//---- One file ---------------------------------------------------------------

// Returns the number of samples in an array: N for [N, ...] and an input [...], or for [N * B, ...]
// and [B, ...]. 0 for other shapes.
static size_t samples_in(qdq_shape array, qdq_shape input) {
    int extra = array.rank - input.rank;
    if (extra != 0 && extra != 1) return 0;
    for (int i = 1; i < array.rank; i++)
        if (i - extra >= 0 && (extra || i > 0) && array.dims[i] != input.dims[i - extra]) return 0;
    if (extra) return (size_t)array.dims[0];
    if (input.rank == 0 || array.dims[0] % input.dims[0]) return 0;
    return (size_t)(array.dims[0] / input.dims[0]);
}

// Finds the array of an input, by its name or its original name in the file of the graph.
static file_array *find_array(const samples *s, const array_file *file, const char *input,
                              qdq_error *err) {
    qdq_error own = {0}, by_original = {0};
    size_t inputs = qdq_plan_input_count(s->plan);
    const char *original = qdq_value_original(s->graph, input);
    if (file->nameless && inputs != 1) {
        (void)source_fail(err, QDQ_ERR_PARSE,
                          "an .npy file has one array, and the graph %zu inputs; use an .npz file",
                          inputs);
        return NULL;
    }
    file_array *array = array_file_find(file, input, &own);
    if (!array && original && strcmp(original, input) != 0)
        array = array_file_find(file, original, &by_original);
    if (!array) *err = own;
    return array;
}

// Checks the dtype of an array: its input's, or float32 for narrower floats, or bytes for integers
// of fewer bits, whose range is checked when they are written to the exec.
static qdq_status check_dtype(const qdq_tensor_info *input, qdq_dtype dtype, qdq_error *err) {
    qdq_dtype wanted = input->dtype;
    bool narrow = qdq_dtype_is_real(wanted) && wanted != QDQ_FLOAT64;
    bool is_byte = dtype == QDQ_INT8 || dtype == QDQ_UINT8;
    bool few_bits = qdq_dtype_get(wanted)->kind == QDQ_KIND_INT && is_byte;
    if (dtype == wanted || (narrow && dtype == QDQ_FLOAT32) || few_bits) return QDQ_OK;
    return source_fail(err, QDQ_ERR_PARSE, "input '%.200s' has dtype %s, wanted %s%s", input->name,
                       qdq_dtype_name(dtype), qdq_dtype_name(wanted),
                       narrow ? "; convert it in numpy with x.astype('float32')" : "");
}

static qdq_status count_samples(samples *s, qdq_error *err) {
    char has[128], wants[128];
    size_t inputs = qdq_plan_input_count(s->plan);
    for (size_t i = 0; i < inputs; i++) {
        const qdq_tensor_info *input = qdq_plan_input(s->plan, i);
        const file_array *array = find_array(s, &s->file, input->name, err);
        if (!array) return err->status;
        if (check_dtype(input, array->dtype, err) != QDQ_OK) return err->status;
        size_t count = samples_in(array->shape, input->shape);
        if (count == 0)
            return source_fail(err, QDQ_ERR_PARSE,
                               "input '%.200s' has shape %s, wanted [N, ...] with samples of shape "
                               "%s",
                               input->name, qdq_write_shape(array->shape, has, sizeof has),
                               qdq_write_shape(input->shape, wants, sizeof wants));
        if (i > 0 && count != s->count)
            return source_fail(err, QDQ_ERR_PARSE,
                               "input '%.200s' has %zu samples, and the inputs before it %zu",
                               input->name, count, s->count);
        s->count = count;
    }
    return QDQ_OK;
}

static int open_file(samples *s) {
    qdq_error err = {0};
    qdq_status status = array_file_open(&s->file, s->where, s->memory, &err);
    if (status == QDQ_OK) status = count_samples(s, &err);
    if (status != QDQ_OK) return tell_failure(status, "%s: %s", s->where, err.text);
    data_digest(NULL, &(char *){(char *)(uintptr_t)s->where}, 1, s->listing);
    return EXIT_OK;
}

//---- Loading ----------------------------------------------------------------

// True if the shapes are equal up to leading dims of 1.
static bool has_dims(qdq_shape shape, qdq_shape wanted) {
    int a = 0, b = 0;
    while (a < shape.rank && shape.dims[a] == 1) a++;
    while (b < wanted.rank && wanted.dims[b] == 1) b++;
    if (shape.rank - a != wanted.rank - b) return false;
    for (; a < shape.rank; a++, b++)
        if (shape.dims[a] != wanted.dims[b]) return false;
    return true;
}

static qdq_status load_input(samples *s, array_file *file, size_t number, size_t sample,
                             qdq_exec *exec, qdq_sha256 *hash, qdq_error *err) {
    const qdq_tensor_info *input = qdq_plan_input(s->plan, number);
    size_t count = qdq_shape_count(input->shape), size;
    char has[128], wants[128];
    qdq_error own = {0};
    file_array *array = find_array(s, file, input->name, err);
    if (!array) return err->status;
    if ((is_folder(s) || s->streams) && !has_dims(array->shape, input->shape))
        return source_fail(err, QDQ_ERR_PARSE, "input '%.200s' has shape %s, wanted %s",
                           input->name, qdq_write_shape(array->shape, has, sizeof has),
                           qdq_write_shape(input->shape, wants, sizeof wants));
    qdq_status status = check_dtype(input, array->dtype, err);
    if (status != QDQ_OK) return status;
    size = qdq_dtype_size(array->dtype);
    status = file_array_read(file, array, (uint64_t)sample * count, s->buffers[number], count, err);
    if (status != QDQ_OK) return status;
    qdq_dtype dtype = array->dtype;
    status = qdq_exec_write(exec, input->name, dtype, s->buffers[number], count, &own);
    if (status != QDQ_OK)
        return source_fail(err, status == QDQ_ERR_MEMORY ? status : QDQ_ERR_PARSE, "%.900s",
                           own.text);
    hash_text(hash, input->name);
    hash_text(hash, qdq_dtype_name(dtype));
    qdq_sha256_add(hash, s->buffers[number], count * size);
    return QDQ_OK;
}

static qdq_status load_inputs(samples *s, array_file *file, size_t sample, qdq_exec *exec,
                              unsigned char digest[QDQ_SHA256_BYTES], qdq_error *err) {
    qdq_sha256 hash;
    qdq_sha256_begin(&hash);
    for (size_t i = 0; i < qdq_plan_input_count(s->plan); i++) {
        qdq_status status = load_input(s, file, i, sample, exec, &hash, err);
        if (status != QDQ_OK) return status;
    }
    qdq_sha256_end(&hash, digest);
    return QDQ_OK;
}

qdq_status sample_load(samples *s, size_t index, qdq_exec *exec,
                       unsigned char digest[QDQ_SHA256_BYTES], qdq_error *err) {
    char path[MOST_PATH];
    array_file file;
    if (!is_folder(s) && !s->streams) return load_inputs(s, &s->file, index, exec, digest, err);
    if (s->streams)
        snprintf(path, sizeof path, "%s", s->stream.path);
    else
        snprintf(path, sizeof path, "%s/%s", s->where, file_name(s, index));
    qdq_status status = array_file_open(&file, path, s->memory, err);
    if (status == QDQ_OK) status = load_inputs(s, &file, 0, exec, digest, err);
    array_file_close(&file);
    return status;
}

//---- Entry ------------------------------------------------------------------

// Allocates a buffer for each input. Elements are stored in at most 8 bytes.
static int make_buffers(samples *s) {
    size_t count = qdq_plan_input_count(s->plan);
    s->buffers = calloc(count + 1, sizeof *s->buffers);
    if (!s->buffers) return no_memory();
    for (size_t i = 0; i < count; i++) {
        size_t elements = qdq_shape_count(qdq_plan_input(s->plan, i)->shape);
        s->buffers[i] = elements_take_numbers(&s->memory->allocator, elements);
        if (!s->buffers[i]) return no_memory();
    }
    return EXIT_OK;
}

int samples_open(samples *s, const char *where, const qdq_graph *graph, const qdq_plan *plan,
                 qdq_budget *memory) {
    struct stat facts;
    *s = (samples){.where = where, .graph = graph, .plan = plan, .memory = memory};
    int code = make_buffers(s);
    if (code != EXIT_OK) return code;
    bool exists = stat(where, &facts) == 0;
    if (exists && S_ISDIR(facts.st_mode)) return list_folder(s);
    if (is_array_file_name(where)) return open_file(s);
    if (strcmp(where, sample_stream_word) == 0)
        return tell_failure(QDQ_ERR_ARGUMENT,
                            "--data is '-', but this command reads the samples several times; give "
                            "a folder or a file");
    return tell_failure(QDQ_ERR_PARSE,
                        "--data is '%s', wanted a folder of .npz, .npy or .safetensors files, each "
                        "a sample, or one such file whose arrays have a dim of samples first%s",
                        where, exists ? "" : "; there is no file of this name");
}

int samples_open_listed(samples *s, const char *folder, const data_listing *listed,
                        const qdq_graph *graph, const qdq_plan *plan, qdq_budget *memory) {
    *s = (samples){.where = folder, .graph = graph, .plan = plan, .memory = memory};
    s->listed = listed;
    s->count = (size_t)listed->samples;
    memcpy(s->listing, listed->digest, sizeof s->listing);
    int code = make_buffers(s);
    return code == EXIT_OK ? listing_check(listed, folder) : code;
}

int samples_open_stream(samples *s, const qdq_graph *graph, const qdq_plan *plan,
                        qdq_budget *memory) {
    *s = (samples){.where = "standard input", .graph = graph, .plan = plan, .memory = memory};
    s->streams = true;
    int code = make_buffers(s);
    return code == EXIT_OK ? sample_stream_open(&s->stream, memory->left) : code;
}

int samples_next(samples *s, bool *more) { return sample_stream_next(&s->stream, more); }

void samples_close(samples *s) {
    for (size_t i = 0; s->names && i < s->count; i++) free(s->names[i]);
    for (size_t i = 0; s->buffers && i < qdq_plan_input_count(s->plan); i++)
        elements_free(s->buffers[i]);
    free(s->names);
    free(s->buffers);
    array_file_close(&s->file);
    sample_stream_close(&s->stream);
}

const char *sample_name(const samples *s, size_t index, char *out, size_t capacity) {
    if (is_folder(s))
        snprintf(out, capacity, "%s", file_name(s, index));
    else
        snprintf(out, capacity, "sample %zu", index);
    return out;
}

//---- Samples that cannot be read --------------------------------------------

void sample_tell(samples *s, size_t index, const qdq_error *err, watch *progress) {
    char name[SHOWN_NAME], shown[SHOWN_NAME];
    qdq_error told = {0};
    (void)sample_name(s, index, name, sizeof name);
    qdq_utf8_show(shown, sizeof shown, name, strlen(name));
    (void)source_fail(&told, err->status, "%s: %.480s", shown, err->text);
    watch_clear(progress);
    fprintf(stderr, "qdq: %s: %s\n", shown, err->text);
    if (s->problem.status == QDQ_OK) s->problem = told;
}

int samples_refuse(const samples *s, size_t count) {
    return tell_failure(QDQ_ERR_IO, "%s: none of %zu sample%s could be read; the first: %s",
                        s->where, count, count == 1 ? "" : "s", s->problem.text);
}
