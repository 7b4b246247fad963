/*
 * Cluster: a set of devices, which may differ, and the links between them. When a cluster is
 * opened, it is validated and missing values are taken from datasheets: every pair of devices has a
 * link, and no speed or memory size is 0.
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
    const char *source; /* the description, the path of the file, or "this machine" */
    int32_t device_count;
    int32_t node_count;
    double host_memory_bytes; /* main memory of all hosts; 0 means: unknown */
    const char *assumption;   /* a text about assumed links; NULL means: no link was assumed */
};

struct yoke_device {
    const char *name; /* "gpu0" */
    const char *type; /* "rtx3090"; NULL if the cluster file contains all numbers itself */
    int32_t node;     /* devices with the same node share a host */
    bool is_cpu;
    double part; /* fraction of the physical device that is used, at most 1 */
    double memory_bytes;
    double memory_bytes_per_s;
    /* Operations per second of dense matrix products, in four precisions. */
    double fp32_flops;
    double tf32_flops;
    double fp16_flops;
    double bf16_flops;
    double vector_flops; /* fp32 operations per second without tensor cores */
};

struct yoke_link {
    double latency_s;
    double bytes_per_s;
};

/* Opens a cluster. `word` is the path of a cluster file if it ends in ".json" or if a file with
 * this path exists. If `word` is "-", the cluster file is read from standard input. Any other
 * `word` is a description, such as "1xrtx6000ada + 2xrtx3090 @ 32GB/s". */
YOKE_API yoke_status yoke_cluster_open(const char *word, yoke_cluster **out) YOKE_MUST_USE;

/* Reads a cluster from the text of a cluster file. `source` is the name of the text in messages and
 * plans. */
YOKE_API yoke_status yoke_cluster_read(const char *text, const char *source,
                                       yoke_cluster **out) YOKE_MUST_USE;

/* Describes this machine: its GPUs, or its CPU cores if it has no GPU. */
YOKE_API yoke_status yoke_cluster_discover(yoke_cluster **out) YOKE_MUST_USE;

YOKE_API void yoke_cluster_destroy(yoke_cluster *cluster);

YOKE_API const struct yoke_cluster_info *yoke_cluster_info(const yoke_cluster *cluster);
YOKE_API const struct yoke_device *yoke_cluster_device(const yoke_cluster *cluster, int32_t device);

/* Returns the link between two devices, or NULL if `a` equals `b` or if one of them is out of
 * range. */
YOKE_API const struct yoke_link *yoke_cluster_link(const yoke_cluster *cluster, int32_t a,
                                                   int32_t b);

/* Writes the cluster as a cluster file. Reading the file gives the same cluster. */
YOKE_API yoke_status yoke_cluster_write(const yoke_cluster *cluster, char **out) YOKE_MUST_USE;

/* Returns the name that device type `number` has in descriptions, or NULL after the last type. Sets
 * `*title` to the full name of the type. `title` may be NULL. */
YOKE_API const char *yoke_device_type(int32_t number, const char **title);

#ifdef __cplusplus
}
#endif

#endif
