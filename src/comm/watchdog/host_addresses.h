/*
 * Host addresses: lists the network addresses of a rank's machine, and chooses the addresses on
 * which rank 0 listens for the watchdog. Rank 0 listens only on addresses that the other machines
 * can reach.
 *
 * Loopback addresses and link-local IPv6 addresses are not listed. The environment variable
 * YOKE_INTERFACE selects the network interface; if it is not set, NCCL_SOCKET_IFNAME selects the
 * interfaces. If the launcher gives an address of rank 0 that belongs to this machine, only this
 * address is listed.
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
 * Chooses the addresses on which rank 0 listens. machines[i] is the machine of rank i; machines[0]
 * is this machine. The result depends on the machines:
 *   all ranks are on one machine           the loopback address
 *   all machines share a network           the addresses of rank 0 in the shared networks
 *   no network is shared by all machines   for each other machine M: the addresses of rank 0 in
 *                                          networks that rank 0 and M share or, if there are none,
 *                                          the address from which rank 0 would send to M
 * Fails if no address is found for a machine.
 */
yk_status yk_host_addresses_choose_listening(const struct yk_host_addresses *machines, int32_t size,
                                             struct yk_network_address_list *out) YK_MUST_USE;

#endif
