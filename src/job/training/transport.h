/*
 * Train transport: how ranks exchange what is in the memory of their GPUs: by NCCL, or where that
 * cannot serve by MPI through the memory of the host. It has a comm lane of its own on the GPU;
 * everything that uses it is gone when it is closed.
 */
#ifndef YK_JOB_TRAINING_TRANSPORT_H
#define YK_JOB_TRAINING_TRANSPORT_H

#include "base/option.h"
#include "base/status.h"
#include "cluster/launcher.h"
#include "comm/ranks.h"
#include "job/device.h"

#define YK_TRAIN_TRANSPORT_HELP "Of several ranks with GPUs: how they exchange numbers"

/* Of --wire. */
bool yk_train_transport_choices(size_t number, struct yk_choice *out);

/* Starts as {0}. */
struct yk_train_transport {
    struct yk_engine engine; /* its lane is the comm lane */
    struct yk_ranks ranks;   /* of size 0: there is none */
};

/* Ranks that have met by MPI: all of them call it, and fail alike. `word` is "auto", "nccl" or
 * "mpi". */
yk_status yk_train_transport_open(const struct yk_ranks *met, const struct yk_device_choice *choice,
                                  const char *word, struct yk_train_transport *out) YK_MUST_USE;

/* Ranks that have not met: where and how says the launcher. */
yk_status yk_train_transport_join(const struct yk_launcher *launcher,
                                  const struct yk_device_choice *choice,
                                  struct yk_train_transport *out) YK_MUST_USE;

void yk_train_transport_close(struct yk_train_transport *wire);

/* The host that this rank is on, as NCCL tells hosts apart. */
const char *yk_train_transport_host_id(char *buffer, size_t size);

/* The plug-in by which ranks exchange numbers. */
yk_status yk_train_transport_load_plugin(const char *file, const char *missing,
                                         const struct yk_comm **out) YK_MUST_USE;

#endif
