/*
 * Cluster builder: makes a cluster from its devices and links. Add all devices first, then set the
 * known links. yk_cluster_builder_finish() sets the links that are still missing:
 *   - two devices in different nodes: 10 gigabit Ethernet
 *   - two whole devices of one type that has a direct link, such as NVLink: this link
 *   - any other two devices: the slower one of their two links to the host
 * Strings that are passed to the builder must be static or in the arena of the builder. Not
 * thread-safe.
 */
#ifndef YK_CLUSTER_CLUSTER_BUILDER_H
#define YK_CLUSTER_CLUSTER_BUILDER_H

#include "base/arena.h"
#include "cluster/cluster.h"

struct yk_cluster_builder {
    struct yk_arena *arena; /* belongs to the cluster after yk_cluster_builder_finish() */
    struct yk_device *devices;
    int32_t device_count; /* P */
    int32_t device_capacity;
    int32_t node_count;
    int32_t kind_counts[2]; /* number of GPUs and number of CPUs so far, for default names */
    struct yk_link *links;  /* (P, P); a bandwidth of 0 means: not set yet */
};

yk_status yk_cluster_builder_begin(struct yk_cluster_builder *builder) YK_MUST_USE;

/* Frees the memory of the builder. Must also be called after yk_cluster_builder_finish(); the
 * cluster stays valid. */
void yk_cluster_builder_free(struct yk_cluster_builder *builder);

/* Sets the members of a device from its datasheet. `part` is the fraction of the whole device.
 * `cores` is the number of cores of a CPU; 0 for a GPU. The caller sets the name and the node. */
void yk_cluster_builder_device_from_datasheet(const struct yk_datasheet *sheet, double part,
                                              int32_t cores, struct yk_device *out);

/* Adds a device. A device without a name gets the name "gpu0", "gpu1" … or "cpu0" …. Unsupported
 * precisions get the matrix_flops of fp32. */
yk_status yk_cluster_builder_add_device(struct yk_cluster_builder *builder,
                                        const struct yk_device *device) YK_MUST_USE;

/* Must be called after the last device is added and before the first link is set. */
yk_status yk_cluster_builder_begin_links(struct yk_cluster_builder *builder) YK_MUST_USE;

/* Sets the link between devices `a` and `b`, in both directions. */
void yk_cluster_builder_set_link(struct yk_cluster_builder *builder, int32_t a, int32_t b,
                                 struct yk_link link);

/* Makes the cluster, which then owns the arena of the builder. `source` is copied. */
yk_status yk_cluster_builder_finish(struct yk_cluster_builder *builder, const char *source,
                                    double host_memory_bytes, struct yk_cluster **out) YK_MUST_USE;

#endif
