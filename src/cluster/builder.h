/*
 * Builder: makes a cluster, whatever form it comes from: devices first, then the links that are
 * given. Finishing assumes the others: within a node, a pair of whole devices of one type has the
 * peer link of their boards, any other pair the slower of their two buses; between nodes it is a
 * common network. Texts passed in must live in the builder's arena or for ever. One thread.
 */
#ifndef YK_CLUSTER_BUILDER_H
#define YK_CLUSTER_BUILDER_H

#include "base/arena.h"
#include "cluster/cluster.h"

struct yk_cluster_builder {
    struct yk_arena *arena; /* becomes the cluster's */
    struct yk_device *devices;
    int32_t device_count; /* P */
    int32_t device_capacity;
    int32_t node_count;
    struct yk_link *links; /* (P, P); without bandwidth where nothing is said yet */
};

yk_status yk_cluster_builder_begin(struct yk_cluster_builder *builder) YK_MUST_USE;

/* Frees what the builder still owns; after finishing, nothing. */
void yk_cluster_builder_free(struct yk_cluster_builder *builder);

/* What `sheet` says of `part` of a device, of a CPU of so many `cores`, else 0; its name and node
 * stay open. */
void yk_cluster_builder_describe_device(const struct yk_datasheet *sheet, double part,
                                        int32_t cores, struct yk_device *out);

/* Adds a device whose fields are all known; rates that it lacks fall back on fp32. */
yk_status yk_cluster_builder_add_device(struct yk_cluster_builder *builder,
                                        const struct yk_device *device) YK_MUST_USE;

/* Once all devices are there. */
yk_status yk_cluster_builder_begin_links(struct yk_cluster_builder *builder) YK_MUST_USE;

/* Sets the link of a pair, both ways. */
void yk_cluster_builder_set_link(struct yk_cluster_builder *builder, int32_t a, int32_t b,
                                 struct yk_link link);

/* Turns the builder into a cluster. `source` is copied. */
yk_status yk_cluster_builder_finish(struct yk_cluster_builder *builder, const char *source,
                                    double host_memory_bytes, struct yk_cluster **out) YK_MUST_USE;

#endif
