#include "cost/profile_key.h"

#include <stdio.h>
#include <string.h>

enum {
    DEVICE_SIZE = 80 /* two of them and a suffix fit into a key */
};

bool yk_profile_key_format_device_type(const struct yk_device *device,
                                       char out[YK_PROFILE_KEY_SIZE])
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

double yk_profile_key_measured_fraction(const struct yk_device *device,
                                        const struct yk_device_measurements *measurements)
{
    return measurements && measurements->measured_fraction > 0 ? measurements->measured_fraction
                                                               : device->fraction;
}

bool yk_profile_key_format_device(const struct yk_device *device,
                                  const struct yk_device_measurements *measurements,
                                  char out[YK_PROFILE_KEY_SIZE])
{
    const double part = yk_profile_key_measured_fraction(device, measurements);
    if (!yk_profile_key_format_device_type(device, out)) {
        return false;
    }
    if (!device->is_cpu && part < 1) {
        snprintf(out, DEVICE_SIZE, "%s:%.3g%%", device->type, 100 * part);
    }
    return true;
}

bool yk_profile_key_format_device_with_model(const struct yk_device *device,
                                             const struct yk_device_measurements *measurements,
                                             const char *model, char out[YK_PROFILE_KEY_SIZE])
{
    char name[YK_PROFILE_KEY_SIZE];
    if (!yk_profile_key_format_device(device, measurements, name)) {
        return false;
    }
    snprintf(out, YK_PROFILE_KEY_SIZE, "%.*s with %.*s", DEVICE_SIZE, name, DEVICE_SIZE, model);
    return true;
}

bool yk_profile_key_format_link(const struct yk_cluster *cluster,
                                const struct yk_device_measurements *measurements, int32_t a,
                                int32_t b, char out[YK_PROFILE_KEY_SIZE])
{
    char one[YK_PROFILE_KEY_SIZE];
    char other[YK_PROFILE_KEY_SIZE];
    if (!yk_profile_key_format_device(&cluster->devices[a], measurements ? &measurements[a] : NULL,
                                      one) ||
        !yk_profile_key_format_device(&cluster->devices[b], measurements ? &measurements[b] : NULL,
                                      other)) {
        return false;
    }
    const bool swapped = strcmp(one, other) > 0;
    snprintf(out, YK_PROFILE_KEY_SIZE, "%.*s-%.*s %s", DEVICE_SIZE, swapped ? other : one,
             DEVICE_SIZE, swapped ? one : other,
             cluster->devices[a].node == cluster->devices[b].node ? "within a node"
                                                                  : "between nodes");
    return true;
}

bool yk_profile_key_format_host_link(const struct yk_device *device,
                                     const struct yk_device_measurements *measurements,
                                     char out[YK_PROFILE_KEY_SIZE])
{
    char name[YK_PROFILE_KEY_SIZE];
    if (!yk_profile_key_format_device(device, measurements, name)) {
        return false;
    }
    snprintf(out, YK_PROFILE_KEY_SIZE, "%.*s-host", DEVICE_SIZE, name);
    return true;
}
