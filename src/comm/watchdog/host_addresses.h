/*
 * Host addresses: lists the network addresses of a rank's machine, and chooses the addresses on
 * which rank 0 listens for the watchdog. Rank 0 listens only on addresses that the other machines
 * can reach.
 *
 * Loopback addresses and link-local IPv6 addresses are not listed. The variable YOKE_INTERFACE
 * selects the network interfaces; if it is not set, NCCL_SOCKET_IFNAME does. If the launcher gives
 * the address of rank 0 and it is an address of this machine, only that address is listed.
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
    char name[YK_HOST_ADDRESSES_NAME_SIZE]; /* unique name: boot id and network namespace */
    int32_t count;
    struct yk_host_address addresses[YK_HOST_ADDRESSES_MAX];
};

/* Lists the addresses of this machine. `address` is the address of rank 0 from the launcher; NULL
 * means: unknown. */
void yk_host_addresses_list_local(const char *address, struct yk_host_addresses *out);

/*
 * Chooses the addresses on which rank 0 listens. machines (size) has the machine of every rank;
 * element 0 is this machine. If all ranks are on one machine, the result is its loopback address.
 * Otherwise the result is the addresses of rank 0 in networks that all machines share. If there is
 * no such network, the result has for each other machine the addresses of rank 0 in networks that
 * the two machines share. If these do not exist either, it has the source address of the route to
 * that machine. Fails if a machine cannot be reached.
 */
yk_status yk_host_addresses_choose_listening(const struct yk_host_addresses *machines, int32_t size,
                                             struct yk_network_address_list *out) YK_MUST_USE;

#endif
