/* Plugin: a shared library of yoke that is loaded on demand. This finds its file. */
#ifndef YK_JOB_PLUGIN_H
#define YK_JOB_PLUGIN_H

#include <stdbool.h>
#include <stddef.h>

enum {
    YK_PLUGIN_PATH_SIZE = 4096
};

struct yk_plugin {
    const char *file;
    const char *needed_for;
};

extern const struct yk_plugin yk_plugins[];
extern const size_t yk_plugin_count;

/* Searches the folder of the executable and ../lib/yoke relative to it. If this code is linked into
 * a shared library, also searches yoke/, ../yoke/ and the folder of that library. Returns false if
 * the plug-in is in none of them. */
bool yk_plugin_find_file(const char *file, char out[YK_PLUGIN_PATH_SIZE]);

#endif
