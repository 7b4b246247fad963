/*
 * Profile key: the name by which a profile knows a device, or the link between two: measure writes
 * it, cost looks it up. `facts` are those of the device, of a link those of all devices; they may
 * be NULL: times are measured of a device as it is.
 */
#ifndef YK_COST_PROFILE_KEY_H
#define YK_COST_PROFILE_KEY_H

#include "cluster/cluster.h"
#include "cost/device_facts.h"

#include <stdbool.h>

enum {
    YK_PROFILE_KEY_SIZE = 200
};

/* "rtx3090", "cpu:2": the kind of device that layers are known by, besides its part. False for
 * a device that has no type: nobody can tell it from another. */
bool yk_profile_key_device_type(const struct yk_device *device, char out[YK_PROFILE_KEY_SIZE]);

/* The part that layers are known by: its own, or the one near it that was measured. */
double yk_profile_key_part(const struct yk_device *device, const struct yk_device_facts *facts);

/* The same as one word: "rtx3090", "h200:13.6%". A part of a GPU reaches memory and links in its
 * own time, and is a device of its own; a part of a CPU is one that waits (--slow), and is not. */
bool yk_profile_key_device(const struct yk_device *device, const struct yk_device_facts *facts,
                           char out[YK_PROFILE_KEY_SIZE]);

/* "h200 with gpt2": a device that holds this model; false where it has no type. */
bool yk_profile_key_device_with_model(const struct yk_device *device,
                                      const struct yk_device_facts *facts, const char *model,
                                      char out[YK_PROFILE_KEY_SIZE]);

/* "a30-titanxp between nodes", "cpu:1-cpu:1 within a node"; false where either has no type. */
bool yk_profile_key_link(const struct yk_cluster *cluster, const struct yk_device_facts *facts,
                         int32_t a, int32_t b, char out[YK_PROFILE_KEY_SIZE]);

/*
 * "h200-host": the way between a device and the memory of its host, which a profile has among its
 * links with the words below as collectives and 1 rank; false where the device has no type.
 */
bool yk_profile_key_host(const struct yk_device *device, const struct yk_device_facts *facts,
                         char out[YK_PROFILE_KEY_SIZE]);

#define YK_PROFILE_KEY_TO_DEVICE "to device"
#define YK_PROFILE_KEY_FROM_DEVICE "from device"

#endif
