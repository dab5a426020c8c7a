// SPDX-License-Identifier: Apache-2.0
// The entry of the command line: a table with a row per command.
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "runtime/base/budget.h"
#include "runtime/base/mempool.h"
#include "runtime/base/profile.h"
#include "runtime/base/words.h"
#include "tools/commands.h"
#include "tools/common.h"
#include "tools/failure.h"
#include "tools/io/output_places.h"
#include "tools/io/streams.h"
#include "tools/io/watch.h"
#include "tools/manual/manual.h"
#include "tools/options.h"
#include "tools/options/help.h"
#include "tools/options/option_number.h"
#include "tools/shell_word.h"
#include "tools/spill.h"

static int run_help(const options *opt);

#ifdef QDQ_LAB
#define EXPLAIN_DETAILS                                                                           \
    "Runs every target and version; each node at fault with other number formats; and each with " \
    "the mistakes that converters make: another scale or zero point, one for all channels, two "  \
    "zero points dropped together; another axis, blocks read as channels; a clamp before the "    \
    "zero point is added; borders of code 0; exchanged or dropped inputs; other attributes; "     \
    "codes and dims in another order; fixed-point factors; tensors in place of numbers; a node "  \
    "left out. Names "                                                                            \
    "the cause that gives all bits with the fewest changes, and those that need as few. Stops "   \
    "after 8 seconds."
#endif

static const command_row commands[] = {
    {"run",
     "GRAPH",
     "Run a graph; write, compare or sum up its outputs.",
     1,
     1,
     run_run,
     {"run graph.json --fill 1 -o all.safetensors",
      "run graph.json -i x=x.npy --expect y=golden.npy --tolerance 0.5"},
     NULL},
    {"inspect",
     "GRAPH",
     "List inputs, outputs, ops, dtypes and sizes of a file.",
     1,
     1,
     run_inspect,
     {"inspect model.onnx", "inspect weights.safetensors --json"},
     "GRAPH may also be a file of tensors: .safetensors, .npy, .npz, or a state of calibrate."},
    {"check",
     "GRAPH...",
     "Check graphs against the rules of a target.",
     1,
     SIZE_MAX,
     run_check,
     {"check graph.json --target onnx --strict",
      "check first.json second.json --target all --json"},
     NULL},
#ifdef QDQ_LAB
    {"compare",
     "GRAPH",
     "Run a graph as several targets: differences and causes.",
     1,
     1,
     run_compare,
     {"compare graph.json --targets onnx,onednn,torchao --fill 1",
      "compare graph.json --fast -i x=x.npy --json"},
     NULL},
    {"explain",
     "GRAPH",
     "Say why a device gave other results: node and cause.",
     1,
     1,
     run_explain,
     {"explain model.onnx -i inputs.npz --got device.npz",
      "explain graph.json --got device.npz --target ort -o repro.json"},
     EXPLAIN_DETAILS},
    {"bisect",
     "GRAPH [GRAPH]",
     "Find where two graphs or targets first differ.",
     1,
     2,
     run_bisect,
     {"bisect first.json second.json -i x=x.npy",
      "bisect model.onnx --targets onnx@1.29,onnx@1.31 --fill 1"},
     NULL},
#endif
    {"plan",
     "GRAPH",
     "Show how a graph is run: steps, the arena, lifetimes.",
     1,
     1,
     run_plan,
     {"plan graph.json", "plan graph.json --materialize --map"},
     NULL},
    {"bench",
     "GRAPH",
     "Time a graph.",
     1,
     1,
     run_bench,
     {"bench graph.json --compile --vs-copy --json", "bench graph.json --fast --steps"},
     NULL},
    {"convert",
     "GRAPH",
     "Write a graph as JSON, ONNX or TensorFlow Lite.",
     1,
     1,
     run_convert,
     {"convert graph.json -o model.onnx", "convert graph.json -o model.tflite"},
     NULL},
    {"link",
     "GRAPH",
     "Print a link that opens a graph in a page.",
     1,
     1,
     run_link,
     {"link graph.json --targets onnx,ort --fill 1",
      "link graph.json -t ort -i x=x.npy --base URL"},
     NULL},
    {"open",
     "LINK",
     "Write the graph of a link to a file.",
     1,
     1,
     run_open,
     {"open 'http://localhost:8000/#qdq1=...' -o graph.json",
      "open 'http://localhost:8000/#qdq1=...' -o graph.json --json"},
     NULL},
#ifdef QDQ_LAB
    {"mend",
     "GRAPH",
     "Change a graph where a target refuses it.",
     1,
     1,
     run_mend,
     {"mend model.onnx --target tensorrt -o mended.onnx",
      "mend graph.json --target tripy -o mended.json --allow-lossy"},
     NULL},
    {"fingerprint",
     "GRAPH",
     "Hash a graph, its target, numerics and outputs.",
     1,
     1,
     run_fingerprint,
     {"fingerprint model.onnx --target ort@1.31-avx2",
      "fingerprint graph.json --expect-fingerprint qdq1-..."},
     NULL},
    {"calibrate",
     "GRAPH",
     "Collect statistics of all float values over samples.",
     1,
     1,
     run_calibrate,
     {"calibrate model.onnx --data images -o all.state",
      "calibrate model.onnx --data images --shard 3/64 --resume -o 3.state"},
     NULL},
    {"merge",
     "STATE...",
     "Merge the states of shards, or print their report.",
     1,
     SIZE_MAX,
     run_merge,
     {"merge 1.state 2.state -o all.state", "merge all.state --json"},
     NULL},
    {"quantize",
     "GRAPH",
     "Quantize a float graph for a target, after calibrate.",
     1,
     1,
     run_quantize,
     {"quantize model.onnx --state all.state --target ort -o quantized.onnx",
      "quantize model.onnx --state all.state -t tensorrt -o out.json --method mse"},
     NULL},
#endif
    {"ops",
     "[OP]",
     "List the ops, or the ports and attributes of one.",
     0,
     1,
     run_ops,
     {"ops Quantize", "ops --dtypes"},
     NULL},
    {"targets",
     "[TARGET]",
     "List the targets, or versions, evidence, rules of one.",
     0,
     1,
     run_targets,
     {"targets", "targets onnx --json"},
     NULL},
    {"help",
     "[COMMAND]",
     "Show this help, or the options of a command.",
     0,
     1,
     run_help,
     {"check graph.json --target all", "help run"},
     NULL},
};

enum { COMMANDS = sizeof commands / sizeof commands[0] };

static const command_row *find_command(const char *name) {
    for (int i = 0; i < COMMANDS; i++)
        if (strcmp(commands[i].name, name) == 0) return &commands[i];
    return NULL;
}

// Prints "Exit codes: 0 ok, 1 ..." in lines of at most 80 columns.
static void list_exit_codes(FILE *out) {
    int at = fprintf(out, "Exit codes:");
    for (int i = 0; exit_code_texts[i]; i++) {
        bool last = exit_code_texts[i + 1] == NULL, first = false;
        if (at + (int)strlen(exit_code_texts[i]) + 4 > 80) first = fputc('\n', out) == '\n';
        if (first) at = 0;
        at += fprintf(out, "%s%d %s%s", first ? "" : " ", i, exit_code_texts[i], last ? "" : ",");
    }
    fprintf(out, ".\n");
}

static void list_commands(FILE *out) {
    fprintf(out, "usage: qdq COMMAND ...\n\n" TOOL_SUMMARY "\n\n");
    for (int i = 0; i < COMMANDS; i++)
        fprintf(out, "  %-12s%-9s %s\n", commands[i].name, commands[i].operands,
                commands[i].summary);
    fprintf(out, "\n`qdq help COMMAND` lists its options; `qdq --version` prints the version.\n");
    list_exit_codes(out);
    print_examples(out, find_command("help"));
}

static int unknown_command(const char *name) {
    const char *names[COMMANDS + 2];
    for (int i = 0; i < COMMANDS; i++) names[i] = commands[i].name;
    names[COMMANDS] = "--help";
    names[COMMANDS + 1] = "--version";
#ifndef QDQ_LAB
    if (qdq_has_word("compare explain bisect mend fingerprint calibrate merge quantize", name))
        return tell_failure(QDQ_ERR_ARGUMENT,
                            "this build has no command '%s'; " QDQ_BUILD_WITH("-Dlab=true"), name);
#endif
    return tell_unknown("command", name, names, COMMANDS + 2);
}

static int run_help(const options *opt) {
    const help_options *own = opt->own;
    static const command_list list = {commands, COMMANDS};
    const char *name = opt->operands.count ? opt->operands.items[0] : NULL;
    const command_row *command = name ? find_command(name) : NULL;
    if (name && !command) return unknown_command(name);
    if (own->completion) {
        if (print_completion(&list, own->completion)) return EXIT_OK;
        return tell_failure(QDQ_ERR_ARGUMENT, "--completion is '%s', wanted bash, zsh or fish",
                            own->completion);
    }
    if (own->man)
        print_man_page(&list, command);
    else if (command)
        print_help(command);
    else
        list_commands(stdout);
    return EXIT_OK;
}

// Flushes stdout. Returns `code`, or a failure if output could not be written.
static int flushed(int code) {
    if (fflush(stdout) == 0 && !ferror(stdout)) return code;
    fprintf(stderr, "qdq: standard output cannot be written\n");
    return EXIT_LIMIT;
}

// Quotes the command line for a shell, for reports. NULL if memory runs out. The caller frees it.
static char *call_text(int argc, char **argv) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out) return NULL;
    fputs("qdq", out);
    for (int i = 1; i < argc; i++) {
        fputc(' ', out);
        print_shell_word(out, argv[i]);
    }
    return fclose(out) == 0 ? text : NULL;
}

// True if --json is given, even if the rest of the command line is wrong.
static bool asks_for_json(int argc, char **argv) {
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--json") == 0) return true;
    return false;
}

// Bytes for steps and names, which --max-bytes does not count; compiling allows as many.
enum { BYTES_OF_PLANNING = 64 << 20 };

// Opens the memory of a command: within --max-bytes, or in the folder of --spill if that is given.
static int open_memory(options *opt, qdq_budget *memory) {
    const uint64_t most = (uint64_t)8 << 30;
    size_t limit, usual = most < SIZE_MAX / 2 ? (size_t)most : SIZE_MAX / 2;
    if (!options_number("max-bytes", opt->load.max_bytes, 1, usual, &limit)) return EXIT_USAGE;
    if (opt->spill_folder) opt->spill = spill_open(opt->spill_folder, limit);
    if (opt->spill_folder && !opt->spill) return EXIT_BAD_FILE;
    const qdq_allocator *from = opt->spill ? spill_allocator(opt->spill) : NULL;
    bool counts = !opt->spill && limit < SIZE_MAX - BYTES_OF_PLANNING;
    qdq_budget_init(memory, qdq_allocator_or_default(from),
                    counts ? limit + BYTES_OF_PLANNING : SIZE_MAX);
    opt->memory = memory;
    failure_limit(memory);
    return EXIT_OK;
}

static int run_command(const command_row *command, options *opt) {
    streams taken = {.count = 0};
    qdq_budget memory;
    int code;
    if (opt->compile.fast && opt->compile.literal)
        return tell_misuse(command->name, "--fast and --literal exclude each other");
    if (!read_device(opt, &code)) return code;
    code = places_check(command, opt);
    if (code == EXIT_OK) code = streams_take(&taken, command, opt);
    if (code == EXIT_OK) code = open_memory(opt, &memory);
    if (code == EXIT_OK) {
        opt->watch = watch_start(!opt->quiet && isatty(STDERR_FILENO));
        if (opt->outputs.count) watch_saved(opt->watch, "nothing was saved");
        code = command->run(opt);
        watch_clear(opt->watch);
    }
    failure_limit(NULL);
    spill_close(opt->spill);
    streams_close(&taken);
    return code;
}

// Constants and external data may lie in more files than a process may open by default.
static void allow_all_files(void) {
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0) return;
    files.rlim_cur = files.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &files);
}

int main(int argc, char **argv) {
    signal(SIGXFSZ, SIG_IGN);  // reaching a limit of file size fails the write instead
    allow_all_files();
    if (argc < 2) {
        list_commands(stderr);
        return EXIT_USAGE;
    }
    if (asks_for_json(argc, argv)) failure_to_json();
    if (strcmp(argv[1], "--version") == 0) {
        printf("qdq %s\n", qdq_version());
        return flushed(EXIT_OK);
    }
    bool help = strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0;
    const command_row *command = find_command(help ? "help" : argv[1]);
    if (!command) return flushed(unknown_command(argv[1]));
    char *call = call_text(argc, argv);  // before parsing, which reorders and splits words
    options opt = {.call = call};
    int code = EXIT_OK;
    if (!options_parse(command, argc - 1, argv + 1, &opt))
        code = EXIT_USAGE;
    else if (!opt.help)
        code = run_command(command, &opt);
    else if (command->run == run_help)
        list_commands(stdout);
    else
        print_help(command);
    options_release(command, &opt);
    free(call);
    return flushed(code);
}
