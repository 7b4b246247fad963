#include "comm/rendezvous_record.h"

#include "base/clock.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

static const char magic[8] = {'y', 'o', 'k', 'e', 'm', 'e', 't', '1'};

void yk_meet_hang_up(struct yk_meet_talk *talk)
{
    if (talk->link >= 0) {
        (void)close(talk->link);
    }
    talk->link = -1;
}

yk_status yk_meet_draw(unsigned char nonce[YK_MEET_NONCE])
{
    return getrandom(nonce, YK_MEET_NONCE, 0) == YK_MEET_NONCE
               ? YK_OK
               : yk_fail(YK_ERROR_SYSTEM, "ranks that meet cannot draw a random number: %s",
                         strerror(errno));
}

void yk_meet_quicken(int link)
{
    const int yes = 1;
    (void)setsockopt(link, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

static unsigned char *put(unsigned char *at, uint32_t number)
{
    for (int i = 0; i < 4; i++) {
        at[i] = (unsigned char)(number >> (24 - 8 * i));
    }
    return at + 4;
}

static uint32_t get(const unsigned char **at)
{
    const unsigned char *b = *at;
    *at += 4;
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

void yk_meet_pack(const struct yk_meet_record *record, unsigned char out[YK_MEET_WIRE])
{
    unsigned char *at = out;
    memcpy(at, magic, sizeof magic);
    at = put(at + sizeof magic, record->kind);
    at = put(at, (uint32_t)record->rank);
    at = put(at, (uint32_t)record->size);
    at = put(at, record->status);
    at = put(at, record->length);
    memcpy(at, record->nonce, YK_MEET_NONCE);
    memcpy(at + YK_MEET_NONCE, record->proof, YK_SHA256_SIZE);
}

bool yk_meet_unpack(const unsigned char bytes[YK_MEET_WIRE], struct yk_meet_record *out)
{
    const unsigned char *at = bytes + sizeof magic;
    if (memcmp(bytes, magic, sizeof magic) != 0) {
        return false;
    }
    out->kind = get(&at);
    out->rank = (int32_t)get(&at);
    out->size = (int32_t)get(&at);
    out->status = get(&at);
    out->length = get(&at);
    memcpy(out->nonce, at, YK_MEET_NONCE);
    memcpy(out->proof, at + YK_MEET_NONCE, YK_SHA256_SIZE);
    return true;
}

static void prove(const struct yk_meet_talk *talk, const struct yk_meet_record *record,
                  const void *following, unsigned char out[YK_SHA256_SIZE])
{
    unsigned char wire[YK_MEET_WIRE];
    struct yk_hmac hmac;
    yk_meet_pack(record, wire);
    yk_hmac_begin(&hmac, talk->token, strlen(talk->token));
    yk_hmac_add(&hmac, wire, YK_MEET_WIRE - YK_SHA256_SIZE);
    yk_hmac_add(&hmac, talk->guest_nonce, sizeof talk->guest_nonce);
    yk_hmac_add(&hmac, talk->host_nonce, sizeof talk->host_nonce);
    if (following) {
        yk_hmac_add(&hmac, following, record->length);
    }
    yk_hmac_end(&hmac, out);
}

bool yk_meet_is_proven(const struct yk_meet_talk *talk, const struct yk_meet_record *record,
                       const void *following)
{
    unsigned char proof[YK_SHA256_SIZE];
    prove(talk, record, following, proof);
    return yk_sha256_is_same(proof, record->proof);
}

bool yk_meet_wait(int link, bool for_writing, double end_s)
{
    for (;;) {
        const double left_s = end_s - yk_clock_now_s();
        struct pollfd poller = {.fd = link, .events = for_writing ? POLLOUT : POLLIN};
        if (left_s <= 0) {
            return false;
        }
        const int ready = poll(&poller, 1, left_s < 1e3 ? (int)(left_s * 1e3) + 1 : 1000000);
        if (ready > 0 || (ready < 0 && errno != EINTR)) {
            return ready > 0;
        }
    }
}

static bool may_go_on(ssize_t got)
{
    return got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR);
}

static bool send_all(int link, const void *bytes, size_t size, double end_s)
{
    const char *at = bytes;
    while (size > 0) {
        const ssize_t sent = send(link, at, size, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (sent > 0) {
            at += sent;
            size -= (size_t)sent;
        } else if (!may_go_on(sent) || !yk_meet_wait(link, true, end_s)) {
            return false;
        }
    }
    return true;
}

bool yk_meet_hear(int link, void *bytes, size_t size, double end_s)
{
    char *at = bytes;
    while (size > 0) {
        const ssize_t got = recv(link, at, size, MSG_DONTWAIT);
        if (got > 0) {
            at += got;
            size -= (size_t)got;
        } else if (!may_go_on(got) || !yk_meet_wait(link, false, end_s)) {
            return false;
        }
    }
    return true;
}

bool yk_meet_say(const struct yk_meet_talk *talk, const struct yk_meet_record *record,
                 const void *following, double end_s)
{
    unsigned char wire[YK_MEET_WIRE];
    struct yk_meet_record proven = *record;
    if (record->kind != YK_MEET_HELLO && record->kind != YK_MEET_CHALLENGE) {
        prove(talk, record, following, proven.proof);
    }
    yk_meet_pack(&proven, wire);
    return send_all(talk->link, wire, sizeof wire, end_s) &&
           (!following || send_all(talk->link, following, record->length, end_s));
}

void yk_meet_refuse(const struct yk_meet_talk *talk, yk_status status, const char *sentence,
                    double end_s)
{
    const size_t length = strlen(sentence);
    const struct yk_meet_record record = {
        .kind = YK_MEET_REFUSED,
        .status = (uint32_t)status,
        .length = (uint32_t)(length < YK_MEET_SENTENCE ? length : YK_MEET_SENTENCE - 1),
    };
    (void)yk_meet_say(talk, &record, sentence, end_s);
}
