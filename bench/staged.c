/*
 * How fast ranks on one machine sum, gather and scatter over MPI: what lies in the memory of the
 * host, and what lies on a device and goes through it. The device is pretended: it says that all
 * memory is its own, and a copy takes the time of one over PCIe, and no core. Started without
 * mpirun it starts itself with it, as 2 ranks.
 */
#include "base/clock.h"
#include "comm/host_collective.h"
#include "over_mpi/over_mpi.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

enum {
    REPEATS = 9,
    LARGEST_BYTES = 64 << 20,
    RANKS = 64, /* at most */
};

enum kind {
    ALL_REDUCE,
    ALL_GATHER,
    REDUCE_SCATTER,
    KINDS,
};

static struct yk_backend pretended;

static bool holds_all(const struct yk_backend_device *device, const void *memory)
{
    (void)device;
    return memory != NULL;
}

static const double copy_bytes_per_s = 25e9;

static void sleep_copy(void *user)
{
    const double copy_s = (double)(uintptr_t)user / copy_bytes_per_s;
    const struct timespec pause = {.tv_nsec = (long)(copy_s * 1e9)};
    (void)prctl(PR_SET_TIMERSLACK, 1000UL, 0UL, 0UL, 0UL); /* Linux adds 50 us otherwise */
    (void)nanosleep(&pause, NULL);
}

static void pretend_copy(struct yk_backend_lane *lane, void *to, const void *from, size_t bytes)
{
    (void)to;
    (void)from;
    yk_backend_cpu.call_host(lane, sleep_copy, (void *)(uintptr_t)bytes);
}

/* An exchange of `bytes` in all, cut into equal parts. */
struct work {
    enum kind kind;
    enum yk_comm_data_type type;
    size_t bytes;
    char *whole;
    char *own;
    int64_t firsts[RANKS + 1];
};

static void cut(struct work *work, int32_t ranks)
{
    const int64_t count = (int64_t)(work->bytes / yk_comm_data_type_bytes(work->type));
    for (int32_t i = 0; i <= ranks; i++) {
        work->firsts[i] = count * i / ranks;
    }
}

static yk_status exchange(const struct yk_communicator *ranks, const struct work *work)
{
    const size_t width = yk_comm_data_type_bytes(work->type);
    const struct yk_comm_all_reduce all_reduce = {.group = ranks->world_group,
                                                  .numbers = work->whole,
                                                  .count = work->firsts[ranks->size],
                                                  .type = work->type};
    const struct yk_comm_all_gather all_gather = {.group = ranks->world_group,
                                                  .own = work->own,
                                                  .whole = work->whole,
                                                  .offsets = work->firsts,
                                                  .element_bytes = width};
    const struct yk_comm_reduce_scatter reduce_scatter = {.group = ranks->world_group,
                                                          .whole = work->whole,
                                                          .own = work->own,
                                                          .offsets = work->firsts,
                                                          .type = work->type};
    switch (work->kind) {
    case ALL_REDUCE:
        ranks->comm->all_reduce(&all_reduce);
        break;
    case ALL_GATHER:
        ranks->comm->all_gather(&all_gather);
        break;
    case REDUCE_SCATTER:
    case KINDS:
    default:
        ranks->comm->reduce_scatter(&reduce_scatter);
        break;
    }
    return yk_communicator_synchronize(ranks);
}

/* The shortest of some, of the rank that it took longest: without what else the machine does. */
static yk_status time_work(const struct yk_communicator *ranks, const struct yk_communicator *host,
                           const struct work *work, double *out)
{
    double shortest_s = 0;
    for (int i = 0; i < REPEATS; i++) {
        YK_TRY(yk_host_collective_barrier(host));
        const double begun_s = yk_clock_now_s();
        YK_TRY(exchange(ranks, work));
        double elapsed_s = yk_clock_now_s() - begun_s;
        YK_TRY(yk_host_collective_all_reduce_max(host, &elapsed_s, 1));
        shortest_s = i == 0 || elapsed_s < shortest_s ? elapsed_s : shortest_s;
    }
    *out = shortest_s;
    return YK_OK;
}

/* One line of each kind and type: GB/s by size. Times are told through the world of the host. */
static yk_status measure(const struct yk_communicator *ranks, const struct yk_communicator *host,
                         struct work *work)
{
    static const size_t sizes_mib[] = {1, 5, 25, 64};
    static const char *const names[KINDS] = {"reduce", "gather", "scatter"};
    const size_t sizes = sizeof sizes_mib / sizeof sizes_mib[0];
    for (int i = 0; i < 2 * KINDS; i++) {
        work->kind = (enum kind)(i / 2);
        work->type = i % 2 == 0 ? YK_COMM_BF16 : YK_COMM_FP32;
        double speeds[sizeof sizes_mib / sizeof sizes_mib[0]];
        for (size_t s = 0; s < sizes; s++) {
            double elapsed_s = 0;
            work->bytes = sizes_mib[s] << 20;
            cut(work, ranks->size);
            YK_TRY(time_work(ranks, host, work, &elapsed_s));
            speeds[s] = (double)work->bytes / elapsed_s * 1e-9;
        }
        if (ranks->rank == 0) {
            printf("%-7s %d ranks %-7s %s", ranks->comm->name, (int)ranks->size, names[work->kind],
                   work->type == YK_COMM_BF16 ? "bf16" : "fp32");
            for (size_t s = 0; s < sizes; s++) {
                printf("  %5.2f", speeds[s]);
            }
            printf("\n");
            (void)fflush(stdout);
        }
    }
    return YK_OK;
}

static yk_status measure_staged(const struct yk_communicator *through,
                                const struct yk_comm_options *inner, struct work *work)
{
    yk_status status;
    struct yk_communicator staged = {0};
    struct yk_comm_options options = *inner;
    pretended = yk_backend_cpu;
    pretended.contains = holds_all;
    pretended.copy = pretend_copy;
    options.backend = &pretended;
    options.block_bytes = 0;
    options.host_communicator = through;
    YK_TRY(pretended.lane_create(options.device, "staged", &options.lane));
    YK_TRY_GOTO(yk_communicator_open(&yk_comm_host_staging, &options, &staged), done);
    status = measure(&staged, through, work);
done:
    yk_communicator_close(&staged);
    pretended.lane_destroy(options.lane);
    return status;
}

static yk_status measure_both(const struct yk_communicator *ranks,
                              const struct yk_comm_options *options)
{
    yk_status status;
    struct work work = {.whole = calloc(1, LARGEST_BYTES), .own = calloc(1, LARGEST_BYTES)};
    YK_TRY_GOTO(work.whole && work.own ? YK_OK : yk_fail_out_of_memory(), done);
    if (ranks->size > RANKS) {
        YK_TRY_GOTO(yk_fail(YK_ERROR_INPUT, "at most %d ranks", RANKS), done);
    }
    if (ranks->rank == 0) {
        printf("GB/s of messages of                  1      5     25    64 MiB\n");
    }
    YK_TRY_GOTO(measure(ranks, ranks, &work), done);
    status = measure_staged(ranks, options, &work);
done:
    free(work.own);
    free(work.whole);
    return status;
}

/* bench-staged [DATA [RANKS [BLOCK_BYTES]]]: the first is for other benchmarks. */
int main(int argc, char **argv)
{
    const struct over_mpi bench = {
        .name = "staged",
        .ranks = argc > 2 ? argv[2] : "2",
        .bound_to = "none",
        .block_bytes = argc > 3 ? (size_t)strtoull(argv[3], NULL, 10) : 0,
        .measure = measure_both,
    };
    return over_mpi_run(&bench, argc, argv);
}
