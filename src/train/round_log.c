#include "train/round_log.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
    LOG_WARM_UP = 2,
    LOG_DENSE = 20,
    LOG_SPARSE = 8,
    LOG_MAX_ROUNDS = 48,
    LOG_MAX_OPS = 1 << 18, /* of all rounds */
};

struct yk_round_log {
    int32_t op_count;
    int32_t room;    /* rounds */
    int64_t kept;    /* rounds so far; the last `room` of them are there */
    int64_t passed;  /* steps */
    int64_t *steps;  /* (room) */
    double *begin_s; /* (room, ops) */
    double *end_s;
    struct yk_op_time *times; /* (ops) of the round at hand */
};

/* What a packed log begins with. */
struct head {
    int32_t op_count;
    int32_t round_count;
};

yk_status yk_round_log_create(int32_t op_count, struct yk_round_log **out)
{
    struct yk_round_log *log = calloc(1, sizeof *log);
    if (!log) {
        return yk_fail_out_of_memory();
    }
    const int32_t room = op_count > 0 ? LOG_MAX_OPS / op_count : LOG_MAX_ROUNDS;
    log->op_count = op_count;
    log->room = room < 4 ? 4 : room < LOG_MAX_ROUNDS ? room : LOG_MAX_ROUNDS;
    const size_t count = (size_t)log->room * (size_t)op_count + 1;
    log->steps = calloc((size_t)log->room, sizeof *log->steps);
    log->begin_s = calloc(count, sizeof *log->begin_s);
    log->end_s = calloc(count, sizeof *log->end_s);
    log->times = calloc((size_t)op_count + 1, sizeof *log->times);
    if (!log->steps || !log->begin_s || !log->end_s || !log->times) {
        yk_round_log_destroy(log);
        return yk_fail_out_of_memory();
    }
    *out = log;
    return YK_OK;
}

void yk_round_log_destroy(struct yk_round_log *log)
{
    if (log) {
        free(log->steps);
        free(log->begin_s);
        free(log->end_s);
        free(log->times);
        free(log);
    }
}

/* Whether the step before the one that has just passed is to be kept. */
static bool is_due(int64_t passed)
{
    const int64_t before = passed - 1;
    return before > LOG_WARM_UP &&
           (before <= LOG_WARM_UP + LOG_DENSE || (before - LOG_WARM_UP) % LOG_SPARSE == 0);
}

yk_status yk_round_log_add(struct yk_round_log *log, const struct yk_executor *executor,
                           int64_t step)
{
    struct yk_round_times times;
    log->passed++;
    if (!is_due(log->passed)) {
        return YK_OK;
    }
    YK_TRY(yk_executor_times(executor, 1, log->times, &times));
    if (!yk_round_times_are_whole(&times)) {
        return YK_OK;
    }
    const int64_t place = log->kept++ % log->room;
    log->steps[place] = step - 1;
    for (int32_t i = 0; i < times.count; i++) {
        log->begin_s[place * log->op_count + i] = times.ops[i].start_s;
        log->end_s[place * log->op_count + i] = times.ops[i].end_s;
    }
    return YK_OK;
}

static void pack_times(const struct yk_round_log *log, const double *times_s, double offset_s,
                       int32_t count, struct yk_text *out)
{
    for (int64_t k = log->kept - count; k < log->kept; k++) {
        const double *round_s = times_s + k % log->room * log->op_count;
        for (int32_t i = 0; i < log->op_count; i++) {
            const double time_s = round_s[i] + offset_s;
            yk_text_add_bytes(out, (const char *)&time_s, sizeof time_s);
        }
    }
}

yk_status yk_round_log_pack(const struct yk_round_log *log, double offset_s, struct yk_text *out)
{
    const int32_t count = (int32_t)(log->kept < log->room ? log->kept : log->room);
    const struct head head = {log->op_count, count};
    yk_text_add_bytes(out, (const char *)&head, sizeof head);
    for (int64_t k = log->kept - count; k < log->kept; k++) {
        yk_text_add_bytes(out, (const char *)&log->steps[k % log->room], sizeof *log->steps);
    }
    pack_times(log, log->begin_s, offset_s, count, out);
    pack_times(log, log->end_s, offset_s, count, out);
    return yk_text_status(out);
}

yk_status yk_round_log_unpack(const void *bytes, size_t size, const char *source,
                              struct yk_arena *arena, struct yk_rank_rounds *out)
{
    struct head head = {0};
    if (size >= sizeof head) {
        memcpy(&head, bytes, sizeof head);
    }
    const bool sane = head.op_count >= 0 && head.op_count <= INT32_MAX / LOG_MAX_ROUNDS &&
                      head.round_count >= 0 && head.round_count <= LOG_MAX_ROUNDS;
    const size_t rounds = sane ? (size_t)head.round_count : 0;
    const size_t times = sane ? rounds * (size_t)head.op_count : 0;
    if (!sane || size != sizeof head + rounds * sizeof(int64_t) + 2 * times * sizeof(double)) {
        return yk_fail(YK_ERROR_INPUT, "%s: these are no times of ops", source);
    }
    const char *next = (const char *)bytes + sizeof head;
    int64_t *steps = NULL;
    double *begin_s = NULL;
    double *end_s = NULL;
    YK_TRY_NEW(arena, steps, rounds + 1);
    YK_TRY_NEW(arena, begin_s, times + 1);
    YK_TRY_NEW(arena, end_s, times + 1);
    memcpy(steps, next, rounds * sizeof *steps);
    next += rounds * sizeof *steps;
    memcpy(begin_s, next, times * sizeof *begin_s);
    next += times * sizeof *begin_s;
    memcpy(end_s, next, times * sizeof *end_s);
    *out = (struct yk_rank_rounds){head.op_count, head.round_count, steps, begin_s, end_s};
    return YK_OK;
}
