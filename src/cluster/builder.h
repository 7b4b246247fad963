/*
 * Cluster builder: makes a cluster from its devices and links. Add all devices first, then set the
 * known links. yk_cluster_builder_finish() fills in the other links: two whole devices of one type
 * in a node get their peer link (such as NVLink), any other pair in a node the slower of their two
 * buses, and pairs in different nodes a common network. Strings passed in must be in the builder's
 * arena or static. Not thread-safe.
 */
#ifndef YK_CLUSTER_BUILDER_H
#define YK_CLUSTER_BUILDER_H

#include "base/arena.h"
#include "cluster/cluster.h"

struct yk_cluster_builder {
    struct yk_arena *arena; /* passes to the cluster */
    struct yk_device *devices;
    int32_t device_count; /* P */
    int32_t device_capacity;
    int32_t node_count;
    int32_t kind_counts[2]; /* of GPUs and CPUs, for names */
    struct yk_link *links;  /* (P, P); a bandwidth of 0 means: not set yet */
};

yk_status yk_cluster_builder_begin(struct yk_cluster_builder *builder) YK_MUST_USE;

/* Frees the builder's memory. Does nothing after yk_cluster_builder_finish(). */
void yk_cluster_builder_free(struct yk_cluster_builder *builder);

/* Fills in a device from its datasheet. `part` is the fraction of the device; `cores` is the number
 * of cores of a CPU, otherwise 0. Name and node are left to the caller. */
void yk_cluster_builder_fill_from_datasheet(const struct yk_datasheet *sheet, double part,
                                            int32_t cores, struct yk_device *out);

/* Adds a device. One without a name is called "gpu0", "gpu1" …, or "cpu0" …. Unsupported precisions
 * get the fp32 rate. */
yk_status yk_cluster_builder_add_device(struct yk_cluster_builder *builder,
                                        const struct yk_device *device) YK_MUST_USE;

/* Call it after the last device and before the first link. */
yk_status yk_cluster_builder_begin_links(struct yk_cluster_builder *builder) YK_MUST_USE;

/* Sets the link in both directions. */
void yk_cluster_builder_set_link(struct yk_cluster_builder *builder, int32_t a, int32_t b,
                                 struct yk_link link);

/* Makes the cluster, which owns the arena from then on. `source` is copied. */
yk_status yk_cluster_builder_finish(struct yk_cluster_builder *builder, const char *source,
                                    double host_memory_bytes, struct yk_cluster **out) YK_MUST_USE;

#endif
