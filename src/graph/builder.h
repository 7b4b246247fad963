/*
 * Builder: collects devices, tasks, edges, groups and links, checks them, and makes a graph. Every
 * reader goes through it. Devices come before tasks, tasks before edges. One thread at a time.
 */
#ifndef YK_GRAPH_BUILDER_H
#define YK_GRAPH_BUILDER_H

#include "base/status.h"
#include "graph/graph.h"

struct yk_graph_builder;

/* What an edge says about itself. A time of NAN means: from the bytes and the link. */
struct yk_graph_edge_spec {
    const char *from;
    const char *to;
    double cost;  /* units of time between two different devices, or NAN */
    double bytes; /* 0 when the edge holds no memory */
    bool passing; /* the bytes have their place elsewhere: they travel, but hold nothing */
};

yk_status yk_graph_builder_create(struct yk_graph_builder **out) YK_MUST_USE;
void yk_graph_builder_destroy(struct yk_graph_builder *builder);

/* `memory_bytes` is INFINITY where the device has no limit. */
yk_status yk_graph_builder_add_device(struct yk_graph_builder *builder, const char *name,
                                      double memory_bytes) YK_MUST_USE;

/* `costs` has one entry for each device, in units of time; NAN means it cannot run there. */
yk_status yk_graph_builder_add_task(struct yk_graph_builder *builder, const char *name,
                                    const double *costs) YK_MUST_USE;

/* What the task added last needs while it runs. */
yk_status yk_graph_builder_set_memory(struct yk_graph_builder *builder, double bytes) YK_MUST_USE;

/* Puts the task added last into a group; the group is made when it is first named. */
yk_status yk_graph_builder_set_group(struct yk_graph_builder *builder,
                                     const char *group) YK_MUST_USE;

yk_status yk_graph_builder_set_resident(struct yk_graph_builder *builder, const char *group,
                                        double bytes) YK_MUST_USE;

/* Lets a group use a store, which is made when it is first named. */
yk_status yk_graph_builder_set_store(struct yk_graph_builder *builder, const char *group,
                                     const char *store) YK_MUST_USE;

yk_status yk_graph_builder_set_store_bytes(struct yk_graph_builder *builder, const char *store,
                                           double bytes) YK_MUST_USE;

yk_status yk_graph_builder_add_edge(struct yk_graph_builder *builder,
                                    const struct yk_graph_edge_spec *edge) YK_MUST_USE;

/* The link of every pair of devices that no yk_graph_builder_set_link names. */
yk_status yk_graph_builder_set_links(struct yk_graph_builder *builder, double latency,
                                     double bytes_per_unit) YK_MUST_USE;

/* The link between two devices, in both directions. */
yk_status yk_graph_builder_set_link(struct yk_graph_builder *builder, const char *a, const char *b,
                                    double latency, double bytes_per_unit) YK_MUST_USE;

int32_t yk_graph_builder_device_count(const struct yk_graph_builder *builder);

/* Checks the whole and makes the graph. The builder can only be destroyed afterwards. */
yk_status yk_graph_builder_finish(struct yk_graph_builder *builder,
                                  struct yk_graph **out) YK_MUST_USE;

#endif
