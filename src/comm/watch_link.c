#include "comm/watch_link.h"

#include "base/clock.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <inttypes.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static const double meeting_s = 20; /* until all ranks must have called */
static const int call_ms = 3000;    /* for one address to answer */

void yk_watch_machine(char out[YK_WATCH_MACHINE_SIZE])
{
    memset(out, 0, YK_WATCH_MACHINE_SIZE);
    FILE *stream = fopen("/proc/sys/kernel/random/boot_id", "r");
    if (!stream || !fgets(out, YK_WATCH_MACHINE_SIZE, stream)) {
        (void)gethostname(out, YK_WATCH_MACHINE_SIZE - 1);
    }
    if (stream) {
        (void)fclose(stream);
    }
    /* Containers of one machine may each have a network, and a loopback, of their own. */
    struct stat network;
    if (stat("/proc/self/ns/net", &network) == 0) {
        const size_t length = strcspn(out, "\n");
        snprintf(out + length, YK_WATCH_MACHINE_SIZE - length, " %" PRIu64,
                 (uint64_t)network.st_ino);
    }
}

static void add_address(struct yk_watch_invitation *invitation, const struct ifaddrs *interface)
{
    const struct sockaddr *address = interface->ifa_addr;
    char *out = invitation->addresses[invitation->address_count];
    if (!address || invitation->address_count == YK_WATCH_ADDRESSES ||
        (interface->ifa_flags & (IFF_LOOPBACK | IFF_UP)) != IFF_UP ||
        address->sa_family != AF_INET) {
        return;
    }
    const struct sockaddr_in *four = (const void *)address;
    if (inet_ntop(AF_INET, &four->sin_addr, out, YK_WATCH_ADDRESS_SIZE)) {
        invitation->address_count++;
    }
}

static yk_status refuse(const char *what)
{
    return yk_fail(YK_ERROR_SYSTEM, "the watch over ranks cannot %s: %s", what, strerror(errno));
}

static yk_status listen_on(bool is_local, struct yk_watch_invitation *invitation)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET,
        .sin_addr.s_addr = htonl(is_local ? INADDR_LOOPBACK : INADDR_ANY),
    };
    socklen_t size = sizeof address;
    invitation->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (invitation->listener < 0) {
        return refuse("open a socket");
    }
    if (bind(invitation->listener, (const struct sockaddr *)&address, size) != 0 ||
        listen(invitation->listener, SOMAXCONN) != 0 ||
        getsockname(invitation->listener, (struct sockaddr *)&address, &size) != 0) {
        const yk_status status = refuse("listen on a port");
        (void)close(invitation->listener);
        return status;
    }
    invitation->port = ntohs(address.sin_port);
    return YK_OK;
}

yk_status yk_watch_invite(bool is_local, struct yk_watch_invitation *out)
{
    struct yk_watch_invitation invitation = {.listener = -1};
    if (getrandom(invitation.token, sizeof invitation.token, 0) !=
        (ssize_t)sizeof invitation.token) {
        return refuse("draw a random number");
    }
    struct ifaddrs *interfaces = NULL;
    if (!is_local && getifaddrs(&interfaces) == 0) {
        for (const struct ifaddrs *i = interfaces; i; i = i->ifa_next) {
            add_address(&invitation, i);
        }
        freeifaddrs(interfaces);
    }
    if (invitation.address_count < YK_WATCH_ADDRESSES) {
        strcpy(invitation.addresses[invitation.address_count++], "127.0.0.1");
    }
    YK_TRY(listen_on(is_local, &invitation));
    *out = invitation;
    return YK_OK;
}

static void quicken(int link)
{
    const int yes = 1;
    (void)setsockopt(link, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

/* One record, waiting for it at most so long. */
static bool await_record(int link, struct yk_watch_record *out)
{
    struct yk_watch_ear ear = {.size = 0};
    const double end_s = yk_clock_now_s() + call_ms / 1e3;
    for (;;) {
        const double left_s = end_s - yk_clock_now_s();
        struct pollfd poller = {.fd = link, .events = POLLIN};
        if (left_s <= 0 || (poll(&poller, 1, (int)(left_s * 1e3) + 1) < 0 && errno != EINTR)) {
            return false;
        }
        const enum yk_watch_heard heard = yk_watch_hear(link, &ear, out);
        if (heard != YK_WATCH_HEARD_NOTHING) {
            return heard == YK_WATCH_HEARD_RECORD;
        }
    }
}

static struct yk_watch_record make_hello(const struct yk_watch_invitation *invitation, int32_t rank)
{
    struct yk_watch_record hello = {.word = YK_WATCH_HELLO, .rank = rank};
    memcpy(hello.token, invitation->token, sizeof hello.token);
    return hello;
}

static bool is_hello(const struct yk_watch_invitation *invitation,
                     const struct yk_watch_record *record)
{
    return record->word == YK_WATCH_HELLO &&
           memcmp(record->token, invitation->token, sizeof record->token) == 0;
}

/* Connects without waiting longer than for any address. */
static bool reach(int link, const struct sockaddr_in *address)
{
    struct pollfd poller = {.fd = link, .events = POLLOUT};
    int error = 0;
    socklen_t size = sizeof error;
    if (connect(link, (const struct sockaddr *)address, sizeof *address) == 0) {
        return true;
    }
    return errno == EINPROGRESS && poll(&poller, 1, call_ms) == 1 &&
           getsockopt(link, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0;
}

static bool try_address(const struct yk_watch_invitation *invitation, const char *words,
                        int32_t rank, int *out)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)invitation->port)};
    struct yk_watch_record answer;
    const struct yk_watch_record hello = make_hello(invitation, rank);
    const int link = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (link < 0) {
        return false;
    }
    if (inet_pton(AF_INET, words, &address.sin_addr) != 1 || !reach(link, &address)) {
        (void)close(link);
        return false;
    }
    quicken(link);
    yk_watch_tell(link, &hello);
    if (!await_record(link, &answer) || !is_hello(invitation, &answer)) {
        (void)close(link);
        return false;
    }
    *out = link;
    return true;
}

yk_status yk_watch_call(const struct yk_watch_invitation *invitation, int32_t rank, int *out)
{
    for (int32_t i = 0; i < invitation->address_count && i < YK_WATCH_ADDRESSES; i++) {
        if (try_address(invitation, invitation->addresses[i], rank, out)) {
            return YK_OK;
        }
    }
    return yk_fail(YK_ERROR_LOST,
                   "the watch over ranks does not reach rank 0 at port %d: let machines of the run "
                   "connect to each other",
                   (int)invitation->port);
}

/* The next caller that says what it must, or none. */
static void welcome_one(const struct yk_watch_invitation *invitation, int32_t size, int *links,
                        int32_t *missing)
{
    struct yk_watch_record record;
    const int link = accept4(invitation->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (link < 0) {
        return;
    }
    if (!await_record(link, &record) || !is_hello(invitation, &record) || record.rank < 1 ||
        record.rank >= size || links[record.rank] >= 0) {
        (void)close(link);
        return;
    }
    const struct yk_watch_record answer = make_hello(invitation, 0);
    quicken(link);
    yk_watch_tell(link, &answer);
    links[record.rank] = link;
    (*missing)--;
}

yk_status yk_watch_welcome(const struct yk_watch_invitation *invitation, int32_t size, int *links)
{
    int32_t missing = size - 1;
    const double end_s = yk_clock_now_s() + meeting_s;
    for (int32_t i = 0; i < size; i++) {
        links[i] = -1;
    }
    while (missing > 0 && yk_clock_now_s() < end_s) {
        struct pollfd poller = {.fd = invitation->listener, .events = POLLIN};
        if (poll(&poller, 1, 100) == 1) {
            welcome_one(invitation, size, links, &missing);
        }
    }
    if (missing == 0) {
        return YK_OK;
    }
    int32_t absent = 0;
    for (int32_t i = size - 1; i > 0; i--) {
        absent = links[i] < 0 ? i : absent;
        if (links[i] >= 0) {
            (void)close(links[i]);
        }
    }
    return yk_fail(YK_ERROR_LOST,
                   "the watch over ranks has not heard from rank %d within %.0f s: let machines of "
                   "the run connect to each other",
                   (int)absent, meeting_s);
}

void yk_watch_tell(int link, const struct yk_watch_record *record)
{
    const ssize_t sent = send(link, record, sizeof *record, MSG_DONTWAIT | MSG_NOSIGNAL);
    /* Half a record would make nonsense of all that follows. */
    if (sent > 0 && sent < (ssize_t)sizeof *record) {
        (void)shutdown(link, SHUT_RDWR);
    }
}

enum yk_watch_heard yk_watch_hear(int link, struct yk_watch_ear *ear, struct yk_watch_record *out)
{
    const ssize_t got =
        recv(link, ear->bytes + ear->size, sizeof ear->bytes - ear->size, MSG_DONTWAIT);
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)) {
        return YK_WATCH_HEARD_END;
    }
    ear->size += got > 0 ? (size_t)got : 0;
    if (ear->size < sizeof ear->bytes) {
        return YK_WATCH_HEARD_NOTHING;
    }
    memcpy(out, ear->bytes, sizeof *out);
    ear->size = 0;
    return YK_WATCH_HEARD_RECORD;
}
