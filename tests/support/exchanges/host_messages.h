/* Exchange host: what hosts tell each other between steps, tried on every rank of a world. */
#ifndef YK_TESTS_SUPPORT_EXCHANGES_HOST_MESSAGES_H
#define YK_TESTS_SUPPORT_EXCHANGES_HOST_MESSAGES_H

#include "comm/communicator.h"

/* Clocks are the same on ranks of one machine, which these must be. */
yk_status exchange_host_run(const struct yk_communicator *ranks) YK_MUST_USE;

#endif
