#include "gpu/gpu.h"

#include "backend/backend.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PLUGIN "yoke-cuda.so"

/* The plug-in in the program's folder, or one of those around it. */
static bool find_nearby(char path[PATH_MAX])
{
    const ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - sizeof "/" PLUGIN);
    if (length < 0) {
        return false;
    }
    path[length] = '\0';
    for (char *end = strrchr(path, '/'); end; end = strrchr(path, '/')) {
        memcpy(end, "/" PLUGIN, sizeof "/" PLUGIN);
        if (access(path, R_OK) == 0) {
            return true;
        }
        *end = '\0';
    }
    return false;
}

int gpu_find(const struct yk_backend **out)
{
    const struct yk_backend_device_options options = {0};
    const char *named = getenv("YOKE_CUDA_PLUGIN");
    char nearby[PATH_MAX];
    struct yk_backend_device *device = NULL;
    if (!named && !find_nearby(nearby)) {
        printf("skipped: there is no " PLUGIN "; name one in YOKE_CUDA_PLUGIN\n");
        return GPU_SKIPPED;
    }
    if (yk_backend_load_plugin(named ? named : nearby, out) != YK_OK) {
        fprintf(stderr, "%s\n", yk_status_message());
        return 1;
    }
    if ((*out)->open(&options, &device) != YK_OK) {
        printf("skipped: %s\n", yk_status_message());
        return GPU_SKIPPED;
    }
    (*out)->close(device);
    return 0;
}
