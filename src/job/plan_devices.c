#include "job/plan_devices.h"

#include <string.h>

static int32_t find(const struct yk_cluster *cluster, const char *name, size_t length)
{
    for (int32_t p = 0; p < cluster->device_count; p++) {
        if (strlen(cluster->devices[p].name) == length &&
            strncmp(cluster->devices[p].name, name, length) == 0) {
            return p;
        }
    }
    return -1;
}

yk_status yk_plan_devices_read(const char *words, const struct yk_cluster *cluster,
                               struct yk_arena *arena, const bool **left_out)
{
    bool *out = NULL;
    YK_TRY_NEW(arena, out, cluster->device_count);
    memset(out, true, sizeof *out * (size_t)cluster->device_count);
    for (const char *word = words; word;) {
        const size_t length = strcspn(word, ",");
        const int32_t device = find(cluster, word, length);
        if (device < 0) {
            return yk_fail(YK_ERROR_USAGE,
                           "--devices: the cluster has no device \"%.*s\"; they are %s to %s, with "
                           "commas between them",
                           (int)length, word, cluster->devices[0].name,
                           cluster->devices[cluster->device_count - 1].name);
        }
        if (!out[device]) {
            return yk_fail(YK_ERROR_USAGE, "--devices: %s is named twice",
                           cluster->devices[device].name);
        }
        out[device] = false;
        word = word[length] == ',' ? word + length + 1 : NULL;
    }
    *left_out = out;
    return YK_OK;
}
