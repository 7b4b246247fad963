/* The comm over NCCL, with threads for ranks and for NCCL (fake_nccl/nccl.h). */
#include "support/support.h"

#include "comm/host_collective.h"
#include "fake_nccl/fake_nccl.h"
#include "support/exchanges/exchange_table.h"
#include "support/exchanges/host_messages.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern const struct yk_comm_backend yk_comm_plugin;

/* ---- ranks ---- */

/* Rank 0's bytes, for all. */
struct table {
    pthread_barrier_t barrier;
    atomic_bool fails; /* somebody has come with a failure */
    char bytes[256];
};

struct guest {
    struct table *table;
    int32_t rank;
};

static yk_status share(void *user, yk_status mine, void *bytes, size_t size)
{
    const struct guest *guest = user;
    if (guest->rank == 0) {
        memcpy(guest->table->bytes, bytes, size);
    }
    if (mine != YK_OK) {
        atomic_store(&guest->table->fails, true);
    }
    (void)pthread_barrier_wait(&guest->table->barrier);
    memcpy(bytes, guest->table->bytes, size);
    return mine == YK_OK && atomic_load(&guest->table->fails)
               ? yk_fail(YK_ERROR_LOST, "another rank has failed")
               : mine;
}

/* What a rank does once it has joined. */
typedef yk_status (*act)(const struct yk_communicator *ranks, struct yk_backend_device *device);

struct play {
    struct table table;
    act act;
};

static yk_status join(struct play *play, int32_t rank, int32_t ranks,
                      struct yk_backend_device *device, struct yk_backend_lane *lane)
{
    struct guest guest = {&play->table, rank};
    struct yk_communicator joined = {0};
    const struct yk_comm_bootstrap bootstrap = {rank, ranks, share, &guest};
    const struct yk_comm_options options = {
        .backend = &fake_gpu, .device = device, .lane = lane, .bootstrap = &bootstrap};
    (void)pthread_barrier_wait(&play->table.barrier); /* all sit before one looks around */
    yk_status status = yk_communicator_open(&yk_comm_plugin, &options, &joined);
    const bool is_open = status == YK_OK;
    if (is_open) {
        status = joined.rank == rank && joined.size == ranks
                     ? play->act(&joined, device)
                     : yk_fail(YK_ERROR_NUMBERS, "it is rank %d", (int)joined.rank);
    }
    if (is_open && status != YK_OK) {
        yk_comm_plugin.release_device(joined.world);
    }
    /* Who closes first gives the others up after some seconds: here they have done their part. */
    (void)pthread_barrier_wait(&play->table.barrier);
    yk_communicator_close(&joined);
    return status;
}

/* A device and a lane, which are the fake's to end. */
static yk_status sit(int32_t rank, struct yk_backend_device **device, struct yk_backend_lane **lane)
{
    const struct yk_backend_device_options options = {.threads = 1};
    YK_TRY(yk_backend_cpu.open(&options, device));
    const yk_status status = yk_backend_cpu.lane_create(*device, "comm", lane);
    if (status != YK_OK) {
        yk_backend_cpu.close(*device);
        return status;
    }
    fake_nccl_sit(rank, *device, *lane);
    return YK_OK;
}

static yk_status be_rank(int32_t rank, int32_t ranks, void *user)
{
    struct yk_backend_device *device = NULL;
    struct yk_backend_lane *lane = NULL;
    YK_TRY(sit(rank, &device, &lane));
    return join(user, rank, ranks, device, lane);
}

static yk_status run(int32_t ranks, enum fake_kind kind, act part)
{
    struct play play = {.act = part};
    (void)pthread_barrier_init(&play.table.barrier, NULL, (unsigned)ranks);
    fake_nccl_begin(ranks, kind);
    const yk_status status = yk_thread_world_run(ranks, be_rank, &play);
    char sentence[YK_FIRST_FAILURE_MESSAGE_SIZE];
    (void)snprintf(sentence, sizeof sentence, "%s", yk_status_message());
    fake_nccl_end(); /* which may fail in what it waits for no more */
    (void)pthread_barrier_destroy(&play.table.barrier);
    return status == YK_OK ? YK_OK : yk_fail(status, "%s", sentence);
}

/* ---- exchanges ---- */

static yk_status try_table(const struct yk_communicator *ranks, struct yk_backend_device *device)
{
    (void)device;
    YK_TRY(exchange_table_run(ranks, 5000, 1));
    return exchange_host_run(ranks);
}

static void exchanges_are_as_the_table_says_whatever_the_memory(void **state)
{
    (void)state;
    static const struct {
        enum fake_kind kind;
        int32_t ranks;
    } runs[] = {
        {FAKE_OF_DEVICE, 1}, {FAKE_OF_DEVICE, 2}, {FAKE_OF_DEVICE, 4},
        {FAKE_OF_SYSTEM, 2}, {FAKE_OF_SYSTEM, 3}, {FAKE_OF_HOST, 3},
    };
    for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++) {
        assert_ok(run(runs[i].ranks, runs[i].kind, try_table));
        assert_null(fake_nccl_misuse());
    }
}

/* Of the device itself, while all other memory is the system's. */
static yk_status try_far(const struct yk_communicator *ranks, struct yk_backend_device *device)
{
    struct yk_backend gpu = fake_gpu;
    const struct exchange_far far = {&gpu, device, ranks->lane};
    gpu.copy = yk_backend_cpu.copy; /* the test's own copies may wait */
    return exchange_table_run_far(ranks, &far, 1500000, 1);
}

static void memory_of_the_device_is_exchanged_like_that_of_the_system(void **state)
{
    (void)state;
    assert_ok(run(3, FAKE_OF_SYSTEM, try_far));
    assert_null(fake_nccl_misuse());
}

enum {
    MANY = (2 << 20) + 12345 /* doubles: two blocks on their way, of pieces for the host */
};

static yk_status try_many(const struct yk_communicator *ranks, struct yk_backend_device *device)
{
    const int32_t n = ranks->size;
    double *numbers = calloc(MANY, sizeof *numbers);
    yk_status status = numbers ? YK_OK : yk_fail_out_of_memory();
    (void)device;
    for (int i = 0; numbers && i < MANY; i++) {
        numbers[i] = (i % 1000) * (ranks->rank + 1);
    }
    if (status == YK_OK) {
        status = yk_host_collective_all_reduce_sum(ranks, numbers, MANY);
    }
    for (int i = 0; status == YK_OK && i < MANY; i++) {
        const double expected = (i % 1000) * (n * (n + 1) / 2.0);
        status = numbers[i] == expected ? YK_OK
                                        : yk_fail(YK_ERROR_NUMBERS, "number %d is %g, not %g", i,
                                                  numbers[i], expected);
    }
    free(numbers);
    return status;
}

static void more_than_a_block_goes_in_blocks(void **state)
{
    (void)state;
    assert_ok(run(2, FAKE_OF_SYSTEM, try_many));
    assert_null(fake_nccl_misuse());
}

/* Equal parts behind something that is nobody's: 5 numbers, of 2 each. */
static yk_status try_later(const struct yk_communicator *ranks, struct yk_backend_device *device)
{
    enum {
        BEFORE = 5,
        EACH = 2
    };
    float whole[BEFORE + EACH * FAKE_RANKS] = {0};
    float own[EACH] = {0};
    int64_t firsts[FAKE_RANKS + 1];
    (void)device;
    for (int i = 0; i <= FAKE_RANKS; i++) {
        firsts[i] = BEFORE + EACH * i;
    }
    for (int i = 0; i < EACH * FAKE_RANKS; i++) {
        whole[BEFORE + i] = (float)(i + 100 * ranks->rank);
    }
    const struct yk_comm_reduce_scatter reduce_scatter = {
        ranks->world_group, whole, own, false, firsts, YK_COMM_FP32, false};
    const struct yk_comm_all_gather all_gather = {ranks->world_group, own, whole, firsts,
                                                  sizeof(float)};
    ranks->comm->reduce_scatter(&reduce_scatter);
    ranks->comm->all_gather(&all_gather);
    YK_TRY(yk_communicator_synchronize(ranks));
    for (int i = 0; i < EACH * FAKE_RANKS; i++) {
        if (whole[BEFORE + i] != (float)(4 * i + 600)) {
            return yk_fail(YK_ERROR_NUMBERS, "number %d is %g", i, (double)whole[BEFORE + i]);
        }
    }
    return whole[BEFORE - 1] == 0 ? YK_OK : yk_fail(YK_ERROR_NUMBERS, "what is before is changed");
}

static void parts_may_begin_later(void **state)
{
    (void)state;
    assert_ok(run(FAKE_RANKS, FAKE_OF_SYSTEM, try_later));
    assert_ok(run(FAKE_RANKS, FAKE_OF_DEVICE, try_later));
}

static yk_status sum_halves(const struct yk_communicator *ranks, bool wide)
{
    uint16_t numbers[4] = {0};
    uint16_t own[4] = {0};
    const int64_t firsts[] = {0, 1, 4};
    const struct yk_comm_all_reduce all_reduce = {ranks->world_group, numbers, 4, YK_COMM_FP16,
                                                  wide};
    const struct yk_comm_reduce_scatter reduce_scatter = {
        ranks->world_group, numbers, own, true, firsts, YK_COMM_BF16, wide};
    ranks->comm->all_reduce(&all_reduce);
    ranks->comm->reduce_scatter(&reduce_scatter);
    return yk_communicator_synchronize(ranks);
}

static yk_status try_wide(const struct yk_communicator *ranks, struct yk_backend_device *device)
{
    (void)device;
    return sum_halves(ranks, true);
}

static yk_status try_narrow(const struct yk_communicator *ranks, struct yk_backend_device *device)
{
    (void)device;
    return sum_halves(ranks, false);
}

static void wide_sums_travel_as_fp32(void **state)
{
    (void)state;
    for (enum fake_kind kind = FAKE_OF_SYSTEM; kind <= FAKE_OF_DEVICE; kind++) {
        assert_ok(run(2, kind, try_wide));
        assert_int_equal(fake_nccl_narrow_sums(), 0);
    }
    assert_ok(run(2, FAKE_OF_DEVICE, try_narrow));
    assert_int_equal(fake_nccl_narrow_sums(), 2 + 2 * 2); /* the parts are two sums */
}

static yk_status try_description(const struct yk_communicator *ranks,
                                 struct yk_backend_device *device)
{
    struct yk_text text = {0};
    (void)device;
    ranks->comm->describe(ranks->world, &text);
    const bool is_right = strcmp(yk_text_chars(&text), "NCCL 2.28.9, 3 ranks on one host") == 0;
    const yk_status status =
        is_right ? YK_OK : yk_fail(YK_ERROR_NUMBERS, "it says %s", yk_text_chars(&text));
    yk_text_free(&text);
    return status;
}

static void it_says_how_many_ranks_are_on_how_many_hosts(void **state)
{
    (void)state;
    assert_ok(run(3, FAKE_OF_DEVICE, try_description));
}

/* ---- failures ---- */

static const char lost[] = "nccl, exchanging: remote process exited or there was a network error: "
                           "Connection closed by remote peer";

/* Exchanges until one of them fails. */
static yk_status wait_for_loss(const struct yk_communicator *ranks)
{
    double numbers[2] = {1, 2};
    while (yk_host_collective_all_reduce_sum(ranks, numbers, 2) == YK_OK) {
        (void)usleep(1000);
    }
    return strcmp(yk_status_message(), lost) == 0
               ? YK_OK
               : yk_fail(YK_ERROR_NUMBERS, "it says %s", yk_status_message());
}

/* Rank 1 leaves without a word. The others wait for it, and are told. */
static yk_status try_loss(const struct yk_communicator *ranks, struct yk_backend_device *device)
{
    (void)device;
    const yk_status met = yk_host_collective_barrier(ranks);
    if (ranks->rank == 1) {
        fake_nccl_drop_rank(1);
        return met;
    }
    return wait_for_loss(ranks); /* which the barrier may have told of already */
}

static void a_rank_that_is_gone_is_reported(void **state)
{
    (void)state;
    assert_ok(run(3, FAKE_OF_SYSTEM, try_loss));
    assert_null(fake_nccl_misuse());
}

static yk_status try_abort(const struct yk_communicator *ranks, struct yk_backend_device *device)
{
    (void)device;
    const yk_status met = yk_host_collective_barrier(ranks);
    if (ranks->rank == 0) {
        return wait_for_loss(ranks); /* which the barrier may have told of already */
    }
    YK_TRY(met);
    ranks->comm->release_device(ranks->world);
    ranks->comm->abort(ranks->world, 6); /* nothing is left to do */
    const yk_status status = ranks->comm->check(ranks->world);
    return status == YK_ERROR_LOST &&
                   strcmp(yk_status_message(), "this rank has ended the run") == 0
               ? YK_OK
               : yk_fail(YK_ERROR_NUMBERS, "it says %s", yk_status_message());
}

static void a_rank_that_gives_up_ends_what_others_wait_for(void **state)
{
    (void)state;
    assert_ok(run(2, FAKE_OF_SYSTEM, try_abort));
    assert_null(fake_nccl_misuse());
}

/* ---- an exchange that is kept waiting while the run is ended ---- */

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool is_inside; /* somebody copies */
    bool may_go;
} held = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

/* As a stream that takes no more. */
static void copy_when_let(struct yk_backend_lane *lane, void *to, const void *from, size_t bytes)
{
    (void)pthread_mutex_lock(&held.lock);
    held.is_inside = true;
    (void)pthread_cond_broadcast(&held.changed);
    while (!held.may_go) {
        (void)pthread_cond_wait(&held.changed, &held.lock);
    }
    (void)pthread_mutex_unlock(&held.lock);
    yk_backend_cpu.copy(lane, to, from, bytes);
}

static void *end_the_run(void *user)
{
    const struct yk_communicator *ranks = user;
    (void)pthread_mutex_lock(&held.lock);
    while (!held.is_inside) {
        (void)pthread_cond_wait(&held.changed, &held.lock);
    }
    (void)pthread_mutex_unlock(&held.lock);
    ranks->comm->release_device(ranks->world);
    (void)pthread_mutex_lock(&held.lock);
    held.may_go = true;
    (void)pthread_cond_broadcast(&held.changed);
    (void)pthread_mutex_unlock(&held.lock);
    return NULL;
}

enum late_op {
    LATE_ALL_REDUCE,
    LATE_ALL_GATHER,
    LATE_REDUCE_SCATTER,
    LATE_BROADCAST,
    LATE_OPS,
};

static enum late_op late_op;

struct late_numbers {
    double own;
    double whole;
};

static void enqueue_late_op(const struct yk_communicator *ranks, struct late_numbers *numbers)
{
    double *own = &numbers->own;
    double *whole = &numbers->whole;
    static const int64_t firsts[] = {0, 1};
    const struct yk_comm_all_reduce all_reduce = {
        .group = ranks->world_group, .numbers = own, .count = 1, .type = YK_COMM_FP64};
    const struct yk_comm_all_gather all_gather = {ranks->world_group, own, whole, firsts,
                                                  sizeof *own};
    const struct yk_comm_reduce_scatter reduce_scatter = {.group = ranks->world_group,
                                                          .whole = whole,
                                                          .own = own,
                                                          .offsets = firsts,
                                                          .type = YK_COMM_FP64};
    const struct yk_comm_broadcast broadcast = {
        .group = ranks->world_group, .bytes = own, .size = sizeof *own, .root = 0};
    switch (late_op) {
    case LATE_ALL_REDUCE:
        ranks->comm->all_reduce(&all_reduce);
        break;
    case LATE_ALL_GATHER:
        ranks->comm->all_gather(&all_gather);
        break;
    case LATE_REDUCE_SCATTER:
        ranks->comm->reduce_scatter(&reduce_scatter);
        break;
    default:
        ranks->comm->broadcast(&broadcast);
        break;
    }
}

static yk_status try_late_op(const struct yk_communicator *ranks, struct yk_backend_device *device)
{
    struct late_numbers numbers = {1, 1};
    pthread_t thread;
    (void)device;
    held.is_inside = false;
    held.may_go = false;
    fake_gpu.copy = copy_when_let;
    if (pthread_create(&thread, NULL, end_the_run, (void *)ranks) != 0) {
        return yk_fail(YK_ERROR_SYSTEM, "no thread");
    }
    enqueue_late_op(ranks, &numbers);
    (void)pthread_join(thread, NULL);
    const yk_status status =
        yk_communicator_synchronize(ranks); /* the numbers are the lane's until then */
    return status == YK_ERROR_LOST && fake_nccl_late_exchanges() == 0
               ? YK_OK
               : yk_fail(YK_ERROR_NUMBERS, "exchange %d: status %d, an aborted communicator used",
                         (int)late_op, (int)status);
}

static void an_exchange_that_was_kept_waiting_leaves_aborted_communicators_alone(void **state)
{
    (void)state;
    for (late_op = LATE_ALL_REDUCE; late_op < LATE_OPS; late_op++) {
        assert_ok(run(1, FAKE_OF_HOST, try_late_op));
        assert_null(fake_nccl_misuse());
    }
}

static yk_status try_nobody(const struct yk_communicator *ranks, struct yk_backend_device *device)
{
    struct yk_comm_send_recv message = {ranks->world, &ranks, 8, ranks->size, 3};
    (void)device;
    ranks->comm->send(&message);
    const yk_status status = yk_communicator_synchronize(ranks);
    return status == YK_ERROR_INPUT &&
                   strcmp(yk_status_message(),
                          "message 3 between rank 0 and rank 1 of 1 cannot be") == 0
               ? YK_OK
               : yk_fail(YK_ERROR_NUMBERS, "it says %s", yk_status_message());
}

static void a_message_to_nobody_is_refused(void **state)
{
    (void)state;
    assert_ok(run(1, FAKE_OF_DEVICE, try_nobody));
}

static yk_status try_slow_end(const struct yk_communicator *ranks, struct yk_backend_device *device)
{
    (void)ranks;
    (void)device;
    fake_nccl_hold_destroy(true);
    return YK_OK;
}

/* NCCL frees a communicator that it destroys: who closes leaves it there, and must not give it up
 * besides. */
static void a_communicator_that_ends_slowly_is_left_and_not_ended_twice(void **state)
{
    struct play play = {.act = try_slow_end};
    (void)state;
    (void)pthread_barrier_init(&play.table.barrier, NULL, 1);
    fake_nccl_begin(1, FAKE_OF_DEVICE);
    assert_ok(yk_thread_world_run(1, be_rank, &play));
    fake_nccl_hold_destroy(false);
    fake_nccl_end();
    assert_null(fake_nccl_misuse());
    (void)pthread_barrier_destroy(&play.table.barrier);
}

/* Rank 0 of two is alone. */
static void a_rank_that_never_comes_is_not_waited_for_for_ever(void **state)
{
    struct play play = {0};
    struct guest guest = {&play.table, 0};
    const struct yk_comm_bootstrap bootstrap = {0, 2, share, &guest};
    struct yk_comm_options comm_options = {.backend = &fake_gpu, .bootstrap = &bootstrap};
    struct yk_communicator joined = {0};
    (void)state;
    (void)setenv("YOKE_MEET_S", "0.05", 1);
    (void)pthread_barrier_init(&play.table.barrier, NULL, 1);
    fake_nccl_begin(2, FAKE_OF_SYSTEM);
    assert_ok(sit(0, &comm_options.device, &comm_options.lane));
    assert_fails(yk_communicator_open(&yk_comm_plugin, &comm_options, &joined), YK_ERROR_LOST,
                 "nccl, meeting the other ranks: not all 2 ranks have come within 0.05 s; see what "
                 "the others say, whether NCCL_SOCKET_IFNAME names the network that joins them, or "
                 "set YOKE_MEET_S to more seconds");
    (void)unsetenv("YOKE_MEET_S");
    fake_nccl_await_joining();
    fake_nccl_drop_rank(1);
    fake_nccl_end();
    (void)pthread_barrier_destroy(&play.table.barrier);
}

static yk_status refuse(struct yk_backend_device *device, size_t bytes, void **out)
{
    (void)device;
    (void)bytes;
    (void)out;
    return yk_fail(YK_ERROR_NO_FIT, "there is no memory");
}

/* Rank 1 has no memory for a world, which the others hear of where they meet. */
static yk_status be_rich_or_poor(int32_t rank, int32_t ranks, void *user)
{
    struct play *play = user;
    struct guest guest = {&play->table, rank};
    struct yk_backend gpu = fake_gpu;
    struct yk_comm_world *world = NULL;
    const struct yk_comm_bootstrap bootstrap = {rank, ranks, share, &guest};
    struct yk_comm_options options = {.backend = &gpu, .bootstrap = &bootstrap};
    gpu.allocate = rank == 1 ? refuse : gpu.allocate;
    YK_TRY(sit(rank, &options.device, &options.lane));
    (void)pthread_barrier_wait(&play->table.barrier); /* all sit before one looks around */
    const yk_status opened = yk_comm_plugin.open(&options, &world);
    const bool is_right = opened == (rank == 1 ? YK_ERROR_NO_FIT : YK_ERROR_LOST) && !world;
    return is_right ? YK_OK
                    : yk_fail(YK_ERROR_NUMBERS, "rank %d: %s", (int)rank, yk_status_message());
}

static void a_rank_that_cannot_join_is_not_waited_for(void **state)
{
    struct play play = {0};
    (void)state;
    (void)pthread_barrier_init(&play.table.barrier, NULL, 3);
    fake_nccl_begin(3, FAKE_OF_SYSTEM);
    assert_ok(yk_thread_world_run(3, be_rich_or_poor, &play));
    fake_nccl_end();
    (void)pthread_barrier_destroy(&play.table.barrier);
}

static void what_it_needs_is_asked_for(void **state)
{
    struct yk_comm_world *world = NULL;
    struct table table = {.bytes = ""};
    struct guest guest = {&table, 0};
    const struct yk_comm_bootstrap bootstrap = {0, 1, share, &guest};
    const struct yk_comm_options of_cpu = {.backend = &yk_backend_cpu, .bootstrap = &bootstrap};
    const struct yk_comm_options nowhere = {.backend = &fake_gpu};
    const struct yk_comm_options somewhere = {.backend = &fake_gpu, .bootstrap = &bootstrap};
    (void)state;
    (void)pthread_barrier_init(&table.barrier, NULL, 1);
    fake_nccl_begin(1, FAKE_OF_DEVICE);
    assert_fails(yk_comm_plugin.open(&of_cpu, &world), YK_ERROR_INPUT,
                 "nccl: ranks on a device \"cpu\" cannot be joined by NCCL");
    assert_fails(yk_comm_plugin.open(&nowhere, &world), YK_ERROR_INPUT,
                 "nccl: nobody has said where the ranks meet; start them with mpirun, srun or "
                 "torchrun");
    (void)setenv("YOKE_NCCL_CTAS", "few", 1);
    assert_fails(yk_comm_plugin.open(&somewhere, &world), YK_ERROR_INPUT,
                 "YOKE_NCCL_CTAS=few: a number above 0");
    (void)unsetenv("YOKE_NCCL_CTAS");
    assert_null(world);
    yk_comm_plugin.close(NULL);
    yk_comm_plugin.group_destroy(NULL);
    fake_nccl_end();
    (void)pthread_barrier_destroy(&table.barrier);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exchanges_are_as_the_table_says_whatever_the_memory),
        cmocka_unit_test(memory_of_the_device_is_exchanged_like_that_of_the_system),
        cmocka_unit_test(more_than_a_block_goes_in_blocks),
        cmocka_unit_test(parts_may_begin_later),
        cmocka_unit_test(wide_sums_travel_as_fp32),
        cmocka_unit_test(it_says_how_many_ranks_are_on_how_many_hosts),
        cmocka_unit_test(a_rank_that_is_gone_is_reported),
        cmocka_unit_test(a_rank_that_gives_up_ends_what_others_wait_for),
        cmocka_unit_test(an_exchange_that_was_kept_waiting_leaves_aborted_communicators_alone),
        cmocka_unit_test(a_message_to_nobody_is_refused),
        cmocka_unit_test(a_communicator_that_ends_slowly_is_left_and_not_ended_twice),
        cmocka_unit_test(a_rank_that_never_comes_is_not_waited_for_for_ever),
        cmocka_unit_test(a_rank_that_cannot_join_is_not_waited_for),
        cmocka_unit_test(what_it_needs_is_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
