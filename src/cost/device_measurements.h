/*
 * Device measurements: measured properties of a cluster's devices, one struct per device. They come
 * from a profile. A caller may change them before planning. Functions that expect an array of
 * device measurements also accept NULL, which means: nothing was measured.
 */
#ifndef YK_COST_DEVICE_MEASUREMENTS_H
#define YK_COST_DEVICE_MEASUREMENTS_H

#include "base/arena.h"
#include "base/status.h"
#include "cluster/cluster.h"

#include <stdint.h>

struct yk_profile;

struct yk_device_measurements {
    /* Memory of the driver context and of libraries; 0 means: unknown. */
    double context_bytes;
    /* A device may be only a fraction of a physical device. If the profile's times were measured on
     * a slightly different fraction, this is the measured fraction, above 0 and at most 1;
     * otherwise 0. */
    double measured_fraction;
    /* Factor on compute times while a message from or to this device is in flight, at least 1; 0
     * means: unknown. */
    double communication_slowdown;
    /* Factor on compute times while all other devices are idle, above 0 and at most 1; 0 means:
     * unknown. */
    double others_idle_scale;
};

/*
 * Reads the measurements of every device from the profile, into an array in `arena`. `profile` may
 * be NULL. If a fraction of a GPU was not measured, uses the nearest measured fraction that differs
 * by at most 0.01, and logs a note. Ignores measurements of a different CPU model, and logs a note.
 * The member `context_bytes` is the value that was measured with `model`. If `model` is NULL or was
 * not measured, `context_bytes` is the value that was measured last, with any model.
 */
yk_status yk_device_measurements_read(struct yk_profile *profile, const char *model,
                                      const struct yk_cluster *cluster, struct yk_arena *arena,
                                      struct yk_device_measurements **out) YK_MUST_USE;

static inline struct yk_device_measurements
yk_device_measurements_of_device(const struct yk_device_measurements *measurements, int32_t device)
{
    return measurements ? measurements[device] : (struct yk_device_measurements){0};
}

/* Returns the bytes that a process needs besides the model: driver context, library workspaces and,
 * on a CPU, the process itself. If nothing was measured, returns a default, which is different for
 * CPUs and GPUs. */
double yk_device_measurements_context_bytes(const struct yk_device_measurements *measurements,
                                            const struct yk_cluster *cluster, int32_t device);

#endif
