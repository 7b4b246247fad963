/* Folder: functions for folders and paths. Any thread may call them. */
#ifndef YK_BASE_FOLDER_H
#define YK_BASE_FOLDER_H

#include "base/arena.h"
#include "base/status.h"

#include <stdbool.h>

/* Creates a folder and its missing parents. Succeeds if the folder already exists. */
yk_status yk_folder_create(const char *path) YK_MUST_USE;

bool yk_folder_exists(const char *path);

/* Returns whether both paths exist and refer to the same file or folder. */
bool yk_folder_is_same_path(const char *a, const char *b);

/* Returns whether `folder` contains a file or folder with the name `name`. */
bool yk_folder_contains(const char *folder, const char *name);

/* Allocates the path "folder/name" in the arena. */
yk_status yk_folder_join_path(const char *folder, const char *name, struct yk_arena *arena,
                              const char **out) YK_MUST_USE;

#endif
