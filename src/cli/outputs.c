#include "cli/outputs.h"

#include "base/file.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

/* Whether two paths name one plain file; a terminal or /dev/null may well be named twice. */
static bool is_same_file(const char *a, const char *b)
{
    struct stat first;
    struct stat second;
    const bool first_exists = stat(a, &first) == 0;
    const bool second_exists = stat(b, &second) == 0;
    if (first_exists && second_exists) {
        return S_ISREG(first.st_mode) && first.st_dev == second.st_dev &&
               first.st_ino == second.st_ino;
    }
    return first_exists == second_exists && strcmp(a, b) == 0;
}

yk_status yk_outputs_check(const char *const *paths, size_t count, size_t input_count)
{
    for (size_t i = input_count; i < count; i++) {
        for (size_t j = 0; j < i; j++) {
            if (paths[i] && paths[j] && is_same_file(paths[i], paths[j])) {
                return yk_fail(YK_ERROR_USAGE, "%s would overwrite %s; give it another name",
                               paths[i], j < input_count ? "an input" : "another output");
            }
        }
    }
    return YK_OK;
}

struct yk_text *yk_outputs_add(struct yk_outputs *outputs, const char *path)
{
    assert(outputs->count < YK_OUTPUTS_MOST);
    struct yk_output *file = &outputs->files[outputs->count++];
    file->path = path;
    return &file->text;
}

yk_status yk_outputs_write(const struct yk_outputs *outputs)
{
    for (size_t i = 0; i < outputs->count; i++) {
        YK_TRY(yk_file_write(outputs->files[i].path, &outputs->files[i].text));
    }
    return YK_OK;
}

void yk_outputs_free(struct yk_outputs *outputs)
{
    for (size_t i = 0; i < outputs->count; i++) {
        yk_text_free(&outputs->files[i].text);
    }
    outputs->count = 0;
}
