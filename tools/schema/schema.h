// SPDX-License-Identifier: Apache-2.0
// Prints the JSON Schema of graph files, generated from the tables of ops, dtypes and targets.
#ifndef QDQ_TOOLS_SCHEMA_SCHEMA_H
#define QDQ_TOOLS_SCHEMA_SCHEMA_H

void print_schema(void);

#endif
