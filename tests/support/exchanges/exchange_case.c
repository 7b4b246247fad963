#include "support/exchanges/exchange_case.h"

#include "base/random.h"
#include "support/ops/reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    GUARD = 64, /* bytes before and after that nobody may change */
    GUARD_BYTE = 0x5a,
};

static enum yk_precision precision_of(enum yk_comm_data_type type)
{
    return type == YK_COMM_BF16   ? YK_PRECISION_BF16
           : type == YK_COMM_FP16 ? YK_PRECISION_FP16
                                  : YK_PRECISION_FP32;
}

static double load(enum yk_comm_data_type type, const void *from, int64_t at)
{
    double value = 0;
    if (type != YK_COMM_FP64) {
        return reference_load(precision_of(type), from, at);
    }
    memcpy(&value, (const char *)from + at * 8, sizeof value);
    return value;
}

static void store(enum yk_comm_data_type type, double value, void *to, int64_t at)
{
    if (type == YK_COMM_FP64) {
        memcpy((char *)to + at * 8, &value, sizeof value);
    } else {
        reference_store(precision_of(type), value, to, at);
    }
}

/* Multiples of 1/128 of at most 1: every type has them, and fp32 sums of some are exact. */
static double value_of(const struct exchange_job *job, int32_t member, int64_t at)
{
    const uint64_t mixed =
        (job->seed + (uint64_t)member * 1000003U + (uint64_t)at * 7919U) * 0x9e3779b97f4a7c15U;
    return (double)((int)(mixed >> 56) - 128) / 128;
}

static char byte_of(const struct exchange_job *job, int32_t member, size_t at)
{
    return (char)(job->seed * 31 + (uint64_t)member * 17 + at * 7 + at / 251);
}

static char *allocate(size_t size)
{
    char *memory = malloc(size + 2 * (size_t)GUARD);
    if (!memory) {
        return NULL;
    }
    memset(memory, GUARD_BYTE, size + 2 * (size_t)GUARD);
    return memory + GUARD;
}

static void drop(char *memory)
{
    free(memory ? memory - GUARD : NULL);
}

static bool is_guarded(const char *memory, size_t size)
{
    for (int i = 0; i < GUARD; i++) {
        if (memory[i - GUARD] != GUARD_BYTE || memory[size + (size_t)i] != GUARD_BYTE) {
            return false;
        }
    }
    return true;
}

static void cut_parts(struct exchange_job *job, int32_t members)
{
    struct yk_random random = yk_random_from_seed(job->seed);
    const int64_t before = job->cut == EXCHANGE_FIRST_HAS_NONE ? 5 : 0;
    for (int32_t i = 0; i <= members; i++) {
        int64_t first = job->count * i / members;
        if (job->cut == EXCHANGE_LAST_HAS_ALL) {
            first = i < members ? 0 : job->count;
        } else if (job->cut == EXCHANGE_FIRST_HAS_NONE && i == 1) {
            first = 0;
        } else if (job->cut == EXCHANGE_LAST_HAS_REST && i < members) {
            first = job->count / members * i;
        } else if (job->cut == EXCHANGE_RANDOM && i > 0 && i < members) {
            first =
                job->firsts[i - 1] + yk_random_below(&random, job->count - job->firsts[i - 1] + 1);
        }
        job->firsts[i] = i == 0 ? 0 : first;
    }
    for (int32_t i = 0; i <= members; i++) {
        job->firsts[i] += before;
    }
}

/* This rank's memory, its numbers in it, and the record of the exchange. */
static yk_status prepare_numbers(struct exchange_job *job, const struct exchange_circle *circle)
{
    const size_t width = yk_comm_data_type_bytes(job->type);
    cut_parts(job, circle->count);
    const int64_t from = job->firsts[circle->me];
    const int64_t parts = job->firsts[circle->me + 1] - from;
    job->whole_size = (size_t)job->firsts[circle->count] * width;
    job->own_size = (size_t)parts * width;
    job->whole = allocate(job->whole_size);
    job->own = allocate(job->own_size);
    if (!job->whole || !job->own) {
        return yk_fail_out_of_memory();
    }
    const bool is_gather = job->kind == EXCHANGE_ALL_GATHER;
    for (int64_t i = job->firsts[0]; !is_gather && i < job->firsts[circle->count]; i++) {
        store(job->type, value_of(job, circle->me, i), job->whole, i);
    }
    char *source = job->in_place ? job->whole + from * (int64_t)width : job->own;
    for (int64_t i = 0; (is_gather || job->added) && i < parts; i++) {
        store(job->type, value_of(job, circle->me, from + i + (job->added ? 1 << 20 : 0)),
              is_gather ? source : job->own, i);
    }
    if (job->kind == EXCHANGE_ALL_REDUCE) {
        job->op.all_reduce = (struct yk_comm_all_reduce){circle->group, job->whole, job->count,
                                                         job->type, job->wide};
    } else if (is_gather) {
        job->op.all_gather =
            (struct yk_comm_all_gather){circle->group, source, job->whole, job->firsts, width};
    } else {
        job->op.reduce_scatter = (struct yk_comm_reduce_scatter){
            circle->group, job->whole, job->own, job->added, job->firsts, job->type, job->wide};
    }
    return YK_OK;
}

static yk_status prepare_bytes(struct exchange_job *job, const struct yk_communicator *ranks,
                               const struct exchange_circle *circle)
{
    const bool is_message = job->kind == EXCHANGE_MESSAGE;
    const int32_t me = is_message ? ranks->rank : circle->me;
    job->whole_size = (size_t)job->count;
    job->whole = allocate(job->whole_size);
    if (!job->whole) {
        return yk_fail_out_of_memory();
    }
    for (size_t i = 0; me == job->from && i < job->whole_size; i++) {
        job->whole[i] = byte_of(job, job->from, i);
    }
    if (is_message) {
        job->op.message = (struct yk_comm_send_recv){ranks->world, job->whole, job->whole_size,
                                                     me == job->from ? job->to : job->from,
                                                     (int32_t)(job->seed & 0x7fffffff)};
    } else {
        job->op.broadcast =
            (struct yk_comm_broadcast){circle->group, job->whole, job->whole_size, job->from};
    }
    return YK_OK;
}

yk_status exchange_job_prepare(struct exchange_job *job, const struct yk_communicator *ranks,
                               const struct exchange_circle *circle)
{
    return job->kind < EXCHANGE_BROADCAST ? prepare_numbers(job, circle)
                                          : prepare_bytes(job, ranks, circle);
}

void exchange_job_drop(struct exchange_job *job)
{
    drop(job->whole);
    drop(job->own);
    job->whole = NULL;
    job->own = NULL;
}

/* ---- on a device ---- */

static yk_status move(const struct exchange_far *far, const char *memory, size_t size, char **out)
{
    const size_t bytes = size + 2 * (size_t)GUARD;
    void *there = NULL;
    if (!memory) {
        return YK_OK;
    }
    YK_TRY(far->backend->allocate(far->device, bytes, &there));
    far->backend->copy(far->lane, there, memory - GUARD, bytes);
    *out = (char *)there + GUARD;
    return far->backend->lane_synchronize(far->lane);
}

yk_status exchange_job_move(struct exchange_job *job, const struct exchange_far *far)
{
    YK_TRY(move(far, job->whole, job->whole_size, &job->far_whole));
    YK_TRY(move(far, job->own, job->own_size, &job->far_own));
    switch (job->kind) {
    case EXCHANGE_ALL_REDUCE:
        job->op.all_reduce.numbers = job->far_whole;
        break;
    case EXCHANGE_ALL_GATHER:
        job->op.all_gather.own =
            job->in_place ? job->far_whole + ((const char *)job->op.all_gather.own - job->whole)
                          : job->far_own;
        job->op.all_gather.whole = job->far_whole;
        break;
    case EXCHANGE_REDUCE_SCATTER:
        job->op.reduce_scatter.whole = job->far_whole;
        job->op.reduce_scatter.own = job->far_own;
        break;
    case EXCHANGE_BROADCAST:
        job->op.broadcast.bytes = job->far_whole;
        break;
    case EXCHANGE_MESSAGE:
        job->op.message.bytes = job->far_whole;
        break;
    }
    return YK_OK;
}

static void fetch(const struct exchange_far *far, char *memory, size_t size, const char *there)
{
    if (there) {
        far->backend->copy(far->lane, memory - GUARD, there - GUARD, size + 2 * (size_t)GUARD);
    }
}

void exchange_job_fetch(struct exchange_job *job, const struct exchange_far *far)
{
    fetch(far, job->whole, job->whole_size, job->far_whole);
    fetch(far, job->own, job->own_size, job->far_own);
}

void exchange_job_leave(struct exchange_job *job, const struct exchange_far *far)
{
    far->backend->free(far->device, job->far_whole ? job->far_whole - GUARD : NULL);
    far->backend->free(far->device, job->far_own ? job->far_own - GUARD : NULL);
    job->far_whole = NULL;
    job->far_own = NULL;
}

void exchange_job_enqueue(const struct exchange_job *job, const struct yk_communicator *ranks)
{
    switch (job->kind) {
    case EXCHANGE_ALL_REDUCE:
        ranks->comm->all_reduce(&job->op.all_reduce);
        break;
    case EXCHANGE_ALL_GATHER:
        ranks->comm->all_gather(&job->op.all_gather);
        break;
    case EXCHANGE_REDUCE_SCATTER:
        ranks->comm->reduce_scatter(&job->op.reduce_scatter);
        break;
    case EXCHANGE_BROADCAST:
        ranks->comm->broadcast(&job->op.broadcast);
        break;
    case EXCHANGE_MESSAGE:
        if (ranks->rank == job->from) {
            ranks->comm->send(&job->op.message);
        } else {
            ranks->comm->recv(&job->op.message);
        }
        break;
    }
}

yk_status exchange_job_fail(const struct exchange_job *job, const char *what, int64_t at,
                            double value, double expected)
{
    static const char *const kinds[] = {"all_reduce", "all_gather", "reduce_scatter", "broadcast",
                                        "message"};
    return yk_fail(YK_ERROR_NUMBERS,
                   "%s of %lld, type %d, wide %d, added %d, cut %d, circle %d: %s at %lld is %.9g, "
                   "not %.9g",
                   kinds[job->kind], (long long)job->count, (int)job->type, (int)job->wide,
                   (int)job->added, (int)job->cut, job->circle, what, (long long)at, value,
                   expected);
}

/* The sum over members of what is at `at`, and the sum of the sizes of what is added. */
static double sum_of(const struct exchange_job *job, int32_t members, int64_t at, double *sizes)
{
    double sum = 0;
    *sizes = 0;
    for (int32_t i = 0; i < members; i++) {
        sum += value_of(job, i, at);
        *sizes += fabs(value_of(job, i, at));
    }
    return sum;
}

/* fp64, fp32 and wide sums are exact, or rounded once; 16-bit sums after each addition, in any
 * order. */
static yk_status check_sum(const struct exchange_job *job, int32_t members, int64_t at,
                           double value, double more)
{
    double sizes = 0;
    const double sum = sum_of(job, members, at, &sizes) + more;
    const bool is_exact = job->wide || job->type == YK_COMM_FP32 || job->type == YK_COMM_FP64;
    const double expected =
        job->type == YK_COMM_FP64 ? sum : reference_round(precision_of(job->type), sum);
    const double error = job->type == YK_COMM_BF16 ? 0x1p-8 : 0x1p-11;
    const double slack = is_exact ? 0 : members * error * (sizes + fabs(more));
    return fabs(value - expected) <= slack ? YK_OK
                                           : exchange_job_fail(job, "sum", at, value, expected);
}

static yk_status check_numbers(const struct exchange_job *job, const struct exchange_circle *circle)
{
    const int64_t from = job->firsts[circle->me];
    const int64_t to = job->firsts[circle->me + 1];
    for (int64_t i = job->firsts[0];
         i < job->firsts[circle->count] && job->kind == EXCHANGE_ALL_REDUCE; i++) {
        YK_TRY(check_sum(job, circle->count, i, load(job->type, job->whole, i), 0));
    }
    for (int64_t i = from; i < to && job->kind == EXCHANGE_REDUCE_SCATTER; i++) {
        const double more = job->added ? value_of(job, circle->me, i + (1 << 20)) : 0;
        YK_TRY(check_sum(job, circle->count, i, load(job->type, job->own, i - from), more));
    }
    for (int32_t m = 0; m < circle->count && job->kind == EXCHANGE_ALL_GATHER; m++) {
        for (int64_t i = job->firsts[m]; i < job->firsts[m + 1]; i++) {
            const double value = load(job->type, job->whole, i);
            if (value != value_of(job, m, i)) {
                return exchange_job_fail(job, "number", i, value, value_of(job, m, i));
            }
        }
    }
    if (!is_guarded(job->whole, job->whole_size) || !is_guarded(job->own, job->own_size)) {
        return exchange_job_fail(job, "what is beside it", 0, 0, GUARD_BYTE);
    }
    return YK_OK;
}

static yk_status check_bytes(const struct exchange_job *job)
{
    const int32_t source = job->from;
    for (size_t i = 0; i < job->whole_size; i++) {
        if (job->whole[i] != byte_of(job, source, i)) {
            return exchange_job_fail(job, "byte", (int64_t)i, job->whole[i],
                                     byte_of(job, source, i));
        }
    }
    return is_guarded(job->whole, job->whole_size)
               ? YK_OK
               : exchange_job_fail(job, "what is beside it", 0, 0, GUARD_BYTE);
}

yk_status exchange_job_check(const struct exchange_job *job, const struct exchange_circle *circle)
{
    return job->kind < EXCHANGE_BROADCAST ? check_numbers(job, circle) : check_bytes(job);
}
