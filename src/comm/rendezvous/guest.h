/* Rendezvous guest: the side of the ranks from 1 on. */
#ifndef YK_COMM_RENDEZVOUS_GUEST_H
#define YK_COMM_RENDEZVOUS_GUEST_H

#include "base/status.h"
#include "comm/rendezvous/rendezvous.h"

#include <stddef.h>

/* Calls rank 0 until it is there, and waits with the others for its bytes; `bytes` changes only on
 * success. When it returns nothing is open any more. */
yk_status yk_rendezvous_join(const struct yk_rendezvous *rendezvous, void *bytes,
                             size_t size) YK_MUST_USE;

#endif
