// SPDX-License-Identifier: Apache-2.0
// Writes CSV files with the columns of tt-metal's memory_reporter: sizes are whole KiB. In the
// summaries a program has a row for each pool, and only its first row names it.
#include "tools/plan/memory_csv.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tools/common.h"
#include "tools/failure.h"
#include "tools/plan/device_view.h"

typedef unsigned long long ull;

typedef struct reports {
    FILE *l1, *summary, *detailed;
} reports;

static ull kib(uint64_t bytes) { return (ull)(bytes / 1024); }

static void write_headers(const reports *r) {
    fprintf(r->l1, "This report indicates available space for interleaving L1 buffers\n"
                   "Program ID, Largest Contiguous Free Block (KB), Total Free L1 Space (KB)\n");
    fprintf(r->summary, "Program ID, Total Allocatable Size (KB), Total Allocated (KB), "
                        "Total Free (KB), Largest Free Block (KB)\n");
}

static void write_blocks(FILE *out, const block *blocks, size_t count) {
    fprintf(out, ",,Blocks:,Address (B),Size (B),Allocated (Y/N)\n");
    for (size_t i = 0; i < count; i++)
        fprintf(out, ",,,%llu,%llu,%s\n", (ull)blocks[i].address, (ull)blocks[i].bytes,
                blocks[i].buffer == SIZE_MAX ? "N" : "Y");
    fprintf(out, "\n");
}

static void write_pool(const reports *r, const qdq_device_plan *p, size_t step,
                       qdq_buffer_type pool, block *blocks) {
    const qdq_pool_info *info = &p->pools[pool];
    const qdq_pool_state *s = &p->steps[step].pools[pool];
    fprintf(r->summary, ",%llu,%llu,%llu,%llu\n", kib(info->bytes), kib(s->allocated), kib(s->free),
            kib(s->largest_free));
    fprintf(r->detailed,
            ",%s\n,Total allocatable (KB):,%llu\n,Total allocated (KB):,%llu\n"
            ",Total free (KB):,%llu\n",
            qdq_buffer_type_name(pool), kib(info->bytes * info->banks),
            kib(s->allocated * info->banks), kib(s->free * info->banks));
    write_blocks(r->detailed, blocks, pool_blocks(p, pool, (long)step, blocks));
    if (pool == QDQ_L1)
        fprintf(r->l1, ",%llu,%llu\n", kib(s->largest_free), kib(s->largest_free * info->banks));
}

static void write_all(const reports *r, const qdq_device_plan *p, block *blocks) {
    write_headers(r);
    for (size_t i = 0; i < p->step_count; i++) {
        fprintf(r->summary, "%zu", i);
        fprintf(r->l1, "%zu", i);
        fprintf(r->detailed, "%zu", i);
        write_pool(r, p, i, QDQ_DRAM, blocks);
        write_pool(r, p, i, QDQ_L1, blocks);
    }
}

//---- Files ------------------------------------------------------------------

static FILE *open_in(const char *folder, const char *name, bool *failed) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    if (!file && !*failed)
        (void)tell_failure(QDQ_ERR_IO, "%s: cannot be written: %s", path, strerror(errno));
    *failed |= !file;
    return file;
}

static bool closed(FILE *file) {
    bool broken = file && ferror(file);
    return !file || (fclose(file) == 0 && !broken);
}

int memory_csv_write(const qdq_device_plan *plan, const char *folder) {
    bool failed = false;
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return tell_failure(QDQ_ERR_IO, "%s: cannot be made: %s", folder, strerror(errno));
    block *blocks = calloc(2 * plan->buffer_count + 1, sizeof *blocks);
    if (!blocks) return tell_failure(QDQ_ERR_MEMORY, "no memory for the blocks of a pool");
    reports r = {.l1 = open_in(folder, "program_l1_usage_summary.csv", &failed)};
    r.summary = open_in(folder, "program_memory_usage_summary.csv", &failed);
    r.detailed = open_in(folder, "program_detailed_memory_usage.csv", &failed);
    if (!failed) write_all(&r, plan, blocks);
    free(blocks);
    bool written = closed(r.l1);
    written &= closed(r.summary);
    written &= closed(r.detailed);
    if (failed) return exit_code(QDQ_ERR_IO);
    return written ? EXIT_OK : tell_failure(QDQ_ERR_IO, "%s: cannot be written", folder);
}
