/*
 * Device: resolves the option --device to a device, and opens this device and a lane (a queue of
 * ops) on it. The caller frees everything that uses the device before closing the device. Not
 * thread-safe.
 */
#ifndef YK_JOB_DEVICE_H
#define YK_JOB_DEVICE_H

#include "backend/backend.h"
#include "base/arena.h"
#include "base/status.h"
#include "base/text.h"
#include "measure/counters/counter_recorder.h"
#include "nn/store/parameter_store.h"
#include "trace/counters_file.h"

#include <stdbool.h>
#include <stdint.h>

#define YK_DEVICE_OPTION_HELP                                                                      \
    "Where to compute: cpu, cuda (an NVIDIA GPU), cuda:1 (the second one), or auto: a GPU where "  \
    "there is one that yoke was built for"

struct yk_device_choice {
    /* CUDA index among the GPUs that are visible to this process; not used for a CPU. */
    int32_t number;
    bool gpu;
    bool automatic; /* a GPU was chosen because --device was "auto" */
};

/* Resolves `word`, the value of --device; NULL means: "auto". Fails if the value is malformed, or
 * if the value names a GPU but yoke was built without the CUDA plug-in. */
yk_status yk_device_resolve_option(const char *word, struct yk_device_choice *out) YK_MUST_USE;

/* Counts the GPUs that are visible to this process. With n GPUs, --device can name cuda:0 to
 * cuda:(n − 1). */
yk_status yk_device_count_gpus(int32_t *out) YK_MUST_USE;

/* Describes a GPU in the syntax of --cluster: "h200:143771MiB". If the process may use only a part
 * of the GPU (a MIG instance, or an MPS limit), describes only this part: "h200:12.1%:16384MiB". */
yk_status yk_device_gpu_as_cluster_option(int32_t number, struct yk_arena *arena,
                                          const char **out) YK_MUST_USE;

/* Appends the backend's description of the device to `out`. Appends the versions of the software
 * that affect the device's speed to `versions`. Fails if the backend cannot be loaded or the device
 * cannot be opened. */
yk_status yk_device_describe(const struct yk_device_choice *choice, struct yk_text *out,
                             struct yk_text *versions) YK_MUST_USE;

/* Opens the device and a lane on it. `out` must be {0} before the call. For a GPU, the function
 * uses a copy of `options` in which it sets the device number, the MPS memory limit, and the cache
 * file of matmul algorithms. */
yk_status yk_device_open_context(const struct yk_device_choice *choice,
                                 const struct yk_backend_device_options *options,
                                 struct yk_device_context *out) YK_MUST_USE;
void yk_device_close_context(struct yk_device_context *context);

/* ---- device counters (--counters): hardware counters of a device ---- */

#define YK_DEVICE_COUNTERS_OPTION_HELP                                                             \
    "Also say what the device's own meters show in each phase and kind of layer"

/* Opens a counter recorder on a device. Must be called before any work starts on that device. */
yk_status yk_device_counters_open_recorder(const struct yk_device_choice *device,
                                           struct yk_counter_recorder **out) YK_MUST_USE;

/* Appends one table for each of the first four ranks. A table has one row for each phase and for
 * each kind of layer. Its columns are the fraction of the time and the most important counters, if
 * they are available. Its heading names the source of the numbers. */
yk_status yk_device_counters_write_text(const struct yk_counter_run_data *ranks,
                                        struct yk_text *out) YK_MUST_USE;

#endif
