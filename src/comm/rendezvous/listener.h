/*
 * Rendezvous door: where ranks call rank 0 and prove that they are ranks.
 *
 * All callers are served at once and none is waited for, so that one who says nothing, half of it
 * or nonsense costs the ranks no time. Who has not proven itself within a few seconds is hung up
 * on; when more call than there is room for, the oldest caller without a proof is dropped, once it
 * has had long enough for one.
 */
#ifndef YK_COMM_RENDEZVOUS_LISTENER_H
#define YK_COMM_RENDEZVOUS_LISTENER_H

#include "base/text.h"
#include "comm/rendezvous/address.h"
#include "comm/rendezvous/pending.h"

enum {
    YK_LISTENER_MAX_PENDING = 64, /* callers without a proof, at most */
};

struct yk_listener {
    int32_t size; /* ranks of the world */
    const char *token;
    uint32_t length; /* that every rank must say; another one is another version of yoke */
    int listeners[YK_ADDRESS_MAX];
    int32_t listener_count;
    /* The door's own. */
    struct yk_visit visitors[YK_LISTENER_MAX_PENDING]; /* those without a link are free */
    struct yk_connection *guests; /* (size); those without a link have not come */
    struct pollfd *polls;
    int32_t missing;
    int32_t strangers; /* who did not know the token */
};

/* With size, token and length set. Close it whatever comes of it. */
yk_status yk_listener_open(struct yk_listener *door) YK_MUST_USE;

/* Until all ranks have come (door->missing is 0) or it is `end_s` on the clock. Listeners must not
 * block. Ranks that cannot be of this world are a failure, which all that have come are told. */
yk_status yk_listener_accept_all(struct yk_listener *door, double end_s) YK_MUST_USE;

/* Nobody can call any more: listeners are closed and callers without a proof hung up on. */
void yk_listener_stop(struct yk_listener *door);

/* Tells the sentence of the last failure to all that have come; it stays this thread's last. */
yk_status yk_listener_refuse(const struct yk_listener *door, yk_status status) YK_MUST_USE;

/* "rank 3", "ranks 1 and 2", "ranks 1, 2 and 9 more". */
void yk_listener_name_missing(const struct yk_listener *door, struct yk_text *out);

/* Hangs up on all. */
void yk_listener_close(struct yk_listener *door);

#endif
