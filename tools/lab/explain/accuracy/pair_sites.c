// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/explain/accuracy/pair_sites.h"

static bool has_value(const qdq_equalize_site *site, qdq_value value) {
    for (size_t i = 0; i < site->value_count; i++)
        if (site->values[i].value.id == value.id) return true;
    return false;
}

static bool has_reader(const qdq_equalize_site *site, size_t node) {
    for (size_t i = 0; i < site->reader_count; i++)
        if (site->readers[i].node == node) return true;
    return false;
}

bool pair_has_site(const qdq_equalize_sites *sites, const reference *ref, size_t node,
                   const summed_operand *operand) {
    enum { WEIGHTS = 1 };
    const replay *r = ref->quantized;
    size_t quantize = quantize_of(r, node), product = SIZE_MAX;
    qdq_value value = {0};
    if (quantize != SIZE_MAX)
        value = reference_value(ref, qdq_graph_node_input(r->form.graph, quantize, 0));
    if (operand->port == WEIGHTS) product = reference_node(ref, operand->product);
    for (size_t i = 0; i < qdq_equalize_site_count(sites); i++) {
        const qdq_equalize_site *site = qdq_equalize_site_get(sites, i);
        if ((value.id && has_value(site, value)) ||
            (product != SIZE_MAX && has_reader(site, product)))
            return true;
    }
    return false;
}
