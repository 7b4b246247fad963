/*
 * Cluster: devices that need not match, and the links between them. It has been checked and filled
 * in from datasheets: every pair of devices has a link, no rate and no memory is 0.
 */
#ifndef YOKE_CLUSTER_H
#define YOKE_CLUSTER_H

#include <stdbool.h>
#include <stdint.h>
#include <yoke/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct yoke_cluster yoke_cluster;

struct yoke_cluster_info {
    const char *source; /* the line, the file's name or "this machine" */
    int32_t device_count;
    int32_t node_count;
    double host_memory_bytes; /* of the hosts together; 0 when nothing is said */
    const char *assumption;   /* what was taken for granted about links, or NULL */
};

struct yoke_device {
    const char *name; /* "gpu0" */
    const char *type; /* "rtx3090"; NULL when the file says it all */
    int32_t node;     /* devices of one node share a host */
    bool is_cpu;
    double part; /* of the whole device: 1, or less */
    double memory_bytes;
    double memory_bytes_per_s;
    double fp32_flops; /* of dense matrix products */
    double tf32_flops;
    double fp16_flops;
    double bf16_flops;
    double vector_flops; /* fp32, outside the tensor cores */
};

struct yoke_link {
    double latency_s;
    double bytes_per_s;
};

/* `word` as a cluster file when it ends in ".json" or such a file exists, else as a line:
 * "1xrtx6000ada + 2xrtx3090 @ 32GB/s". */
YOKE_API yoke_status yoke_cluster_open(const char *word, yoke_cluster **out) YOKE_MUST_USE;

/* A cluster file's text; `source` is what messages and plans call it. */
YOKE_API yoke_status yoke_cluster_read(const char *text, const char *source,
                                       yoke_cluster **out) YOKE_MUST_USE;

/* This machine: its GPUs, or its cores where it has none. */
YOKE_API yoke_status yoke_cluster_discover(yoke_cluster **out) YOKE_MUST_USE;

YOKE_API void yoke_cluster_destroy(yoke_cluster *cluster);

YOKE_API const struct yoke_cluster_info *yoke_cluster_info(const yoke_cluster *cluster);
YOKE_API const struct yoke_device *yoke_cluster_device(const yoke_cluster *cluster, int32_t device);

/* The link between two devices; NULL for a device and itself. */
YOKE_API const struct yoke_link *yoke_cluster_link(const yoke_cluster *cluster, int32_t a,
                                                   int32_t b);

/* The cluster as a file that reads back as the same cluster. */
YOKE_API yoke_status yoke_cluster_write(const yoke_cluster *cluster, char **out) YOKE_MUST_USE;

/* The types of devices that a line may name: `*title` is what people call it, and may be NULL. NULL
 * past the last one. */
YOKE_API const char *yoke_device_type(int32_t number, const char **title);

#ifdef __cplusplus
}
#endif

#endif
