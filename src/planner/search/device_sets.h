/*
 * Device sets: lists the sets of devices for which a search tries plans, and their groupings into
 * pipeline stages. Not all subsets are listed, because many devices are interchangeable. Devices
 * are of one kind if they have the same times and the same memory limit.
 */
#ifndef YK_PLANNER_SEARCH_DEVICE_SETS_H
#define YK_PLANNER_SEARCH_DEVICE_SETS_H

#include "planner/search/search_context.h"

enum {
    YK_DEVICE_SETS_MAX_COUNT = 64
};

/* Returns true if two devices are interchangeable: they have the same times, memory and node, and
 * equal links to all other devices. */
bool yk_device_sets_devices_can_swap(const struct yk_search_context *context, int32_t a, int32_t b);

/* A set of devices, as indices into the cluster. */
struct yk_device_set {
    int32_t *devices;
    int32_t count;
};

/* Devices in a sequence of groups. */
struct yk_device_grouping {
    int32_t *devices; /* devices of all groups, one group after another */
    int32_t *sizes;   /* (group_count) number of devices of each group */
    int32_t group_count;
};

/* Lists distinct sets, at most YK_DEVICE_SETS_MAX_COUNT, in `arena`. The first set has all devices
 * that are not excluded. There are more sets only if the search may leave out devices: all devices
 * except one kind or one node; only one kind, one node or one device; and, for up to eight devices,
 * sets with every possible number of devices of each kind. */
yk_status yk_device_sets_list(const struct yk_search_context *context, struct yk_arena *arena,
                              struct yk_device_set **out, int32_t *out_count) YK_MUST_USE;

/* Lists groupings of a set into pipeline stages. The groups of a grouping are single devices,
 * nodes, devices of equal speed, devices of equal speed in one node, or at most one device of each
 * node. Each grouping is listed with the fast groups first, with the fast groups last, and without
 * sorting by speed. For up to three devices, all groupings are listed. A grouping has at least two
 * groups, and fewer groups than the model has layers. Of groupings that differ only in
 * interchangeable devices, one is listed. */
yk_status yk_device_sets_list_stage_groupings(const struct yk_search_context *context,
                                              const struct yk_device_set *set,
                                              struct yk_arena *arena,
                                              struct yk_device_grouping **out,
                                              int32_t *out_count) YK_MUST_USE;

#endif
