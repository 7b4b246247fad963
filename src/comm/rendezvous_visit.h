/*
 * Rendezvous visit: somebody who has called rank 0 and has not proven yet to be a rank. Nobody is
 * waited for: what has been said so far is heard, and the rest when it comes.
 */
#ifndef YK_COMM_RENDEZVOUS_VISIT_H
#define YK_COMM_RENDEZVOUS_VISIT_H

#include "comm/rendezvous_record.h"

struct yk_visit {
    struct yk_meet_talk talk; /* without a link there is no visit */
    double since_s;
    unsigned char heard[YK_MEET_WIRE];
    size_t heard_size;
    bool greeted;
};

enum yk_visit_end {
    YK_VISIT_GOES_ON,
    YK_VISIT_OVER,   /* it has left, or makes no sense, and was hung up on */
    YK_VISIT_CLAIMS, /* it says which rank it is, with a proof to be looked at */
};

void yk_visit_begin(struct yk_visit *visit, int link, const char *token);

/* What there is to hear; where it claims, `claim` is what. */
yk_status yk_visit_hear(struct yk_visit *visit, enum yk_visit_end *end,
                        struct yk_meet_record *claim) YK_MUST_USE;

#endif
