/*
 * Device measurements: measured properties of a cluster's devices, one record per device. They come
 * from a profile; a caller may change them before planning. Functions that expect an array of them
 * also accept NULL, which means: nothing was measured.
 */
#ifndef YK_COST_DEVICE_MEASUREMENTS_H
#define YK_COST_DEVICE_MEASUREMENTS_H

#include "base/arena.h"
#include "base/status.h"
#include "cluster/cluster.h"

#include <stdint.h>

struct yk_profile;

struct yk_device_measurements {
    /* Bytes of the driver context and of libraries; 0 means: unknown. */
    double context_bytes;
    /* Fraction of the physical device, 0 to 1, that the profile's times were measured on, if it
     * differs from the device's own; otherwise 0. */
    double measured_fraction;
    /* Factor on compute times while one of this rank's messages is in flight, at least 1; 0 means:
     * unknown. */
    double communication_slowdown;
    /* Factor on compute times while all other devices are idle, above 0 and at most 1; 0 means:
     * unknown. */
    double others_idle_scale;
};

/*
 * Reads the measurements of every device from the profile, into an array in `arena`. `profile` may
 * be NULL. A GPU fraction that was not measured uses the nearest measured fraction within 0.01, and
 * logs a note. Numbers of a different CPU model are not used, which is logged as well.
 * `context_bytes` is that of `model`; if it was not measured, or `model` is NULL, it is that of the
 * most recently measured model.
 */
yk_status yk_device_measurements_read(struct yk_profile *profile, const char *model,
                                      const struct yk_cluster *cluster, struct yk_arena *arena,
                                      struct yk_device_measurements **out) YK_MUST_USE;

static inline struct yk_device_measurements
yk_device_measurements_of_device(const struct yk_device_measurements *measurements, int32_t device)
{
    return measurements ? measurements[device] : (struct yk_device_measurements){0};
}

/* Bytes that a process needs besides the model: driver context, library workspaces and, on a CPU,
 * the process itself. Returns the measurement, or else a default for CPUs or GPUs. */
double yk_device_measurements_context_bytes(const struct yk_device_measurements *measurements,
                                            const struct yk_cluster *cluster, int32_t device);

#endif
