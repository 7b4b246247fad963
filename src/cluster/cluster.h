/*
 * Cluster: devices, which may differ, and the links between them. A cluster is read from a JSON
 * file (cluster.c), parsed from one line of text (parse.c; "1xrtx6000ada + 2xrtx3090 @ 32GB/s",
 * docs/clusters.md), or discovered on this machine (discover.h). It is checked and completed from
 * the datasheets: rates, memory sizes and bandwidths are positive, and every pair of devices has a
 * link. It is immutable. The folder also holds:
 *   builder, write                             makes a cluster; writes its JSON file
 *   datasheet, datasheet_table, interconnect   published specifications of devices and links
 *   discover, topology, nvml                   the hardware of this machine
 *   visible_devices, mps                       the GPUs, and share of a GPU, of this process
 *   launcher, cores, mpirun                    rank and cores of this process; output of mpirun
 */
#ifndef YK_CLUSTER_CLUSTER_H
#define YK_CLUSTER_CLUSTER_H

#include "base/precision.h"
#include "base/status.h"
#include "base/text.h"
#include "cluster/datasheet.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    YK_CLUSTER_MAX_DEVICES = 1024
};

/* A measured layer time from the cluster file. */
struct yk_measured_layer_time {
    const char *layer;     /* kind, shape or name of the layer: "llama-block", "layer 0" */
    const char *model;     /* NULL: any model */
    const char *precision; /* NULL: any precision */
    int64_t sequence;      /* sequence length; 0: any */
    int64_t batch;         /* batch size */
    double forward_s;
    double backward_s;
    double update_s; /* NAN: not measured */
};

struct yk_device {
    const char *name;
    const char *type; /* name of the datasheet; NULL: all numbers are in the file */
    const struct yk_datasheet *datasheet; /* NULL: no datasheet */
    enum yk_device_generation generation; /* YK_DEVICE_GENERATION_UNKNOWN without datasheet */
    double fraction;                      /* fraction of the whole device, at most 1 */
    double memory_bytes;
    double memory_bytes_per_s;
    double matrix_flops[YK_PRECISION_COUNT]; /* dense; emulated if the precision is unsupported */
    double vector_flops;                     /* fp32, without tensor cores */
    bool is_cpu;
    int32_t cores; /* number of cores of a CPU; 0: unknown, or a GPU */
    int32_t node;  /* index of its machine */
    const struct yk_measured_layer_time *measured;
    int32_t measured_count;
};

struct yk_link {
    double latency_s;
    double bytes_per_s;
};

struct yk_cluster {
    struct yk_arena *arena; /* owns everything below */
    const char *source;     /* line of text, or file name */
    int32_t device_count;   /* P */
    int32_t node_count;
    const struct yk_device *devices;
    const struct yk_link *links; /* (P, P), symmetric; the diagonal is unused */
    double host_memory_bytes;    /* host memory for offloaded weights; 0: unknown */
    const char *assumption;      /* assumption about links, or NULL. Example: "links not given: PCIe
                                    4.0 x16 of rtx3090, 32GB/s" */
};

void yk_cluster_destroy(struct yk_cluster *cluster);

/* Reads the text of a JSON file. Error messages begin with `source`. */
yk_status yk_cluster_read(const char *text, size_t length, const char *source,
                          struct yk_cluster **out) YK_MUST_USE;

/* Parses one line of text. Error messages state the column. */
yk_status yk_cluster_parse(const char *line, struct yk_cluster **out) YK_MUST_USE;

/* Reads `word` as a file if it ends in ".json" or such a file exists; otherwise parses it as a
 * line. */
yk_status yk_cluster_open(const char *word, struct yk_cluster **out) YK_MUST_USE;

/* Writes JSON that reads back as the same cluster. */
yk_status yk_cluster_write(const struct yk_cluster *cluster, struct yk_text *out) YK_MUST_USE;

static inline const struct yk_link *yk_cluster_link(const struct yk_cluster *cluster, int32_t a,
                                                    int32_t b)
{
    return &cluster->links[(int64_t)a * cluster->device_count + b];
}

#endif
