/* Builder record: the content of a struct yk_graph_builder. builder.c fills it, and graph.c makes
 * the graph from it. This header is private to this folder. In the comments below, n is the number
 * of tasks and P the number of devices. */
#ifndef YK_GRAPH_BUILDER_RECORD_H
#define YK_GRAPH_BUILDER_RECORD_H

#include "base/name_index.h"
#include "graph/builder.h"

struct device_record {
    double memory_bytes;
};

struct task_record {
    double memory_bytes;
    int32_t group;
};

struct group_record {
    double resident_bytes;
    int32_t store;
};

struct store_record {
    double bytes;
};

struct edge_record {
    int32_t from;
    int32_t to;
    double cost;
    double bytes;
    double resident_bytes;
};

struct link_record {
    double latency;
    double bytes_per_unit; /* 0 means: no link is set */
};

struct yk_graph_builder {
    struct yk_name_index *device_names;
    struct yk_name_index *task_names;
    struct yk_name_index *group_names;
    struct yk_name_index *store_names;
    struct device_record *devices;
    struct task_record *tasks;
    struct group_record *groups;
    struct store_record *stores;
    struct edge_record *edges;
    struct link_record *links; /* (P, P) NULL until the first link is set */
    double *costs;             /* (n, P) NAN means: the device cannot run the task */
    int32_t edge_count;
    int32_t device_capacity;
    int32_t task_capacity;
    int32_t group_capacity;
    int32_t store_capacity;
    int32_t edge_capacity;
    int32_t cost_capacity; /* number of tasks for which `costs` has space */
};

#endif
