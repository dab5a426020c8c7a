// SPDX-License-Identifier: Apache-2.0
// Memory in files of a folder (--spill), for models and values larger than the memory of the
// machine. Large allocations are mapped files. Whenever the resident memory of the process exceeds
// a limit, they are written to the folder and their pages are given back. Numbers do not change: a
// page is read again when it is needed.
//
// Call these functions only on the thread of main().
#ifndef QDQ_TOOLS_SPILL_H
#define QDQ_TOOLS_SPILL_H

#include <qdq/base.h>
#include <qdq/parallel.h>

typedef struct spill spill;

// Opens memory that goes to files of `folder` while resident memory exceeds `limit` bytes. NULL
// after a message if the folder takes no files. spill_close ends it once all of its memory is
// freed.
spill *spill_open(const char *folder, size_t limit);
void spill_close(spill *s);  // NULL: does nothing

// Returns the allocator for graphs and execs.
const qdq_allocator *spill_allocator(spill *s);

// Returns the threads of `inner`, with loops cut into pieces; memory is given back after each
// piece.
qdq_parallel spill_parallel(spill *s, qdq_parallel inner);

// Gives memory back if resident memory exceeds the limit; for loops that read many pages outside of
// a plan.
void spill_trim(const spill *s);

#endif
