/*
 * Subject: what a profile calls a device, or the link between two: measure writes these words, cost
 * looks them up.
 */
#ifndef YK_COST_SUBJECT_H
#define YK_COST_SUBJECT_H

#include "cluster/cluster.h"

#include <stdbool.h>

enum {
    YK_SUBJECT_SIZE = 200
};

/* "rtx3090", "cpu:2". False for a device that has no type: nobody can tell it from another. */
bool yk_subject_device(const struct yk_device *device, char out[YK_SUBJECT_SIZE]);

/* "h200 with gpt2": a device that holds this model; false where it has no type. */
bool yk_subject_holding(const struct yk_device *device, const char *model,
                        char out[YK_SUBJECT_SIZE]);

/* "a30-titanxp between nodes", "cpu:1-cpu:1 within a node"; false where either has no type. */
bool yk_subject_link(const struct yk_cluster *cluster, int32_t a, int32_t b,
                     char out[YK_SUBJECT_SIZE]);

/*
 * "h200-host": the way between a device and the memory of its host, which a profile has among its
 * links with the words below as collectives and 1 rank; false where the device has no type.
 */
bool yk_subject_host(const struct yk_device *device, char out[YK_SUBJECT_SIZE]);

#define YK_SUBJECT_TO_DEVICE "to device"
#define YK_SUBJECT_FROM_DEVICE "from device"

#endif
