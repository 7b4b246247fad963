/*
 * Profile path: resolves the option --profile to a file. The default file is
 * $XDG_DATA_HOME/yoke/profile.db, or ~/.local/share/yoke/profile.db if that variable is not an
 * absolute path.
 * Not thread-safe.
 */
#ifndef YK_JOB_PROFILE_PATH_H
#define YK_JOB_PROFILE_PATH_H

#include "base/arena.h"
#include "base/status.h"
#include "profile/profile.h"

/* Help text of --profile, for commands that read a profile. */
#define YK_PROFILE_PATH_OPTION_HELP                                                                \
    "Take times from these measurements, or from none; else from what yoke profile has kept"

/* Finds the path of the profile to read. `word` is the value of --profile: a path or "none"; NULL
 * means: the default file. `*out` becomes NULL if `word` is "none", or if `word` is NULL and the
 * default file cannot be read. */
yk_status yk_profile_path_resolve_readable(const char *word, struct yk_arena *arena,
                                           const char **out) YK_MUST_USE;

/* Finds the path of the profile to write: `word`, or the default file if `word` is NULL. Fails if
 * the path of the default file depends on HOME and HOME is not set. The path is allocated in the
 * arena. */
yk_status yk_profile_path_resolve_writable(const char *word, struct yk_arena *arena,
                                           const char **out) YK_MUST_USE;

/* Opens the profile at `path` for writing. `word` is the value of --profile. If `word` is NULL,
 * `path` is the default file, and the function creates its folder. Renames a damaged file and logs
 * a warning. */
yk_status yk_profile_path_open_writable(const char *word, const char *path,
                                        struct yk_profile **out) YK_MUST_USE;

#endif
