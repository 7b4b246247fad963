/*
 * Cluster: devices, which may differ, and the links between them. A cluster is read from a JSON
 * file (cluster.c), parsed from one line of text (parse.c; "1xrtx6000ada + 2xrtx3090 @ 32GB/s",
 * docs/clusters.md), or discovered on this machine (discover.h). A cluster is checked, and missing
 * values come from the datasheets (datasheet.h). Therefore all speeds, memory sizes and bandwidths
 * are positive, and every pair of devices has a link. A cluster is immutable. This folder also has:
 *   cluster_builder, write                     makes a cluster; writes its JSON file
 *   datasheet, datasheet_table, interconnect   published specifications of devices and links
 *   discover, topology, nvml                   the hardware of this machine
 *   visible_devices, mps                       the GPUs, or the fraction of a GPU, of this process
 *   launcher, cores                            the rank and the cores of this process
 *   mpirun_output                              parses the messages of mpirun
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
#include <string.h>

enum {
    YK_CLUSTER_MAX_DEVICES = 1024
};

/* A measured layer time from the cluster file. */
struct yk_measured_layer_time {
    const char *layer;     /* kind, shape or name of the layer: "llama-block", "layer 0" */
    const char *model;     /* NULL means: any model */
    const char *precision; /* NULL means: any precision */
    int64_t sequence;      /* sequence length; 0 means: any */
    int64_t batch;         /* batch size */
    double forward_s;
    double backward_s;
    double update_s; /* NAN means: not measured */
};

struct yk_device {
    const char *name;
    const char *type;                     /* name of the datasheet; NULL means: no datasheet */
    const struct yk_datasheet *datasheet; /* NULL means: no datasheet */
    enum yk_device_generation generation; /* YK_DEVICE_GENERATION_UNKNOWN without datasheet */
    double fraction;                      /* fraction of the physical device, at most 1 */
    double memory_bytes;
    double memory_bytes_per_s;
    double matrix_flops[YK_PRECISION_COUNT]; /* dense flops per second; an unsupported precision has
                                                the value of fp32 */
    double vector_flops;                     /* fp32 flops per second without tensor cores */
    bool is_cpu;
    int32_t cores; /* number of cores of a CPU; 0 means: unknown, or a GPU */
    int32_t node;  /* index of the machine of the device */
    const struct yk_measured_layer_time *measured;
    int32_t measured_count;
};

/* Returns whether two devices have the same type, fraction and number of cores. Returns false if
 * one of them has no type. */
static inline bool yk_device_has_equal_hardware(const struct yk_device *a,
                                                const struct yk_device *b)
{
    return a->fraction == b->fraction && a->cores == b->cores && a->type && b->type &&
           strcmp(a->type, b->type) == 0;
}

struct yk_link {
    double latency_s;
    double bytes_per_s;
};

struct yk_cluster {
    struct yk_arena *arena; /* owns the memory of all other members */
    const char *source;     /* line of text or file name that describes the cluster */
    int32_t device_count;   /* P */
    int32_t node_count;
    const struct yk_device *devices;
    const struct yk_link *links; /* (P, P), symmetric; the diagonal is unused */
    double host_memory_bytes;    /* host memory for offloaded weights; 0 means: unknown */
    const char *assumption; /* assumption about links; may be NULL. Example: "links not given: PCIe
                               4.0 x16 of rtx3090, 32GB/s" */
};

void yk_cluster_destroy(struct yk_cluster *cluster);

/* Reads a cluster from the text of a JSON file. Error messages begin with `source`. */
yk_status yk_cluster_read_json(const char *text, size_t length, const char *source,
                               struct yk_cluster **out) YK_MUST_USE;

/* Parses a cluster from one line of text. Error messages contain the column of the error. */
yk_status yk_cluster_parse_line(const char *line, struct yk_cluster **out) YK_MUST_USE;

/* If `word` ends in ".json" or is the name of an existing file, reads this file. If `word` is "-",
 * reads standard input. Otherwise parses `word` as a line of text. */
yk_status yk_cluster_read_or_parse(const char *word, struct yk_cluster **out) YK_MUST_USE;

/* Writes the cluster as JSON. yk_cluster_read_json() makes the same cluster from this text. */
yk_status yk_cluster_write_json(const struct yk_cluster *cluster, struct yk_text *out) YK_MUST_USE;

static inline const struct yk_link *yk_cluster_link_between(const struct yk_cluster *cluster,
                                                            int32_t a, int32_t b)
{
    return &cluster->links[(int64_t)a * cluster->device_count + b];
}

#endif
