/*
 * Staged: a comm for the memory of a device, carried by another world whose messages come from the
 * memory of the host, as MPI's do. It serves where nothing faster can: two ranks on one GPU, or
 * GPUs without NCCL. Memory of the host goes as it is.
 *
 * What is on the device is copied to the host in blocks, exchanged there, and copied back, all on
 * the comm lane, which is one of the device's: the next block comes and the last one goes while one
 * is exchanged. The other world (options.through) outlives it, and nobody else enqueues anything on
 * its lane while work is on this one.
 */
#ifndef YK_COMM_STAGED_H
#define YK_COMM_STAGED_H

#include "comm/ranks.h"

extern const struct yk_comm yk_comm_staged; /* named "staged" */

#endif
