#include "comm/rendezvous/network_address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <string.h>
#include <unistd.h>

enum {
    ADDRESS_SIZE = 64
};

size_t yk_network_address_family_byte_count(int family)
{
    return family == AF_INET ? sizeof(struct in_addr) : sizeof(struct in6_addr);
}

const void *yk_network_address_raw_bytes(const struct sockaddr *address)
{
    return address->sa_family == AF_INET
               ? (const void *)&((const struct sockaddr_in *)(const void *)address)->sin_addr
               : (const void *)&((const struct sockaddr_in6 *)(const void *)address)->sin6_addr;
}

static socklen_t size_of(const struct sockaddr *address)
{
    return address->sa_family == AF_INET    ? sizeof(struct sockaddr_in)
           : address->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6)
                                            : 0;
}

/* Whatever their ports. */
static bool is_same(const struct sockaddr *a, const struct sockaddr *b)
{
    return a->sa_family == b->sa_family && size_of(a) > 0 &&
           memcmp(yk_network_address_raw_bytes(a), yk_network_address_raw_bytes(b),
                  yk_network_address_family_byte_count(a->sa_family)) == 0;
}

/* No interface in particular: 0.0.0.0 or ::. */
static bool is_any(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET) {
        const struct sockaddr_in *four = (const void *)address;
        return four->sin_addr.s_addr == htonl(INADDR_ANY);
    }
    const struct sockaddr_in6 *six = (const void *)address;
    return address->sa_family == AF_INET6 && IN6_IS_ADDR_UNSPECIFIED(&six->sin6_addr);
}

bool yk_network_address_list_contains(const struct yk_network_address_list *list,
                                      const struct sockaddr *address)
{
    for (int32_t i = 0; i < list->count; i++) {
        if (is_same((const struct sockaddr *)&list->addresses[i], address)) {
            return true;
        }
    }
    return false;
}

void yk_network_address_list_add(struct yk_network_address_list *list,
                                 const struct sockaddr *address, int32_t port)
{
    const socklen_t size = size_of(address);
    struct sockaddr_storage *to = &list->addresses[list->count];
    if (size == 0 || list->count == YK_NETWORK_ADDRESS_LIST_MAX ||
        yk_network_address_list_contains(list, address)) {
        return;
    }
    memcpy(to, address, size);
    if (address->sa_family == AF_INET) {
        ((struct sockaddr_in *)to)->sin_port = htons((uint16_t)port);
    } else {
        ((struct sockaddr_in6 *)to)->sin6_port = htons((uint16_t)port);
    }
    list->sizes[list->count++] = size;
}

yk_status yk_network_address_resolve_host(const char *name, int32_t port,
                                          struct yk_network_address_list *out)
{
    const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    const int problem = getaddrinfo(name, NULL, &hints, &found);
    if (problem != 0) {
        return yk_fail(YK_ERROR_LOST,
                       "no machine is known as %s, where rank 0 is to be (%s); name its host or "
                       "address in MASTER_ADDR or --master",
                       name, gai_strerror(problem));
    }
    struct yk_network_address_list list = {.count = 0};
    bool any = false;
    for (const struct addrinfo *i = found; i; i = i->ai_next) {
        any = any || is_any(i->ai_addr);
        yk_network_address_list_add(&list, i->ai_addr, port);
    }
    freeaddrinfo(found);
    if (any || list.count == 0) {
        return yk_fail(YK_ERROR_INPUT,
                       "%s is no address of one machine; name rank 0's in MASTER_ADDR or --master",
                       name);
    }
    *out = list;
    return YK_OK;
}

bool yk_network_address_is_interface_selected(const char *interface, const char *names)
{
    const bool exact = names[0] == '=';
    if (names[0] == '^') {
        return false;
    }
    names += exact ? 1 : 0;
    while (*names) {
        const size_t length = strcspn(names, ",");
        if (length > 0 && strncmp(interface, names, length) == 0 &&
            (!exact || interface[length] == '\0')) {
            return true;
        }
        names += length + (names[length] == ',' ? 1 : 0);
    }
    return false;
}

/* The addresses of interfaces that are up and named; `exactly` is a name, `hint` NCCL's words. */
static yk_status find_interfaces(const char *exactly, const char *hint, int32_t port,
                                 struct yk_network_address_list *out)
{
    struct ifaddrs *interfaces = NULL;
    struct yk_network_address_list list = {.count = 0};
    if (getifaddrs(&interfaces) != 0) {
        return yk_fail(YK_ERROR_SYSTEM, "the network interfaces of this machine cannot be listed");
    }
    for (const struct ifaddrs *i = interfaces; i; i = i->ifa_next) {
        const bool named = exactly ? strcmp(i->ifa_name, exactly) == 0
                                   : yk_network_address_is_interface_selected(i->ifa_name, hint);
        if (named && i->ifa_addr && (i->ifa_flags & IFF_UP)) {
            yk_network_address_list_add(&list, i->ifa_addr, port);
        }
    }
    freeifaddrs(interfaces);
    *out = list;
    return YK_OK;
}

static bool is_loopback(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET) {
        const struct sockaddr_in *four = (const void *)address;
        return (ntohl(four->sin_addr.s_addr) >> 24) == IN_LOOPBACKNET;
    }
    const struct sockaddr_in6 *six = (const void *)address;
    return address->sa_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&six->sin6_addr);
}

bool yk_network_address_list_is_all_loopback(const struct yk_network_address_list *list)
{
    bool local = true;
    for (int32_t i = 0; i < list->count; i++) {
        local = local && is_loopback((const struct sockaddr *)&list->addresses[i]);
    }
    return local;
}

/* Where a name resolves to several addresses, those on the interfaces that NCCL uses; where it is
 * this machine alone, as the own name often is, those interfaces as well. */
static void follow_hint(const struct yk_network_address_list *hinted, int32_t port,
                        struct yk_network_address_list *list)
{
    struct yk_network_address_list both = {.count = 0};
    for (int32_t i = 0; i < list->count; i++) {
        const struct sockaddr *address = (const struct sockaddr *)&list->addresses[i];
        if (yk_network_address_list_contains(hinted, address)) {
            yk_network_address_list_add(&both, address, port);
        }
    }
    if (both.count > 0) {
        *list = both;
        return;
    }
    const bool local = yk_network_address_list_is_all_loopback(list);
    for (int32_t i = 0; local && i < hinted->count; i++) {
        yk_network_address_list_add(list, (const struct sockaddr *)&hinted->addresses[i], port);
    }
}

yk_status yk_network_address_choose_listening(const struct yk_rendezvous_options *rendezvous,
                                              struct yk_network_address_list *out)
{
    const int32_t port = rendezvous->port;
    struct yk_network_address_list list;
    struct yk_network_address_list hinted = {.count = 0};
    if (rendezvous->interface) {
        YK_TRY(find_interfaces(rendezvous->interface, NULL, port, &list));
        if (list.count == 0) {
            return yk_fail(YK_ERROR_INPUT,
                           "YOKE_INTERFACE=%s is no network interface here that is up and has an "
                           "address",
                           rendezvous->interface);
        }
        *out = list;
        return YK_OK;
    }
    YK_TRY(yk_network_address_resolve_host(rendezvous->address, port, &list));
    if (rendezvous->nccl_interfaces) {
        YK_TRY(find_interfaces(NULL, rendezvous->nccl_interfaces, port, &hinted));
        follow_hint(&hinted, port, &list);
    }
    *out = list;
    return YK_OK;
}

bool yk_network_address_listen(const struct yk_network_address_list *list, int32_t i, int *out)
{
    const struct sockaddr *address = (const struct sockaddr *)&list->addresses[i];
    const int yes = 1;
    const int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        return false;
    }
    /* Connections of a meeting just before may still linger at the port. */
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (address->sa_family == AF_INET6) {
        (void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof yes);
    }
    if (bind(fd, address, list->sizes[i]) != 0 || listen(fd, SOMAXCONN) != 0) {
        const int problem = errno;
        (void)close(fd);
        errno = problem;
        return false;
    }
    *out = fd;
    return true;
}

void yk_network_address_list_describe(const struct yk_network_address_list *list,
                                      struct yk_text *out)
{
    for (int32_t i = 0; i < list->count; i++) {
        char names[ADDRESS_SIZE] = "";
        (void)getnameinfo((const struct sockaddr *)&list->addresses[i], list->sizes[i], names,
                          sizeof names, NULL, 0, NI_NUMERICHOST);
        yk_text_addf(out, "%s%s", i == 0 ? "" : i + 1 < list->count ? ", " : " and ", names);
    }
}
