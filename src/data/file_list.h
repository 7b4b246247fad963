/*
 * File list: the regular files of a folder and its subfolders. They are sorted by the bytes of
 * their paths, so the order is the same on every machine. The list skips hidden files and folders,
 * folders with the names build, node_modules and __pycache__, and symbolic links to folders (which
 * may form cycles).
 */
#ifndef YK_DATA_FILE_LIST_H
#define YK_DATA_FILE_LIST_H

#include "base/arena.h"
#include "base/status.h"

#include <stdint.h>

struct yk_file_list {
    const char *const *paths; /* (count) each path begins with the path of the folder */
    int32_t count;
};

/* Lists the files of a folder. Allocates the list in the arena. */
yk_status yk_file_list_read_folder(const char *folder, struct yk_arena *arena,
                                   struct yk_file_list *out) YK_MUST_USE;

#endif
