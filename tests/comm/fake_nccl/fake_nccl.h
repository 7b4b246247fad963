/*
 * Fake NCCL: a world of threads for tests of the comm over NCCL, see nccl.h here. One world at a
 * time.
 */
#ifndef YK_TESTS_COMM_FAKE_NCCL_H
#define YK_TESTS_COMM_FAKE_NCCL_H

#include "backend/backend.h"
#include "support/exchanges/thread_comm.h"

enum {
    FAKE_RANKS = 4,
};

/* What memory that no device gave is said to be. */
enum fake_kind {
    FAKE_OF_SYSTEM, /* such as a number on the stack: copies must not touch it */
    FAKE_OF_HOST,   /* pinned */
    FAKE_OF_DEVICE,
};

void fake_nccl_begin(int32_t ranks, enum fake_kind kind);
/* After every rank has closed its world: waits until every communicator has ended and every thread
 * that was left behind too, then ends the lanes and devices of those who sat. Who still waits to
 * join must have been let go, by fake_nccl_drop_rank(). */
void fake_nccl_end(void);

/* A CPU that has memory as a GPU has it. */
extern struct yk_backend fake_gpu;

/* The device and the lane of this rank, before it opens its world. They stay until
 * fake_nccl_end(), because threads that are left behind use them. */
void fake_nccl_sit(int32_t rank, struct yk_backend_device *device, struct yk_backend_lane *lane);

/* A rank is gone: what others wait for ends, and their communicators are not well. */
void fake_nccl_drop_rank(int32_t rank);

/* Until a rank waits for the others to join. */
void fake_nccl_await_joining(void);

/* From now on, whoever destroys a communicator stays within NCCL, until let go. */
void fake_nccl_hold_destroy(bool holds);

/* What was asked for that must not be asked of NCCL or CUDA, in words; NULL: nothing. */
const char *fake_nccl_misuse(void);

/* How many sums of 16-bit numbers NCCL was asked for since fake_nccl_begin(). */
int fake_nccl_narrow_sums(void);

/* How many exchanges were asked of communicators that had been aborted. */
int fake_nccl_late_exchanges(void);

#endif
