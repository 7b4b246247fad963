/*
 * Device sets: the sets of devices that plans are tried on, and their groupings into pipeline
 * stages. Only a selection of all subsets is listed, since equal devices are interchangeable.
 */
#ifndef YK_PLANNER_SEARCH_DEVICE_SETS_H
#define YK_PLANNER_SEARCH_DEVICE_SETS_H

#include "planner/search/search_context.h"

enum {
    YK_DEVICE_SETS_MAX_COUNT = 64
};

/* Whether two devices are interchangeable: same times, memory and node, and equal links to all
 * other devices. */
bool yk_device_sets_devices_are_equal(const struct yk_search_context *context, int32_t a,
                                      int32_t b);

/* Devices, as indices into the cluster. */
struct yk_device_set {
    int32_t *devices;
    int32_t count;
};

/* Devices in a sequence of groups. */
struct yk_device_grouping {
    int32_t *devices; /* of all groups */
    int32_t *sizes;   /* (group_count) */
    int32_t group_count;
};

/* Lists distinct sets, at most YK_DEVICE_SETS_MAX_COUNT, in `arena`. All devices come first, then
 * all except one kind or node, then one kind, node or device alone, and in small clusters every
 * number of devices of each kind. */
yk_status yk_device_sets_list(const struct yk_search_context *context, struct yk_arena *arena,
                              struct yk_device_set **out, int32_t *out_count) YK_MUST_USE;

/* Lists groupings of a set into pipeline stages: by device, node or kind, and across nodes, with
 * fast groups first or last. Up to three devices, all groupings are listed. */
yk_status yk_device_sets_list_groupings(const struct yk_search_context *context,
                                        const struct yk_device_set *set, struct yk_arena *arena,
                                        struct yk_device_grouping **out,
                                        int32_t *out_count) YK_MUST_USE;

#endif
