/*
 * Profile path: where measurements are kept where --profile does not say it:
 * $XDG_DATA_HOME/yoke/profile.db, else ~/.local/share/yoke/profile.db. One thread at a time.
 */
#ifndef YK_JOB_PROFILE_PATH_H
#define YK_JOB_PROFILE_PATH_H

#include "base/arena.h"
#include "base/status.h"
#include "profile/profile.h"

/* Help for the option --profile of whatever plans. */
#define YK_PROFILE_PATH_HELP                                                                       \
    "Take times from these measurements, or from none; else from what yoke profile has kept"

/* The file that the word of --profile means: what it names, nothing for "none", and without a word
 * the usual file, if it is there. NULL: none. */
yk_status yk_profile_path_resolve(const char *word, struct yk_arena *arena,
                                  const char **out) YK_MUST_USE;

/* The file to keep measurements in: what --profile names, else the usual one. Refuses where there
 * is no home for that. In the arena. */
yk_status yk_profile_path_resolve_output(const char *word, struct yk_arena *arena,
                                         const char **out) YK_MUST_USE;

/* Opens the profile at `path` for adding, where `word` is the word of --profile: makes the folder
 * of the usual one where it is missing, and sets a damaged file aside with a warning. */
yk_status yk_profile_path_create(const char *word, const char *path,
                                 struct yk_profile **out) YK_MUST_USE;

#endif
