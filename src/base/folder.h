/* Folder: helpers for folders and paths. Any thread may call them. */
#ifndef YK_BASE_FOLDER_H
#define YK_BASE_FOLDER_H

#include "base/arena.h"
#include "base/status.h"

#include <stdbool.h>

/* Creates a folder and its missing parents. Succeeds if it exists. */
yk_status yk_folder_create(const char *path) YK_MUST_USE;

bool yk_folder_exists(const char *path);

/* Whether two paths refer to the same file or folder. */
bool yk_folder_is_same(const char *a, const char *b);

/* Whether `folder` contains a file or folder called `name`. */
bool yk_folder_contains(const char *folder, const char *name);

/* Allocates "FOLDER/name" in the arena. */
yk_status yk_folder_join_path(const char *folder, const char *name, struct yk_arena *arena,
                              const char **out) YK_MUST_USE;

#endif
