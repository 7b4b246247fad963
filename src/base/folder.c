#include "base/folder.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    MAX_PATH = 4096
};

bool yk_folder_exists(const char *path)
{
    struct stat found;
    return stat(path, &found) == 0 && S_ISDIR(found.st_mode);
}

bool yk_folder_is_same_path(const char *a, const char *b)
{
    struct stat first;
    struct stat second;
    return stat(a, &first) == 0 && stat(b, &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

bool yk_folder_contains(const char *folder, const char *name)
{
    char path[MAX_PATH];
    const int length = snprintf(path, sizeof path, "%s/%s", folder, name);
    return length > 0 && length < (int)sizeof path && access(path, F_OK) == 0;
}

yk_status yk_folder_join_path(const char *folder, const char *name, struct yk_arena *arena,
                              const char **out)
{
    char path[MAX_PATH];
    const int length = snprintf(path, sizeof path, "%s/%s", folder, name);
    if (length < 0 || length >= (int)sizeof path) {
        return yk_fail(YK_ERROR_USAGE, "%.60s…: this path is too long", folder);
    }
    *out = yk_arena_copy_text(arena, path, (size_t)length);
    return *out ? YK_OK : yk_fail_out_of_memory();
}

static yk_status make(const char *path)
{
    if (mkdir(path, 0777) == 0) {
        return YK_OK;
    }
    const int reason = errno; /* yk_folder_exists() changes errno */
    return yk_folder_exists(path) ? YK_OK
                                  : yk_fail(YK_ERROR_SYSTEM, "%s: cannot make this folder: %s",
                                            path, strerror(reason));
}

yk_status yk_folder_create(const char *path)
{
    char part[MAX_PATH];
    const size_t length = strlen(path);
    if (length >= sizeof part) {
        return yk_fail(YK_ERROR_USAGE, "%.60s…: this path is too long", path);
    }
    memcpy(part, path, length + 1);
    for (size_t i = 1; i < length; i++) {
        if (part[i] == '/' && part[i - 1] != '/') {
            part[i] = '\0';
            if (!yk_folder_exists(part) && access(part, F_OK) == 0) {
                return yk_fail(YK_ERROR_SYSTEM, "%s: cannot make this folder: %s", path,
                               strerror(ENOTDIR));
            }
            YK_TRY(make(part));
            part[i] = '/';
        }
    }
    return make(path);
}
