/*
 * Rendezvous record: what two ranks that meet say to each other, all of it in one size but for what
 * follows a record, and how they prove that they know the token.
 *
 *   guest  HELLO      its random number
 *   host   CHALLENGE  its random number
 *   guest  PROOF      rank, size of the world and of the bytes, proof
 *   host   WELCOME    proof; or REFUSED, followed by a sentence
 *   host   BYTES      proof, followed by them, once all have come; or REFUSED
 *   guest  HAVE       proof
 *   host   DONE       proof, once all have them; or REFUSED
 *
 * A proof is the HMAC, by the token, of the record, both random numbers and what follows: none can
 * be used twice or elsewhere.
 */
#ifndef YK_COMM_RENDEZVOUS_RECORD_H
#define YK_COMM_RENDEZVOUS_RECORD_H

#include "base/sha256.h"
#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    YK_MEET_NONCE = 32,
    YK_MEET_WIRE = 92,      /* bytes of a record on its way */
    YK_MEET_SENTENCE = 512, /* at most, with its end */
};

enum yk_meet_kind {
    YK_MEET_HELLO = 1,
    YK_MEET_CHALLENGE,
    YK_MEET_PROOF,
    YK_MEET_WELCOME,
    YK_MEET_REFUSED,
    YK_MEET_BYTES,
    YK_MEET_HAVE,
    YK_MEET_DONE,
};

struct yk_meet_record {
    uint32_t kind;
    int32_t rank;    /* of a proof: the guest's */
    int32_t size;    /* ranks of the world */
    uint32_t status; /* of a refusal */
    uint32_t length; /* of the bytes; of what follows */
    unsigned char nonce[YK_MEET_NONCE];
    unsigned char proof[YK_SHA256_SIZE];
};

/* One connection, from either side. */
struct yk_meet_talk {
    int link; /* -1: none */
    const char *token;
    unsigned char guest_nonce[YK_MEET_NONCE];
    unsigned char host_nonce[YK_MEET_NONCE];
};

/* Small records go out at once. */
void yk_meet_quicken(int link);

void yk_meet_hang_up(struct yk_meet_talk *talk);

yk_status yk_meet_draw(unsigned char nonce[YK_MEET_NONCE]) YK_MUST_USE;

void yk_meet_pack(const struct yk_meet_record *record, unsigned char out[YK_MEET_WIRE]);
/* False: that is no record. */
bool yk_meet_unpack(const unsigned char bytes[YK_MEET_WIRE], struct yk_meet_record *out);

/* Whether the proof of `record` and what follows it (NULL: nothing) is one. */
bool yk_meet_is_proven(const struct yk_meet_talk *talk, const struct yk_meet_record *record,
                       const void *following);

/* Sends it and record.length bytes of what follows, if that is not NULL, until `end_s` on the
 * clock. All but HELLO and CHALLENGE are proven on the way. */
bool yk_meet_say(const struct yk_meet_talk *talk, const struct yk_meet_record *record,
                 const void *following, double end_s);

/* Refuses with the sentence of the last failure. */
void yk_meet_refuse(const struct yk_meet_talk *talk, yk_status status, const char *sentence,
                    double end_s);

/* Exactly so many bytes by `end_s`; false: the connection ended, or the time. */
bool yk_meet_hear(int link, void *bytes, size_t size, double end_s);

/* Waits until the link can be read (or written) or it is `end_s`. */
bool yk_meet_wait(int link, bool for_writing, double end_s);

#endif
