/*
 * Device sets: which devices a plan could use, and how they could be grouped. Not every subset of a
 * cluster is worth a trial: equal devices are interchangeable, and nodes belong together.
 */
#ifndef YK_PLANNER_SEARCH_DEVICE_SETS_H
#define YK_PLANNER_SEARCH_DEVICE_SETS_H

#include "planner/search/study.h"

enum {
    YK_DEVICE_SETS_MAX = 64
};

/* Alike in times and memory, in one node, and joined to all others by the same links: one may stand
 * for the other. */
bool yk_device_sets_are_equal(const struct yk_study *study, int32_t a, int32_t b);

/* Devices, by number. */
struct yk_device_set {
    int32_t *devices;
    int32_t count;
};

/* Devices in groups that follow each other. */
struct yk_device_groups {
    int32_t *devices; /* of all groups */
    int32_t *sizes;   /* (group_count) */
    int32_t group_count;
};

/* All devices first; then without each kind or node, each kind, node and device alone; for a few
 * devices, every number of each kind. At most YK_DEVICE_SETS_MAX, none twice. In the arena. */
yk_status yk_device_sets_list(const struct yk_study *study, struct yk_arena *arena,
                              struct yk_device_set **out, int32_t *out_count) YK_MUST_USE;

/* Ways to line up the devices of a set as stages: one by one, by node, by kind, and across nodes,
 * faster ones first and last; of very few devices, every way. */
yk_status yk_device_sets_list_groups(const struct yk_study *study, const struct yk_device_set *set,
                                     struct yk_arena *arena, struct yk_device_groups **out,
                                     int32_t *out_count) YK_MUST_USE;

#endif
