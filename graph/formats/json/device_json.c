// SPDX-License-Identifier: Apache-2.0
// Reads the description of a device (docs/device_memory.md): numbers by name, which replace the
// numbers of a chip. runtime/tenstorrent/ knows the numbers alone.
#include <stddef.h>
#include <string.h>

#include "graph/core/graph.h"
#include "graph/core/open_file.h"
#include "graph/formats/json/json_tree.h"
#include "include/qdq/device.h"
#include "runtime/base/did_you_mean.h"
#include "runtime/base/error.h"
#include "runtime/base/fp_environment.h"
#include "runtime/base/mempool.h"

//---- Keys -------------------------------------------------------------------

// A key that is a number, and its field.
typedef struct number_key {
    const char *name;
    size_t offset;
} number_key;

static const number_key number_keys[] = {
#define NUMBER_KEY(field, least, greatest) {#field, offsetof(qdq_device, field)},
    QDQ_DEVICE_NUMBERS(NUMBER_KEY)
#undef NUMBER_KEY
};
enum { NUMBER_KEYS = sizeof number_keys / sizeof number_keys[0] };

static const char *const text_keys[] = {"name", "chip", "arch"};
enum { TEXT_KEYS = sizeof text_keys / sizeof text_keys[0] };

static qdq_status refuse_key(const char *key, qdq_error *err) {
    const char *known[TEXT_KEYS + NUMBER_KEYS];
    size_t count = 0;
    for (; count < TEXT_KEYS; count++) known[count] = text_keys[count];
    for (size_t i = 0; i < NUMBER_KEYS; i++) known[count++] = number_keys[i].name;
    const char *near = qdq_did_you_mean(key, known, count);
    return qdq_fail(err, QDQ_ERR_PARSE, "a device has no key '%.64s'%s%s%s", key,
                    near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "");
}

static qdq_status read_number(const qdq_json_item *item, const number_key *key, qdq_device *out,
                              qdq_error *err) {
    uint64_t number;
    if (!qdq_json_uint64(item, &number))
        return qdq_fail(err, QDQ_ERR_PARSE, "%s is %s, wanted a whole number of 0 or more",
                        key->name, qdq_json_kind_text(item));
    memcpy((char *)out + key->offset, &number, sizeof number);
    return QDQ_OK;
}

static qdq_status read_text(const qdq_json_item *item, qdq_device *out, qdq_error *err) {
    const char *key = qdq_json_name(item), *text = qdq_json_text(item);
    if (!text)
        return qdq_fail(err, QDQ_ERR_PARSE, "%s is %s, wanted a string", key,
                        qdq_json_kind_text(item));
    if (strcmp(key, "name") == 0) {
        if (strlen(text) >= sizeof out->name)
            return qdq_fail(err, QDQ_ERR_PARSE, "name has %zu bytes, wanted at most %zu",
                            strlen(text), sizeof out->name - 1);
        memset(out->name, 0, sizeof out->name);
        memcpy(out->name, text, strlen(text));
    } else if (strcmp(key, "arch") == 0) {
        bool is_wormhole = strcmp(text, "wormhole") == 0;
        if (!is_wormhole && strcmp(text, "blackhole") != 0)
            return qdq_fail(err, QDQ_ERR_PARSE, "arch is '%.64s', wanted wormhole or blackhole",
                            text);
        out->arch = is_wormhole ? QDQ_WORMHOLE : QDQ_BLACKHOLE;
    }
    return QDQ_OK;  // chip has been read by now
}

static qdq_status read_member(const qdq_json_item *item, qdq_device *out, qdq_error *err) {
    const char *key = qdq_json_name(item);
    for (size_t i = 0; i < TEXT_KEYS; i++)
        if (strcmp(key, text_keys[i]) == 0) return read_text(item, out, err);
    for (size_t i = 0; i < NUMBER_KEYS; i++)
        if (strcmp(key, number_keys[i].name) == 0)
            return read_number(item, &number_keys[i], out, err);
    return strncmp(key, "x-", 2) == 0 ? QDQ_OK : refuse_key(key, err);
}

//---- The whole --------------------------------------------------------------

// Finds the chip whose numbers hold where the description has none.
static qdq_status begin(const qdq_json_item *tree, qdq_device *out, qdq_error *err) {
    if (!qdq_json_is_object(tree))
        return qdq_fail(err, QDQ_ERR_PARSE, "a device is %s, wanted an object",
                        qdq_json_kind_text(tree));
    const qdq_json_item *chip = qdq_json_find(tree, "chip");
    *out = (qdq_device){.name = "custom"};
    if (!chip || !qdq_json_text(chip)) return QDQ_OK;  // read_text refuses other types
    qdq_error unknown = {0};
    const qdq_device *found = qdq_device_find(qdq_json_text(chip), &unknown);
    if (found && qdq_device_is_none(found))
        return qdq_fail(err, QDQ_ERR_PARSE,
                        "chip: 'none' is no chip, wanted n150, n300, p100 or p150");
    if (!found) return qdq_fail(err, QDQ_ERR_PARSE, "chip: %s", unknown.text);
    *out = *found;
    return QDQ_OK;
}

// Reads a description; `text` has a NUL behind its `length` bytes.
static qdq_status read_description(const char *text, size_t length, const qdq_allocator *allocator,
                                   qdq_device *out, qdq_error *err) {
    qdq_limits limits = qdq_limits_or_default(NULL);
    qdq_json_item *tree = qdq_json_tree_parse(text, length, allocator, limits.json_values, err);
    if (!tree) return err->status;
    qdq_status status = begin(tree, out, err);
    if (status == QDQ_OK) QDQ_JSON_EACH(item, tree) {
            status = read_member(item, out, err);
            if (status != QDQ_OK) break;
        }
    qdq_json_tree_free(tree);
    qdq_error wrong = {0};
    if (status == QDQ_OK && qdq_device_check(out, &wrong) != QDQ_OK)
        status = qdq_fail(err, QDQ_ERR_PARSE, "%s", wrong.text);
    return status;
}

// Hands on a device, or an error with the name of the file in front.
static qdq_status finish(qdq_status status, const qdq_device *device, const char *name,
                         qdq_error *own, qdq_device *out, qdq_error *err) {
    if (status == QDQ_OK) {
        *out = *device;
        return status;
    }
    if (name && *name) qdq_error_prefix(own, name);
    return qdq_fail(err, own->status, "%s", own->text);
}

qdq_status qdq_device_parse(const char *text, size_t length, const char *name,
                            const qdq_allocator *allocator, qdq_device *out, qdq_error *err) {
    QDQ_FIXED_ENVIRONMENT;
    qdq_error own = {0};
    qdq_device device;
    allocator = qdq_allocator_or_default(allocator);
    if (!text || !out) return qdq_fail(err, QDQ_ERR_ARGUMENT, "the text or the device is NULL");
    qdq_status status = qdq_check_file_bytes(length, qdq_limits_or_default(NULL).file_bytes, &own);
    if (status == QDQ_OK) {
        char *copy = qdq_alloc_array(allocator, length + 1, 1, 16);
        if (copy) {
            memcpy(copy, text, length);
            copy[length] = '\0';
            status = read_description(copy, length, allocator, &device, &own);
            qdq_free_array(allocator, copy, length + 1, 1);
        } else {
            status = qdq_fail_memory(&own, length + 1);
        }
    }
    return finish(status, &device, name, &own, out, err);
}

qdq_status qdq_device_load(const char *path, const qdq_allocator *allocator, qdq_device *out,
                           qdq_error *err) {
    QDQ_FIXED_ENVIRONMENT;
    qdq_error own = {0};
    qdq_device device;
    size_t length = 0;
    allocator = qdq_allocator_or_default(allocator);
    if (!path || !out) return qdq_fail(err, QDQ_ERR_ARGUMENT, "the path or the device is NULL");
    char *text =
        qdq_read_file(path, qdq_limits_or_default(NULL).file_bytes, allocator, &length, &own);
    qdq_status status = own.status;
    if (text) {
        status = read_description(text, length, allocator, &device, &own);
        qdq_free_array(allocator, text, length + 1, 1);
    }
    return finish(status, &device, path, &own, out, err);
}
