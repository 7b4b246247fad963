/*
 * File list: the files of a folder and its subfolders. They are sorted by the bytes of their paths,
 * so the order is the same on every machine. The list skips hidden files and folders and what is no
 * regular file, such as pipes. Links to files are listed.
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

/* Lists the files of a folder of texts. Also skips folders with the names build, node_modules and
 * __pycache__, links to folders, and broken links, which are usual among sources. Allocates the
 * list in the arena. */
yk_status yk_file_list_read_folder(const char *folder, struct yk_arena *arena,
                                   struct yk_file_list *out) YK_MUST_USE;

/* Lists the files of a folder of data, of which none may be missed: follows links to folders,
 * unless they lead back to a folder above, and lists broken links, so that whoever opens them says
 * so. */
yk_status yk_file_list_read_data_folder(const char *folder, struct yk_arena *arena,
                                        struct yk_file_list *out) YK_MUST_USE;

#endif
