// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/explain/accuracy/answers.h"

#include "tools/common.h"
#include "tools/elements.h"
#include "tools/failure.h"
#include "tools/io/tensor_io.h"

const char *answers_output(const labels *l, const accuracy_graphs *graphs) {
    const session *s = graphs->quantized;
    return l->word ? qdq_output_original(s->graph, qdq_plan_output(s->plan, l->output)->name)
                   : NULL;
}

int answers_count(const labels *l, const accuracy_graphs *graphs, const reference *ref, size_t run,
                  label_counts *counts) {
    output_data data;
    if (!l->word) return EXIT_OK;
    if (!find_output(graphs, ref, l->output, &data))
        return tell_failure(QDQ_ERR_ARGUMENT,
                            "--labels: the float model has no output '%s' of the same type",
                            answers_output(l, graphs));
    double *y = elements_take_numbers(graphs->quantized->exec_options.allocator, 2 * data.count);
    if (!y) return tell_failure(QDQ_ERR_MEMORY, "no memory to count classes");
    to_doubles(data.dtypes[1], data.real, data.count, y);
    to_doubles(data.dtypes[0], data.quantized, data.count, y + data.count);
    labels_count(l, run, y, y + data.count, counts);
    elements_free(y);
    return EXIT_OK;
}
