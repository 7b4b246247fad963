/*
 * File list: the files of a folder and of the folders in it. Left out are hidden names, folders
 * called build, node_modules or __pycache__, links to folders (they may lead in circles), and what
 * is no plain file. The order is that of the paths' bytes: the same on every machine.
 */
#ifndef YK_DATA_FILE_LIST_H
#define YK_DATA_FILE_LIST_H

#include "base/arena.h"
#include "base/status.h"

#include <stdint.h>

struct yk_file_list {
    const char *const *paths; /* each begins with the folder's */
    int32_t count;
};

/* The list lives in the arena. */
yk_status yk_file_list_read(const char *folder, struct yk_arena *arena,
                            struct yk_file_list *out) YK_MUST_USE;

#endif
