/* Plugin: a part of yoke that is loaded only when asked for, and where its file is. */
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

/* Looks in the folder of the executable and in ../lib/yoke from there; and where this code is in a
 * shared library, in the folder yoke next to the library or one level up. False when it is in none
 * of them. */
bool yk_plugin_find(const struct yk_plugin *plugin, char out[YK_PLUGIN_PATH_SIZE]);

#endif
