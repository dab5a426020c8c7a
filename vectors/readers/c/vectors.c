// SPDX-License-Identifier: Apache-2.0
// Checks an implementation against the bits of a backend:
//   cc -o vectors vectors.c onnx_quantize.c -lcjson -lm; ./vectors quantize.json --backend
//   onnx@1.32-vnni
// `implement` gets a group and returns {output: "words"}, the bits of its elements in hexadecimal
// (any NaN is "nan"), which this file deletes, or NULL for a group that it does not implement.
#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

cJSON *implement(const cJSON *group);

static const char *text(const cJSON *object, const char *key) {
    const char *found = cJSON_GetStringValue(cJSON_GetObjectItem(object, key));
    return found ? found : "";
}

static cJSON *load(const char *path) {
    FILE *file = fopen(path, "rb");
    char *content = NULL;
    size_t length = 0, got = 0;
    do {
        content = realloc(content, length + 65537);
        got = file && content ? fread(content + length, 1, 65536, file) : 0;
        length += got;
    } while (got > 0);
    if (file) fclose(file);
    cJSON *read = content ? cJSON_ParseWithLength(content, length) : NULL;
    free(content);
    return read;
}

// True if `shorter` is `name`, or its beginning before @ or -.
static int covers(const char *shorter, const char *name) {
    size_t n = strlen(shorter);
    return strncmp(shorter, name, n) == 0 && (!name[n] || name[n] == '@' || name[n] == '-');
}

// Returns {output: words} of the row with the longest name that covers the backend; NULL if that
// has no bits.
static const cJSON *expected(const cJSON *group, const char *backend) {
    const cJSON *row, *name, *best = NULL;
    size_t length = 0;
    cJSON_ArrayForEach(row, cJSON_GetObjectItem(group, "results")) cJSON_ArrayForEach(
        name, cJSON_GetObjectItem(row, "backends")) if (covers(name->valuestring, backend) &&
                                                        strlen(name->valuestring) > length) {
        length = strlen(name->valuestring);
        best = row;
    }
    return cJSON_GetObjectItem(best, "bits");
}

// Prints the first element that differs. Returns true if none does.
static int same(const cJSON *group, const cJSON *wanted, const cJSON *found) {
    const cJSON *output;
    cJSON_ArrayForEach(output, wanted) {
        const char *want = output->valuestring, *got = text(found, output->string);
        for (int i = 0; *want || *got; i++) {
            int n = (int)strcspn(want, " "), m = (int)strcspn(got, " ");
            if (n != m || strncmp(want, got, (size_t)n) != 0)
                return printf("%s: %s[%d] is %.*s, wanted %.*s (%s)\n", text(group, "id"),
                              output->string, i, m, got, n, want, text(group, "about")) < 0;
            want += n + (want[n] == ' ');
            got += m + (got[m] == ' ');
        }
    }
    return 1;
}

int main(int count, char **words) {
    const char *backend = count == 4 && strcmp(words[2], "--backend") == 0 ? words[3] : "core";
    cJSON *file = count > 1 ? load(words[1]) : NULL, *group, *name;
    int equal = 0, differ = 0, skipped = 0, known = 0;
    cJSON_ArrayForEach(name, cJSON_GetObjectItem(file, "versions")) known |=
        strcmp(name->valuestring, backend) == 0;
    if (!known)
        return fprintf(stderr, "%s: no file of vectors, or no backend %s in it\n",
                       count > 1 ? words[1] : "", backend),
               2;
    cJSON_ArrayForEach(group, cJSON_GetObjectItem(file, "groups")) {
        const cJSON *wanted = expected(group, backend);
        cJSON *found = wanted ? implement(group) : NULL;
        if (found) *(same(group, wanted, found) ? &equal : &differ) += 1;
        skipped += wanted && !found;
        cJSON_Delete(found);
    }
    printf("%s: %d groups equal, %d differ, %d not implemented\n", backend, equal, differ, skipped);
    cJSON_Delete(file);
    return equal + differ == 0 ? 2 : differ > 0;
}
