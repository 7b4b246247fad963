/*
 * Train transport: communication between the GPUs of the ranks, by NCCL or, if NCCL cannot be used,
 * by MPI through host memory. It has its own comm lane on the GPU. Free everything that uses the
 * transport before you close it.
 */
#ifndef YK_JOB_TRAINING_TRANSPORT_H
#define YK_JOB_TRAINING_TRANSPORT_H

#include "base/option.h"
#include "base/status.h"
#include "cluster/launcher.h"
#include "comm/communicator.h"
#include "job/device.h"

#define YK_TRAIN_TRANSPORT_OPTION_HELP "Of several ranks with GPUs: how they exchange numbers"

/* Choices for --wire. */
bool yk_train_transport_option_choices(size_t number, struct yk_option_choice *out);

/* Starts as {0}. */
struct yk_train_transport {
    struct yk_device_context context; /* its lane is the comm lane */
    struct yk_communicator ranks;     /* communicator; size 0: not open */
};

/* Opens the transport between ranks that are already connected by MPI (`met`). `word` is "auto",
 * "nccl" or "mpi". Called by all ranks; a failure is the same on all of them. */
yk_status yk_train_transport_open_over_mpi(const struct yk_communicator *met,
                                           const struct yk_device_choice *choice, const char *word,
                                           struct yk_train_transport *out) YK_MUST_USE;

/* Opens the transport between ranks that are not connected yet. They meet at the address that the
 * launcher gives. */
yk_status yk_train_transport_open_by_rendezvous(const struct yk_launcher *launcher,
                                                const struct yk_device_choice *choice,
                                                struct yk_train_transport *out) YK_MUST_USE;

void yk_train_transport_close(struct yk_train_transport *wire);

/* Identifier of this host: NCCL_HOSTID, else the host name. */
const char *yk_train_transport_host_id(char *buffer, size_t size);

/* Loads a communication plug-in. `missing` is the message if the file is not found. */
yk_status yk_train_transport_load_plugin(const char *file, const char *missing,
                                         const struct yk_comm_backend **out) YK_MUST_USE;

#endif
