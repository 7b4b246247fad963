/*
 * Exchange job: one exchange of the exchange table, with this rank's memory for it and what must
 * come of it.
 */
#ifndef YK_TESTS_SUPPORT_EXCHANGES_EXCHANGE_CASE_H
#define YK_TESTS_SUPPORT_EXCHANGES_EXCHANGE_CASE_H

#include "comm/communicator.h"

enum {
    EXCHANGE_RANKS = 4,
};

enum exchange_kind {
    EXCHANGE_ALL_REDUCE,
    EXCHANGE_ALL_GATHER,
    EXCHANGE_REDUCE_SCATTER,
    EXCHANGE_BROADCAST,
    EXCHANGE_MESSAGE,
};

enum exchange_cut {
    EXCHANGE_EQUAL,
    EXCHANGE_RANDOM,
    EXCHANGE_LAST_HAS_ALL,
    EXCHANGE_FIRST_HAS_NONE, /* and what is before the parts belongs to nobody */
    EXCHANGE_LAST_HAS_REST,  /* the others are equal */
    EXCHANGE_CUTS,
};

/* Where a device's memory is taken from. */
struct exchange_far {
    const struct yk_backend *backend;
    struct yk_backend_device *device;
    struct yk_backend_lane *lane;
};

/* Some ranks of the world; a group for those that are in it. */
struct exchange_circle {
    int32_t ranks[EXCHANGE_RANKS];
    int32_t count;
    int32_t me; /* -1: not in it */
    struct yk_comm_group *group;
};

/* One exchange: what it is, the same on all ranks, and this rank's memory for it. */
struct exchange_job {
    enum exchange_kind kind;
    int circle;       /* which it is among; of no meaning for messages */
    int32_t from, to; /* ranks, of a message; from: the member that broadcasts */
    int64_t count;
    enum yk_comm_data_type type;
    bool wide;
    bool added;
    bool in_place;
    enum exchange_cut cut;
    uint64_t seed;
    int64_t firsts[EXCHANGE_RANKS + 1];
    char *whole; /* between guards */
    size_t whole_size;
    char *own;
    size_t own_size;
    char *far_whole; /* the same on the device, guards and all, or NULL */
    char *far_own;
    union {
        struct yk_comm_all_reduce all_reduce;
        struct yk_comm_all_gather all_gather;
        struct yk_comm_reduce_scatter reduce_scatter;
        struct yk_comm_broadcast broadcast;
        struct yk_comm_send_recv message;
    } op;
};

/* On ranks that take part: memory, numbers in it and the record; put; whether all is as it must be;
 * and memory given back, which a job without any takes. */
yk_status exchange_job_prepare(struct exchange_job *job, const struct yk_communicator *ranks,
                               const struct exchange_circle *circle) YK_MUST_USE;
void exchange_job_enqueue(const struct exchange_job *job, const struct yk_communicator *ranks);
yk_status exchange_job_check(const struct exchange_job *job,
                             const struct exchange_circle *circle) YK_MUST_USE;
void exchange_job_drop(struct exchange_job *job);

/* After it was prepared: what it exchanges is a device's memory. And, when all has run, back. */
yk_status exchange_job_move(struct exchange_job *job, const struct exchange_far *far) YK_MUST_USE;
void exchange_job_fetch(struct exchange_job *job, const struct exchange_far *far);
void exchange_job_leave(struct exchange_job *job, const struct exchange_far *far);

/* A failure that says which job it was. */
yk_status exchange_job_fail(const struct exchange_job *job, const char *what, int64_t at,
                            double value, double expected) YK_MUST_USE;

#endif
