#include "job/profiling/profile_job.h"

#include "job/profile_path.h"
#include "profile/profile.h"

#include <string.h>

static yk_status list_files(const char *files, struct yk_profile_import_result *out)
{
    int64_t most = 1;
    for (const char *at = files; *at; at++) {
        most += *at == ',' ? 1 : 0;
    }
    YK_TRY_NEW(out->arena, out->files, most);
    for (const char *word = files; word;) {
        const size_t length = strcspn(word, ",");
        const char *path = yk_arena_copy_text(out->arena, word, length);
        YK_TRY_ALLOCATED(path);
        if (length == 0) {
            return yk_fail(YK_ERROR_USAGE, "--import: a file without a name; write A.db,B.db");
        }
        out->files[out->file_count++].path = path;
        word = word[length] == ',' ? word + length + 1 : NULL;
    }
    return YK_OK;
}

static yk_status check(const char *path)
{
    struct yk_profile *other = NULL;
    YK_TRY(yk_profile_open_for_reading(path, &other));
    yk_profile_close(other);
    return YK_OK;
}

yk_status yk_profile_import_run(const struct yk_profile_import_request *request,
                                struct yk_profile_import_result *out)
{
    struct yk_profile *profile = NULL;
    YK_TRY(yk_arena_create(&out->arena));
    YK_TRY(yk_profile_job_resolve_output_path(request->profile, out->arena, &out->path));
    YK_TRY(list_files(request->files, out));
    for (int32_t i = 0; i < out->file_count; i++) {
        YK_TRY(check(out->files[i].path));
    }
    YK_TRY(yk_profile_path_open_writable(request->profile, out->path, &profile));
    yk_status status = YK_OK;
    for (int32_t i = 0; i < out->file_count && status == YK_OK; i++) {
        status = yk_profile_import(profile, out->files[i].path, &out->files[i].counts);
    }
    yk_profile_close(profile);
    return status;
}

void yk_profile_import_result_free(struct yk_profile_import_result *result)
{
    yk_arena_destroy(result->arena);
    *result = (struct yk_profile_import_result){0};
}
