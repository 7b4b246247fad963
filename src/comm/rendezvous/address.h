/*
 * Address: the network addresses at which rank 0 listens or is reached, found from host names and
 * interfaces. Any thread may call these.
 */
#ifndef YK_COMM_RENDEZVOUS_ADDRESS_H
#define YK_COMM_RENDEZVOUS_ADDRESS_H

#include "base/status.h"
#include "base/text.h"
#include "comm/rendezvous/rendezvous.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

enum {
    YK_ADDRESS_MAX = 8
};

struct yk_address_list {
    struct sockaddr_storage addresses[YK_ADDRESS_MAX];
    socklen_t sizes[YK_ADDRESS_MAX];
    int32_t count;
};

/* What the name of rank 0's machine resolves to; YK_ERROR_LOST: nothing, for now. */
yk_status yk_address_resolve(const char *name, int32_t port,
                             struct yk_address_list *out) YK_MUST_USE;

/* Where rank 0 is to listen: at the interface that is named, else at what its name resolves to. */
yk_status yk_address_choose(const struct yk_rendezvous *rendezvous,
                            struct yk_address_list *out) YK_MUST_USE;

/* Listens at address number `i` only; false: errno says why it failed. */
bool yk_address_listen(const struct yk_address_list *list, int32_t i, int *out);

/* Whether no other machine reaches it. */
bool yk_address_is_local(const struct yk_address_list *list);

/* Whether NCCL_SOCKET_IFNAME=`names` selects the interface, by NCCL's rules: its name begins with
 * one of the names or, after "=", is one of them. After "^", which excludes names, none is
 * selected. */
bool yk_address_matches_interface(const char *interface, const char *names);

/* The bytes of an IPv4 or IPv6 address, and how many such a family has. */
const void *yk_address_bytes(const struct sockaddr *address);
size_t yk_address_length(int family);

/* "10.0.0.1 and fe80::1". */
void yk_address_describe(const struct yk_address_list *list, struct yk_text *out);

#endif
