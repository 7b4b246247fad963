/*
 * Cluster: devices that need not match, and the links between them. A cluster comes from a JSON
 * file (cluster.c), from one line of text (parse.c; "1xrtx6000ada + 2xrtx3090 @ 32GB/s",
 * docs/clusters.md), or from this machine (discover.h). It has been checked and filled in from the
 * datasheets: rates, memories and bandwidths are positive, every pair of devices has a link. It
 * never changes afterwards. The rest of the room:
 *   builder, write                                 makes a cluster; writes its file
 *   datasheet, datasheet_table, interconnect       what vendors state of devices and links
 *   discover, topology, nvml                       what this machine has
 *   visible_devices, mps                           and what of it this process has
 *   launcher, cores, mpirun                        its rank, its cores, what mpirun reports
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

/* A time somebody measured on the device and wrote into the cluster file. */
struct yk_measured_layer {
    const char *layer;     /* a layer's kind, shape or name: "llama-block", "layer 0" */
    const char *model;     /* NULL: whatever the model */
    const char *precision; /* NULL: whatever the precision */
    int64_t sequence;      /* 0: whatever the sequence */
    int64_t batch;         /* samples */
    double forward_s;
    double backward_s;
    double update_s; /* NAN where it was not measured */
};

struct yk_device {
    const char *name;
    const char *type;                 /* the datasheet's name; NULL: the file has all numbers */
    const struct yk_datasheet *sheet; /* NULL likewise */
    enum yk_generation generation;    /* YK_GENERATION_UNKNOWN without a sheet */
    double part;                      /* of the whole device: 1, or less */
    double memory_bytes;
    double memory_bytes_per_s;
    double matrix_flops[YK_PRECISION_COUNT]; /* dense; of an unsupported precision, that of its
                                                emulation */
    double vector_flops;                     /* fp32, outside the tensor cores */
    bool is_cpu;
    int32_t cores; /* of a CPU, where its number is known; 0 otherwise */
    int32_t node;  /* devices of one node share a host */
    const struct yk_measured_layer *measured;
    int32_t measured_count;
};

struct yk_link {
    double latency_s;
    double bytes_per_s;
};

struct yk_cluster {
    struct yk_arena *arena; /* owns everything below */
    const char *source;     /* the line or the file's name */
    int32_t device_count;   /* P */
    int32_t node_count;
    const struct yk_device *devices;
    const struct yk_link *links; /* (P, P), symmetric; the diagonal is not used */
    double host_memory_bytes;    /* of the hosts, for offloaded weights; 0: not given */
    const char *assumption;      /* what was assumed about links, or NULL: "links not
                                    given: PCIe 4.0 x16 of rtx3090, 32GB/s" */
};

void yk_cluster_destroy(struct yk_cluster *cluster);

/* Reads a JSON file's text; `source` begins every message. */
yk_status yk_cluster_read(const char *text, size_t length, const char *source,
                          struct yk_cluster **out) YK_MUST_USE;

/* Reads one line of text; a message points at the column. */
yk_status yk_cluster_parse(const char *line, struct yk_cluster **out) YK_MUST_USE;

/* `word` as a file when it ends in ".json" or a file of that name exists, else as a line. */
yk_status yk_cluster_open(const char *word, struct yk_cluster **out) YK_MUST_USE;

/* The cluster as a JSON file that reads back as the same cluster. */
yk_status yk_cluster_write(const struct yk_cluster *cluster, struct yk_text *out) YK_MUST_USE;

static inline const struct yk_link *yk_cluster_link(const struct yk_cluster *cluster, int32_t a,
                                                    int32_t b)
{
    return &cluster->links[(int64_t)a * cluster->device_count + b];
}

#endif
