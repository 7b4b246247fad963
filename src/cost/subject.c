#include "cost/subject.h"

#include <stdio.h>
#include <string.h>

enum {
    DEVICE_SIZE = 80 /* so that two of them and a place fit */
};

bool yk_subject_kind(const struct yk_device *device, char out[YK_SUBJECT_SIZE])
{
    if (!device->type) {
        return false;
    }
    if (device->is_cpu && device->cores > 0) {
        snprintf(out, DEVICE_SIZE, "%s:%d", device->type, (int)device->cores);
    } else {
        snprintf(out, DEVICE_SIZE, "%s", device->type);
    }
    return true;
}

double yk_subject_part(const struct yk_device *device, const struct yk_device_facts *facts)
{
    return facts && facts->measured_part > 0 ? facts->measured_part : device->part;
}

bool yk_subject_device(const struct yk_device *device, const struct yk_device_facts *facts,
                       char out[YK_SUBJECT_SIZE])
{
    const double part = yk_subject_part(device, facts);
    if (!yk_subject_kind(device, out)) {
        return false;
    }
    if (!device->is_cpu && part < 1) {
        snprintf(out, DEVICE_SIZE, "%s:%.3g%%", device->type, 100 * part);
    }
    return true;
}

bool yk_subject_holding(const struct yk_device *device, const struct yk_device_facts *facts,
                        const char *model, char out[YK_SUBJECT_SIZE])
{
    char name[YK_SUBJECT_SIZE];
    if (!yk_subject_device(device, facts, name)) {
        return false;
    }
    snprintf(out, YK_SUBJECT_SIZE, "%.*s with %.*s", DEVICE_SIZE, name, DEVICE_SIZE, model);
    return true;
}

bool yk_subject_link(const struct yk_cluster *cluster, const struct yk_device_facts *facts,
                     int32_t a, int32_t b, char out[YK_SUBJECT_SIZE])
{
    char one[YK_SUBJECT_SIZE];
    char other[YK_SUBJECT_SIZE];
    if (!yk_subject_device(&cluster->devices[a], facts ? &facts[a] : NULL, one) ||
        !yk_subject_device(&cluster->devices[b], facts ? &facts[b] : NULL, other)) {
        return false;
    }
    const bool swapped = strcmp(one, other) > 0;
    snprintf(out, YK_SUBJECT_SIZE, "%.*s-%.*s %s", DEVICE_SIZE, swapped ? other : one, DEVICE_SIZE,
             swapped ? one : other,
             cluster->devices[a].node == cluster->devices[b].node ? "within a node"
                                                                  : "between nodes");
    return true;
}

bool yk_subject_host(const struct yk_device *device, const struct yk_device_facts *facts,
                     char out[YK_SUBJECT_SIZE])
{
    char name[YK_SUBJECT_SIZE];
    if (!yk_subject_device(device, facts, name)) {
        return false;
    }
    snprintf(out, YK_SUBJECT_SIZE, "%.*s-host", DEVICE_SIZE, name);
    return true;
}
