/*
 * Profile: measures the layers of a model, and the links between ranks, on the devices of this
 * machine. The times are stored in a profile file, which the search for a plan uses.
 *
 * The measurement runs real training steps on random tokens. It takes about `seconds` seconds for
 * each device and precision. If a launcher (mpirun, srun) started several processes, they measure
 * together: all of them call yoke_profile_measure() with the same request, and rank 0 writes the
 * file. If a rank fails, the communication of all ranks is aborted. This can end the process: a
 * measurement behaves like a training run whose callback `leave` is NULL (yoke/train.h).
 */
#ifndef YOKE_PROFILE_H
#define YOKE_PROFILE_H

#include <stdbool.h>
#include <stdint.h>
#include <yoke/search.h>
#include <yoke/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Filled by the caller. */
struct yoke_profile_request {
    const char *model;   /* name of a model, or path of a config.json or of its folder */
    const char *profile; /* path of the profile file; NULL means: the default of the command line */
    const char *device;  /* "cpu", "cuda", "cuda:1"; NULL means: all devices */
    const char *precision; /* "fp32", "bf16" …, separated by commas; NULL means: fp32 on a CPU, bf16
                              on a GPU */
    int64_t batch; /* batches of 1, 2, 4 … samples are measured, up to this number; 0 means: 8 */
    int64_t sequence; /* tokens per sample; 0 means: 1024, or the model's maximum if that is less */
    int64_t target_sequence; /* tokens per target of an encoder-decoder; 0 means: as many as the
                                source */
    int64_t lora_rank;       /* rank of the LoRA adapters; 0 means: no adapters */
    bool nf4;                /* frozen weights are stored in 4 bits (NF4) */
    bool again;              /* measures again what the file already contains */
    double seconds;          /* time for each device and precision; 0 means: 20 */
    yoke_progress progress;  /* may be NULL */
    void *progress_user;
    const yoke_stop *stop; /* a flag that stops early and stores the results so far; may be NULL */
};

/* Measures and writes the file. Sets `*out` to the JSON text that `yoke profile --json` prints;
 * free it with yoke_free(). `*out` is NULL on ranks other than 0. `out` may be NULL. */
YOKE_API yoke_status yoke_profile_measure(const struct yoke_profile_request *request,
                                          char **out) YOKE_MUST_USE;

#ifdef __cplusplus
}
#endif

#endif
