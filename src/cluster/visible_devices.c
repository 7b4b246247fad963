#include "cluster/visible_devices.h"

#include <ctype.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define GPU_PREFIX "GPU-"
#define INSTANCE_PREFIX "MIG-"

enum {
    MAX = 64, /* entries that are distinguished */
};

static const struct yk_visible_device nothing = {-1, -1};

/* An entry of the list: what is between two commas, without the spaces around it. */
struct entry {
    const char *text;
    size_t length;
};

static bool next_entry(const char **rest, struct entry *out)
{
    if (!*rest) {
        return false;
    }
    const char *comma = strchr(*rest, ',');
    const char *end = comma ? comma : *rest + strlen(*rest);
    const char *text = *rest;
    while (text < end && isspace((unsigned char)*text)) {
        text++;
    }
    while (end > text && isspace((unsigned char)end[-1])) {
        end--;
    }
    *out = (struct entry){text, (size_t)(end - text)};
    *rest = comma ? comma + 1 : NULL;
    return true;
}

static bool begins(const struct entry *entry, const char *prefix)
{
    const size_t length = strlen(prefix);
    return entry->length >= length && strncmp(entry->text, prefix, length) == 0;
}

/* Whether the entry is the UUID or the beginning of it. */
static bool is_beginning(const struct entry *entry, const char *uuid)
{
    return entry->length <= strlen(uuid) && strncmp(entry->text, uuid, entry->length) == 0;
}

static struct yk_visible_device first_of(const struct yk_nvml_gpu *gpus, int gpu)
{
    return (struct yk_visible_device){gpu, gpus[gpu].instance_count > 0 ? 0 : -1};
}

static struct yk_visible_device find_number(const struct entry *entry,
                                            const struct yk_nvml_gpu *gpus, int count)
{
    int number = 0;
    size_t digits = 0;
    while (digits < entry->length && isdigit((unsigned char)entry->text[digits])) {
        number = number * 10 + (entry->text[digits] - '0');
        if (number >= count) {
            return nothing;
        }
        digits++;
    }
    return digits > 0 ? first_of(gpus, number) : nothing;
}

static struct yk_visible_device find_gpu(const struct entry *entry, const struct yk_nvml_gpu *gpus,
                                         int count)
{
    struct yk_visible_device found = nothing;
    for (int i = 0; i < count; i++) {
        if (is_beginning(entry, gpus[i].uuid)) {
            if (found.gpu >= 0) {
                return nothing;
            }
            found = first_of(gpus, i);
        }
    }
    return found;
}

/* "MIG-" and the instance's own UUID, or as older drivers say it, MIG-GPU-…/3/0: the UUID of its
 * GPU and two numbers that the driver's list of instances does not have. */
static struct yk_visible_device find_instance(const struct entry *entry,
                                              const struct yk_nvml_gpu *gpus, int count)
{
    for (int i = 0; i < count; i++) {
        for (int k = 0; k < gpus[i].instance_count; k++) {
            if (is_beginning(entry, gpus[i].instances[k].uuid)) {
                return (struct yk_visible_device){i, k};
            }
        }
    }
    const struct entry rest = {entry->text + sizeof INSTANCE_PREFIX - 1,
                               entry->length - (sizeof INSTANCE_PREFIX - 1)};
    if (!begins(&rest, GPU_PREFIX)) {
        return nothing;
    }
    const char *slash = memchr(rest.text, '/', rest.length);
    const struct entry gpu = {rest.text, slash ? (size_t)(slash - rest.text) : rest.length};
    return find_gpu(&gpu, gpus, count);
}

/* All that CUDA shows, into `out`. */
static int list(const char *text, const struct yk_nvml_gpu *gpus, int count,
                struct yk_visible_device out[MAX])
{
    const char *rest = text;
    const char *prefix = NULL; /* of all entries; "": numbers */
    struct entry entry;
    int shown = 0;
    for (; !text && shown < count && shown < MAX; shown++) {
        out[shown] = first_of(gpus, shown);
    }
    while (shown < MAX && next_entry(&rest, &entry)) {
        if (!prefix) {
            prefix = begins(&entry, GPU_PREFIX)        ? GPU_PREFIX
                     : begins(&entry, INSTANCE_PREFIX) ? INSTANCE_PREFIX
                                                       : "";
        }
        const struct yk_visible_device found =
            !begins(&entry, prefix)                ? nothing
            : prefix[0] == '\0'                    ? find_number(&entry, gpus, count)
            : strcmp(prefix, INSTANCE_PREFIX) == 0 ? find_instance(&entry, gpus, count)
                                                   : find_gpu(&entry, gpus, count);
        if (found.gpu < 0) {
            break;
        }
        for (int i = 0; i < shown; i++) {
            if (out[i].gpu == found.gpu && out[i].instance == found.instance) {
                return 0;
            }
        }
        out[shown++] = found;
    }
    return shown;
}

struct yk_visible_device
yk_visible_devices_find_gpu(const char *text, const struct yk_nvml_gpu *gpus, int count, int number)
{
    struct yk_visible_device shown[MAX];
    const int devices = list(text, gpus, count, shown);
    for (int i = 0; i < devices; i++) {
        /* Beside an instance nothing else is shown. */
        if (shown[i].instance >= 0) {
            return number == 0 ? shown[i] : nothing;
        }
    }
    return number >= 0 && number < devices ? shown[number] : nothing;
}

int yk_visible_devices_driver_index(const struct yk_nvml_gpu *gpus, int count, int number)
{
    return yk_visible_devices_find_gpu(getenv("CUDA_VISIBLE_DEVICES"), gpus, count, number).gpu;
}
