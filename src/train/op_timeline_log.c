#include "train/op_timeline_log.h"

#include <stdbool.h>
#include <string.h>

enum {
    LOG_WARM_UP = 2,
    LOG_DENSE = 20,
    LOG_SPARSE = 8,
    LOG_MAX_ROUNDS = 48,
    LOG_MAX_OPS = 1 << 18, /* of all rounds */
};

struct yk_op_timeline_log {
    struct yk_arena *arena;
    int32_t op_count;
    int32_t capacity; /* in rounds */
    int64_t recorded; /* rounds; only the last `capacity` of them are stored */
    int64_t passed;   /* steps */
    int64_t *steps;   /* (capacity) */
    double *begin_s;  /* (capacity, ops) */
    double *end_s;
    struct yk_op_interval *times; /* (ops) of the current round */
};

/* The header of a packed log. */
struct header {
    int32_t op_count;
    int32_t round_count;
};

static yk_status allocate(struct yk_op_timeline_log *log, int32_t op_count)
{
    const int32_t capacity = op_count > 0 ? LOG_MAX_OPS / op_count : LOG_MAX_ROUNDS;
    log->op_count = op_count;
    log->capacity = capacity < 4 ? 4 : capacity < LOG_MAX_ROUNDS ? capacity : LOG_MAX_ROUNDS;
    const int64_t count = (int64_t)log->capacity * op_count + 1;
    YK_TRY_NEW(log->arena, log->steps, log->capacity);
    YK_TRY_NEW(log->arena, log->begin_s, count);
    YK_TRY_NEW(log->arena, log->end_s, count);
    YK_TRY_NEW(log->arena, log->times, op_count + 1);
    return YK_OK;
}

yk_status yk_op_timeline_log_create(int32_t op_count, struct yk_op_timeline_log **out)
{
    struct yk_op_timeline_log *log = NULL;
    YK_TRY_NEW_WITH_OWN_ARENA(log);
    YK_TRY_OR_CLEAN_UP(allocate(log, op_count), yk_op_timeline_log_destroy(log));
    *out = log;
    return YK_OK;
}

void yk_op_timeline_log_destroy(struct yk_op_timeline_log *log)
{
    if (log) {
        yk_arena_destroy(log->arena);
    }
}

/* Whether the step before the last one is recorded. */
static bool is_due(int64_t passed)
{
    const int64_t before = passed - 1;
    return before > LOG_WARM_UP &&
           (before <= LOG_WARM_UP + LOG_DENSE || (before - LOG_WARM_UP) % LOG_SPARSE == 0);
}

yk_status yk_op_timeline_log_record_due_round(struct yk_op_timeline_log *log,
                                              const struct yk_executor *executor, int64_t step)
{
    struct yk_op_timeline timeline;
    log->passed++;
    if (!is_due(log->passed)) {
        return YK_OK;
    }
    YK_TRY(yk_executor_get_timeline(executor, 1, log->times, &timeline));
    if (!yk_op_timeline_is_complete(&timeline)) {
        return YK_OK;
    }
    const int64_t place = log->recorded++ % log->capacity;
    log->steps[place] = step - 1;
    for (int32_t i = 0; i < timeline.count; i++) {
        log->begin_s[place * log->op_count + i] = timeline.ops[i].start_s;
        log->end_s[place * log->op_count + i] = timeline.ops[i].end_s;
    }
    return YK_OK;
}

static void pack_times(const struct yk_op_timeline_log *log, const double *times_s, double offset_s,
                       int32_t count, struct yk_text *out)
{
    for (int64_t k = log->recorded - count; k < log->recorded; k++) {
        const double *round_s = times_s + k % log->capacity * log->op_count;
        for (int32_t i = 0; i < log->op_count; i++) {
            const double time_s = round_s[i] + offset_s;
            yk_text_add_bytes(out, (const char *)&time_s, sizeof time_s);
        }
    }
}

yk_status yk_op_timeline_log_pack(const struct yk_op_timeline_log *log, double offset_s,
                                  struct yk_text *out)
{
    const int32_t count = (int32_t)(log->recorded < log->capacity ? log->recorded : log->capacity);
    const struct header header = {log->op_count, count};
    yk_text_add_bytes(out, (const char *)&header, sizeof header);
    for (int64_t k = log->recorded - count; k < log->recorded; k++) {
        yk_text_add_bytes(out, (const char *)&log->steps[k % log->capacity], sizeof *log->steps);
    }
    pack_times(log, log->begin_s, offset_s, count, out);
    pack_times(log, log->end_s, offset_s, count, out);
    return yk_text_status(out);
}

yk_status yk_op_timeline_log_unpack(const void *bytes, size_t size, const char *source,
                                    struct yk_arena *arena, struct yk_rank_timelines *out)
{
    struct header header = {0};
    if (size >= sizeof header) {
        memcpy(&header, bytes, sizeof header);
    }
    const bool sane = header.op_count >= 0 && header.op_count <= INT32_MAX / LOG_MAX_ROUNDS &&
                      header.round_count >= 0 && header.round_count <= LOG_MAX_ROUNDS;
    const size_t rounds = sane ? (size_t)header.round_count : 0;
    const size_t times = sane ? rounds * (size_t)header.op_count : 0;
    if (!sane || size != sizeof header + rounds * sizeof(int64_t) + 2 * times * sizeof(double)) {
        return yk_fail(YK_ERROR_INPUT, "%s: these are no times of ops", source);
    }
    const char *next = (const char *)bytes + sizeof header;
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
    *out = (struct yk_rank_timelines){header.op_count, header.round_count, steps, begin_s, end_s};
    return YK_OK;
}
