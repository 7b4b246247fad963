#include "job/output_files.h"

#include "base/file.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    PATH_SIZE = 4096
};

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

/* A file is written under a temporary name in its folder, so the folder must be writable. */
static yk_status check_folder(const char *path)
{
    struct stat found;
    if (stat(path, &found) == 0 && !S_ISREG(found.st_mode)) {
        return YK_OK; /* a pipe or a terminal; a folder is refused when it is written to */
    }
    const char *end = strrchr(path, '/');
    char *folder = end ? strndup(path, end == path ? 1 : (size_t)(end - path)) : strdup(".");
    YK_TRY_ALLOCATED(folder);
    const bool writable = access(folder, W_OK) == 0;
    const int fault = errno;
    free(folder);
    return writable ? YK_OK
                    : yk_fail(YK_ERROR_SYSTEM, "cannot write %s: %s", path, strerror(fault));
}

yk_status yk_output_files_check_paths(const char *const *paths, size_t count, size_t input_count)
{
    for (size_t i = input_count; i < count; i++) {
        for (size_t j = 0; j < i; j++) {
            if (paths[i] && paths[j] && is_same_file(paths[i], paths[j])) {
                return yk_fail(YK_ERROR_USAGE, "%s would overwrite %s; give it another name",
                               paths[i], j < input_count ? "an input" : "another output");
            }
        }
        if (paths[i]) {
            YK_TRY(check_folder(paths[i]));
        }
    }
    return YK_OK;
}

struct yk_text *yk_output_files_add(struct yk_output_files *outputs, const char *path)
{
    assert(outputs->count < YK_OUTPUT_FILES_MAX);
    struct yk_output_file *file = &outputs->files[outputs->count++];
    *file = (struct yk_output_file){.path = path};
    return &file->text;
}

struct yk_text *yk_output_files_add_nofollow(struct yk_output_files *outputs, const char *path)
{
    struct yk_text *text = yk_output_files_add(outputs, path);
    outputs->files[outputs->count - 1].nofollow = true;
    return text;
}

yk_status yk_output_files_add_in_folder(struct yk_output_files *outputs, const char *folder,
                                        const char *name, struct yk_arena *arena,
                                        struct yk_text **out)
{
    char path[PATH_SIZE];
    const int length = snprintf(path, sizeof path, "%s/%s", folder, name);
    if (length < 0 || length >= (int)sizeof path) {
        return yk_fail(YK_ERROR_USAGE, "--svg: the name of the folder is too long");
    }
    const char *kept = yk_arena_copy_text(arena, path, (size_t)length);
    YK_TRY_ALLOCATED(kept);
    *out = yk_output_files_add_nofollow(outputs, kept);
    return YK_OK;
}

/* The first failure decides the status; the sentences of all are kept. */
static void record_failure(struct yk_output_files *outputs, yk_status failure)
{
    const char *sentence = failure == YK_OK ? "" : yk_status_message();
    if (outputs->status == YK_OK) {
        outputs->status = failure;
    }
    if (*sentence) {
        yk_text_addf(&outputs->sentences, "%s%s", outputs->sentences.length > 0 ? "; " : "",
                     sentence);
    }
}

static void drop_from(struct yk_output_files *outputs, size_t first)
{
    while (outputs->count > first) {
        yk_text_free(&outputs->files[--outputs->count].text);
    }
}

void yk_output_files_drop_added_on_failure(struct yk_output_files *outputs, yk_status made)
{
    if (made != YK_OK) {
        record_failure(outputs, made);
        drop_from(outputs, outputs->recorded_count);
    }
    outputs->recorded_count = outputs->count;
}

static void write_each(struct yk_output_files *outputs)
{
    for (size_t i = 0; i < outputs->count; i++) {
        const struct yk_output_file *file = &outputs->files[i];
        record_failure(outputs, file->nofollow ? yk_file_write_nofollow(file->path, &file->text)
                                               : yk_file_write(file->path, &file->text));
    }
}

static void write_together(struct yk_output_files *outputs)
{
    const char *paths[YK_OUTPUT_FILES_MAX] = {NULL};
    const struct yk_text *texts[YK_OUTPUT_FILES_MAX] = {NULL};
    for (size_t i = 0; i < outputs->count; i++) {
        paths[i] = outputs->files[i].path;
        texts[i] = &outputs->files[i].text;
    }
    record_failure(outputs, yk_file_write_several(paths, texts, outputs->count));
}

yk_status yk_output_files_write_and_free(struct yk_output_files *outputs)
{
    if (outputs->together) {
        write_together(outputs);
    } else {
        write_each(outputs);
    }
    yk_status status = outputs->status;
    if (status != YK_OK) {
        status = outputs->sentences.failed
                     ? yk_fail_out_of_memory()
                     : yk_fail(status, "%s", yk_text_chars(&outputs->sentences));
    }
    yk_output_files_free(outputs);
    return status;
}

void yk_output_files_free(struct yk_output_files *outputs)
{
    drop_from(outputs, 0);
    yk_text_free(&outputs->sentences);
    *outputs = (struct yk_output_files){0};
}

typedef yk_status (*drawer)(const struct yk_schedule_report *report, struct yk_text *out);

static void draw(const char *path, drawer write, const struct yk_schedule_report *report,
                 struct yk_output_files *outputs)
{
    if (path) {
        yk_output_files_drop_added_on_failure(outputs,
                                              write(report, yk_output_files_add(outputs, path)));
    }
}

void yk_output_files_add_schedule_drawings(const struct yk_schedule_drawing_paths *drawings,
                                           const struct yk_schedule_report *report,
                                           struct yk_output_files *outputs)
{
    draw(drawings->svg, yk_schedule_report_write_svg, report, outputs);
    draw(drawings->html, yk_schedule_page_write, report, outputs);
    draw(drawings->trace, yk_schedule_report_write_chrome_trace, report, outputs);
}
