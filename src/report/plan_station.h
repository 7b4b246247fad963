/* Station: devices of one node that nothing tells apart but their names: same type and memory, same
 * links to all others. A map shows stations, and links between them. */
#ifndef YK_REPORT_PLAN_STATION_H
#define YK_REPORT_PLAN_STATION_H

#include "base/arena.h"
#include "plan/result.h"

struct yk_station {
    const char *name; /* "gpu0 rtx6000ada", or "rtx3090 ×2" of several */
    int32_t device;   /* the first, which stands for the others */
    int32_t last;     /* the last of them; the same device when there is one */
    int32_t count;
    bool used; /* by the plan */
};

struct yk_stations {
    const struct yk_cluster *cluster;
    const struct yk_station *stations; /* by node, then by device */
    int32_t count;
};

yk_status yk_stations_make(const struct yk_plan_result *result, struct yk_arena *arena,
                           struct yk_stations *out) YK_MUST_USE;

/* The link between two stations, or between the devices of one; NULL when that has one device. */
const struct yk_link *yk_station_link(const struct yk_stations *stations, int32_t a, int32_t b);

static inline int32_t yk_station_node(const struct yk_stations *stations, int32_t station)
{
    return stations->cluster->devices[stations->stations[station].device].node;
}

#endif
