/*
 * Host addresses: the network addresses of the ranks' machines, and the choice of those on which
 * rank 0 listens for the watchdog: only addresses that the other machines can reach.
 *
 * Loopback and link-local addresses are left out. YOKE_INTERFACE, or else NCCL_SOCKET_IFNAME,
 * selects the interfaces. If a launcher states the address of rank 0, only that address is used.
 */
#ifndef YK_COMM_WATCHDOG_HOST_ADDRESSES_H
#define YK_COMM_WATCHDOG_HOST_ADDRESSES_H

#include "comm/rendezvous/network_address.h"

enum {
    YK_HOST_ADDRESSES_NAME_SIZE = 64,
    YK_HOST_ADDRESSES_MAX = 16,
};

struct yk_host_address {
    int32_t family; /* AF_INET or AF_INET6 */
    int32_t prefix; /* length of the network prefix in bits */
    unsigned char bytes[16];
};

/* The machine of one rank. */
struct yk_host_addresses {
    char name[YK_HOST_ADDRESSES_NAME_SIZE]; /* unique: boot id and network namespace */
    int32_t count;
    struct yk_host_address addresses[YK_HOST_ADDRESSES_MAX];
};

/* Lists the addresses of this machine. `address` is the address of rank 0 that the launcher states,
 * or NULL. */
void yk_host_addresses_of_this_host(const char *address, struct yk_host_addresses *out);

/*
 * Chooses the addresses on which rank 0 listens. machines (size) has one entry per rank; entry 0 is
 * this machine. If all ranks are on one machine, the result is its loopback address. Otherwise it
 * is the addresses of rank 0 in networks that all machines share. If no network is shared by all,
 * it is for each machine an address in a shared network, or else the source address of the route to
 * that machine.
 */
yk_status yk_host_addresses_choose_listening(const struct yk_host_addresses *machines, int32_t size,
                                             struct yk_network_address_list *out) YK_MUST_USE;

#endif
