// SPDX-License-Identifier: Apache-2.0
// The table of options; parses command lines by it.
#include "tools/options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/did_you_mean.h"
#include "tools/failure.h"
#include "tools/options/bench.h"
#include "tools/options/check.h"
#include "tools/options/compare.h"
#include "tools/options/convert.h"
#include "tools/options/explain.h"
#include "tools/options/fingerprint.h"
#include "tools/options/help.h"
#include "tools/options/link.h"
#include "tools/options/mend.h"
#include "tools/options/merge.h"
#include "tools/options/ops.h"
#include "tools/options/plan.h"
#include "tools/options/quantize.h"
#include "tools/options/run.h"

// READ, NEW, OPENED: as TEXT, a file to read, to write under another name and rename, or to open
// and write. NAMES: as LIST, and commas separate several values of one use. FILES: as LIST, of
// tensors to read.
typedef enum option_kind { FLAG, TEXT, READ, NEW, OPENED, LIST, NAMES, FILES } option_kind;

// An option: the field that gets its value, and the commands that have it.
typedef struct option_row {
    const char *name;
    const char *argument;  // NULL: a flag
    size_t offset;
    size_t own;            // bytes of the command's own struct with this field; 0: in `options`
    const char *commands;  // " run plan "
    const char *help;      // NULL: an older spelling, in no list
    option_kind kind;
    char letter;  // 0: none
} option_row;

#define ROW(name, letter, argument, kind, field, commands, help) \
    { name, argument, offsetof(options, field), 0, commands, help, kind, letter }
// An option of one command, in a field of the struct <command>_options.
#define OWN(command, name, letter, argument, kind, field, help)                        \
    {                                                                                  \
        name, argument, offsetof(command##_options, field), sizeof(command##_options), \
            " " #command " ", help, kind, letter                                       \
    }

static const option_row rows[] = {
    ROW("input", 'i', "[NAME=]FILE", FILES, inputs,
        " run compare explain bisect mend quantize link ",
        "read an input from .npy, .npz or .safetensors (-: standard input; FILE#TENSOR picks one; "
        "without NAME all by name)"),
    ROW("shape", 0, "NAME=N,N,...", LIST, load.shapes,
        " run inspect link check compare explain bisect plan bench convert mend fingerprint "
        "calibrate "
        "quantize ",
        "the shape of an input: of an ONNX model that leaves dims open, or in place of the one in "
        "a graph file"),
    ROW("dim", 0, "NAME=N", LIST, load.dims,
        " run inspect link check compare explain bisect plan bench convert mend fingerprint "
        "calibrate "
        "quantize ",
        "the size of a dim that an ONNX model names"),
    ROW("until", 0, "NODE", TEXT, load.until,
        " run inspect link check compare explain bisect plan bench convert mend fingerprint "
        "calibrate "
        "quantize ",
        "end an ONNX or TensorFlow Lite model at a node, or at the node that computes this value; "
        "its "
        "results are the outputs"),
    ROW("output", 'o', "[NAME=]FILE", LIST, outputs, " run ",
        "write an output as .npy, .safetensors or .mem for $readmemh (-: to standard output); "
        "without NAME all of them to one .safetensors"),
    OWN(explain, "got", 0, "[NAME=]FILE", FILES, gots,
        "the results of the device, by the names of values: .npz, .npy or .safetensors"),
    OWN(explain, "against", 0, "GRAPH", READ, against,
        "show the accuracy of each node against this float model, in place of --got"),
    ROW("output", 'o', "FILE", LIST, outputs, " explain ",
        "write a graph of one node and at most 64 elements that shows the difference, and the "
        "results of the device for it to FILE.got.safetensors; with --data the state to write"),
    ROW("output", 'o', "FILE", LIST, outputs, " convert mend quantize ",
        "the file to write: an ONNX model if it ends in .onnx, a TensorFlow Lite model if in "
        ".tflite, else a graph file, whose large "
        "constants go to a .safetensors file in the same folder"),
    ROW("output", 'o', "FILE", LIST, outputs, " open ",
        "the graph file to write; inputs go to FILE.inputs.safetensors, results to "
        "FILE.got.safetensors, without .json in FILE"),
    ROW("output", 'o', "FILE", LIST, outputs, " calibrate compare ",
        "the state to write, of the samples of --data"),
    ROW("output", 'o', "FILE", LIST, outputs, " merge ",
        "the state to write; without it print the report of the merged state"),
    ROW("data", 0, "WHERE", READ, data.samples, " calibrate compare explain ",
        "the samples: a folder of .npz, .npy and .safetensors files, one file whose arrays have "
        "a dim of samples first, or - for a stream of such files on standard input"),
    OWN(quantize, "state", 0, "STATE", READ, state,
        "the statistics of this graph, which `qdq calibrate` wrote; without it "
        "the samples of --data, or the inputs of -i, give the ranges"),
    OWN(quantize, "method", 0, "NAME", TEXT, method,
        "how the range of a value is chosen: minmax, percentile, entropy or mse (minmax)"),
    OWN(quantize, "percentile", 0, "P", TEXT, percentile,
        "--method percentile: the share of elements within the range, in percent (99.99)"),
    OWN(quantize, "symmetric", 0, NULL, FLAG, symmetric,
        "give values one scale for both signs, even if the target takes other zero points"),
    OWN(quantize, "weights", 0, "NAME", TEXT, weights,
        "how the scales of weights are chosen: minmax or mse (minmax)"),
    OWN(quantize, "per-tensor", 0, NULL, FLAG, per_tensor,
        "one scale for all weights of a node, in place of one for each output channel"),
    OWN(quantize, "group", 0, "N", TEXT, group,
        "one scale for each N weights of a column of a matrix product, if the target takes them"),
    OWN(quantize, "equalize", 0, NULL, FLAG, equalize,
        "--data: bring the ranges of channels together by powers of two, where the median sample "
        "gains"),
    OWN(quantize, "keep", 0, "NODE", LIST, keep,
        "leave a node in float; may be given several times"),
    OWN(quantize, "correct", 0, NULL, FLAG, correct,
        "correct biases and the rounding of weights where the outputs of the samples gain"),
    OWN(quantize, "at-least", 0, "DB", TEXT, at_least,
        "keep the fewest products and sums in float with which the worst output reaches DB "
        "decibels"),
    ROW("labels", 0, "[OUTPUT=]FILE", FILES, data.labels, " explain quantize ",
        "the true class of each sample: a text file with a number in each line, or integers of "
        ".npy, .npz or .safetensors (FILE#TENSOR picks one); print the share that is right"),
    OWN(quantize, "drop", 0, "PERCENT", TEXT, drop,
        "--labels: keep the fewest products and sums in float with which the share right falls by "
        "at most PERCENT points"),
    ROW("data", 0, "WHERE", READ, data.samples, " quantize ",
        "measure the noise over these samples, given as for calibrate, instead of over one run"),
    ROW("shard", 0, "I/N", TEXT, data.shard, " calibrate compare explain ",
        "take samples I, I + N, I + 2 N, ... only (1/1)"),
    ROW("listing", 0, "FILE", READ, data.listing, " calibrate compare explain ",
        "the files of this shard in the folder of --data, as another process has listed them"),
    ROW("resume", 0, NULL, FLAG, data.resume, " calibrate compare explain ",
        "go on where a run was ended, from the checkpoint STATE.part"),
    ROW("checkpoint", 0, "SECONDS", TEXT, data.checkpoint, " calibrate compare explain ",
        "write a checkpoint at most every SECONDS seconds; 0: after each sample (10)"),
    ROW("max-unreadable", 0, "PERCENT", TEXT, data.max_unreadable,
        " calibrate compare explain merge ",
        "write no state of all samples if more of them cannot be read (100); 0: each must be read"),
    OWN(merge, "partial", 0, NULL, FLAG, partial,
        "write a state although shards are missing, to merge it with them later"),
    OWN(run, "expect", 'e', "[NAME=]FILE", FILES, expects,
        "compare an output with a file; exit 1 if they differ"),
    OWN(run, "frames", 0, "N", TEXT, frames,
        "run N times, each on the next N-th of every input along its first dim; state passes on"),
    OWN(run, "tolerance", 0, "X", TEXT, tolerance, "--expect: largest |difference| (0)"),
    OWN(run, "worst", 0, "N", TEXT, worst,
        "--expect: also list the N worst entries of the first dim"),
    ROW("target", 't', "T", TEXT, load.target,
        " run check explain bisect plan bench convert mend fingerprint calibrate quantize link ",
        "use the rules and numerics of a backend; see `qdq targets`"),
    ROW("targets", 0, "A,B[,C]", TEXT, targets, " compare bisect link ",
        "the targets to compare: the first with each of the others (bisect: two)"),
    OWN(compare, "atol", 0, "X", TEXT, atol,
        "count elements as different only if they differ by more than X + Y |first| (0)"),
    OWN(compare, "rtol", 0, "Y", TEXT, rtol, "the relative part of --atol (0)"),
    ROW("all", 0, NULL, FLAG, all, " inspect check compare mend merge quantize ",
        "list every node and every finding, without grouping"),
    OWN(check, "strict", 0, NULL, FLAG, strict, "exit 1 for warnings as well as for errors"),
    ROW("threads", 0, "N", TEXT, threads,
        " run compare explain bisect bench fingerprint calibrate quantize link ",
        "use at most N threads (all)"),
    ROW("tiles", 0, NULL, FLAG, compile.tiles, " run plan bench fingerprint ",
        "hold inputs, outputs and values between steps in tiles of the arena, 32x32 by default; "
        "the default of target core"),
    ROW("tiled", 0, NULL, FLAG, compile.tiles, " run plan bench fingerprint ", NULL),
    ROW("rows", 0, NULL, FLAG, compile.rows, " run plan bench fingerprint ",
        "hold values between steps in rows: the default of other targets, and with --fast"),
    ROW("keep", 0, "all|NAME,NAME", NAMES, compile.keep, " run plan bench ",
        "store these values and keep them readable: `qdq run -o FILE.safetensors` writes all of "
        "them, -o NAME=FILE one"),
    ROW("materialize", 'm', NULL, FLAG, compile.materialize, " run plan bench fingerprint ",
        "--tiles --keep all: every value in tiles, node by node"),
    ROW("device", 0, "NAME|FILE.json|none", READ, compile.device,
        " run check plan compare bench fingerprint ",
        "lay values out in the memory of a device: n150, n300, p100, p150 or a description (ttnn: "
        "its chip's; other targets: none); several targets: each that has a device uses it"),
    ROW("fast", 0, NULL, FLAG, compile.fast, " run plan compare bench link ",
        "integer execution, Winograd: faster, other bits (compare: how far from the graph's bits)"),
    ROW("literal", 0, NULL, FLAG, compile.literal, " run plan compare bench ",
        "the default: compute every node as it is written"),
    ROW("float-storage", 0, "bfloat16|declared", TEXT, compile.float_storage, " run plan bench ",
        "hold float values between nodes as bfloat16 tiles of the arena, a page each (declared)"),
    ROW("fill", 0, "SEED", TEXT, fill, " run compare explain bisect bench mend quantize link ",
        "fill inputs that are not given with random data, which SEED chooses"),
    OWN(fingerprint, "seed", 0, "N", TEXT, seed, "the seed of the random data of all inputs (1)"),
    OWN(fingerprint, "expect-fingerprint", 0, "HASH", TEXT, expect_fingerprint,
        "exit 1 if the fingerprint differs, and name the parts that differ"),
    OWN(link, "base", 0, "URL", TEXT, base, "the address of the page (http://localhost:8000/)"),
    OWN(link, "command", 0, "NAME", TEXT, command,
        "what the page runs: run, check, compare, explain, bisect or plan (--targets: compare; "
        "--got: "
        "explain; else run)"),
    OWN(link, "got", 0, "[NAME=]FILE", FILES, gots,
        "explain: the results of the device, by the names of values: .npz, .npy or .safetensors"),
    OWN(mend, "allow-lossy", 0, NULL, FLAG, allow_lossy, "also write changes that change numbers"),
    OWN(convert, "deployed", 0, NULL, FLAG, deployed,
        "write the graph that the target runs, with its groups"),
    OWN(convert, "whole", 0, NULL, FLAG, whole,
        "keep large constants in the graph file, as base64, so that it needs no other file"),
    OWN(plan, "map", 0, NULL, FLAG, map,
        "draw the arena; the default for a tiled plan of up to 32 steps"),
    OWN(plan, "emit-c", 0, "FILE", NEW, emit_c,
        "write the graph that the target runs as one C file with its constants and kernels; it "
        "computes the same bits"),
    OWN(plan, "emit-header", 0, "FILE", NEW, emit_header,
        "--emit-c: also write the sizes and the declaration of its function, for C and C++"),
    OWN(plan, "pages", 0, "NAME", TEXT, pages,
        "list the pages of a value on the device, with bank and address"),
    OWN(plan, "memory-csv", 0, "FOLDER", TEXT, memory_csv,
        "write the device's memory at each program as ttnn's memory reports do"),
    OWN(plan, "from-capture", 0, NULL, FLAG, from_capture,
        "compare the plan of a ttnn graph capture with what the device did; exit 1 if a field "
        "differs"),
    OWN(plan, "trace", 0, "FILE", OPENED, trace,
        "write the run on the device as ttnn's graph capture does"),
    OWN(bench, "repeat", 0, "N", TEXT, repeat, "time everything N times (101)"),
    OWN(bench, "vs-copy", 0, NULL, FLAG, vs_copy,
        "also time a copy and a stream of the graph's bytes, and print the ratio"),
    OWN(bench, "steps", 0, NULL, FLAG, steps,
        "list the slowest steps only: share, bytes, operations, and how near each comes to the "
        "limits of the machine"),
    OWN(bench, "compile", 0, NULL, FLAG, compile,
        "time loading and compiling N times too, instead of three times"),
    ROW("isa", 0, "NAME", TEXT, compile.isa,
        " run compare explain bisect bench fingerprint calibrate quantize ",
        "cap the instruction set: portable; avx2, avx_vnni, avx512, avx512_bf16, amx; neon, "
        "neon_dot "
        "(or QDQ_ISA)"),
    OWN(ops, "dtypes", 0, NULL, FLAG, dtypes, "list the element types"),
    OWN(ops, "schema", 0, NULL, FLAG, schema, "print the JSON Schema of graph files"),
    ROW("markdown", 0, NULL, FLAG, markdown, " ops targets ", "print as Markdown"),
    OWN(help, "man", 0, NULL, FLAG, man, "print as a man page, in roff"),
    OWN(help, "completion", 0, "bash|zsh|fish", TEXT, completion,
        "print the script that completes command lines in a shell"),
    ROW("json", 0, NULL, FLAG, json,
        " run inspect open check compare explain bisect plan bench mend quantize ops targets "
        "fingerprint merge ",
        "print versioned JSON"),
    OWN(check, "sarif", 0, NULL, FLAG, sarif,
        "print findings as SARIF 2.1.0, which code hosts show at files"),
    ROW("html", 0, "FILE", OPENED, html, " check compare explain bisect plan ",
        "also write a page for browsers: verdicts, the graph, each node; one file that loads "
        "nothing"),
    ROW("max-elements", 0, "N", TEXT, load.max_elements,
        " run inspect link open check compare explain bisect plan bench convert mend fingerprint "
        "calibrate "
        "quantize ",
        "limit on the elements of one tensor (2^31)"),
    ROW("max-bytes", 0, "N", TEXT, load.max_bytes,
        " run inspect link open check compare explain bisect plan bench convert mend fingerprint "
        "calibrate "
        "quantize ",
        "limit on the bytes of constants, arena, inputs, outputs and scratch (8 GiB; on 32-bit "
        "machines 2 GiB)"),
    ROW("spill", 0, "DIR", TEXT, spill_folder, " compare calibrate ",
        "for networks larger than memory: --max-bytes limits the memory of the process, and the "
        "rest lies in files of DIR"),
    ROW("max-operations", 0, "N", TEXT, load.max_operations,
        " run compare explain bisect plan bench fingerprint calibrate quantize ",
        "limit on the operations of a run (none)"),
    ROW("max-file-bytes", 0, "N", TEXT, load.max_file_bytes,
        " run inspect link open check compare explain bisect plan bench convert mend fingerprint "
        "calibrate "
        "quantize ",
        "limit on the bytes of a JSON file, or of a model without its tensors (64 MiB)"),
    ROW("max-values", 0, "N", TEXT, load.max_values,
        " run inspect link open check compare explain bisect plan bench convert mend fingerprint "
        "calibrate "
        "quantize ",
        "limit on the JSON values in a file, or the parts of a model (1,000,000)"),
    ROW("quiet", 'q', NULL, FLAG, quiet,
        " run inspect link open check compare explain bisect plan bench convert mend fingerprint "
        "calibrate "
        "quantize "
        "merge ",
        "do not show the progress of long work on a terminal"),
    ROW("help", 'h', NULL, FLAG, help,
        " run inspect link open check compare explain bisect plan bench convert mend fingerprint "
        "calibrate "
        "quantize "
        "merge "
        "ops "
        "targets help ",
        "print this help"),
};

enum { ROWS = sizeof rows / sizeof rows[0] };

static bool takes(const option_row *row, const command_row *command) {
    char word[32];
    snprintf(word, sizeof word, " %s ", command->name);
    return strstr(row->commands, word) != NULL;
}

bool options_get(const command_row *command, size_t index, option_info *out) {
    for (int i = 0; i < ROWS; i++) {
        if (!rows[i].help || !takes(&rows[i], command) || index-- > 0) continue;
        *out = (option_info){rows[i].name, rows[i].letter, rows[i].argument, rows[i].help};
        return true;
    }
    return false;
}

bool command_reads_graph(const command_row *command) {
    return strncmp(command->operands, "GRAPH", 5) == 0;
}

// Converts a command's options for getopt_long; val is 1000 + the row.
static void to_getopt(const command_row *command, struct option *longs, char *shorts) {
    size_t n = 0, s = 0;
    shorts[s++] = ':';
    for (int i = 0; i < ROWS; i++) {
        if (!takes(&rows[i], command)) continue;
        int has = rows[i].argument ? required_argument : no_argument;
        longs[n++] = (struct option){rows[i].name, has, NULL, 1000 + i};
        if (!rows[i].letter) continue;
        shorts[s++] = rows[i].letter;
        if (rows[i].argument) shorts[s++] = ':';
    }
    longs[n] = (struct option){0};
    shorts[s] = '\0';
}

static const option_row *row_of(int val) {
    if (val >= 1000) return &rows[val - 1000];
    for (int i = 0; i < ROWS; i++)
        if (rows[i].letter == val) return &rows[i];
    return NULL;
}

// Suggests the command's nearest option, or else the commands that have an option of this name.
static void suggest(const command_row *command, const char *word, size_t length, char *out,
                    size_t capacity) {
    char name[32];
    const char *names[ROWS], *others = NULL;
    size_t count = 0;
    snprintf(name, sizeof name, "%.*s", length < sizeof name ? (int)length : 0, word);
    for (int i = 0; i < ROWS; i++) {
        if (takes(&rows[i], command)) names[count++] = rows[i].name;
        if (strcmp(rows[i].name, name) == 0) others = rows[i].commands;
    }
    const char *nearest = qdq_did_you_mean(name, names, count);
    *out = '\0';
    if (nearest)
        snprintf(out, capacity, "; did you mean '--%s'?", nearest);
    else if (others)
        snprintf(out, capacity, "; it is one of:%.*s", (int)strlen(others) - 1, others);
}

static bool unknown_option(const command_row *command, const char *word) {
    char hint[128] = "";
    if (strncmp(word, "--", 2) == 0)
        suggest(command, word + 2, strcspn(word + 2, "="), hint, sizeof hint);
    (void)tell_misuse(command->name, "unknown option '%s'%s", word, hint);
    return false;
}

static bool complain(const command_row *command, const char *what, const char *word) {
    (void)tell_misuse(command->name, "%s '%s'", what, word);
    return false;
}

static bool add(const command_row *command, string_list *list, const char *text) {
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? 2 * list->capacity : 8;
        const char **items = realloc(list->items, capacity * sizeof(const char *));
        if (!items) return complain(command, "no memory for", text);
        list->items = items, list->capacity = capacity;
    }
    list->items[list->count++] = text;
    return true;
}

// Adds the names that commas separate. Splits `text` in place.
static bool add_names(const command_row *command, string_list *list, char *text) {
    for (char *comma; (comma = strchr(text, ',')); text = comma + 1) {
        *comma = '\0';
        if (!add(command, list, text)) return false;
    }
    return add(command, list, text);
}

// Allocates the struct of the command's own options. False after a message.
static bool take_own(const command_row *command, options *out) {
    size_t bytes = 0;
    for (int i = 0; i < ROWS; i++)
        if (rows[i].own && takes(&rows[i], command)) bytes = rows[i].own;
    out->own = bytes ? calloc(1, bytes) : NULL;
    return !bytes || out->own || complain(command, "no memory for options of", command->name);
}

static void *field_of(const option_row *row, options *opt) {
    return (char *)(row->own ? opt->own : opt) + row->offset;
}

static bool store(const command_row *command, const option_row *row, char *text, options *out) {
    void *field = field_of(row, out);
    switch (row->kind) {
    case FLAG: *(bool *)field = true; return true;
    case TEXT:
    case READ:
    case NEW:
    case OPENED: memcpy(field, &text, sizeof text); return true;
    case LIST:
    case FILES: return add(command, field, text);
    case NAMES: return add_names(command, field, text);
    }
    return false;
}

bool options_parse(const command_row *command, int argc, char **argv, options *out) {
    struct option longs[ROWS + 1];
    char shorts[2 * ROWS + 2];
    if (!take_own(command, out)) return false;
    to_getopt(command, longs, shorts);
    opterr = 0;
    optind = 1;
    for (;;) {
        int val = getopt_long(argc, argv, shorts, longs, NULL);
        if (val == -1) break;
        if (val == ':') return complain(command, "a value is missing after", argv[optind - 1]);
        if (val == '?' && optopt && optopt < 256)
            return unknown_option(command, (char[]){'-', (char)optopt, '\0'});
        if (val == '?') return unknown_option(command, argv[optind - 1]);
        if (!store(command, row_of(val), optarg, out)) return false;
    }
    for (int i = optind; i < argc; i++)
        if (!add(command, &out->operands, argv[i])) return false;
    if (out->help) return true;
    if (out->operands.count < command->least)
        return complain(command, "missing", command->operands);
    if (out->operands.count > command->most)
        return complain(command, "one word too many:", out->operands.items[command->most]);
    return true;
}

string_list *options_files(const command_row *command, options *opt, size_t index) {
    for (int i = 0; i < ROWS; i++)
        if (rows[i].kind == FILES && takes(&rows[i], command) && index-- == 0)
            return field_of(&rows[i], opt);
    return NULL;
}

bool options_file(const command_row *command, options *opt, size_t index, option_file *out) {
    const char *file;
    for (int i = 0; i < ROWS; i++) {
        if (rows[i].kind < READ || rows[i].kind > OPENED || !takes(&rows[i], command)) continue;
        memcpy(&file, field_of(&rows[i], opt), sizeof file);
        if (!file || index-- > 0) continue;
        *out = (option_file){rows[i].name, file, rows[i].kind == READ, rows[i].kind == NEW};
        return true;
    }
    return false;
}

void options_release(const command_row *command, options *opt) {
    for (int i = 0; i < ROWS; i++) {
        if (rows[i].kind < LIST || !takes(&rows[i], command)) continue;
        if (rows[i].own && !opt->own) continue;
        string_list *list = field_of(&rows[i], opt);
        free(list->items);
        *list = (string_list){0};  // several rows may share a field
    }
    free(opt->operands.items);
    free(opt->own);
}
