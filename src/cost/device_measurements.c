#include "cost/device_measurements.h"

#include "base/log.h"
#include "cost/profile_key.h"
#include "profile/profile.h"

#include <math.h>
#include <string.h>

/* Resident memory of the program, its libraries and Open MPI: 20 to 24 MiB per rank besides small
 * models, 14 MiB for a single rank. */
static const double cpu_context_bytes = 24.0 * 1024 * 1024;

/* PyTorch 2.11 with CUDA 13 and cuBLAS uses 693 MiB on an H200 besides its tensors. Smaller devices
 * use less, since they keep state for fewer multiprocessors. */
static const double gpu_context_bytes = 0.7 * 1024 * 1024 * 1024;

/* A requested fraction may not exist exactly: a GPU of 132 multiprocessors offers 13.6 % instead of
 * 14 %. Fractions this close count as equal. */
static const double same_part = 0.01;
static const double rounding = 0.0005; /* of a printed fraction such as 69.7 % */

/* `*out` is NAN if it was not measured. */
static yk_status find_fact(struct yk_profile *profile, const struct yk_device *device,
                           const struct yk_device_measurements *measurements, const char *what,
                           double *out)
{
    char name[YK_PROFILE_KEY_SIZE];
    const struct yk_profile_fact_key fact = {name, what};
    *out = NAN;
    return yk_profile_key_format_device(device, measurements, name)
               ? yk_profile_find_fact_value(profile, &fact, out)
               : YK_OK;
}

static yk_status find_context(struct yk_profile *profile, const struct yk_device *device,
                              const char *model, struct yk_device_measurements *measurements)
{
    char name[YK_PROFILE_KEY_SIZE];
    const struct yk_profile_fact_key fact = {name, YK_PROFILE_FACT_CONTEXT_BYTES};
    double bytes = NAN;
    if (model && yk_profile_key_format_device_with_model(device, measurements, model, name)) {
        YK_TRY(yk_profile_find_fact_value(profile, &fact, &bytes));
    }
    if (isnan(bytes)) {
        YK_TRY(find_fact(profile, device, measurements, YK_PROFILE_FACT_CONTEXT_BYTES, &bytes));
    }
    if (bytes > 0 && isfinite(bytes)) {
        measurements->context_bytes = bytes;
    }
    return YK_OK;
}

static bool is_first_of_kind(const struct yk_cluster *cluster, int32_t device)
{
    const struct yk_device *devices = cluster->devices;
    for (int32_t i = 0; i < device; i++) {
        if (devices[i].fraction == devices[device].fraction && devices[i].type &&
            strcmp(devices[i].type, devices[device].type) == 0) {
            return false;
        }
    }
    return true;
}

static yk_status find_part(struct yk_profile *profile, const struct yk_cluster *cluster,
                           int32_t number, struct yk_device_measurements *measurements)
{
    const struct yk_device *device = &cluster->devices[number];
    char name[YK_PROFILE_KEY_SIZE];
    double part = NAN;
    if (device->is_cpu || !yk_profile_key_format_device_type(device, name)) {
        return YK_OK;
    }
    YK_TRY(yk_profile_find_nearest_fraction(profile, name, device->fraction, same_part, &part));
    if (isnan(part) || part == device->fraction) {
        return YK_OK;
    }
    measurements->measured_fraction = part;
    if (fabs(part - device->fraction) > rounding && is_first_of_kind(cluster, number)) {
        yk_log(YK_LOG_NOTE, "%.3g%% of %s: as measured on %.3g%% of it", 100 * device->fraction,
               name, 100 * part);
    }
    return YK_OK;
}

static yk_status find_slowdowns(struct yk_profile *profile, const struct yk_device *device,
                                struct yk_device_measurements *measurements)
{
    double slowdown = NAN;
    double scale = NAN;
    YK_TRY(find_fact(profile, device, measurements, YK_PROFILE_FACT_COMPUTE_SLOWDOWN, &slowdown));
    YK_TRY(find_fact(profile, device, measurements, YK_PROFILE_FACT_IDLE_SPEEDUP, &scale));
    if (slowdown >= 1 && isfinite(slowdown)) {
        measurements->communication_slowdown = slowdown;
    }
    if (scale > 0 && scale <= 1) {
        measurements->others_idle_scale = scale;
    }
    return YK_OK;
}

static bool is_first_of_cores(const struct yk_cluster *cluster, int32_t device)
{
    for (int32_t i = 0; i < device; i++) {
        if (cluster->devices[i].is_cpu &&
            cluster->devices[i].cores == cluster->devices[device].cores) {
            return false;
        }
    }
    return true;
}

/* Logs a note if the profile has numbers for as many cores of a different CPU. */
static yk_status note_other_cpu(struct yk_profile *profile, const struct yk_cluster *cluster,
                                int32_t number)
{
    const struct yk_device *device = &cluster->devices[number];
    char kind[YK_PROFILE_KEY_SIZE];
    char cpu[YK_SYSTEM_CPU_NAME_SIZE];
    bool other = false;
    if (!device->is_cpu || !is_first_of_cores(cluster, number) ||
        !yk_profile_key_format_device_type(device, kind)) {
        return YK_OK;
    }
    YK_TRY(yk_profile_has_only_other_cpus(profile, kind, &other, cpu));
    if (other && cpu[0]) {
        yk_log(YK_LOG_NOTE,
               "the profile has numbers for %s of another CPU, \"%s\", and this machine's is "
               "\"%s\": they are not used; yoke profile measures this one",
               kind, cpu, yk_profile_cpu_name(profile));
    } else if (other) {
        yk_log(YK_LOG_NOTE,
               "the profile has numbers for %s that do not say which CPU they are of, since an "
               "earlier yoke measured them: they are not used; yoke profile measures them again",
               kind);
    }
    return YK_OK;
}

yk_status yk_device_measurements_read(struct yk_profile *profile, const char *model,
                                      const struct yk_cluster *cluster, struct yk_arena *arena,
                                      struct yk_device_measurements **out)
{
    struct yk_device_measurements *measurements = NULL;
    YK_TRY_NEW(arena, measurements, cluster->device_count);
    for (int32_t i = 0; profile && i < cluster->device_count; i++) {
        const struct yk_device *device = &cluster->devices[i];
        YK_TRY(note_other_cpu(profile, cluster, i));
        YK_TRY(find_part(profile, cluster, i, &measurements[i]));
        YK_TRY(find_slowdowns(profile, device, &measurements[i]));
        YK_TRY(find_context(profile, device, model, &measurements[i]));
    }
    *out = measurements;
    return YK_OK;
}

double yk_device_measurements_context_bytes(const struct yk_device_measurements *measurements,
                                            const struct yk_cluster *cluster, int32_t device)
{
    const double measured = yk_device_measurements_of_device(measurements, device).context_bytes;
    return measured > 0                      ? measured
           : cluster->devices[device].is_cpu ? cpu_context_bytes
                                             : gpu_context_bytes;
}
