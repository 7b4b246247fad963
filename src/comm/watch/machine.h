/*
 * Machine: the addresses at which rank 0 listens for the watch: those by which the other ranks'
 * machines reach it, and no others.
 *
 * Every rank says on which machine it is and which addresses that has (loopback and link-local ones
 * aside). YOKE_INTERFACE, or NCCL_SOCKET_IFNAME, limits them to interfaces; a launcher that names
 * rank 0's address limits rank 0's to it.
 */
#ifndef YK_COMM_WATCH_MACHINE_H
#define YK_COMM_WATCH_MACHINE_H

#include "comm/rendezvous/address.h"

enum {
    YK_WATCH_MACHINE_NAME_SIZE = 64,
    YK_WATCH_MACHINE_MAX_ADDRESSES = 16,
};

struct yk_watch_address {
    int32_t family; /* AF_INET or AF_INET6 */
    int32_t prefix; /* bits that name its network */
    unsigned char bytes[16];
};

/* A rank's machine, by a name that no other has, and its addresses. */
struct yk_watch_machine {
    char name[YK_WATCH_MACHINE_NAME_SIZE];
    int32_t count;
    struct yk_watch_address addresses[YK_WATCH_MACHINE_MAX_ADDRESSES];
};

/* This machine; `address` is what a launcher calls rank 0's, or NULL. */
void yk_watch_machine_find(const char *address, struct yk_watch_machine *out);

/*
 * machines (size): the ranks', this process' first. Where all are on one machine, its loopback.
 * Otherwise this machine's addresses in networks that it shares with the machine of every other
 * rank; where no network is shared by all, those shared with some, and for the others the address
 * from which this machine would speak to them.
 */
yk_status yk_watch_machine_choose(const struct yk_watch_machine *machines, int32_t size,
                                  struct yk_address_list *out) YK_MUST_USE;

#endif
