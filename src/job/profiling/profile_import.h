/*
 * Profile import: merges profiles of other machines into a profile of this machine.
 */
#ifndef YK_JOB_PROFILING_PROFILE_IMPORT_H
#define YK_JOB_PROFILING_PROFILE_IMPORT_H

#include "base/arena.h"
#include "base/status.h"

#include <stdint.h>

struct yk_profile_import_request {
    const char *files;   /* profiles to read, comma-separated */
    const char *profile; /* profile to write; NULL: the default one */
};

struct yk_profile_import_file {
    const char *path;
    int64_t added; /* measurements that were not in the profile */
    int64_t newer; /* measurements that replaced older ones */
    int64_t left;  /* measurements skipped because the profile has equally new ones */
};

/* Starts as {0}; owns what it points to. */
struct yk_profile_import_result {
    struct yk_arena *arena;
    const char *path; /* profile that was written */
    struct yk_profile_import_file *files;
    int32_t file_count;
};

/* Opens every file for a check before it writes anything. */
yk_status yk_profile_import_run(const struct yk_profile_import_request *request,
                                struct yk_profile_import_result *out) YK_MUST_USE;
void yk_profile_import_result_free(struct yk_profile_import_result *result);

#endif
