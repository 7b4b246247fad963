/*
 * Builder: collects devices, tasks, edges, groups and links, checks them, and makes a graph. Every
 * reader uses a builder. Add all devices first, then the tasks, then the edges. A builder is not
 * thread-safe.
 */
#ifndef YK_GRAPH_BUILDER_H
#define YK_GRAPH_BUILDER_H

#include "base/status.h"
#include "graph/graph.h"

struct yk_graph_builder;

/* Arguments of yk_graph_builder_add_edge(). */
struct yk_graph_builder_edge {
    const char *from;
    const char *to;
    /* Time of the transfer between two devices, in units of time of the graph. If it is NAN, the
     * time is computed from the bytes and the link. */
    double cost;
    double bytes; /* number of bytes that the edge transfers */
    bool passing; /* the bytes are transferred, but they do not count as memory of a device */
};

yk_status yk_graph_builder_create(struct yk_graph_builder **out) YK_MUST_USE;
void yk_graph_builder_destroy(struct yk_graph_builder *builder);

/* Adds a device. A `memory_bytes` of INFINITY means: no limit. */
yk_status yk_graph_builder_add_device(struct yk_graph_builder *builder, const char *name,
                                      double memory_bytes) YK_MUST_USE;

/* Adds a task. `costs` has one element per device, in units of time. NAN means: the device cannot
 * run the task. */
yk_status yk_graph_builder_add_task(struct yk_graph_builder *builder, const char *name,
                                    const double *costs) YK_MUST_USE;

/* Sets the bytes that the last added task needs while it runs. */
yk_status yk_graph_builder_set_last_task_bytes(struct yk_graph_builder *builder,
                                               double bytes) YK_MUST_USE;

/* Adds the last added task to a group. Creates the group if the name is new. All tasks of a group
 * run on one device. */
yk_status yk_graph_builder_set_last_task_group(struct yk_graph_builder *builder,
                                               const char *group) YK_MUST_USE;

/* Sets the bytes that a group holds on its device for the whole schedule. */
yk_status yk_graph_builder_set_group_resident_bytes(struct yk_graph_builder *builder,
                                                    const char *group, double bytes) YK_MUST_USE;

/* Lets a group use a shared store. Creates the store if the name is new. */
yk_status yk_graph_builder_set_group_shared_store(struct yk_graph_builder *builder,
                                                  const char *group, const char *store) YK_MUST_USE;

yk_status yk_graph_builder_set_shared_store_bytes(struct yk_graph_builder *builder,
                                                  const char *store, double bytes) YK_MUST_USE;

yk_status yk_graph_builder_add_edge(struct yk_graph_builder *builder,
                                    const struct yk_graph_builder_edge *edge) YK_MUST_USE;

/* Sets the link of every pair of devices that has no link yet. Must be called after all calls of
 * yk_graph_builder_set_link(). */
yk_status yk_graph_builder_set_default_link(struct yk_graph_builder *builder, double latency,
                                            double bytes_per_unit) YK_MUST_USE;

/* Sets the link between two devices, in both directions. */
yk_status yk_graph_builder_set_link(struct yk_graph_builder *builder, const char *a, const char *b,
                                    double latency, double bytes_per_unit) YK_MUST_USE;

int32_t yk_graph_builder_device_count(const struct yk_graph_builder *builder);

/* Checks everything and creates the graph. Afterwards the builder can only be destroyed. */
yk_status yk_graph_builder_finish(struct yk_graph_builder *builder,
                                  struct yk_graph **out) YK_MUST_USE;

#endif
