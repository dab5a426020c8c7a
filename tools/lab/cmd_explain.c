// SPDX-License-Identifier: Apache-2.0
// qdq explain: finds the cause for which a device's results differ from a graph's.
#include <stdio.h>

#include "tools/check/bits.h"
#include "tools/commands.h"
#include "tools/common.h"
#include "tools/failure.h"
#include "tools/html/report_file.h"
#include "tools/io/output_places.h"
#include "tools/io/tensor_io.h"
#include "tools/lab/explain/accuracy/against.h"
#include "tools/lab/explain/accuracy/data/against_data.h"
#include "tools/lab/explain/explain_report.h"
#include "tools/lab/explain/reproduction.h"
#include "tools/options.h"
#include "tools/options/explain.h"

static void write_page(report_file *page, const session *s, const replay *base,
                       const explanation *e, const report_title *title) {
    qdq_json *json = report_file_json(page);
    if (!json) return;
    qdq_json_begin_object(json);
    json_explanation(json, s, base, e, title);
    qdq_json_end_object(json);
}

static int tell(const session *s, const options *opt, const replay *base, const explanation *e,
                const char *target, report_file *page) {
    const explain_options *own = opt->own;
    char command[4096], against[128];
    const report_title title = {opt->operands.items[0], command, against, "given", target};
    snprintf(against, sizeof against, "target %s", target);
    (void)explain_command("explain", opt, &own->gots, command, sizeof command);
    int code = EXIT_OK;
    if (e->differs && opt->outputs.count)
        code = write_reproduction(base, e, target, opt->outputs.items[0], command, sizeof command);
    if (opt->json) {
        int printed = explain_json(s, base, e, &title, opt);
        if (code == EXIT_OK) code = printed;
    } else {
        explain_text(s, base, e, &title);
    }
    if (code != EXIT_OK) return code;
    write_page(page, s, base, e, &title);
    return e->differs ? EXIT_FINDINGS : EXIT_OK;
}

static int explain_session(session *s, const options *opt, const char *target, report_file *page) {
    const explain_options *own = opt->own;
    given_values given;
    replay base = {0};
    explanation e = {0};
    qdq_error err = {0};
    int code = given_read(&given, s, &own->gots);
    if (code == EXIT_OK) code = given_take_inputs(&given, s, opt, &own->gots);
    if (code == EXIT_OK &&
        replay_open(&base, s->graph, target, &given, &s->exec_options, opt, &err) != QDQ_OK)
        code = report_error(&err);
    if (code == EXIT_OK) code = explain(s, opt, NULL, &base, &e);
    if (code == EXIT_OK) code = tell(s, opt, &base, &e, target, page);
    explanation_release(&e);
    replay_close(&base);
    given_release(&given);
    return code;
}

// Checks the files of a reproduction: its graph ends in .json, and its elements overwrite none of
// the files that are read.
static int check_reproduction(const options *opt) {
    const explain_options *own = opt->own;
    char given[4096];
    if (!opt->outputs.count) return EXIT_OK;
    const char *path = opt->outputs.items[0];
    if (opt->outputs.count > 1)
        return tell_failure(QDQ_ERR_ARGUMENT, "-o is given %zu times, wanted one file",
                            opt->outputs.count);
    if (!has_ending(path, ".json"))
        return tell_failure(QDQ_ERR_ARGUMENT, "-o is '%s', wanted a file that ends in .json", path);
    (void)reproduction_given(path, given, sizeof given);
    if (!place_is_read(&own->gots, given) && !place_is_read(&opt->inputs, given)) return EXIT_OK;
    return tell_failure(QDQ_ERR_ARGUMENT,
                        "-o writes '%s' too, which the command reads, wanted another file", given);
}

static int explain_given(const options *opt) {
    session s;
    report_file page = {0};
    int code = session_start_nodes(&s, opt, opt->load.target);
    if (code == EXIT_OK) {
        const char *target = opt->load.target ? opt->load.target : qdq_graph_target(s.graph);
        tell_bits("explain", s.report, target, opt);
        code = report_file_open(&page, "explain", opt, s.graph);
        if (code == EXIT_OK) code = report_file_bits(&page, target, s.report);
        if (code == EXIT_OK) code = explain_session(&s, opt, target, &page);
        code = report_file_close(&page, code);
    }
    session_close(&s);
    return code;
}

int run_explain(const options *opt) {
    const explain_options *own = opt->own;
    if (opt->data.samples &&
        (!own->against || own->gots.count || opt->inputs.count || opt->fill || opt->html))
        return tell_failure(QDQ_ERR_ARGUMENT,
                            "--data is given %s, wanted --against MODEL --data WHERE -o STATE "
                            "without --got, -i, --fill or --html",
                            own->against ? "with one of these" : "without --against");
    if (opt->data.labels.count && !own->against)
        return tell_failure(QDQ_ERR_ARGUMENT,
                            "--labels is given without --against MODEL, whose right results are "
                            "counted too");
    if (opt->data.samples) return explain_against_data(opt);
    if (opt->data.shard || opt->data.resume || opt->data.checkpoint ||
        (own->against && opt->outputs.count))
        return data_options_check(opt);
    if (own->against && own->gots.count)
        return tell_failure(QDQ_ERR_ARGUMENT,
                            "--against and --got are both given, wanted one of them");
    if (own->against) return explain_against(opt);
    if (!own->gots.count)
        return tell_failure(
            QDQ_ERR_ARGUMENT,
            "--got is missing, wanted the results of the device, as in --got device.npz");
    int code = check_reproduction(opt);
    return code == EXIT_OK ? explain_given(opt) : code;
}
