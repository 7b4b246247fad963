/*
 * Exchanges over MPI beside a computation, two ranks with a core each: how much of an exchange the
 * computation hides, how long a small one takes, and what waiting leaves of a core. Started without
 * mpirun it starts itself with it.
 */
#include "base/clock.h"
#include "comm/host_collective.h"
#include "over_mpi/over_mpi.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum {
    NUMBERS = 16 << 20, /* 64 MiB of fp32 */
    REPEATS = 7,
    SMALL_REPEATS = 51,
    IN_A_ROW = 64, /* small ones on the lane at once */
    SIDE = 192,    /* of the products that are computed */
};

static float left[SIDE * SIDE];
static float right[SIDE * SIDE];
static float product[SIDE * SIDE];

static void compute_once(void)
{
    for (int i = 0; i < SIDE; i++) {
        for (int k = 0; k < SIDE; k++) {
            for (int j = 0; j < SIDE; j++) {
                product[i * SIDE + j] += left[i * SIDE + k] * right[k * SIDE + j];
            }
        }
    }
}

/* A thread that computes a number of products, or until it is told to stop. */
struct computation {
    pthread_t thread;
    long count; /* 0: until `stop` */
    atomic_bool stop;
    atomic_long done;
};

static void *run_computation(void *argument)
{
    struct computation *computation = argument;
    for (long i = 0;
         computation->count == 0 ? !atomic_load(&computation->stop) : i < computation->count; i++) {
        compute_once();
        atomic_fetch_add(&computation->done, 1);
    }
    return NULL;
}

static bool begin(struct computation *computation)
{
    return pthread_create(&computation->thread, NULL, run_computation, computation) == 0;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *times, int count)
{
    qsort(times, (size_t)count, sizeof *times, compare);
    return times[count / 2];
}

static yk_status all_reduce(const struct yk_communicator *ranks, float *numbers, int64_t count)
{
    struct yk_comm_all_reduce op = {
        .group = ranks->world_group, .count = count, .type = YK_COMM_FP32};
    op.numbers = numbers;
    for (int i = 0; i < (count == NUMBERS ? 1 : IN_A_ROW); i++) {
        ranks->comm->all_reduce(&op);
    }
    return yk_communicator_synchronize(ranks);
}

/* Seconds of a reduce of `count`, beside so many products (0: none). */
static yk_status time_all_reduce(const struct yk_communicator *ranks, float *numbers, int64_t count,
                                 long products, int repeats, double *out)
{
    double times[SMALL_REPEATS];
    for (int i = 0; i < repeats; i++) {
        struct computation computation = {.count = products};
        YK_TRY(yk_host_collective_barrier(ranks));
        const double begun_s = yk_clock_now_s();
        const bool computes = products > 0 && begin(&computation);
        YK_TRY(all_reduce(ranks, numbers, count));
        if (computes) {
            pthread_join(computation.thread, NULL);
        }
        times[i] = yk_clock_now_s() - begun_s;
    }
    *out = median(times, repeats);
    return yk_host_collective_all_reduce_max(ranks, out, 1);
}

/* What waiting half a second for rank 1 leaves to rank 0's computation. */
static yk_status time_waiting(const struct yk_communicator *ranks, float *numbers, double product_s,
                              double *small_s, double *share)
{
    static const struct timespec nap = {.tv_nsec = 500000000};
    struct computation computation = {.count = 0};
    if (!begin(&computation)) {
        return yk_fail(YK_ERROR_SYSTEM, "the system refuses a thread");
    }
    yk_status status = time_all_reduce(ranks, numbers, 2, 0, SMALL_REPEATS, small_s);
    if (ranks->rank == 1) {
        (void)nanosleep(&nap, NULL);
    }
    const double begun_s = yk_clock_now_s();
    const long before = atomic_load(&computation.done);
    if (status == YK_OK) {
        status = all_reduce(ranks, numbers, 2);
    }
    const double waited_s = yk_clock_now_s() - begun_s;
    *share = (double)(atomic_load(&computation.done) - before) * product_s / waited_s;
    atomic_store(&computation.stop, true);
    pthread_join(computation.thread, NULL);
    return status;
}

/* The shortest of some: without what else the machine does. */
static double time_product(void)
{
    double shortest_s = 1e9;
    for (int i = 0; i < 20; i++) {
        const double begun_s = yk_clock_now_s();
        compute_once();
        const double now_s = yk_clock_now_s() - begun_s;
        shortest_s = now_s < shortest_s ? now_s : shortest_s;
    }
    return shortest_s;
}

static yk_status measure(const struct yk_communicator *ranks, float *numbers)
{
    double alone_s = 0;
    double both_s = 0;
    double small_s = 0;
    double small_busy_s = 0;
    double share = 0;
    struct yk_text name = {0};
    YK_TRY(time_all_reduce(ranks, numbers, NUMBERS, 0, REPEATS, &alone_s));
    double product_s = time_product();
    YK_TRY(yk_host_collective_all_reduce_max(ranks, &product_s, 1));
    const long products = (long)(alone_s / product_s) + 1;
    YK_TRY(time_all_reduce(ranks, numbers, NUMBERS, products, REPEATS, &both_s));
    YK_TRY(time_all_reduce(ranks, numbers, 2, 0, SMALL_REPEATS, &small_s));
    YK_TRY(time_waiting(ranks, numbers, product_s, &small_busy_s, &share));
    if (ranks->rank == 0) {
        const double compute_s = (double)products * product_s;
        ranks->comm->describe(ranks->world, &name);
        printf("%s: 64 MiB summed in %.1f ms (%.2f GB/s); with %.1f ms of computation %.1f ms: "
               "%.2f of the sum of both\n8 bytes: %.1f us, beside a computation %.0f us; waiting "
               "leaves a computation %.2f of its core\n",
               yk_text_chars(&name), alone_s * 1e3, NUMBERS * 4.0 / alone_s * 1e-9, compute_s * 1e3,
               both_s * 1e3, both_s / (alone_s + compute_s), small_s / IN_A_ROW * 1e6,
               small_busy_s / IN_A_ROW * 1e6, share);
        yk_text_free(&name);
    }
    return YK_OK;
}

static yk_status measure_all(const struct yk_communicator *ranks,
                             const struct yk_comm_options *options)
{
    (void)options;
    float *numbers = calloc(NUMBERS, sizeof *numbers);
    const yk_status status = numbers ? measure(ranks, numbers) : yk_fail_out_of_memory();
    free(numbers);
    return status;
}

/* bench-exchange [DATA [BLOCK_BYTES]]: the first is for other benchmarks. */
int main(int argc, char **argv)
{
    const struct over_mpi bench = {
        .name = "exchange",
        .ranks = "2",
        .bound_to = "core",
        .block_bytes = argc > 2 ? (size_t)strtoull(argv[2], NULL, 10) : 0,
        .measure = measure_all,
    };
    return over_mpi_run(&bench, argc, argv);
}
