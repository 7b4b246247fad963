#include "measure/profiler/comm_benchmark.h"

#include "base/arena.h"

#include <string.h>

enum {
    SMALLEST = 8,
    SECOND = 1024,
    FINE = 64 << 10, /* from here on twice as large each time */
    PAGE = 4096,
    COLD_BYTES = 64 << 20, /* more than caches hold, those of large servers excepted */
    COLD_MESSAGES = 64,    /* are enough where all are small */
    WARM_BYTES = 4 << 20,  /* of a message for which comms use all that they have */
};

/* The records of an exchange stay as they are until it has run. */
struct exchange {
    struct yk_comm_all_reduce all_reduce;
    struct yk_comm_all_gather all_gather;
    struct yk_comm_reduce_scatter reduce_scatter;
    struct yk_comm_send_recv message;
};

struct yk_comm_benchmark {
    struct yk_arena *arena;
    const struct yk_measuring_ranks *team;
    const struct yk_communicator *work;
    enum yk_comm_data_type type;
    size_t width;   /* of a number */
    int32_t *ranks; /* (members) */
    int32_t members;
    int32_t me;      /* in the group; −1: not of it */
    int64_t *firsts; /* (members + 1) of the message at hand */
    char *memory;    /* (memory_bytes) of the device; NULL where not of the group */
    int64_t memory_bytes;
    int64_t next; /* where the next message lies */
    struct yk_comm_group *group;
    void *start_number; /* one number of the device */
    struct yk_comm_all_reduce start;
    struct exchange *exchanges; /* (YK_COMM_BENCHMARK_MAX_SERIES) */
    struct yk_backend_event *events[YK_COMM_BENCHMARK_MAX_SERIES + 1];
    int32_t row;
};

const char *yk_comm_benchmark_kind_name(enum yk_comm_benchmark_kind kind)
{
    static const char *const names[] = {"send", "send", "all_gather", "reduce_scatter",
                                        "all_reduce"};
    return names[kind];
}

int32_t yk_comm_benchmark_list_message_sizes(int64_t max_bytes,
                                             int64_t out[YK_COMM_BENCHMARK_MAX_SIZES])
{
    int32_t count = 0;
    out[count++] = SMALLEST;
    for (int64_t bytes = SECOND; count < YK_COMM_BENCHMARK_MAX_SIZES;
         bytes *= bytes < FINE ? 4 : 2) {
        out[count++] = bytes;
        if (bytes >= max_bytes) {
            break;
        }
    }
    return count;
}

/* Written to once, so that every page is there. */
static yk_status allocate_memory(struct yk_comm_benchmark *benchmark, int64_t max_bytes)
{
    const struct yk_device_context *context = &benchmark->team->context;
    int64_t sizes[YK_COMM_BENCHMARK_MAX_SIZES];
    const int64_t largest = sizes[yk_comm_benchmark_list_message_sizes(max_bytes, sizes) - 1];
    void *memory = NULL;
    const int64_t cold =
        largest < COLD_BYTES / COLD_MESSAGES ? largest * COLD_MESSAGES : COLD_BYTES;
    benchmark->memory_bytes = largest < cold ? cold : largest;
    YK_TRY(context->backend->allocate(context->device, (size_t)benchmark->memory_bytes, &memory));
    benchmark->memory = memory;
    context->backend->clear(context->lane, memory, (size_t)benchmark->memory_bytes);
    return context->backend->lane_synchronize(context->lane);
}

static yk_status join(struct yk_comm_benchmark *benchmark,
                      const struct yk_comm_benchmark_group *group)
{
    const struct yk_communicator *work = benchmark->work;
    YK_TRY_NEW(benchmark->arena, benchmark->ranks, group->count);
    YK_TRY_NEW(benchmark->arena, benchmark->firsts, group->count + 1);
    memcpy(benchmark->ranks, group->ranks, (size_t)group->count * sizeof *group->ranks);
    benchmark->members = group->count;
    benchmark->me = -1;
    for (int32_t i = 0; i < group->count; i++) {
        benchmark->me = group->ranks[i] == work->rank ? i : benchmark->me;
    }
    return work->comm->group_create(work->world, benchmark->ranks, benchmark->members,
                                    &benchmark->group);
}

static yk_status set_up(struct yk_comm_benchmark *benchmark,
                        const struct yk_comm_benchmark_group *group, int64_t max_bytes)
{
    const struct yk_device_context *context = &benchmark->team->context;
    YK_TRY(join(benchmark, group));
    YK_TRY(context->backend->allocate(context->device, sizeof(double), &benchmark->start_number));
    YK_TRY_NEW(benchmark->arena, benchmark->exchanges, YK_COMM_BENCHMARK_MAX_SERIES);
    for (int32_t i = 0; i <= YK_COMM_BENCHMARK_MAX_SERIES; i++) {
        YK_TRY(context->backend->event_create(context->device, &benchmark->events[i]));
    }
    benchmark->start = (struct yk_comm_all_reduce){.group = benchmark->work->world_group,
                                                   .numbers = benchmark->start_number,
                                                   .count = 1,
                                                   .type = YK_COMM_FP64};
    return benchmark->me >= 0 ? allocate_memory(benchmark, max_bytes) : YK_OK;
}

yk_status yk_comm_benchmark_create(const struct yk_measuring_ranks *team,
                                   const struct yk_comm_benchmark_group *group, int64_t max_bytes,
                                   struct yk_comm_benchmark **out)
{
    struct yk_comm_benchmark *benchmark = NULL;
    YK_TRY_NEW_WITH_OWN_ARENA(benchmark);
    benchmark->team = team;
    benchmark->work = yk_measuring_ranks_device_communicator(team);
    benchmark->type = group->type;
    benchmark->width = yk_comm_data_type_bytes(group->type);
    YK_TRY_OR_CLEAN_UP(set_up(benchmark, group, max_bytes), yk_comm_benchmark_destroy(benchmark));
    *out = benchmark;
    return YK_OK;
}

void yk_comm_benchmark_destroy(struct yk_comm_benchmark *benchmark)
{
    if (benchmark) {
        const struct yk_device_context *context = &benchmark->team->context;
        for (int32_t i = 0; i <= YK_COMM_BENCHMARK_MAX_SERIES; i++) {
            context->backend->event_destroy(benchmark->events[i]);
        }
        context->backend->free(context->device, benchmark->memory);
        context->backend->free(context->device, benchmark->start_number);
        benchmark->work->comm->group_destroy(benchmark->group);
        yk_arena_destroy(benchmark->arena);
    }
}

int64_t yk_comm_benchmark_allocated_bytes(const struct yk_comm_benchmark *benchmark)
{
    return benchmark->memory ? benchmark->memory_bytes : 0;
}

/* Equal parts, as far as whole numbers go. */
static void cut_parts(struct yk_comm_benchmark *benchmark, int64_t bytes)
{
    const int64_t count = bytes / (int64_t)benchmark->width;
    for (int32_t i = 0; i <= benchmark->members; i++) {
        benchmark->firsts[i] = count * i / benchmark->members;
    }
}

/* Where the next message lies, on a page of its own. */
static char *find_place(struct yk_comm_benchmark *benchmark, int64_t bytes)
{
    if (benchmark->next + bytes > benchmark->memory_bytes) {
        benchmark->next = 0;
    }
    char *place = benchmark->memory + benchmark->next;
    benchmark->next += (bytes + PAGE - 1) / PAGE * PAGE;
    return place;
}

static void prepare(struct yk_comm_benchmark *benchmark, int64_t bytes, struct exchange *out)
{
    char *whole = find_place(benchmark, bytes);
    char *own = whole + benchmark->firsts[benchmark->me] * (int64_t)benchmark->width;
    *out = (struct exchange){
        .all_reduce = {.group = benchmark->group,
                       .numbers = whole,
                       .count = benchmark->firsts[benchmark->members],
                       .type = benchmark->type},
        .all_gather = {.group = benchmark->group,
                       .own = own,
                       .whole = whole,
                       .offsets = benchmark->firsts,
                       .element_bytes = benchmark->width},
        .reduce_scatter = {.group = benchmark->group,
                           .whole = whole,
                           .own = own,
                           .offsets = benchmark->firsts,
                           .type = benchmark->type},
        .message = {.world = benchmark->work->world,
                    .bytes = whole,
                    .size = (size_t)bytes,
                    .peer = benchmark->ranks[benchmark->me == 0 ? 1 : 0]},
    };
}

static void enqueue(const struct yk_comm_benchmark *benchmark, enum yk_comm_benchmark_kind kind,
                    const struct exchange *exchange)
{
    const struct yk_comm_backend *comm = benchmark->work->comm;
    switch (kind) {
    case YK_COMM_BENCHMARK_ALL_GATHER:
        comm->all_gather(&exchange->all_gather);
        break;
    case YK_COMM_BENCHMARK_REDUCE_SCATTER:
        comm->reduce_scatter(&exchange->reduce_scatter);
        break;
    case YK_COMM_BENCHMARK_ALL_REDUCE:
        comm->all_reduce(&exchange->all_reduce);
        break;
    case YK_COMM_BENCHMARK_SEND:
    case YK_COMM_BENCHMARK_SEND_REVERSE:
    default:
        if (benchmark->me == (kind == YK_COMM_BENCHMARK_SEND ? 0 : 1)) {
            comm->send(&exchange->message);
        } else if (benchmark->me < 2) {
            comm->recv(&exchange->message);
        }
        break;
    }
}

yk_status yk_comm_benchmark_enqueue_messages(struct yk_comm_benchmark *benchmark,
                                             enum yk_comm_benchmark_kind kind, int64_t bytes,
                                             int32_t count)
{
    const struct yk_communicator *work = benchmark->work;
    const struct yk_backend *backend = benchmark->team->context.backend;
    benchmark->row = count < YK_COMM_BENCHMARK_MAX_SERIES ? count : YK_COMM_BENCHMARK_MAX_SERIES;
    cut_parts(benchmark, bytes);
    for (int32_t i = 0; benchmark->me >= 0 && i < benchmark->row; i++) {
        prepare(benchmark, bytes, &benchmark->exchanges[i]);
    }
    /* On the lane itself, so that all ranks begin the first message within microseconds. */
    work->comm->all_reduce(&benchmark->start);
    backend->event_record(work->lane, benchmark->events[0]);
    for (int32_t i = 0; i < benchmark->row; i++) {
        if (benchmark->me >= 0) {
            enqueue(benchmark, kind, &benchmark->exchanges[i]);
        }
        backend->event_record(work->lane, benchmark->events[i + 1]);
    }
    return work->comm->check(work->world);
}

yk_status yk_comm_benchmark_read_message_times(struct yk_comm_benchmark *benchmark, double *begin_s,
                                               double *end_s)
{
    const struct yk_communicator *work = benchmark->work;
    const struct yk_backend *backend = benchmark->team->context.backend;
    YK_TRY(backend->lane_synchronize(work->lane));
    for (int32_t i = 0; i < benchmark->row; i++) {
        begin_s[i] = backend->event_time_s(benchmark->events[i]);
        end_s[i] = backend->event_time_s(benchmark->events[i + 1]);
    }
    return work->comm->check(work->world);
}

yk_status yk_comm_benchmark_measure_message(struct yk_comm_benchmark *benchmark,
                                            enum yk_comm_benchmark_kind kind, int64_t bytes,
                                            double *out)
{
    double begin_s = 0;
    double end_s = 0;
    YK_TRY(yk_comm_benchmark_enqueue_messages(benchmark, kind, bytes, 1));
    YK_TRY(yk_comm_benchmark_read_message_times(benchmark, &begin_s, &end_s));
    return yk_measuring_ranks_all_reduce_max(benchmark->team, end_s - begin_s, out);
}

/* ---- warm groups ---- */

static yk_status exchange_all(struct yk_comm_benchmark *benchmark)
{
    static const enum yk_comm_benchmark_kind kinds[] = {YK_COMM_BENCHMARK_ALL_GATHER,
                                                        YK_COMM_BENCHMARK_REDUCE_SCATTER,
                                                        YK_COMM_BENCHMARK_ALL_REDUCE};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        double seconds = 0;
        YK_TRY(yk_comm_benchmark_measure_message(benchmark, kinds[i], WARM_BYTES, &seconds));
    }
    return YK_OK;
}

yk_status yk_comm_benchmark_create_warmed_up(const struct yk_measuring_ranks *team,
                                             enum yk_comm_data_type type, struct yk_arena *arena,
                                             struct yk_comm_benchmark **out)
{
    struct yk_comm_benchmark *benchmark = NULL;
    int32_t *ranks = NULL;
    const int32_t count = team->host_communicator->size;
    *out = NULL;
    if (count == 1 || yk_measuring_ranks_compute_on_cpu(team)) {
        return YK_OK;
    }
    YK_TRY_NEW(arena, ranks, count);
    for (int32_t i = 0; i < count; i++) {
        ranks[i] = i;
    }
    const struct yk_comm_benchmark_group group = {ranks, count, type};
    YK_TRY(yk_comm_benchmark_create(team, &group, WARM_BYTES, &benchmark));
    YK_TRY_OR_CLEAN_UP(exchange_all(benchmark), yk_comm_benchmark_destroy(benchmark));
    *out = benchmark;
    return YK_OK;
}
