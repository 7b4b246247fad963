/*
 * Profile: measures the layers of a model, and the links between ranks, on this machine's devices,
 * and keeps the times in a file that plans are made from.
 *
 * Real training steps run on random tokens, which takes about `seconds` for each device and
 * precision. Several ranks measure together when a launcher (mpirun, srun) started several
 * processes: all of them call it alike, and rank 0 writes the file. When one of them is lost,
 * communication is aborted, as yoke/train.h says of a training without the callback `leave`.
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
    const char *model;       /* a name, a config.json, or a folder with one */
    const char *profile;     /* the file; NULL: the usual one of the command line */
    const char *device;      /* "cpu", "cuda", "cuda:1"; NULL: every device that is available */
    const char *precision;   /* "fp32", "bf16" …, with commas; NULL: what suits each device */
    int64_t batch;           /* the most samples at once: 1, 2, 4 … up to it; 0: 8 */
    int64_t sequence;        /* tokens of a sample; 0: 1024, or what the model can take */
    int64_t target_sequence; /* of what an encoder–decoder translates to; 0: that of the source */
    int64_t lora_rank;       /* 0: no adapters */
    bool nf4;                /* frozen weights in four bits */
    bool again;              /* also what is known already */
    double seconds;          /* 0: 20 */
    yoke_progress progress;  /* NULL: no callback */
    void *progress_user;
    const yoke_stop *stop; /* raised: it ends with what was measured by then */
};

/* `out` is what was measured as JSON, as `yoke profile --json` prints it, for yoke_free(); NULL on
 * ranks other than 0. It may be NULL. */
YOKE_API yoke_status yoke_profile_measure(const struct yoke_profile_request *request,
                                          char **out) YOKE_MUST_USE;

#ifdef __cplusplus
}
#endif

#endif
