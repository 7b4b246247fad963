#include "support/clusters/same_cluster.h"

#include <math.h>
#include <string.h>

static bool same_text(const char *a, const char *b)
{
    return (!a && !b) || (a && b && strcmp(a, b) == 0);
}

static bool same_measured(const struct yk_measured_layer_time *a,
                          const struct yk_measured_layer_time *b)
{
    return same_text(a->layer, b->layer) && same_text(a->model, b->model) &&
           same_text(a->precision, b->precision) && a->sequence == b->sequence &&
           a->batch == b->batch && a->forward_s == b->forward_s && a->backward_s == b->backward_s &&
           (a->update_s == b->update_s || (isnan(a->update_s) && isnan(b->update_s)));
}

static bool same_rates(const struct yk_device *a, const struct yk_device *b)
{
    bool same = a->vector_flops == b->vector_flops;
    for (int i = 0; i < YK_PRECISION_COUNT; i++) {
        same = same && a->matrix_flops[i] == b->matrix_flops[i];
    }
    return same;
}

static const char *device_difference(const struct yk_device *a, const struct yk_device *b)
{
    if (!same_text(a->name, b->name) || !same_text(a->type, b->type) ||
        a->datasheet != b->datasheet || a->generation != b->generation) {
        return "the name or type of a device";
    }
    if (a->fraction != b->fraction || a->cores != b->cores || a->is_cpu != b->is_cpu ||
        a->node != b->node) {
        return "the part, cores or node of a device";
    }
    if (a->memory_bytes != b->memory_bytes || a->memory_bytes_per_s != b->memory_bytes_per_s) {
        return "the memory of a device";
    }
    if (!same_rates(a, b)) {
        return "a rate of a device";
    }
    if (a->measured_count != b->measured_count) {
        return "the number of measured layers";
    }
    for (int32_t i = 0; i < a->measured_count; i++) {
        if (!same_measured(&a->measured[i], &b->measured[i])) {
            return "a measured layer";
        }
    }
    return NULL;
}

const char *support_cluster_difference(const struct yk_cluster *a, const struct yk_cluster *b)
{
    if (a->device_count != b->device_count || a->node_count != b->node_count ||
        a->host_memory_bytes != b->host_memory_bytes) {
        return "the number of devices or nodes, or the host's memory";
    }
    for (int32_t i = 0; i < a->device_count; i++) {
        const char *difference = device_difference(&a->devices[i], &b->devices[i]);
        if (difference) {
            return difference;
        }
        for (int32_t j = 0; j < a->device_count; j++) {
            const struct yk_link *first = yk_cluster_link_between(a, i, j);
            const struct yk_link *second = yk_cluster_link_between(b, i, j);
            if (i != j && (first->latency_s != second->latency_s ||
                           first->bytes_per_s != second->bytes_per_s)) {
                return "a link";
            }
        }
    }
    return NULL;
}

static bool is_amount(double value)
{
    return value > 0 && isfinite(value);
}

static const char *device_broken_promise(const struct yk_cluster *cluster,
                                         const struct yk_device *device)
{
    for (int i = 0; i < YK_PRECISION_COUNT; i++) {
        if (!is_amount(device->matrix_flops[i])) {
            return "every precision has a rate";
        }
    }
    if (!is_amount(device->vector_flops) || !is_amount(device->memory_bytes) ||
        !is_amount(device->memory_bytes_per_s)) {
        return "rates, memory and its bandwidth are positive";
    }
    if (!(device->fraction > 0) || device->fraction > 1) {
        return "a part is above 0 and at most 1";
    }
    return device->node >= 0 && device->node < cluster->node_count ? NULL
                                                                   : "a node is one of the nodes";
}

const char *support_cluster_broken_promise(const struct yk_cluster *cluster)
{
    const int32_t count = cluster->device_count;
    if (count < 1 || count > YK_CLUSTER_MAX_DEVICES) {
        return "a cluster has 1 to 1024 devices";
    }
    for (int32_t i = 0; i < count; i++) {
        const char *broken = device_broken_promise(cluster, &cluster->devices[i]);
        for (int32_t j = 0; j < count && !broken; j++) {
            const struct yk_link *link = yk_cluster_link_between(cluster, i, j);
            const struct yk_link *back = yk_cluster_link_between(cluster, j, i);
            if (i != j &&
                (!is_amount(link->bytes_per_s) ||
                 !(link->latency_s >= 0 && isfinite(link->latency_s)) ||
                 link->bytes_per_s != back->bytes_per_s || link->latency_s != back->latency_s)) {
                broken = "every pair has one link, both ways";
            }
        }
        if (broken) {
            return broken;
        }
    }
    return NULL;
}
