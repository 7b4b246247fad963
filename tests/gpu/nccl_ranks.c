/*
 * Exchanges of GPUs over NCCL: nccl_ranks table|lost|bench, started as several ranks by the
 * environment (RANK, WORLD_SIZE and a YOKE_TOKEN of their own, as tools/lab --launcher env has it).
 *   table   every exchange, of memory of the device and of the host, against sums in doubles
 *   lost    rank 1 is killed; the others say how soon they were told, and what
 *   bench   seconds and GB/s of sums of bf16, a line for each number of ranks, size and
 * YOKE_NCCL_CTAS
 */
#include "gpu/gpu.h"

#include "base/clock.h"
#include "comm/host_collective.h"
#include "support/exchanges/exchange_table.h"
#include "support/exchanges/host_messages.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    PATH_SIZE = 512,
    MEET_S = 60,
};

static const struct yk_backend *backend;
static const struct yk_comm_backend *comm;

/* ---- how the ranks meet: by a file of rank 0's ---- */

struct meeting {
    int32_t rank;
    int32_t size;
    char path[PATH_SIZE];
    int32_t times; /* so far: each has a file of its own */
};

static yk_status write_file(const char *path, const void *bytes, size_t size)
{
    char aside[PATH_SIZE + 32];
    (void)snprintf(aside, sizeof aside, "%s.new", path);
    const int file = open(aside, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    const bool is_written = file >= 0 && write(file, bytes, size) == (ssize_t)size;
    if (file >= 0) {
        (void)close(file);
    }
    return is_written && rename(aside, path) == 0
               ? YK_OK
               : yk_fail(YK_ERROR_SYSTEM, "%s cannot be written", path);
}

static yk_status read_file(const char *path, void *bytes, size_t size)
{
    const double begun_s = yk_clock_now_s();
    int file = -1;
    while (file < 0 && yk_clock_now_s() < begun_s + MEET_S) {
        file = open(path, O_RDONLY);
        (void)usleep(1000);
    }
    const bool is_read = file >= 0 && read(file, bytes, size) == (ssize_t)size;
    if (file >= 0) {
        (void)close(file);
    }
    return is_read ? YK_OK : yk_fail(YK_ERROR_LOST, "%s has not come", path);
}

/* The others wait for a rank that has failed, and give up. */
static yk_status share(void *user, yk_status mine, void *bytes, size_t size)
{
    struct meeting *meeting = user;
    char path[PATH_SIZE + 16];
    YK_TRY(mine);
    (void)snprintf(path, sizeof path, "%s.%d", meeting->path, (int)meeting->times++);
    return meeting->rank == 0 ? write_file(path, bytes, size) : read_file(path, bytes, size);
}

static yk_status find_meeting(struct meeting *out)
{
    const char *rank = getenv("RANK");
    const char *size = getenv("WORLD_SIZE");
    const char *token = getenv("YOKE_TOKEN");
    const char *folder = getenv("TMPDIR");
    if (!rank || !size || !token) {
        return yk_fail(YK_ERROR_USAGE, "RANK, WORLD_SIZE and YOKE_TOKEN say who meets");
    }
    *out = (struct meeting){.rank = (int32_t)strtol(rank, NULL, 10),
                            .size = (int32_t)strtol(size, NULL, 10)};
    (void)snprintf(out->path, sizeof out->path, "%s/yoke-meet-%s", folder ? folder : "/tmp", token);
    return YK_OK;
}

/* ---- a rank ---- */

struct station {
    struct meeting meeting;
    struct yk_backend_device *device;
    struct yk_backend_lane *lane;
    struct yk_communicator ranks;
};

static yk_status join(struct station *station)
{
    const struct meeting *meeting = &station->meeting;
    const struct yk_comm_bootstrap how = {meeting->rank, meeting->size, share, &station->meeting};
    const struct yk_comm_options options = {
        .backend = backend, .device = station->device, .lane = station->lane, .bootstrap = &how};
    return yk_communicator_open(comm, &options, &station->ranks);
}

static yk_status open_station(struct station *out)
{
    const struct yk_backend_device_options options = {.graphs = true};
    YK_TRY(find_meeting(&out->meeting));
    YK_TRY(backend->open(&options, &out->device));
    return backend->lane_create(out->device, "comm", &out->lane);
}

static void close_station(struct station *station)
{
    yk_communicator_close(&station->ranks);
    backend->lane_destroy(station->lane);
    backend->close(station->device);
}

/* ---- table ---- */

/* Ops before and after a sum, all in one range that comes again and again: nothing overtakes. */
static yk_status try_ranges(const struct station *station)
{
    enum {
        COUNT = 1000,
        TIMES = 8
    };
    const struct yk_communicator *ranks = &station->ranks;
    float here[COUNT];
    void *memory = NULL;
    YK_TRY(backend->allocate(station->device, sizeof here * 2, &memory));
    float *source = memory;
    float *numbers = source + COUNT;
    for (int i = 0; i < COUNT; i++) {
        here[i] = (float)(i % 100 + ranks->rank);
    }
    backend->copy(ranks->lane, source, here, sizeof here);
    YK_TRY(backend->lane_synchronize(ranks->lane));
    const struct yk_add_op add = {.count = COUNT, .from = source, .to = numbers};
    const struct yk_comm_all_reduce sum = {ranks->world_group, numbers, COUNT, YK_COMM_FP32, false};
    for (int i = 0; i < TIMES; i++) {
        backend->begin_range(ranks->lane, "range");
        backend->copy(ranks->lane, numbers, source, sizeof here);
        backend->add(ranks->lane, &add);
        backend->add(ranks->lane, &add);
        comm->all_reduce(&sum);
        backend->add(ranks->lane, &add);
        backend->end_range(ranks->lane);
    }
    backend->copy(ranks->lane, here, numbers, sizeof here);
    YK_TRY(yk_communicator_synchronize(ranks));
    backend->free(station->device, memory);
    for (int i = 0; i < COUNT; i++) {
        const int n = ranks->size;
        const int ranks_sum = n * (n - 1) / 2;
        const float expected = (float)(3 * (n * (i % 100) + ranks_sum) + i % 100 + ranks->rank);
        if (here[i] != expected) {
            return yk_fail(YK_ERROR_NUMBERS, "in a range, number %d is %g, not %g", i,
                           (double)here[i], (double)expected);
        }
    }
    return YK_OK;
}

static yk_status run_table(const struct station *station)
{
    const struct yk_communicator *ranks = &station->ranks;
    const struct exchange_far far = {backend, station->device, station->lane};
    struct yk_text text = {0};
    YK_TRY(exchange_table_run(ranks, 200000, 1));
    YK_TRY(exchange_table_run_far(ranks, &far, 1500000, 1));
    YK_TRY(try_ranges(station));
    YK_TRY(exchange_host_run(ranks));
    if (ranks->rank == 0) {
        comm->describe(ranks->world, &text);
        printf("as the table says: %s\n", yk_text_chars(&text));
        yk_text_free(&text);
    }
    return YK_OK;
}

/* ---- a rank is lost ---- */

static yk_status run_lost_rank(const struct station *station)
{
    const struct yk_communicator *ranks = &station->ranks;
    double numbers[2] = {1, 2};
    YK_TRY(yk_host_collective_barrier(ranks));
    if (ranks->rank == 1) {
        (void)raise(SIGKILL); /* the others wait for it, or are about to */
    }
    const double begun_s = yk_clock_now_s();
    const yk_status status = yk_host_collective_all_reduce_sum(ranks, numbers, 2);
    const double reported_s = yk_clock_now_s() - begun_s;
    if (status == YK_OK || reported_s > 5) {
        return yk_fail(YK_ERROR_NUMBERS, "status %d after %.1f s", (int)status, reported_s);
    }
    printf("rank %d was told after %.2f s: %s\n", (int)ranks->rank, reported_s,
           yk_status_message());
    return YK_OK;
}

/* ---- bench ---- */

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median of some sums of so many bytes of bf16, one after the other. */
static yk_status time_sum(const struct yk_communicator *ranks, struct yk_comm_group *group,
                          void *memory, int64_t bytes, double *out)
{
    enum {
        TIMES = 5
    };
    double seconds[TIMES];
    const int times = bytes >= 64 << 20 ? 2 : TIMES;
    const struct yk_comm_all_reduce meet = {group, memory, 1, YK_COMM_FP32, false};
    const struct yk_comm_all_reduce sum = {group, memory, bytes / 2, YK_COMM_BF16, false};
    for (int i = 0; i < times; i++) {
        comm->all_reduce(&meet);
        YK_TRY(yk_communicator_synchronize(ranks));
        const double begun_s = yk_clock_now_s();
        comm->all_reduce(&sum);
        YK_TRY(yk_communicator_synchronize(ranks));
        seconds[i] = yk_clock_now_s() - begun_s;
    }
    qsort(seconds, (size_t)times, sizeof *seconds, compare);
    *out = seconds[times / 2];
    return YK_OK;
}

static const char *setting(const char *name)
{
    const char *words = getenv(name);
    return words ? words : "?";
}

static yk_status bench_group(const struct yk_communicator *ranks, void *memory, int32_t count)
{
    static const int64_t sizes[] = {4 << 10, 1 << 20, 4 << 20, 16 << 20, 64 << 20, 256 << 20};
    const int32_t members[] = {0, 1, 2, 3};
    struct yk_comm_group *group = NULL;
    YK_TRY(comm->group_create(ranks->world, members, count, &group));
    yk_status status = YK_OK;
    for (size_t i = 0; group && status == YK_OK && i < sizeof sizes / sizeof sizes[0]; i++) {
        double seconds = 0;
        status = time_sum(ranks, group, memory, sizes[i], &seconds);
        if (status == YK_OK && ranks->rank == 0) {
            printf("bench %d ranks, %sx%s sockets, %s blocks, %.3f MiB: %.6f s, %.3f GB/s\n",
                   (int)count, setting("NCCL_SOCKET_NTHREADS"), setting("NCCL_NSOCKS_PERTHREAD"),
                   setting("YOKE_NCCL_CTAS"), (double)sizes[i] / (1 << 20), seconds,
                   (double)sizes[i] / seconds / 1e9);
            (void)fflush(stdout);
        }
    }
    comm->group_destroy(group);
    return status;
}

/* For each number of NCCL's blocks on the device a world, and groups of 2, 3 and 4 in it, until
 * BENCH_S seconds are over. */
static yk_status run_bench(struct station *station)
{
    static const char *const blocks[] = {"4", "2", "1", "8"};
    const char *limit = getenv("BENCH_S");
    const double end_s = yk_clock_now_s() + (limit ? strtod(limit, NULL) : 60);
    double is_over = 0;
    void *memory = NULL;
    YK_TRY(backend->allocate(station->device, (size_t)256 << 20, &memory));
    for (size_t i = 0; is_over == 0 && i < sizeof blocks / sizeof blocks[0]; i++) {
        (void)setenv("YOKE_NCCL_CTAS", blocks[i], 1);
        YK_TRY(join(station));
        for (int32_t count = 2; is_over == 0 && count <= station->ranks.size && count <= 4;
             count++) {
            YK_TRY(bench_group(&station->ranks, memory, count));
            is_over = yk_clock_now_s() > end_s ? 1 : 0;
            YK_TRY(yk_host_collective_all_reduce_max(&station->ranks, &is_over, 1));
        }
        yk_communicator_close(&station->ranks);
    }
    backend->free(station->device, memory);
    return YK_OK;
}

static yk_status run(const char *what)
{
    struct station station = {0};
    yk_status status = open_station(&station);
    if (status == YK_OK && strcmp(what, "bench") == 0) {
        status = run_bench(&station);
    } else if (status == YK_OK) {
        status = join(&station);
        if (status == YK_OK) {
            status = strcmp(what, "lost") == 0 ? run_lost_rank(&station) : run_table(&station);
        }
    }
    if (status != YK_OK) {
        (void)fprintf(stderr, "rank %d: %s\n", (int)station.meeting.rank, yk_status_message());
        if (station.ranks.comm) {
            comm->abort(station.ranks.world, (int)status);
        }
    }
    close_station(&station);
    return status;
}

int main(int argc, char **argv)
{
    const char *plugin = getenv("YOKE_NCCL_PLUGIN");
    const int found = gpu_find(&backend);
    if (found != 0) {
        return found;
    }
    if (argc != 2 || !plugin) {
        (void)fprintf(stderr, "nccl_ranks table|lost|bench, with YOKE_NCCL_PLUGIN=yoke-nccl.so\n");
        return YK_ERROR_USAGE;
    }
    if (yk_comm_load_plugin(plugin, &comm) != YK_OK) {
        (void)fprintf(stderr, "%s\n", yk_status_message());
        return YK_ERROR_SYSTEM;
    }
    return run(argv[1]);
}
