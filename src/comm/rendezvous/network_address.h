/*
 * Network address: finds the network addresses of host names and of network interfaces.
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

/* Adds an IPv4 or IPv6 address with the port `port`, unless the list already contains the address
 * or is full. */
void yk_network_address_list_add(struct yk_network_address_list *list,
                                 const struct sockaddr *address, int32_t port);

/* Returns whether the list contains the address, with any port. */
bool yk_network_address_list_contains(const struct yk_network_address_list *list,
                                      const struct sockaddr *address);

/* Resolves a host name or numeric address. Fails with YK_ERROR_LOST if the name is unknown; a later
 * attempt may succeed. Fails with YK_ERROR_INPUT for addresses such as 0.0.0.0. */
yk_status yk_network_address_resolve_host(const char *name, int32_t port,
                                          struct yk_network_address_list *out) YK_MUST_USE;

/* Chooses the addresses on which rank 0 listens: the addresses of rendezvous->interface or, if it
 * is NULL, the addresses of rendezvous->address. In the second case, rendezvous->nccl_interfaces
 * can change the list:
 *   - If some addresses of the list belong to these interfaces, all other addresses are removed.
 *   - Otherwise, if the list contains only loopback addresses, the addresses of the interfaces are
 *     added. */
yk_status yk_network_address_choose_listening(const struct yk_rendezvous_options *rendezvous,
                                              struct yk_network_address_list *out) YK_MUST_USE;

/* Opens a listening TCP socket on address `i` of the list. Returns false and sets errno if this
 * fails. */
bool yk_network_address_listen(const struct yk_network_address_list *list, int32_t i, int *out);

/* Returns whether all addresses are loopback addresses, which other machines cannot reach. */
bool yk_network_address_list_is_all_loopback(const struct yk_network_address_list *list);

/* Returns whether `names`, a value of NCCL_SOCKET_IFNAME, selects the interface. As in NCCL, each
 * name is a prefix, and after a leading "=" each name must match exactly. A leading "^", which in
 * NCCL excludes interfaces, is not supported: the function then returns false. */
bool yk_network_address_is_interface_selected(const char *interface, const char *names);

/* Return the bytes of an IPv4 or IPv6 address without the port, and the number of bytes: 4 or 16.
 * `family` is AF_INET or AF_INET6. */
const void *yk_network_address_raw_bytes(const struct sockaddr *address);
size_t yk_network_address_family_byte_count(int family);

/* Appends the addresses. Example: "10.0.0.1 and fe80::1". */
void yk_network_address_list_describe(const struct yk_network_address_list *list,
                                      struct yk_text *out);

#endif
