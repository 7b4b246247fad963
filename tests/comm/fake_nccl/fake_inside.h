/* Fake inside: what the sources of the fake share. */
#ifndef YK_TESTS_COMM_FAKE_INSIDE_H
#define YK_TESTS_COMM_FAKE_INSIDE_H

#include "fake_nccl.h"

#include "comm/communicator.h"

#include <nccl.h>
#include <stdatomic.h>

struct ncclComm {
    struct yk_communicator *ranks; /* of the rank whose it is */
    struct yk_comm_group *group;
    int size;
    int me;
    bool is_world;
    atomic_bool is_dead;    /* destroyed or given up: nobody may use it */
    atomic_bool is_aborted; /* given up, maybe while another thread puts an exchange */
};

void fake_cuda_begin(enum fake_kind kind);
/* Until every thread that has chosen a device has ended. */
void fake_cuda_await_threads(void);
void fake_misuse(const char *words);
void fake_exchanges_begin(void);
int fake_current_device(void);
bool fake_is(const void *memory, enum cudaMemoryType type);

/* False, and a misuse, for one that is destroyed. */
bool fake_is_alive(const struct ncclComm *comm);

/* The entry of the backend's table. */
void *fake_native(const struct yk_backend_lane *lane, int32_t *number);

#endif
