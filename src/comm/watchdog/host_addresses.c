#include "comm/watchdog/host_addresses.h"

#include <ifaddrs.h>
#include <inttypes.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- this machine ---- */

static void name_machine(char out[YK_HOST_ADDRESSES_NAME_SIZE])
{
    FILE *stream = fopen("/proc/sys/kernel/random/boot_id", "r");
    if (!stream || !fgets(out, YK_HOST_ADDRESSES_NAME_SIZE, stream)) {
        (void)gethostname(out, YK_HOST_ADDRESSES_NAME_SIZE - 1);
    }
    if (stream) {
        (void)fclose(stream);
    }
    /* Containers of one machine may each have a network, and a loopback, of their own. */
    struct stat network;
    if (stat("/proc/self/ns/net", &network) == 0) {
        const size_t length = strcspn(out, "\n");
        snprintf(out + length, YK_HOST_ADDRESSES_NAME_SIZE - length, " %" PRIu64,
                 (uint64_t)network.st_ino);
    }
}

static bool is_same(const struct yk_host_address *a, int32_t family, const void *bytes)
{
    return a->family == family &&
           memcmp(a->bytes, bytes, yk_network_address_family_byte_count(family)) == 0;
}

static int32_t count_bits(const struct sockaddr *mask, int32_t family)
{
    int32_t bits = 0;
    const unsigned char *bytes = mask ? yk_network_address_raw_bytes(mask) : NULL;
    for (int32_t i = 0; i < 8 * (int32_t)yk_network_address_family_byte_count(family); i++) {
        bits += bytes ? bytes[i / 8] >> (7 - i % 8) & 1 : 1;
    }
    return bits;
}

/* Whether other machines may reach this one there. */
static bool serves(const struct ifaddrs *interface)
{
    const struct sockaddr *address = interface->ifa_addr;
    if (!address || (interface->ifa_flags & (IFF_LOOPBACK | IFF_UP)) != IFF_UP ||
        (address->sa_family != AF_INET && address->sa_family != AF_INET6)) {
        return false;
    }
    const struct sockaddr_in6 *six = (const void *)address;
    return address->sa_family == AF_INET || !IN6_IS_ADDR_LINKLOCAL(&six->sin6_addr);
}

static bool is_wanted(const struct ifaddrs *interface)
{
    const char *name = getenv("YOKE_INTERFACE");
    const char *names = getenv("NCCL_SOCKET_IFNAME");
    if (name && *name) {
        return strcmp(interface->ifa_name, name) == 0;
    }
    return !names || *names == '\0' || *names == '^' ||
           yk_network_address_is_interface_selected(interface->ifa_name, names);
}

static void add_address(const struct ifaddrs *interface, struct yk_host_addresses *addresses)
{
    const int32_t family = interface->ifa_addr->sa_family;
    if (addresses->count < YK_HOST_ADDRESSES_MAX) {
        struct yk_host_address *address = &addresses->addresses[addresses->count++];
        *address = (struct yk_host_address){
            .family = family,
            .prefix = count_bits(interface->ifa_netmask, family),
        };
        memcpy(address->bytes, yk_network_address_raw_bytes(interface->ifa_addr),
               yk_network_address_family_byte_count(family));
    }
}

static struct sockaddr_storage to_socket_address(const struct yk_host_address *address)
{
    struct sockaddr_storage out = {.ss_family = (sa_family_t)address->family};
    memcpy((void *)(uintptr_t)yk_network_address_raw_bytes((const struct sockaddr *)&out),
           address->bytes, yk_network_address_family_byte_count(address->family));
    return out;
}

/* Only the addresses that the name means, if it means any of them. */
static void keep_addresses_of(const char *name, struct yk_host_addresses *addresses)
{
    struct yk_network_address_list named;
    int32_t kept = 0;
    if (yk_network_address_resolve_host(name, 0, &named) != YK_OK) {
        return; /* the ranks have met without it */
    }
    for (int32_t i = 0; i < addresses->count; i++) {
        const struct sockaddr_storage address = to_socket_address(&addresses->addresses[i]);
        if (yk_network_address_list_contains(&named, (const struct sockaddr *)&address)) {
            addresses->addresses[kept++] = addresses->addresses[i];
        }
    }
    addresses->count = kept > 0 ? kept : addresses->count;
}

void yk_host_addresses_list_local(const char *address, struct yk_host_addresses *out)
{
    struct ifaddrs *interfaces = NULL;
    memset(out, 0, sizeof *out);
    name_machine(out->name);
    if (getifaddrs(&interfaces) != 0) {
        return;
    }
    for (const struct ifaddrs *i = interfaces; i; i = i->ifa_next) {
        if (serves(i) && is_wanted(i)) {
            add_address(i, out);
        }
    }
    freeifaddrs(interfaces);
    if (address) {
        keep_addresses_of(address, out);
    }
}

/* ---- where to listen ---- */

static void add(const struct yk_host_address *address, struct yk_network_address_list *out)
{
    const struct sockaddr_storage from = to_socket_address(address);
    yk_network_address_list_add(out, (const struct sockaddr *)&from, 0);
}

/* Bridges for containers have one address on every machine, and lead to no other. */
static bool is_same_network(const struct yk_host_address *a, const struct yk_host_address *b)
{
    if (a->family != b->family || is_same(a, b->family, b->bytes)) {
        return false;
    }
    for (int32_t i = 0; i < a->prefix; i++) {
        if ((a->bytes[i / 8] ^ b->bytes[i / 8]) >> (7 - i % 8) & 1) {
            return false;
        }
    }
    return true;
}

static bool shares_network(const struct yk_host_address *address,
                           const struct yk_host_addresses *other)
{
    for (int32_t i = 0; i < other->count; i++) {
        if (is_same_network(address, &other->addresses[i])) {
            return true;
        }
    }
    return false;
}

static bool is_here(const struct yk_host_addresses *machines, int32_t rank)
{
    return strncmp(machines[0].name, machines[rank].name, YK_HOST_ADDRESSES_NAME_SIZE) == 0;
}

static bool is_shared_by_all(const struct yk_host_address *address,
                             const struct yk_host_addresses *machines, int32_t size)
{
    for (int32_t i = 1; i < size; i++) {
        if (!is_here(machines, i) && !shares_network(address, &machines[i])) {
            return false;
        }
    }
    return true;
}

/* The address from which this machine would speak to another: nothing is sent for that. */
static void add_route(const struct yk_host_addresses *own, const struct yk_host_address *to,
                      struct yk_network_address_list *out)
{
    struct yk_network_address_list there = {.count = 0};
    struct sockaddr_storage from = {0};
    socklen_t size = sizeof from;
    const int datagrams = socket(to->family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (datagrams < 0) {
        return;
    }
    add(to, &there);
    ((struct sockaddr_in *)(void *)&there.addresses[0])->sin_port = htons(9); /* any will do */
    if (connect(datagrams, (const struct sockaddr *)&there.addresses[0], there.sizes[0]) == 0 &&
        getsockname(datagrams, (struct sockaddr *)&from, &size) == 0) {
        const struct sockaddr *address = (const struct sockaddr *)&from;
        for (int32_t i = 0; i < own->count; i++) {
            if (is_same(&own->addresses[i], address->sa_family,
                        yk_network_address_raw_bytes(address))) {
                add(&own->addresses[i], out);
            }
        }
    }
    (void)close(datagrams);
}

/* For one machine; false: nothing leads there. */
static bool add_for(const struct yk_host_addresses *own, const struct yk_host_addresses *other,
                    struct yk_network_address_list *out)
{
    struct yk_network_address_list found = {.count = 0};
    for (int32_t i = 0; i < own->count; i++) {
        if (shares_network(&own->addresses[i], other)) {
            add(&own->addresses[i], &found);
            add(&own->addresses[i], out);
        }
    }
    for (int32_t i = 0; found.count == 0 && i < other->count; i++) {
        add_route(own, &other->addresses[i], &found);
        add_route(own, &other->addresses[i], out);
    }
    return found.count > 0;
}

yk_status yk_host_addresses_choose_listening(const struct yk_host_addresses *machines, int32_t size,
                                             struct yk_network_address_list *out)
{
    static const struct yk_host_address loopback = {AF_INET, 8, {127, 0, 0, 1}};
    struct yk_network_address_list addresses = {.count = 0};
    bool is_local = true;
    for (int32_t i = 1; i < size; i++) {
        is_local = is_local && is_here(machines, i);
    }
    if (is_local) {
        add(&loopback, &addresses);
    }
    for (int32_t i = 0; !is_local && i < machines[0].count; i++) {
        if (is_shared_by_all(&machines[0].addresses[i], machines, size)) {
            add(&machines[0].addresses[i], &addresses);
        }
    }
    const bool is_shared = addresses.count > 0;
    for (int32_t i = 1; !is_shared && i < size; i++) {
        if (!is_here(machines, i) && !add_for(&machines[0], &machines[i], &addresses)) {
            return yk_fail(YK_ERROR_INPUT,
                           "no network is known that leads from rank 0's machine to that of rank "
                           "%" PRId32 "; name the interface between them in YOKE_INTERFACE",
                           i);
        }
    }
    *out = addresses;
    return YK_OK;
}
