/*
 * Profile key: the names of devices and links in a profile. measure/ writes them, cost/ looks them
 * up. `facts` holds the measurements of the device or, for a link, of all devices. It may be NULL.
 * Functions return false if a device has no type, since it cannot be identified then.
 */
#ifndef YK_COST_PROFILE_KEY_H
#define YK_COST_PROFILE_KEY_H

#include "cluster/cluster.h"
#include "cost/device_measurements.h"

#include <stdbool.h>

enum {
    YK_PROFILE_KEY_SIZE = 200
};

/* "rtx3090", "cpu:2": the device type under which layer times are stored. */
bool yk_profile_key_device_type(const struct yk_device *device, char out[YK_PROFILE_KEY_SIZE]);

/* The fraction of the physical device under which layer times are stored: the device's own, or a
 * measured one close to it. */
double yk_profile_key_device_fraction(const struct yk_device *device,
                                      const struct yk_device_measurements *measurements);

/* Type and fraction: "rtx3090", "h200:13.6%". A fraction of a GPU counts as a separate device. A
 * fraction of a CPU does not, since it is a whole CPU that waits (--slow). */
bool yk_profile_key_device(const struct yk_device *device,
                           const struct yk_device_measurements *measurements,
                           char out[YK_PROFILE_KEY_SIZE]);

/* "h200 with gpt2": a device that trains this model. */
bool yk_profile_key_device_with_model(const struct yk_device *device,
                                      const struct yk_device_measurements *measurements,
                                      const char *model, char out[YK_PROFILE_KEY_SIZE]);

/* "a30-titanxp between nodes", "cpu:1-cpu:1 within a node". */
bool yk_profile_key_link(const struct yk_cluster *cluster,
                         const struct yk_device_measurements *measurements, int32_t a, int32_t b,
                         char out[YK_PROFILE_KEY_SIZE]);

/* "h200-host": the link between a device and its host's memory. The profile stores it with 1 rank
 * and one of the names below as the collective. */
bool yk_profile_key_host(const struct yk_device *device,
                         const struct yk_device_measurements *measurements,
                         char out[YK_PROFILE_KEY_SIZE]);

#define YK_PROFILE_KEY_TO_DEVICE "to device"
#define YK_PROFILE_KEY_FROM_DEVICE "from device"

#endif
