/*
 * Profile key: the names of devices and links in a profile. measure/ stores measurements under
 * these names, and cost/ looks them up. Functions for one device expect a pointer to the
 * measurements of this device; yk_profile_key_format_link() expects the array with the measurements
 * of all devices. Both may be NULL. The functions that write a name return false if a device has no
 * type, because a device without a type has no name in a profile.
 */
#ifndef YK_COST_PROFILE_KEY_H
#define YK_COST_PROFILE_KEY_H

#include "cluster/cluster.h"
#include "cost/device_measurements.h"

#include <stdbool.h>

enum {
    YK_PROFILE_KEY_SIZE = 200
};

/* Writes the device type under which layer times are stored: "rtx3090", or "cpu:2" for two cores of
 * a CPU. */
bool yk_profile_key_format_device_type(const struct yk_device *device,
                                       char out[YK_PROFILE_KEY_SIZE]);

/* Returns the fraction under which layer times are stored. It is the measured fraction if
 * `measurements` contains one, and otherwise the fraction of `device`. */
double yk_profile_key_measured_fraction(const struct yk_device *device,
                                        const struct yk_device_measurements *measurements);

/* Writes the type and the fraction of the device: "rtx3090", "h200:13.6%". A fraction of a GPU has
 * its own name. A fraction of a CPU has the name of the whole CPU, because yoke only simulates this
 * fraction: the whole CPU computes, and waits after each computation (--slow). */
bool yk_profile_key_format_device(const struct yk_device *device,
                                  const struct yk_device_measurements *measurements,
                                  char out[YK_PROFILE_KEY_SIZE]);

/* Writes the name of a device that trains this model: "h200 with gpt2". */
bool yk_profile_key_format_device_with_model(const struct yk_device *device,
                                             const struct yk_device_measurements *measurements,
                                             const char *model, char out[YK_PROFILE_KEY_SIZE]);

/* Writes the name of the link between devices `a` and `b`: "a30-titanxp between nodes",
 * "cpu:1-cpu:1 within a node". */
bool yk_profile_key_format_link(const struct yk_cluster *cluster,
                                const struct yk_device_measurements *measurements, int32_t a,
                                int32_t b, char out[YK_PROFILE_KEY_SIZE]);

/* Writes the name of the link between a device and the memory of its host: "h200-host". The
 * profile stores copies over this link like a collective of 1 rank. The name of this collective is
 * YK_PROFILE_KEY_COPY_TO_DEVICE or YK_PROFILE_KEY_COPY_FROM_DEVICE. */
bool yk_profile_key_format_host_link(const struct yk_device *device,
                                     const struct yk_device_measurements *measurements,
                                     char out[YK_PROFILE_KEY_SIZE]);

#define YK_PROFILE_KEY_COPY_TO_DEVICE "to device"
#define YK_PROFILE_KEY_COPY_FROM_DEVICE "from device"

#endif
