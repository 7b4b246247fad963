/*
 * Profile path: resolves the option --profile to a file. The default file is
 * $XDG_DATA_HOME/yoke/profile.db, else ~/.local/share/yoke/profile.db. Not thread-safe.
 */
#ifndef YK_JOB_PROFILE_PATH_H
#define YK_JOB_PROFILE_PATH_H

#include "base/arena.h"
#include "base/status.h"
#include "profile/profile.h"

/* Help text of --profile, for commands that read a profile. */
#define YK_PROFILE_PATH_OPTION_HELP                                                                \
    "Take times from these measurements, or from none; else from what yoke profile has kept"

/* Resolves the profile to read from. `word` is the value of --profile: a path, "none", or NULL for
 * the default file. `*out` is NULL for "none" and if the default file does not exist. */
yk_status yk_profile_path_resolve(const char *word, struct yk_arena *arena,
                                  const char **out) YK_MUST_USE;

/* Resolves the profile to write to: the path `word`, or the default file if `word` is NULL. Fails
 * if HOME is needed and not set. The path is allocated in the arena. */
yk_status yk_profile_path_resolve_writable(const char *word, struct yk_arena *arena,
                                           const char **out) YK_MUST_USE;

/* Opens the profile at `path` for writing. Creates the folder of the default file if `word`, the
 * value of --profile, is NULL. A damaged file is renamed, with a warning. */
yk_status yk_profile_path_open_writable(const char *word, const char *path,
                                        struct yk_profile **out) YK_MUST_USE;

#endif
