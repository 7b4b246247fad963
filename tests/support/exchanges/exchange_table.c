#include "support/exchanges/exchange_table.h"

#include "base/random.h"

#include <stdlib.h>
#include <string.h>

enum {
    CIRCLES = 6,
};

struct bench {
    const struct yk_communicator *ranks;
    const struct exchange_far *far; /* NULL: memory of the host */
    struct exchange_circle circles[CIRCLES];
    struct exchange_job *jobs;
    int count;
    int capacity;
};

/* All that can be told apart, in groups, cuts and places that are drawn. */
static yk_status list_jobs(struct bench *bench, int64_t largest, struct yk_random *random)
{
    const int64_t counts[] = {0, 1, 2, 7, 33, 1000, largest};
    const int count_of_counts = sizeof counts / sizeof counts[0];
    const int32_t size = bench->ranks->size;
    bench->capacity = 3 * 6 * count_of_counts + count_of_counts + size * size * 3;
    bench->count = 0;
    bench->jobs = calloc((size_t)bench->capacity, sizeof *bench->jobs);
    if (!bench->jobs) {
        return yk_fail_out_of_memory();
    }
    for (int i = 0; i < 3 * 6 * count_of_counts; i++) {
        const int form = i / 3 % 6; /* four types, and two of them wide */
        const enum exchange_kind kind = (enum exchange_kind)(i % 3);
        bench->jobs[bench->count++] = (struct exchange_job){
            .kind = kind,
            .circle = (int)yk_random_below(random, CIRCLES),
            .count = counts[i / 18],
            .type = form < 4    ? (enum yk_comm_data_type)form
                    : form == 4 ? YK_COMM_BF16
                                : YK_COMM_FP16,
            .wide = form >= 4,
            .added = kind == EXCHANGE_REDUCE_SCATTER && yk_random_below(random, 2) == 1,
            .in_place = kind == EXCHANGE_ALL_GATHER && yk_random_below(random, 2) == 1,
            .cut = kind == EXCHANGE_ALL_REDUCE
                       ? EXCHANGE_EQUAL
                       : (enum exchange_cut)yk_random_below(random, EXCHANGE_CUTS),
        };
    }
    for (int i = 0; i < count_of_counts; i++) {
        bench->jobs[bench->count++] =
            (struct exchange_job){.kind = EXCHANGE_BROADCAST,
                                  .circle = (int)yk_random_below(random, CIRCLES),
                                  .count = counts[i]};
    }
    for (int i = 0; i < size * size * 3; i++) {
        const int32_t from = i / 3 / size;
        const int32_t to = i / 3 % size;
        if (from != to) {
            bench->jobs[bench->count++] =
                (struct exchange_job){.kind = EXCHANGE_MESSAGE,
                                      .from = from,
                                      .to = to,
                                      .count = counts[(size_t)i % 3 * 3] * (1 + i % 3)};
        }
    }
    return YK_OK;
}

static void shuffle(struct bench *bench, struct yk_random *random)
{
    for (int i = bench->count - 1; i > 0; i--) {
        const int other = (int)yk_random_below(random, i + 1);
        const struct exchange_job job = bench->jobs[i];
        bench->jobs[i] = bench->jobs[other];
        bench->jobs[other] = job;
    }
    for (int i = 0; i < bench->count; i++) {
        struct exchange_job *job = &bench->jobs[i];
        job->seed = yk_random_next_uint64(random);
        if (job->kind == EXCHANGE_BROADCAST) {
            job->from = (int32_t)yk_random_below(random, bench->circles[job->circle].count);
        }
    }
}

static bool is_member(const struct bench *bench, const struct exchange_job *job)
{
    const int32_t rank = bench->ranks->rank;
    return job->kind == EXCHANGE_MESSAGE ? rank == job->from || rank == job->to
                                         : bench->circles[job->circle].me >= 0;
}

/* Every member of a group has the same bits of a sum. */
static yk_status check_sameness(const struct bench *bench, const struct exchange_job *job)
{
    const struct exchange_circle *circle = &bench->circles[job->circle];
    char *first = malloc(job->whole_size + 1);
    if (!first) {
        return yk_fail_out_of_memory();
    }
    memcpy(first, job->whole, job->whole_size);
    const struct yk_comm_broadcast broadcast = {circle->group, first, job->whole_size, 0};
    bench->ranks->comm->broadcast(&broadcast);
    yk_status status = yk_communicator_synchronize(bench->ranks);
    if (status == YK_OK && memcmp(first, job->whole, job->whole_size) != 0) {
        status = exchange_job_fail(job, "what the first member has", 0, 0, 0);
    }
    free(first);
    return status;
}

static yk_status run_jobs(const struct bench *bench)
{
    for (int i = 0; i < bench->count; i++) {
        struct exchange_job *job = &bench->jobs[i];
        if (is_member(bench, job)) {
            YK_TRY(exchange_job_prepare(job, bench->ranks, &bench->circles[job->circle]));
            YK_TRY(bench->far ? exchange_job_move(job, bench->far) : YK_OK);
        }
    }
    for (int i = 0; i < bench->count; i++) {
        if (is_member(bench, &bench->jobs[i])) {
            exchange_job_enqueue(&bench->jobs[i], bench->ranks);
        }
    }
    YK_TRY(yk_communicator_synchronize(bench->ranks));
    for (int i = 0; bench->far && i < bench->count; i++) {
        exchange_job_fetch(&bench->jobs[i], bench->far);
    }
    YK_TRY(yk_communicator_synchronize(bench->ranks));
    for (int i = 0; i < bench->count; i++) {
        const struct exchange_job *job = &bench->jobs[i];
        if (is_member(bench, job)) {
            YK_TRY(exchange_job_check(job, &bench->circles[job->circle]));
        }
        if (job->kind == EXCHANGE_ALL_REDUCE && is_member(bench, job)) {
            YK_TRY(check_sameness(bench, job));
        }
    }
    return YK_OK;
}

/* All; all backwards; the even; the odd, or rank 0 where there are none; the last; the first two
 * that are not neighbours. */
static yk_status make_circles(struct bench *bench)
{
    const struct yk_communicator *ranks = bench->ranks;
    const int32_t size = ranks->size;
    for (int g = 0; g < CIRCLES; g++) {
        struct exchange_circle *circle = &bench->circles[g];
        for (int32_t i = 0; i < size; i++) {
            const bool is_in[CIRCLES] = {true,          true,  i % 2 == 0, i % 2 == 1 || size == 1,
                                         i == size - 1, i != 1};
            if (is_in[g]) {
                circle->ranks[circle->count++] = g == 1 ? size - 1 - i : i;
            }
        }
        circle->me = -1;
        for (int32_t i = 0; i < circle->count; i++) {
            circle->me = circle->ranks[i] == ranks->rank ? i : circle->me;
        }
        YK_TRY(
            ranks->comm->group_create(ranks->world, circle->ranks, circle->count, &circle->group));
        if ((circle->group != NULL) != (circle->me >= 0)) {
            return yk_fail(YK_ERROR_NUMBERS, "a group for those in it alone: group %d", g);
        }
    }
    return YK_OK;
}

static void drop_jobs(struct bench *bench)
{
    for (int i = 0; i < bench->count; i++) {
        if (bench->far) {
            exchange_job_leave(&bench->jobs[i], bench->far);
        }
        exchange_job_drop(&bench->jobs[i]);
    }
    free(bench->jobs);
    bench->jobs = NULL;
}

yk_status exchange_table_run(const struct yk_communicator *ranks, int64_t largest, int orders)
{
    return exchange_table_run_far(ranks, NULL, largest, orders);
}

yk_status exchange_table_run_far(const struct yk_communicator *ranks,
                                 const struct exchange_far *far, int64_t largest, int orders)
{
    struct bench bench = {.ranks = ranks, .far = far};
    yk_status status = ranks->size <= EXCHANGE_RANKS
                           ? make_circles(&bench)
                           : yk_fail(YK_ERROR_INPUT, "the table is for %d ranks", EXCHANGE_RANKS);
    for (int order = 0; status == YK_OK && order < orders; order++) {
        struct yk_random random = yk_random_from_seed((uint64_t)order + 1);
        status = list_jobs(&bench, largest, &random);
        if (status == YK_OK) {
            shuffle(&bench, &random);
            status = run_jobs(&bench);
        }
        /* What may still run must not lose its memory. */
        (void)!ranks->backend->lane_synchronize(ranks->lane);
        drop_jobs(&bench);
    }
    for (int g = 0; g < CIRCLES; g++) {
        ranks->comm->group_destroy(bench.circles[g].group);
    }
    return status;
}

void exchange_station_close(struct exchange_station *station)
{
    yk_communicator_close(&station->ranks);
    yk_backend_cpu.lane_destroy(station->lane);
    yk_backend_cpu.close(station->device);
}

yk_status exchange_station_open(const struct yk_comm_backend *comm, size_t block_bytes,
                                struct exchange_station *out)
{
    yk_status status;
    const struct yk_backend_device_options options = {.threads = 1};
    struct exchange_station station = {0};
    YK_TRY(yk_backend_cpu.open(&options, &station.device));
    YK_TRY_GOTO(yk_backend_cpu.lane_create(station.device, "comm", &station.lane), undo);
    const struct yk_comm_options comm_options = {
        .backend = &yk_backend_cpu,
        .device = station.device,
        .lane = station.lane,
        .block_bytes = block_bytes,
    };
    YK_TRY_GOTO(yk_communicator_open(comm, &comm_options, &station.ranks), undo);
    *out = station;
    return YK_OK;
undo:
    exchange_station_close(&station);
    return status;
}
