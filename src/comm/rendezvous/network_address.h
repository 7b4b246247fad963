/*
 * Network address: resolves host names and network interfaces to the addresses of rank 0.
 * Thread-safe.
 */
#ifndef YK_COMM_RENDEZVOUS_NETWORK_ADDRESS_H
#define YK_COMM_RENDEZVOUS_NETWORK_ADDRESS_H

#include "base/status.h"
#include "base/text.h"
#include "comm/rendezvous/rendezvous.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

enum {
    YK_NETWORK_ADDRESS_LIST_MAX = 8
};

struct yk_network_address_list {
    struct sockaddr_storage addresses[YK_NETWORK_ADDRESS_LIST_MAX];
    socklen_t sizes[YK_NETWORK_ADDRESS_LIST_MAX];
    int32_t count;
};

/* Adds an IPv4 or IPv6 address with this port, unless the list has the address already or is full.
 */
void yk_network_address_list_add(struct yk_network_address_list *list,
                                 const struct sockaddr *address, int32_t port);

/* Whether the list has the address, with any port. */
bool yk_network_address_list_contains(const struct yk_network_address_list *list,
                                      const struct sockaddr *address);

/* Resolves a host name or numeric address. Returns YK_ERROR_LOST if the name is unknown; a later
 * attempt may succeed. */
yk_status yk_network_address_resolve_host(const char *name, int32_t port,
                                          struct yk_network_address_list *out) YK_MUST_USE;

/* Chooses the addresses on which rank 0 listens: those of rendezvous->interface if it is set,
 * otherwise those of rendezvous->address. */
yk_status yk_network_address_choose_listening(const struct yk_rendezvous_options *rendezvous,
                                              struct yk_network_address_list *out) YK_MUST_USE;

/* Opens a listening TCP socket on address `i` of the list. On failure it returns false and sets
 * errno. */
bool yk_network_address_listen(const struct yk_network_address_list *list, int32_t i, int *out);

/* Whether all addresses are loopback addresses, which other machines cannot reach. */
bool yk_network_address_is_loopback(const struct yk_network_address_list *list);

/* Whether NCCL_SOCKET_IFNAME=`names` selects the interface. As in NCCL, each name is a prefix, and
 * a leading "=" asks for exact names. A leading "^" (exclude) selects no interface here. */
bool yk_network_address_matches_interface(const char *interface, const char *names);

/* The raw bytes of an IPv4 or IPv6 address, and their number: 4 or 16. */
const void *yk_network_address_bytes(const struct sockaddr *address);
size_t yk_network_address_byte_count(int family);

/* Example: "10.0.0.1 and fe80::1". */
void yk_network_address_describe(const struct yk_network_address_list *list, struct yk_text *out);

#endif
