#include "report/plan_station.h"

#include "report/plan_fold.h"

#include <stdlib.h>
#include <string.h>

static bool same_link(const struct yk_link *a, const struct yk_link *b)
{
    return a->latency_s == b->latency_s && a->bytes_per_s == b->bytes_per_s;
}

static bool alike(const struct yk_cluster *cluster, const bool *used, int32_t a, int32_t b)
{
    const struct yk_device *one = &cluster->devices[a];
    const struct yk_device *other = &cluster->devices[b];
    if (used[a] != used[b] || one->node != other->node ||
        strcmp(one->type ? one->type : "", other->type ? other->type : "") != 0 ||
        one->memory_bytes != other->memory_bytes || one->part != other->part) {
        return false;
    }
    for (int32_t k = 0; k < cluster->device_count; k++) {
        if (k != a && k != b &&
            !same_link(yk_cluster_link(cluster, a, k), yk_cluster_link(cluster, b, k))) {
            return false;
        }
    }
    return true;
}

static yk_status name_station(const struct yk_cluster *cluster, struct yk_arena *arena,
                              struct yk_station *station)
{
    const struct yk_device *device = &cluster->devices[station->device];
    if (station->count == 1) {
        return yk_plan_device_name(device, arena, &station->name);
    }
    struct yk_text text = {0};
    yk_text_addf(&text, "%s \xc3\x97%d", device->type ? device->type : device->name,
                 station->count);
    station->name = yk_arena_copy_text(arena, yk_text_chars(&text), text.length);
    yk_text_free(&text);
    return station->name ? YK_OK : yk_fail_out_of_memory();
}

/* The devices in the order of their nodes. */
static void order_devices(const struct yk_cluster *cluster, int32_t *out)
{
    int32_t count = 0;
    for (int32_t node = 0; node < cluster->node_count; node++) {
        for (int32_t d = 0; d < cluster->device_count; d++) {
            if (cluster->devices[d].node == node) {
                out[count++] = d;
            }
        }
    }
}

yk_status yk_stations_make(const struct yk_plan_result *result, struct yk_arena *arena,
                           struct yk_stations *out)
{
    const struct yk_cluster *cluster = result->cluster;
    struct yk_station *stations = NULL;
    int32_t *order = NULL;
    bool *used = NULL;
    int32_t count = 0;
    YK_TRY_NEW(arena, stations, cluster->device_count);
    YK_TRY_NEW(arena, order, cluster->device_count);
    YK_TRY_NEW(arena, used, cluster->device_count);
    for (int32_t r = 0; r < result->plan->rank_count; r++) {
        used[result->plan->ranks[r].device] = true;
    }
    order_devices(cluster, order);
    for (int32_t i = 0; i < cluster->device_count; i++) {
        const int32_t d = order[i];
        int32_t s = count - 1;
        while (s >= 0 && !alike(cluster, used, stations[s].device, d)) {
            s--;
        }
        if (s < 0) {
            s = count++;
            stations[s] = (struct yk_station){.device = d, .used = used[d]};
        }
        stations[s].last = d;
        stations[s].count++;
    }
    for (int32_t s = 0; s < count; s++) {
        YK_TRY(name_station(cluster, arena, &stations[s]));
    }
    *out = (struct yk_stations){.cluster = cluster, .stations = stations, .count = count};
    return YK_OK;
}

const struct yk_link *yk_station_link(const struct yk_stations *stations, int32_t a, int32_t b)
{
    const struct yk_station *one = &stations->stations[a];
    const struct yk_station *other = &stations->stations[b];
    if (a != b) {
        return yk_cluster_link(stations->cluster, one->device, other->device);
    }
    return one->count > 1 ? yk_cluster_link(stations->cluster, one->device, one->last) : NULL;
}
