// SPDX-License-Identifier: Apache-2.0
// Says which flag shows the names of POSIX, for files that need them. The build passes it.
#ifndef QDQ_RUNTIME_BASE_POSIX_H
#define QDQ_RUNTIME_BASE_POSIX_H

#if defined(__linux__) && defined(__STRICT_ANSI__) && !defined(_DEFAULT_SOURCE) && \
    !defined(_GNU_SOURCE)
#error "-std=c11 hides names of POSIX: compile with -std=gnu11, or add -D_DEFAULT_SOURCE"
#endif

#endif
