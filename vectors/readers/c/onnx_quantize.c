// SPDX-License-Identifier: Apache-2.0
// An implementation to begin with: Quantize of float32 to int8 or uint8 by one scale, as ONNX has
// it.
#include <cjson/cJSON.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

cJSON *implement(const cJSON *group);

static int is(const cJSON *object, const char *key, const char *wanted) {
    const char *found = cJSON_GetStringValue(cJSON_GetObjectItem(object, key));
    return found && strcmp(found, wanted) == 0;
}

cJSON *implement(const cJSON *group) {
    const cJSON *attributes = cJSON_GetObjectItem(group, "attributes"),
                *inputs = cJSON_GetObjectItem(group, "inputs"), *one;
    const cJSON *x = cJSON_GetArrayItem(inputs, 0),
                *scale = cJSON_GetObjectItem(attributes, "scales"),
                *zero = cJSON_GetObjectItem(attributes, "zps");
    int int8 = is(attributes, "dtype", "int8"), known = int8 || is(attributes, "dtype", "uint8");
    cJSON_ArrayForEach(one, attributes) known &= !strcmp(one->string, "scales") ||
                                                 !strcmp(one->string, "zps") ||
                                                 !strcmp(one->string, "dtype");
    if (!known || !is(group, "op", "Quantize") || cJSON_GetArraySize(inputs) != 1 ||
        !is(x, "dtype", "float32") || !cJSON_IsNumber(scale) || (zero && !cJSON_IsNumber(zero)))
        return NULL;
    const char *bits = cJSON_GetObjectItem(x, "bits")->valuestring;
    char words[4096] = "", *end = words;
    double least = int8 ? -128 : 0, greatest = int8 ? 127 : 255;
    for (char *next; *bits && end < words + 4000; bits = next) {
        uint32_t pattern = (uint32_t)strtoul(bits, &next, 16);
        float number;
        memcpy(&number, &pattern, sizeof number);
        float quotient = number / (float)scale->valuedouble;
        double code =
            isnan(quotient)
                ? least
                : fmin(fmax(rint((double)quotient) + (zero ? zero->valuedouble : 0), least),
                       greatest);
        end += sprintf(end, "%s%02x", end == words ? "" : " ", (unsigned)(int)code & 255);
    }
    cJSON *made = cJSON_CreateObject();
    cJSON_AddStringToObject(made, "y", words);
    return made;
}
