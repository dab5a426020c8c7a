// SPDX-License-Identifier: Apache-2.0
// The functions of the commands; each returns an exit code.
#ifndef QDQ_TOOLS_COMMANDS_H
#define QDQ_TOOLS_COMMANDS_H

typedef struct options options;

int run_run(const options *opt);
int run_inspect(const options *opt);
int run_check(const options *opt);
int run_compare(const options *opt);
int run_explain(const options *opt);
int run_bisect(const options *opt);
int run_plan(const options *opt);
int run_bench(const options *opt);
int run_convert(const options *opt);
int run_link(const options *opt);
int run_open(const options *opt);
int run_mend(const options *opt);
int run_fingerprint(const options *opt);
int run_calibrate(const options *opt);
int run_quantize(const options *opt);
int run_merge(const options *opt);
int run_ops(const options *opt);
int run_targets(const options *opt);

#endif
