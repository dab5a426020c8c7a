// SPDX-License-Identifier: Apache-2.0
// Memory in files of a folder (--spill), for models and values that are larger than the memory of
// the machine. Large allocations are files that are mapped; whenever the process has more than a
// limit in memory, they are written to the folder and their pages are given back. Numbers do not
// change: a page is read again when it is needed.
//
// A NULL spill stands for the C library's memory. Everything here is for the thread of main().
#ifndef QDQ_TOOLS_DATASET_SPILL_H
#define QDQ_TOOLS_DATASET_SPILL_H

#include <qdq/base.h>
#include <qdq/parallel.h>

typedef struct spill spill;

// Files of `folder`, if resident memory exceeds `limit` bytes. NULL after a message if none can be
// made there. spill_close ends it when all of its memory is free.
spill *spill_open(const char *folder, size_t limit);
void spill_close(spill *s);

// For graphs and execs; NULL if `s` is.
const qdq_allocator *spill_allocator(spill *s);

// The same threads as `inner`, with work cut into pieces between which memory is given back.
qdq_parallel spill_parallel(spill *s, qdq_parallel inner);

// Gives memory back if there is too much of it, for loops that read much of it by themselves.
void spill_trim(const spill *s);

#endif
