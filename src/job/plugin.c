#include "job/plugin.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

const struct yk_plugin yk_plugins[] = {
    {"yoke-cuda.so", "training on NVIDIA GPUs"},
    {"yoke-mpi.so", "training on several machines"},
    {"yoke-nccl.so", "several NVIDIA GPUs"},
};
const size_t yk_plugin_count = sizeof yk_plugins / sizeof yk_plugins[0];

/* From the folder of the executable, and of the shared library that this code may be in. */
static const char *const find_near_program[] = {"", "../lib/yoke/"};
static const char *const find_near_library[] = {"yoke/", "../yoke/", ""};

static bool find_in(const char *origin, const char *const *folders, size_t count, const char *file,
                    char out[YK_PLUGIN_PATH_SIZE])
{
    const char *slash = strrchr(origin, '/');
    const int length = slash ? (int)(slash - origin) + 1 : 0;
    for (size_t i = 0; i < count; i++) {
        const int written =
            snprintf(out, YK_PLUGIN_PATH_SIZE, "%.*s%s%s", length, origin, folders[i], file);
        if (written < YK_PLUGIN_PATH_SIZE && access(out, R_OK) == 0) {
            return true;
        }
    }
    return false;
}

bool yk_plugin_find_file(const char *file, char out[YK_PLUGIN_PATH_SIZE])
{
    char program[YK_PLUGIN_PATH_SIZE];
    Dl_info own = {0};
    const bool in_library =
        dladdr(yk_plugins, &own) != 0 && own.dli_fname && strstr(own.dli_fname, ".so");
    if (in_library && find_in(own.dli_fname, find_near_library,
                              sizeof find_near_library / sizeof find_near_library[0], file, out)) {
        return true;
    }
    const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length <= 0) {
        return false;
    }
    program[length] = '\0';
    return find_in(program, find_near_program,
                   sizeof find_near_program / sizeof find_near_program[0], file, out);
}
