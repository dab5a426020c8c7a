// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/explain/parameters.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/common.h"
#include "tools/elements.h"

static bool op_has_attr(const char *op, const char *attr) {
    for (size_t i = 0; i < qdq_op_count(); i++) {
        qdq_op_info info = qdq_op_get(i);
        if (strcmp(info.name, op) != 0) continue;
        for (size_t k = 0; k < info.attr_count; k++)
            if (strcmp(qdq_op_attr(i, k).name, attr) == 0) return true;
    }
    return false;
}

// Reads a parameter from its attribute or its port. `prefix`: "in_", "a_" or "".
static parameter read_parameter(const node_document *d, const char *prefix, const char *port,
                                const char *attr) {
    parameter p = {0};
    snprintf(p.port, sizeof p.port, "%s%s", prefix, port);
    snprintf(p.attr, sizeof p.attr, "%s%s", prefix, attr);
    if (!op_has_attr(document_op(d), p.attr)) p.attr[0] = '\0';
    p.values = document_port_numbers(d, p.port, &p.count);
    if (!p.values && *p.attr) p.values = document_attr_numbers(d, p.attr, &p.count);
    if (!p.values) p.count = 0;
    return p;
}

// True if the name of a port ends in `word`. Copies the prefix before it.
static bool prefix_of(const char *port, const char *word, char *prefix, size_t capacity) {
    size_t length = strlen(port), tail = strlen(word);
    if (length < tail || strcmp(port + length - tail, word) != 0 || length - tail >= capacity)
        return false;
    memcpy(prefix, port, length - tail);
    prefix[length - tail] = '\0';
    return length == tail || prefix[length - tail - 1] == '_';
}

static bool is_known(const parameter_list *list, const char *prefix) {
    char port[64];
    snprintf(port, sizeof port, "%szero_point", prefix);
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->pairs[i].zero.port, port) == 0) return true;
    return false;
}

parameter_list parameters_of(const node_document *d) {
    parameter_list list = {0};
    size_t op = find_op(document_op(d));
    for (size_t i = 0; i < qdq_op_get(op).input_count && list.count < MOST_PAIRS; i++) {
        char prefix[32];
        const char *port = qdq_op_input(op, i).name;
        if (!prefix_of(port, "scale", prefix, sizeof prefix) &&
            !prefix_of(port, "zero_point", prefix, sizeof prefix))
            continue;
        if (is_known(&list, prefix)) continue;
        list.pairs[list.count++] = (parameter_pair){read_parameter(d, prefix, "scale", "scales"),
                                                    read_parameter(d, prefix, "zero_point", "zps")};
    }
    return list;
}

void parameters_release(parameter_list *list) {
    for (size_t i = 0; i < list->count; i++) {
        elements_free(list->pairs[i].scale.values);
        elements_free(list->pairs[i].zero.values);
    }
    *list = (parameter_list){0};
}

bool parameter_set(node_document *d, const parameter *p, const double *values) {
    if (document_value(d, p->port).id) return document_set_port(d, p->port, values, p->count);
    return *p->attr && document_set_attr(d, p->attr, NULL, values, p->count ? p->count : 1);
}
