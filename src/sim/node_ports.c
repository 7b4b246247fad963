#include "sim/node_ports.h"

#include <math.h>

yk_status yk_node_ports_create(const struct yk_cluster *cluster, struct yk_arena *arena,
                               struct yk_node_ports *out)
{
    struct yk_node_ports ports = {.count = 2 * cluster->node_count};
    YK_TRY_NEW(arena, ports.bytes_per_s, ports.count);
    YK_TRY_NEW(arena, ports.left, ports.count);
    YK_TRY_NEW(arena, ports.users, ports.count);
    for (int32_t a = 0; cluster->node_count > 1 && a < cluster->device_count; a++) {
        const int32_t node = cluster->devices[a].node;
        for (int32_t b = 0; b < cluster->device_count; b++) {
            if (cluster->devices[b].node != node) {
                const double speed = yk_cluster_link_between(cluster, a, b)->bytes_per_s;
                ports.bytes_per_s[yk_node_ports_outgoing_index(node)] =
                    fmax(ports.bytes_per_s[yk_node_ports_outgoing_index(node)], speed);
                ports.bytes_per_s[yk_node_ports_incoming_index(node)] =
                    ports.bytes_per_s[yk_node_ports_outgoing_index(node)];
            }
        }
    }
    *out = ports;
    return YK_OK;
}

/* Resets the ports: nothing is assigned. If a demand exceeds the bandwidth of its port, because it
 * was measured, the port gets the bandwidth of the demand. */
static void begin(struct yk_node_ports *ports, const struct yk_node_port_demand *const *demands,
                  int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        for (int32_t k = 0; k < demands[i]->port_count; k++) {
            const int32_t port = demands[i]->ports[k];
            ports->left[port] = ports->bytes_per_s[port];
            ports->users[port] = 0;
        }
    }
    for (int32_t i = 0; i < count; i++) {
        for (int32_t k = 0; k < demands[i]->port_count; k++) {
            const int32_t port = demands[i]->ports[k];
            ports->left[port] = fmax(ports->left[port], demands[i]->bytes_per_s);
            ports->users[port]++;
        }
    }
}

/* The rate of this message if all unfinished messages of its ports get equal shares. */
static double even_share(const struct yk_node_ports *ports,
                         const struct yk_node_port_demand *demand)
{
    double share = demand->bytes_per_s;
    for (int32_t k = 0; k < demand->port_count; k++) {
        const int32_t port = demand->ports[k];
        share = fmin(share, ports->left[port] / ports->users[port]);
    }
    return share;
}

static void grant(struct yk_node_ports *ports, const struct yk_node_port_demand *demand,
                  double bytes_per_s)
{
    for (int32_t k = 0; k < demand->port_count; k++) {
        ports->left[demand->ports[k]] -= bytes_per_s;
        ports->users[demand->ports[k]]--;
    }
}

void yk_node_ports_share_bandwidth(struct yk_node_ports *ports,
                                   const struct yk_node_port_demand *const *demands, int32_t count,
                                   double *out_rates)
{
    double level = 0;
    int32_t waiting = count;
    begin(ports, demands, count);
    for (int32_t i = 0; i < count; i++) {
        out_rates[i] = NAN;
    }
    while (waiting > 0) {
        double lowest = INFINITY;
        for (int32_t i = 0; i < count; i++) {
            if (isnan(out_rates[i])) {
                lowest = fmin(lowest, even_share(ports, demands[i]));
            }
        }
        level = fmax(level, lowest); /* never falls, despite rounding */
        for (int32_t i = 0; i < count; i++) {
            if (isnan(out_rates[i]) && even_share(ports, demands[i]) <= level) {
                out_rates[i] = -fmin(level, demands[i]->bytes_per_s);
            }
        }
        /* Assigned after the comparison, so that all messages of one level see the same rest. */
        for (int32_t i = 0; i < count; i++) {
            if (out_rates[i] < 0) {
                grant(ports, demands[i], -out_rates[i]);
                out_rates[i] = -out_rates[i] / demands[i]->bytes_per_s;
                waiting--;
            }
        }
    }
}
