/*
 * Device facts: what was measured about a cluster's devices, one record a device. They come from a
 * profile; a caller may change them before they are used to plan. Wherever an array of them is
 * expected, NULL means that nothing is known.
 */
#ifndef YK_COST_DEVICE_FACTS_H
#define YK_COST_DEVICE_FACTS_H

#include "base/arena.h"
#include "base/status.h"
#include "cluster/cluster.h"

#include <stdint.h>

struct yk_profile;

struct yk_device_facts {
    /* Bytes that a process holds there besides what it trains; 0: unknown. */
    double context_bytes;
    /* The part of the whole device, 0 to 1, that the profile's times are of, where it is not the
     * device's own; 0: none. */
    double measured_part;
    /* Compute slowdown factor while one of this rank's messages is in flight, at least 1; 0:
     * unknown. */
    double communication_slowdown;
    /* Speed-up while all other devices idle, as the factor on compute times, above 0 and at most 1;
     * 0: unknown. */
    double others_idle_scale;
};

/*
 * What the profile knows about each device of the cluster; with NULL for the profile, nothing. A
 * part of a GPU of which none was measured is taken for the nearest that was, within a hundredth of
 * the whole, and a note says so, as one does where a CPU's numbers are of another CPU. The context
 * is that of the model, else (or with NULL) that of the model measured last. In the arena.
 */
yk_status yk_device_facts_find(struct yk_profile *profile, const char *model,
                               const struct yk_cluster *cluster, struct yk_arena *arena,
                               struct yk_device_facts **out) YK_MUST_USE;

static inline struct yk_device_facts yk_device_facts_at(const struct yk_device_facts *facts,
                                                        int32_t device)
{
    return facts ? facts[device] : (struct yk_device_facts){0};
}

/* What a process needs on a device besides what it holds of the model: driver context, libraries'
 * workspaces, on a CPU the process itself. As measured, else as is assumed of its kind. */
double yk_device_facts_context_bytes(const struct yk_device_facts *facts,
                                     const struct yk_cluster *cluster, int32_t device);

#endif
