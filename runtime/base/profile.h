// SPDX-License-Identifier: Apache-2.0
// The profile of the build (meson's option `profile`): rows of tables that a profile lacks, and the
// words of messages about them. Files of a profile are lists in the meson.build of each layer.
#ifndef QDQ_RUNTIME_BASE_PROFILE_H
#define QDQ_RUNTIME_BASE_PROFILE_H

// QDQ_FULL(row) is the row in the profile full, QDQ_NOT_FULL(row) in the profile core; elsewhere
// they are empty. QDQ_BUILD_WITH says how to build a part that is missing because of an option of
// meson.
#if defined(QDQ_PROFILE_CORE)
#define QDQ_FULL(...)
#define QDQ_NOT_FULL(...) __VA_ARGS__
#define QDQ_BUILD_WITH(option) "it was built with -Dprofile=core"
#else
#define QDQ_FULL(...) __VA_ARGS__
#define QDQ_NOT_FULL(...)
#define QDQ_BUILD_WITH(option) "build with " option
#endif

#endif
