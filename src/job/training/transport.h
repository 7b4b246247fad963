/*
 * Train transport: communication between the GPUs of the ranks. It uses NCCL or, if NCCL cannot be
 * used, MPI through host memory. A transport has its own comm lane (a queue of communication ops)
 * on the GPU. Free everything that uses the transport before you close the transport.
 */
#ifndef YK_JOB_TRAINING_TRANSPORT_H
#define YK_JOB_TRAINING_TRANSPORT_H

#include "base/option.h"
#include "base/status.h"
#include "cluster/launcher.h"
#include "comm/communicator.h"
#include "job/device.h"

#define YK_TRAIN_TRANSPORT_OPTION_HELP "Of several ranks with GPUs: how they exchange numbers"

/* Lists the choices for --wire. Sets `out` to choice `number`, or returns false if `number` is too
 * large. */
bool yk_train_transport_choice_at(size_t number, struct yk_option_choice *out);

/* Starts as {0}. */
struct yk_train_transport {
    struct yk_device_context context; /* context.lane is the comm lane */
    struct yk_communicator ranks;     /* size 0 means: the transport is not open */
};

/* Opens the transport between ranks that are already connected with MPI. `met` is the communicator
 * of MPI. `word` is "auto", "nccl" or "mpi". Called by all ranks; all of them return the same
 * status. */
yk_status yk_train_transport_open_over_mpi(const struct yk_communicator *met,
                                           const struct yk_device_choice *choice, const char *word,
                                           struct yk_train_transport *out) YK_MUST_USE;

/* Opens the transport between ranks that are not connected yet. They connect to each other through
 * the address of rank 0 in `launcher`. */
yk_status yk_train_transport_open_by_rendezvous(const struct yk_launcher *launcher,
                                                const struct yk_device_choice *choice,
                                                struct yk_train_transport *out) YK_MUST_USE;

void yk_train_transport_close(struct yk_train_transport *wire);

/* Returns the identifier of this host: the environment variable NCCL_HOSTID, or the host name if
 * the variable is not set. */
const char *yk_train_transport_host_id(char *buffer, size_t size);

/* Loads a communication plug-in. `missing` is the error message for the case that the file is not
 * found. */
yk_status yk_train_transport_load_plugin(const char *file, const char *missing,
                                         const struct yk_comm_backend **out) YK_MUST_USE;

#endif
