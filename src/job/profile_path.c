#include "job/profile_path.h"

#include "base/folder.h"
#include "base/log.h"
#include "base/text.h"
#include "profile/profile.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The default file, whether it exists or not; NULL if HOME is not set. */
static yk_status default_path(struct yk_arena *arena, const char **out)
{
    const char *data = getenv("XDG_DATA_HOME");
    const char *home = getenv("HOME");
    *out = NULL;
    /* Paths that are not absolute are to be ignored, says the XDG base directory specification. */
    if (data && data[0] == '/') {
        return yk_folder_join_path(data, "yoke/profile.db", arena, out);
    }
    return home && home[0] ? yk_folder_join_path(home, ".local/share/yoke/profile.db", arena, out)
                           : YK_OK;
}

yk_status yk_profile_path_resolve_readable(const char *word, struct yk_arena *arena,
                                           const char **out)
{
    *out = word && strcmp(word, "none") != 0 ? word : NULL;
    if (!word) {
        YK_TRY(default_path(arena, out));
        *out = *out && access(*out, R_OK) == 0 ? *out : NULL;
    }
    return YK_OK;
}

yk_status yk_profile_path_resolve_writable(const char *word, struct yk_arena *arena,
                                           const char **out)
{
    if (word) {
        return yk_arena_strdup(arena, word, out);
    }
    YK_TRY(default_path(arena, out));
    return *out ? YK_OK
                : yk_fail(YK_ERROR_USAGE,
                          "there is no home to keep the profile in; name a file by --profile");
}

static yk_status make_folder(const char *path)
{
    const char *end = strrchr(path, '/');
    struct yk_text folder = {0};
    if (!end || end == path) {
        return YK_OK;
    }
    yk_text_add_bytes(&folder, path, (size_t)(end - path));
    yk_status status = yk_text_status(&folder);
    YK_IF_OK(yk_folder_create(yk_text_chars(&folder)));
    yk_text_free(&folder);
    return status;
}

yk_status yk_profile_path_open_writable(const char *word, const char *path, struct yk_profile **out)
{
    struct yk_text note = {0};
    if (!word) {
        YK_TRY(make_folder(path));
    }
    const yk_status status = yk_profile_open_or_recreate(path, &note, out);
    if (note.length > 0) {
        yk_log(YK_LOG_WARNING, "%s", yk_text_chars(&note));
    }
    yk_text_free(&note);
    return status;
}
