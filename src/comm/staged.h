/*
 * Staged: a comm for the memory of a device, carried by another world whose messages come from the
 * memory of the host, as MPI's do.
 *
 * What is on the device is copied to the host in blocks, exchanged there, and copied back, in turn
 * on the comm lane, which is one of the device's: the next block comes and the last one goes while
 * one is exchanged. It serves where nothing faster can: two
 * ranks on one GPU, or GPUs without NCCL. Memory of the host goes as it is.
 *
 * The other world (options.through) outlives it. While work is on this lane, nobody else puts any
 * on the other world's.
 */
#ifndef YK_COMM_STAGED_H
#define YK_COMM_STAGED_H

#include "comm/ranks.h"

extern const struct yk_comm yk_comm_staged; /* named "staged" */

#endif
