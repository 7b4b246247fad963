/*
 * Import: adds what profiles of other machines know to one of this machine's.
 */
#ifndef YK_JOB_PROFILING_PROFILE_IMPORT_H
#define YK_JOB_PROFILING_PROFILE_IMPORT_H

#include "base/arena.h"
#include "base/status.h"

#include <stdint.h>

struct yk_profile_import_request {
    const char *files;   /* with commas between them */
    const char *profile; /* that they are added to; NULL: the usual one */
};

struct yk_profile_import_file {
    const char *path;
    int64_t added; /* numbers that were not known */
    int64_t newer; /* that take the place of older ones */
    int64_t left;  /* that are no newer than what is known */
};

/* Starts as {0}; owns what it points to. */
struct yk_profile_import_result {
    struct yk_arena *arena;
    const char *path; /* of the profile */
    struct yk_profile_import_file *files;
    int32_t file_count;
};

/* Every file is looked at before anything is written. */
yk_status yk_profile_import_run(const struct yk_profile_import_request *request,
                                struct yk_profile_import_result *out) YK_MUST_USE;
void yk_profile_import_result_free(struct yk_profile_import_result *result);

#endif
