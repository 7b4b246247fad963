#include "measure/exchange_times.h"

#include "base/clock.h"

#include <math.h>

enum {
    SMALLEST = 8,
    SECOND = 1024,
    FACTOR = 4,
    MOST_SIZES = 24,
};

/* The records of an exchange stay as they are until it has run. */
struct exchange {
    struct yk_comm_reduce reduce;
    struct yk_comm_gather gather;
    struct yk_comm_scatter scatter;
    struct yk_comm_message message;
};

struct yk_exchange_times {
    struct yk_arena *arena;
    const struct yk_measure_ranks *team;
    int64_t sizes[MOST_SIZES];
    int32_t size_count;
    int64_t *firsts; /* (ranks + 1) of the message at hand */
    char *whole;     /* (most) device memory */
    double *meeting; /* one number */
    struct exchange exchange;
    struct yk_comm_reduce meet;
    struct yk_backend_event *events[YK_EXCHANGE_ROW + 1];
    int32_t row;
    int32_t number; /* of the next message */
};

const char *yk_exchange_name(enum yk_exchange_kind kind)
{
    static const char *const names[] = {"send", "gather", "scatter", "reduce"};
    return names[kind];
}

static void list_sizes(struct yk_exchange_times *times, int64_t most_bytes)
{
    times->sizes[times->size_count++] = SMALLEST;
    for (int64_t bytes = SECOND; times->size_count < MOST_SIZES; bytes *= FACTOR) {
        times->sizes[times->size_count++] = bytes;
        if (bytes >= most_bytes) {
            break;
        }
    }
}

static yk_status set_up(struct yk_exchange_times *times, int64_t most_bytes)
{
    const struct yk_engine *engine = &times->team->engine;
    void *memory = NULL;
    list_sizes(times, most_bytes);
    YK_TRY_NEW(times->arena, times->firsts, times->team->ranks->size + 1);
    YK_TRY_NEW(times->arena, times->meeting, 1);
    YK_TRY(engine->backend->take(engine->device, (size_t)times->sizes[times->size_count - 1],
                                 &memory));
    times->whole = memory;
    for (int32_t i = 0; i <= YK_EXCHANGE_ROW; i++) {
        YK_TRY(engine->backend->event_create(engine->device, &times->events[i]));
    }
    times->meet = (struct yk_comm_reduce){.group = times->team->ranks->all,
                                          .numbers = times->meeting,
                                          .count = 1,
                                          .type = YK_COMM_FP64};
    return YK_OK;
}

yk_status yk_exchange_times_create(const struct yk_measure_ranks *team, int64_t most_bytes,
                                   struct yk_exchange_times **out)
{
    struct yk_arena *arena = NULL;
    YK_TRY(yk_arena_create(&arena));
    struct yk_exchange_times *times = yk_arena_take(arena, 1, sizeof *times);
    if (!times) {
        yk_arena_destroy(arena);
        return yk_fail_out_of_memory();
    }
    *times = (struct yk_exchange_times){.arena = arena, .team = team};
    const yk_status status = set_up(times, most_bytes);
    if (status != YK_OK) {
        yk_exchange_times_destroy(times);
        return status;
    }
    *out = times;
    return YK_OK;
}

void yk_exchange_times_destroy(struct yk_exchange_times *times)
{
    if (times) {
        const struct yk_engine *engine = &times->team->engine;
        for (int32_t i = 0; i <= YK_EXCHANGE_ROW; i++) {
            engine->backend->event_destroy(times->events[i]);
        }
        engine->backend->give_back(engine->device, times->whole);
        yk_arena_destroy(times->arena);
    }
}

int32_t yk_exchange_times_sizes(const struct yk_exchange_times *times, const int64_t **out)
{
    *out = times->sizes;
    return times->size_count;
}

/* Equal parts, as far as whole numbers of fp32 go. */
static void cut(struct yk_exchange_times *times, int64_t bytes)
{
    const int64_t count = bytes / (int64_t)sizeof(float);
    const int32_t size = times->team->ranks->size;
    for (int32_t i = 0; i <= size; i++) {
        times->firsts[i] = count * i / size;
    }
}

static void prepare(struct yk_exchange_times *times, int64_t bytes)
{
    const struct yk_measure_ranks *team = times->team;
    cut(times, bytes);
    char *own = times->whole + times->firsts[team->ranks->rank] * (int64_t)sizeof(float);
    times->exchange = (struct exchange){
        .reduce = {.group = team->ranks->all,
                   .numbers = times->whole,
                   .count = times->firsts[team->ranks->size],
                   .type = YK_COMM_FP32},
        .gather = {.group = team->ranks->all,
                   .own = own,
                   .whole = times->whole,
                   .firsts = times->firsts,
                   .size = sizeof(float)},
        .scatter = {.group = team->ranks->all,
                    .whole = times->whole,
                    .own = own,
                    .firsts = times->firsts,
                    .type = YK_COMM_FP32},
        .message = {.world = team->ranks->world,
                    .bytes = times->whole,
                    .size = (size_t)bytes,
                    .peer = 1 - team->ranks->rank},
    };
}

static void put(struct yk_exchange_times *times, enum yk_exchange_kind kind)
{
    const struct yk_measure_ranks *team = times->team;
    const struct exchange *exchange = &times->exchange;
    switch (kind) {
    case YK_EXCHANGE_GATHER:
        team->ranks->comm->gather(&exchange->gather);
        break;
    case YK_EXCHANGE_SCATTER:
        team->ranks->comm->scatter(&exchange->scatter);
        break;
    case YK_EXCHANGE_REDUCE:
        team->ranks->comm->reduce(&exchange->reduce);
        break;
    case YK_EXCHANGE_SEND:
    default:
        if (team->ranks->rank == 0) {
            team->ranks->comm->send(&exchange->message);
        } else if (team->ranks->rank == 1) {
            team->ranks->comm->recv(&exchange->message);
        }
        break;
    }
}

yk_status yk_exchange_times_put_row(struct yk_exchange_times *times, enum yk_exchange_kind kind,
                                    int64_t bytes, int32_t count)
{
    const struct yk_measure_ranks *team = times->team;
    const struct yk_backend *backend = team->engine.backend;
    times->row = count < YK_EXCHANGE_ROW ? count : YK_EXCHANGE_ROW;
    prepare(times, bytes);
    /* On the lane itself, so that all ranks begin the first message within microseconds. */
    team->ranks->comm->reduce(&times->meet);
    backend->record(team->ranks->lane, times->events[0]);
    for (int32_t i = 0; i < times->row; i++) {
        put(times, kind);
        backend->record(team->ranks->lane, times->events[i + 1]);
    }
    return team->ranks->comm->check(team->ranks->world);
}

yk_status yk_exchange_times_read_row(struct yk_exchange_times *times, double *begin_s,
                                     double *end_s)
{
    const struct yk_measure_ranks *team = times->team;
    const struct yk_backend *backend = team->engine.backend;
    YK_TRY(backend->finish(team->ranks->lane));
    for (int32_t i = 0; i < times->row; i++) {
        begin_s[i] = backend->event_s(times->events[i]);
        end_s[i] = backend->event_s(times->events[i + 1]);
    }
    return team->ranks->comm->check(team->ranks->world);
}

yk_status yk_exchange_times_take(struct yk_exchange_times *times, enum yk_exchange_kind kind,
                                 int64_t bytes, double *out)
{
    double begin_s = 0;
    double end_s = 0;
    YK_TRY(yk_exchange_times_put_row(times, kind, bytes, 1));
    YK_TRY(yk_exchange_times_read_row(times, &begin_s, &end_s));
    return yk_measure_most(times->team, end_s - begin_s, out);
}
