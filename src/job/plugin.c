#include "job/plugin.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

const struct yk_plugin yk_plugins[] = {
    {"yoke-cuda.so", "training on NVIDIA GPUs"},
    {"yoke-mpi.so", "training on several machines"},
    {"yoke-nccl.so", "several NVIDIA GPUs"},
};
const size_t yk_plugin_count = sizeof yk_plugins / sizeof yk_plugins[0];

/* From the folder of the executable. */
static const char *const folders[] = {"", "../lib/yoke/"};

bool yk_plugin_find(const struct yk_plugin *plugin, char out[YK_PLUGIN_PATH_SIZE])
{
    char executable[YK_PLUGIN_PATH_SIZE];
    const ssize_t length = readlink("/proc/self/exe", executable, sizeof executable - 1);
    if (length <= 0) {
        return false;
    }
    executable[length] = '\0';
    const char *slash = strrchr(executable, '/');
    const int folder_length = slash ? (int)(slash - executable) + 1 : 0;
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        const int written = snprintf(out, YK_PLUGIN_PATH_SIZE, "%.*s%s%s", folder_length,
                                     executable, folders[i], plugin->file);
        if (written < YK_PLUGIN_PATH_SIZE && access(out, R_OK) == 0) {
            return true;
        }
    }
    return false;
}
