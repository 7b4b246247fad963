/* Folder: folders that commands write into or look for. Any thread may call this. */
#ifndef YK_BASE_FOLDER_H
#define YK_BASE_FOLDER_H

#include "base/arena.h"
#include "base/status.h"

#include <stdbool.h>

/* Makes the folder and those it is in, where they are missing. */
yk_status yk_folder_create(const char *path) YK_MUST_USE;

bool yk_folder_exists(const char *path);

/* Whether two paths lead to one folder or file. */
bool yk_folder_is_same(const char *a, const char *b);

/* Whether there is a file or folder `name` in `folder`. */
bool yk_folder_has(const char *folder, const char *name);

/* "FOLDER/name" in the arena. */
yk_status yk_folder_path(const char *folder, const char *name, struct yk_arena *arena,
                         const char **out) YK_MUST_USE;

#endif
