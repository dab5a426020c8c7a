// SPDX-License-Identifier: Apache-2.0
// Recognizes files by their first bytes, and advises what to do with a file of another kind.
#include "tools/io/file_kind.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define EXPORT_ONNX "export the model as ONNX, which qdq reads"

// A kind of file, and advice for users who pass one as a graph or as tensors.
typedef struct kind_row {
    const char *what, *as_graph, *as_tensors;
} kind_row;

static const kind_row rows[KIND_COUNT] = {
    [KIND_JSON] = {"JSON text", NULL, "a graph goes where the command has GRAPH"},
    [KIND_NPY] = {"a .npy array", "give it to an input with -i NAME=FILE", NULL},
    [KIND_SAFETENSORS] = {"a .safetensors file", "give its tensors to inputs with -i FILE", NULL},
    [KIND_ONNX] = {"an ONNX model", NULL, "save its tensors with numpy.save"},
    [KIND_NPZ] = {"a .npz archive of arrays", "give its arrays to inputs with -i FILE", NULL},
    [KIND_TORCH] = {"a PyTorch file", EXPORT_ONNX,
                    "save its tensors with safetensors.torch.save_file"},
    [KIND_PICKLE] = {"a Python pickle, as old PyTorch files are", EXPORT_ONNX,
                     "save its tensors with safetensors.torch.save_file"},
    [KIND_ZIP] = {"a zip archive", "unpack it", "unpack it"},
    [KIND_TFLITE] = {"a TensorFlow Lite model", NULL, "save its tensors with numpy.save"},
    [KIND_GZIP] = {"compressed with gzip", "unpack it: gunzip -c FILE | qdq check -",
                   "unpack it with gunzip"},
    [KIND_BZIP2] = {"compressed with bzip2", "unpack it with bunzip2", "unpack it with bunzip2"},
    [KIND_XZ] = {"compressed with xz", "unpack it with unxz", "unpack it with unxz"},
    [KIND_ZSTD] = {"compressed with zstd", "unpack it with unzstd", "unpack it with unzstd"},
    [KIND_HDF5] = {"an HDF5 file", EXPORT_ONNX, "save its tensors with numpy.save"},
    [KIND_GGUF] = {"a GGUF file", EXPORT_ONNX, "save its tensors as .safetensors"},
};

//---- Recognising ------------------------------------------------------------

enum { HEAD_BYTES = 1200 };  // enough for a name of 1,024 bytes in a zip archive

typedef struct head {
    unsigned char bytes[HEAD_BYTES];
    size_t count;
} head;

// Kinds that have fixed bytes at an offset.
static const struct {
    file_kind kind;
    size_t offset, length;
    const char *bytes;
} signatures[] = {
    {KIND_NPY, 0, 6, "\x93NUMPY"},
    {KIND_TFLITE, 4, 4, "TFL3"},
    {KIND_GZIP, 0, 2, "\x1f\x8b"},
    {KIND_BZIP2, 0, 3, "BZh"},
    {KIND_XZ, 0, 6,
     "\xfd"
     "7zXZ\0"},
    {KIND_ZSTD, 0, 4, "\x28\xb5\x2f\xfd"},
    {KIND_HDF5, 0, 8, "\x89HDF\r\n\x1a\n"},
    {KIND_GGUF, 0, 4, "GGUF"},
};

static bool starts_with(const head *h, size_t offset, const char *bytes, size_t length) {
    return h->count >= offset + length && memcmp(h->bytes + offset, bytes, length) == 0;
}

// Distinguishes kinds of zip archives by the name of their first file.
static file_kind kind_of_zip(const head *h) {
    enum { NAME_AT = 30 };
    char name[HEAD_BYTES + 1] = "";
    size_t length = h->count > NAME_AT ? (size_t)h->bytes[26] + 256u * h->bytes[27] : 0;
    if (length > h->count - NAME_AT) length = h->count > NAME_AT ? h->count - NAME_AT : 0;
    memcpy(name, h->bytes + NAME_AT, length);
    name[length] = '\0';
    if (length >= 4 && strcmp(name + length - 4, ".npy") == 0) return KIND_NPZ;
    bool torch = strstr(name, "data.pkl") || strstr(name, "/version") || strstr(name, "/byteorder");
    return torch ? KIND_TORCH : KIND_ZIP;
}

// True if the bytes begin with field 1, the version of the format, and another field of an ONNX
// model.
static bool is_onnx(const head *h) {
    static const unsigned char fields[] = {0x12, 0x1a, 0x22, 0x28, 0x32, 0x3a, 0x42, 0x72};
    if (h->count < 3 || h->bytes[0] != 0x08 || h->bytes[1] == 0 || h->bytes[1] > 0x7f) return false;
    return memchr(fields, h->bytes[2], sizeof fields) != NULL;
}

// True if the bytes begin with the length of a header, below 4 GiB, and JSON.
static bool is_safetensors(const head *h) {
    return h->count > 8 && h->bytes[8] == '{' && memcmp(h->bytes + 4, "\0\0\0\0", 4) == 0;
}

// Recognizes the kind. Tests for .safetensors first, because the length of a header may look like
// the beginning of another kind.
static file_kind kind_of_head(const head *h) {
    if (is_safetensors(h)) return KIND_SAFETENSORS;
    for (size_t i = 0; i < sizeof signatures / sizeof signatures[0]; i++)
        if (starts_with(h, signatures[i].offset, signatures[i].bytes, signatures[i].length))
            return signatures[i].kind;
    if (starts_with(h, 0, "PK\3\4", 4) || starts_with(h, 0, "PK\5\6", 4)) return kind_of_zip(h);
    if (h->count > 2 && h->bytes[0] == 0x80 && h->bytes[1] >= 2 && h->bytes[1] <= 5)
        return KIND_PICKLE;
    if (is_onnx(h)) return KIND_ONNX;
    size_t i = 0;
    while (i < h->count && h->bytes[i] > 0 && strchr(" \t\r\n", h->bytes[i])) i++;
    return i < h->count && h->bytes[i] == '{' ? KIND_JSON : KIND_UNKNOWN;
}

// Reads the first bytes of a file. False if it has none or cannot be read.
static bool read_head(const char *path, head *h) {
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    *h = (head){.count = 0};
    if (descriptor < 0) return false;
    ssize_t got = read(descriptor, h->bytes, sizeof h->bytes);
    close(descriptor);
    h->count = got > 0 ? (size_t)got : 0;
    return got > 0;
}

file_kind file_kind_of(const char *path) {
    head h;
    return read_head(path, &h) ? kind_of_head(&h) : KIND_UNKNOWN;
}

//---- Telling ----------------------------------------------------------------

static void tell(const char *path, file_kind kind, const char *wanted, const char *hint,
                 qdq_error *err) {
    err->status = QDQ_ERR_PARSE;
    snprintf(err->text, sizeof err->text, "%.512s: is %s, wanted %s; %s", path, rows[kind].what,
             wanted, hint);
}

// True for a state of qdq calibrate, compare or explain: a .safetensors file that begins with these
// five numbers.
static bool is_state(const head *h) {
    static const char start[] = "{\"numbers\":{\"dtype\":\"I64\",\"shape\":[5]";
    return starts_with(h, 8, start, sizeof start - 1);
}

// True if the first byte is none of a text, nor of an ONNX model, and it is no TensorFlow Lite
// model.
static bool is_binary(const head *h) {
    return h->count && h->bytes[0] == 0 && kind_of_head(h) != KIND_TFLITE;
}

void tell_binary(const char *path, qdq_error *err) {
    head h;
    if (err->status != QDQ_ERR_PARSE || !read_head(path, &h) || !is_binary(&h)) return;
    snprintf(
        err->text, sizeof err->text,
        "%.512s: is a binary file of no kind that qdq knows, wanted a graph in JSON, an ONNX or a "
        "TensorFlow Lite model; export it to ONNX",
        path);
}

bool is_no_graph(const char *path, qdq_error *err) {
    head h;
    if (!read_head(path, &h)) return false;
    file_kind kind = kind_of_head(&h);
    const char *hint = rows[kind].as_graph, *what = rows[kind].what;
    if (kind == KIND_SAFETENSORS && is_state(&h))
        what = "a state of qdq calibrate, compare or explain", hint = "merge states with qdq merge";
    if (!hint) return false;
    err->status = QDQ_ERR_PARSE;
    snprintf(err->text, sizeof err->text,
             "%.512s: is %s, wanted a graph in JSON, an ONNX or a TensorFlow Lite model; %s", path,
             what, hint);
    return true;
}

bool is_no_tensor_file(const char *path, qdq_error *err) {
    file_kind kind = file_kind_of(path);
    if (!rows[kind].as_tensors) return false;
    tell(path, kind, "a .npy, .npz or .safetensors file", rows[kind].as_tensors, err);
    return true;
}

bool is_no_state_file(const char *path, qdq_error *err) {
    head h;
    file_kind kind = read_head(path, &h) ? kind_of_head(&h) : KIND_SAFETENSORS;
    if (kind == KIND_SAFETENSORS) return false;
    err->status = QDQ_ERR_PARSE;
    snprintf(err->text, sizeof err->text,
             "%.512s: is %s, wanted a state, which qdq calibrate, compare or explain writes", path,
             rows[kind].what ? rows[kind].what : "of no kind that qdq knows");
    return true;
}
