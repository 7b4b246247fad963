#include "sim/ports.h"

#include <math.h>

yk_status yk_ports_create(const struct yk_cluster *cluster, struct yk_arena *arena,
                          struct yk_ports *out)
{
    struct yk_ports ways = {.count = 2 * cluster->node_count};
    YK_TRY_NEW(arena, ways.bytes_per_s, ways.count);
    YK_TRY_NEW(arena, ways.left, ways.count);
    YK_TRY_NEW(arena, ways.users, ways.count);
    for (int32_t a = 0; cluster->node_count > 1 && a < cluster->device_count; a++) {
        const int32_t node = cluster->devices[a].node;
        for (int32_t b = 0; b < cluster->device_count; b++) {
            if (cluster->devices[b].node != node) {
                const double speed = yk_cluster_link(cluster, a, b)->bytes_per_s;
                ways.bytes_per_s[yk_port_out(node)] =
                    fmax(ways.bytes_per_s[yk_port_out(node)], speed);
                ways.bytes_per_s[yk_port_in(node)] = ways.bytes_per_s[yk_port_out(node)];
            }
        }
    }
    *out = ways;
    return YK_OK;
}

/* All want, nobody has. A way that was measured to be faster than its link says is as fast. */
static void begin(struct yk_ports *ways, const struct yk_demand *const *demands, int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        for (int32_t k = 0; k < demands[i]->way_count; k++) {
            const int32_t way = demands[i]->ways[k];
            ways->left[way] = ways->bytes_per_s[way];
            ways->users[way] = 0;
        }
    }
    for (int32_t i = 0; i < count; i++) {
        for (int32_t k = 0; k < demands[i]->way_count; k++) {
            const int32_t way = demands[i]->ways[k];
            ways->left[way] = fmax(ways->left[way], demands[i]->bytes_per_s);
            ways->users[way]++;
        }
    }
}

/* The most that this message can have when all who want more of its ways get as much. */
static double even_share(const struct yk_ports *ways, const struct yk_demand *demand)
{
    double share = demand->bytes_per_s;
    for (int32_t k = 0; k < demand->way_count; k++) {
        const int32_t way = demand->ways[k];
        share = fmin(share, ways->left[way] / ways->users[way]);
    }
    return share;
}

static void give(struct yk_ports *ways, const struct yk_demand *demand, double bytes_per_s)
{
    for (int32_t k = 0; k < demand->way_count; k++) {
        ways->left[demand->ways[k]] -= bytes_per_s;
        ways->users[demand->ways[k]]--;
    }
}

void yk_ports_share(struct yk_ports *ways, const struct yk_demand *const *demands, int32_t count,
                    double *out_rates)
{
    double level = 0;
    int32_t waiting = count;
    begin(ways, demands, count);
    for (int32_t i = 0; i < count; i++) {
        out_rates[i] = NAN;
    }
    while (waiting > 0) {
        double least = INFINITY;
        for (int32_t i = 0; i < count; i++) {
            if (isnan(out_rates[i])) {
                least = fmin(least, even_share(ways, demands[i]));
            }
        }
        level = fmax(level, least); /* it only rises; rounding may say otherwise */
        for (int32_t i = 0; i < count; i++) {
            if (isnan(out_rates[i]) && even_share(ways, demands[i]) <= level) {
                out_rates[i] = -fmin(level, demands[i]->bytes_per_s);
            }
        }
        /* Given only now, so that the shares of one level are all of the same rest. */
        for (int32_t i = 0; i < count; i++) {
            if (out_rates[i] < 0) {
                give(ways, demands[i], -out_rates[i]);
                out_rates[i] = -out_rates[i] / demands[i]->bytes_per_s;
                waiting--;
            }
        }
    }
}
