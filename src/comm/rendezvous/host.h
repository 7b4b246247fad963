/* Rendezvous host: rank 0's side. */
#ifndef YK_COMM_RENDEZVOUS_HOST_H
#define YK_COMM_RENDEZVOUS_HOST_H

#include "base/status.h"
#include "comm/rendezvous/rendezvous.h"

#include <stddef.h>

/* Waits for all ranks and hands them the bytes. When it returns nothing is open any more. */
yk_status yk_rendezvous_serve(const struct yk_rendezvous *rendezvous, const void *bytes,
                              size_t size) YK_MUST_USE;

#endif
