/* Plugin: a shared library of yoke that is loaded when it is needed. This header lists the plug-ins
 * and finds their files. */
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

/* Finds the path of a plug-in. If this code is in a shared library, first searches near this
 * library: yoke/ and ../yoke/ relative to its folder, and then its folder. Then searches the folder
 * of the executable, and ../lib/yoke/ relative to that folder. Returns false if none of these
 * folders contains the plug-in. */
bool yk_plugin_find_file(const char *file, char out[YK_PLUGIN_PATH_SIZE]);

#endif
