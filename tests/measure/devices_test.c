/* Two ranks whose devices are unequal parts of a GPU: a CPU that says that memory is its own, tells
 * how much of it is in use, and exchanges it through another world than the ranks talk by. */
#include "support/support.h"

#include "comm/comm.h"
#include "measure/profiler/profiler.h"
#include "measure/slowdown/slowdown.h"
#include "support/exchanges/thread_comm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    RANKS = 2,
    MAX_CHUNKS = 4096,
    LARGEST = 4096,
    SIZES = 3, /* of messages: 8, 1024, 4096 */
};

static const double context_bytes = 3e8; /* of a process, */
static const double group_bytes = 5e7;   /* of each group that has exchanged something */

/* What this rank has of its device; a rank is a thread, and takes memory on no other. */
static _Thread_local struct {
    const void *memory;
    size_t bytes;
} chunks[MAX_CHUNKS];
static _Thread_local int32_t groups;
static _Thread_local int32_t exchanged; /* messages so far */

static struct yk_backend pretended;
static struct yk_comm_backend wire;

static yk_status allocate(struct yk_backend_device *device, size_t bytes, void **out)
{
    YK_TRY(yk_backend_cpu.allocate(device, bytes, out));
    for (int i = 0; i < MAX_CHUNKS; i++) {
        if (!chunks[i].memory) {
            chunks[i].memory = *out;
            chunks[i].bytes = bytes;
            return YK_OK;
        }
    }
    return yk_fail(YK_ERROR_NO_FIT, "%d pieces", MAX_CHUNKS);
}

static void give_back(struct yk_backend_device *device, void *memory)
{
    for (int i = 0; memory && i < MAX_CHUNKS; i++) {
        chunks[i].memory = chunks[i].memory == memory ? NULL : chunks[i].memory;
    }
    yk_backend_cpu.free(device, memory);
}

static size_t used(struct yk_backend_device *device)
{
    (void)device;
    double bytes = context_bytes + (exchanged > 0 ? group_bytes * groups : 0);
    for (int i = 0; i < MAX_CHUNKS; i++) {
        bytes += chunks[i].memory ? (double)chunks[i].bytes : 0;
    }
    return (size_t)bytes;
}

static bool holds(const struct yk_backend_device *device, const void *memory)
{
    (void)device;
    for (int i = 0; i < MAX_CHUNKS; i++) {
        const char *begin = chunks[i].memory;
        if (begin && (const char *)memory >= begin &&
            (const char *)memory < begin + chunks[i].bytes) {
            return true;
        }
    }
    return false;
}

static yk_status group_create(struct yk_comm_world *world, const int32_t *ranks, int32_t count,
                              struct yk_comm_group **out)
{
    YK_TRY(yk_comm_host_staging.group_create(world, ranks, count, out));
    groups += *out ? 1 : 0;
    return YK_OK;
}

static void group_destroy(struct yk_comm_group *group)
{
    groups -= group ? 1 : 0;
    yk_comm_host_staging.group_destroy(group);
}

/* All that is measured is on the device. */
static void all_reduce(const struct yk_comm_all_reduce *op)
{
    assert_true(holds(NULL, op->numbers));
    exchanged++;
    yk_comm_host_staging.all_reduce(op);
}

static void all_gather(const struct yk_comm_all_gather *op)
{
    assert_true(holds(NULL, op->whole) && holds(NULL, op->own));
    exchanged++;
    yk_comm_host_staging.all_gather(op);
}

static void pretend(void)
{
    pretended = yk_backend_cpu;
    pretended.allocate = allocate;
    pretended.free = give_back;
    pretended.used_bytes = used;
    pretended.contains = holds;
    wire = yk_comm_host_staging;
    wire.group_create = group_create;
    wire.group_destroy = group_destroy;
    wire.all_reduce = all_reduce;
    wire.all_gather = all_gather;
}

/* ---- one survey ---- */

struct measuring {
    struct yk_arena *arena;
    const struct yk_model_config *config;
    struct yk_cluster *cluster;
    struct yk_profiler surveys[RANKS];
    struct yk_profiler besides[RANKS]; /* of measurements that are made up */
    struct yk_profiler again[RANKS]; /* with what the first one has found, but for the last of it */
};

struct rank {
    struct yk_device_context context;
    struct yk_backend_lane *talk_lane;
    struct yk_backend_lane *work_lane;
    struct yk_communicator ranks;
    struct yk_communicator work;
};

static yk_status open_rank(struct rank *rank)
{
    const struct yk_backend_device_options options = {.threads = 1};
    rank->context.backend = &pretended;
    YK_TRY(pretended.open(&options, &rank->context.device));
    YK_TRY(pretended.lane_create(rank->context.device, "load", &rank->context.lane));
    YK_TRY(pretended.lane_create(rank->context.device, "talk", &rank->talk_lane));
    YK_TRY(pretended.lane_create(rank->context.device, "comm", &rank->work_lane));
    const struct yk_comm_options talk = {
        .backend = &yk_backend_cpu, .device = rank->context.device, .lane = rank->talk_lane};
    YK_TRY(yk_communicator_open(&yk_comm_threads, &talk, &rank->ranks));
    const struct yk_comm_options work = {.backend = &pretended,
                                         .device = rank->context.device,
                                         .lane = rank->work_lane,
                                         .host_communicator = &rank->ranks};
    return yk_communicator_open(&wire, &work, &rank->work);
}

static void close_rank(struct rank *rank)
{
    yk_communicator_close(&rank->work);
    yk_communicator_close(&rank->ranks);
    pretended.lane_destroy(rank->work_lane);
    pretended.lane_destroy(rank->talk_lane);
    pretended.lane_destroy(rank->context.lane);
    pretended.close(rank->context.device);
}

static double held_bytes(const struct yk_device_context *context)
{
    return (double)context->backend->used_bytes(context->device);
}

/* Two pairs of the same devices: rank 0 finds 1.125 and then less, rank 1 finds 1.25 and then 1.5.
 */
static yk_status add_besides(const struct yk_measuring_ranks *team,
                             const struct yk_profiler_request *request,
                             struct yk_profiler *profiler)
{
    static const double found[][RANKS] = {{1.125, 1.25}, {1.0625, 1.5}};
    int32_t ranks[RANKS] = {0, 1};
    const struct yk_measured_rank_group pair = {.ranks = ranks, .count = RANKS};
    profiler->team = team;
    profiler->request = request;
    for (int i = 0; i < 2; i++) {
        const struct yk_profile_measurement own = {.value = found[i][team->host_communicator->rank],
                                                   .samples = 5};
        YK_TRY(yk_slowdown_rank_pairs_add_device_facts(profiler, &pair, &own));
    }
    return YK_OK;
}

static struct yk_profiler_request request_of(const struct measuring *measuring)
{
    return (struct yk_profiler_request){
        .config = measuring->config,
        .workload = {.batch = 1, .sequence = 8, .precision = YK_PRECISION_BF16},
        .cluster = measuring->cluster,
        .slowdown_factor = 1,
        .used_bytes = held_bytes,
        .versions = "test",
    };
}

static yk_status run_again(int32_t number, int32_t ranks, void *user)
{
    (void)ranks;
    struct measuring *measuring = user;
    struct rank rank = {0};
    yk_status status = open_rank(&rank);
    const struct yk_measuring_ranks team = {.host_communicator = &rank.ranks,
                                            .device_communicator = &rank.work,
                                            .context = rank.context};
    const struct yk_profiler_request request = request_of(measuring);
    if (status == YK_OK) {
        status = yk_profiler_measure_layers(&measuring->again[number], &team, &request);
    }
    close_rank(&rank);
    return status;
}

static yk_status run_rank(int32_t number, int32_t ranks, void *user)
{
    (void)ranks;
    struct measuring *measuring = user;
    struct yk_profiler *profiler = &measuring->surveys[number];
    struct rank rank = {0};
    yk_status status = open_rank(&rank);
    const struct yk_measuring_ranks team = {.host_communicator = &rank.ranks,
                                            .device_communicator = &rank.work,
                                            .context = rank.context};
    const struct yk_profiler_request request = request_of(measuring);
    if (status == YK_OK) {
        status = yk_profiler_measure_layers(profiler, &team, &request);
    }
    if (status == YK_OK) {
        status = yk_profiler_measure_links(profiler, &team, &request, LARGEST);
    }
    if (status == YK_OK) {
        status = add_besides(&team, &request, &measuring->besides[number]);
    }
    close_rank(&rank);
    return status;
}

static int make(void **state)
{
    struct measuring *measuring = calloc(1, sizeof *measuring);
    if (!measuring) {
        return -1;
    }
    pretend();
    assert_ok(yk_arena_create(&measuring->arena));
    assert_ok(yk_model_config_open("gpt-nano", measuring->arena, &measuring->config));
    assert_ok(
        yk_cluster_parse_line("1x(h200:69.7%:48GiB) + 1x(h200:13.6%:24GiB)", &measuring->cluster));
    for (int i = 0; i < RANKS; i++) {
        assert_ok(yk_profiler_init(&measuring->surveys[i]));
        assert_ok(yk_profiler_init(&measuring->besides[i]));
        assert_ok(yk_profiler_init(&measuring->again[i]));
    }
    assert_ok(yk_thread_world_run(RANKS, run_rank, measuring));
    *state = measuring;
    return 0;
}

static int unmake(void **state)
{
    struct measuring *measuring = *state;
    for (int i = 0; i < RANKS; i++) {
        yk_profiler_free(&measuring->surveys[i]);
        yk_profiler_free(&measuring->besides[i]);
        yk_profiler_free(&measuring->again[i]);
    }
    yk_cluster_destroy(measuring->cluster);
    yk_arena_destroy(measuring->arena);
    free(measuring);
    return 0;
}

/* Four sorts of layers, each forward, backward and update. */
static void layers_are_known_by_the_kind_of_gpu_and_its_part(void **state)
{
    const struct yk_profiler *profiler = &((struct measuring *)*state)->surveys[0];
    int32_t large = 0;
    int32_t small = 0;
    for (int32_t i = 0; i < profiler->layer_count; i++) {
        assert_string_equal(profiler->layers[i].layer.device, "h200");
        large += fabs(profiler->layers[i].layer.part - 0.697) < 1e-9;
        small += fabs(profiler->layers[i].layer.part - 0.136) < 1e-9;
    }
    assert_int_equal(large, 12);
    assert_int_equal(small, 12);
}

static void messages_are_known_by_the_two_parts(void **state)
{
    const struct yk_profiler *profiler = &((struct measuring *)*state)->surveys[0];
    static const char *const kinds[] = {"send", "all_gather", "reduce_scatter", "all_reduce"};
    assert_int_equal(profiler->link_count, 4 * SIZES);
    for (int32_t i = 0; i < profiler->link_count; i++) {
        const struct yk_profiler_link_row *row = &profiler->links[i];
        assert_string_equal(row->link.link, "h200:13.6%-h200:69.7% between nodes");
        assert_string_equal(row->link.collective, kinds[i / SIZES]);
        assert_true(row->measurement.value > 0);
    }
}

static double find_fact(const struct yk_profiler *profiler, const char *subject, const char *name)
{
    for (int32_t i = 0; i < profiler->fact_count; i++) {
        const struct yk_profiler_fact_row *row = &profiler->facts[i];
        if (strcmp(row->fact.subject, subject) == 0 && strcmp(row->fact.fact, name) == 0) {
            return row->measurement.value;
        }
    }
    fail_msg("nothing is known of %s: %s", subject, name);
    return 0;
}

/* Its context, and what comms took for the two groups of a training: that of all ranks, and one
 * that exchanges gradients. Neither what it trains nor the messages that were measured. */
static void a_process_holds_its_context_and_what_comms_took(void **state)
{
    static const char *const subjects[] = {"h200:69.7% with gpt-nano", "h200:13.6% with gpt-nano",
                                           "h200:69.7%", "h200:13.6%"};
    const struct yk_profiler *profiler = &((struct measuring *)*state)->surveys[0];
    for (size_t i = 0; i < sizeof subjects / sizeof subjects[0]; i++) {
        const double held = find_fact(profiler, subjects[i], YK_PROFILE_FACT_CONTEXT_BYTES);
        assert_true(held >= context_bytes + 2 * group_bytes);
        assert_true(held < context_bytes + 2.1 * group_bytes);
    }
}

/* What messages slow computation by is a fact of each device, the worst of the pairs it is in. */
static void each_device_is_slowed_by_messages_in_its_own_way(void **state)
{
    const struct yk_profiler *profiler = &((struct measuring *)*state)->besides[1];
    assert_int_equal(profiler->fact_count, 2);
    assert_true(find_fact(profiler, "h200:69.7%", YK_PROFILE_FACT_COMPUTE_SLOWDOWN) == 1.125);
    assert_true(find_fact(profiler, "h200:13.6%", YK_PROFILE_FACT_COMPUTE_SLOWDOWN) == 1.5);
}

/* Pretended devices share nothing: nearly as long alone, and never longer. */
static void each_kind_is_measured_while_others_rest(void **state)
{
    static const char *const subjects[] = {"h200:69.7%", "h200:13.6%"};
    for (int rank = 0; rank < RANKS; rank++) {
        const struct yk_profiler *profiler = &((struct measuring *)*state)->surveys[rank];
        for (size_t i = 0; i < sizeof subjects / sizeof subjects[0]; i++) {
            const double times = find_fact(profiler, subjects[i], YK_PROFILE_FACT_IDLE_SPEEDUP);
            assert_true(times > 0 && times <= 1);
        }
    }
}

/* Whoever was stopped before it. */
static void it_is_measured_where_everything_else_is_known(void **state)
{
    struct measuring *measuring = *state;
    const struct yk_profiler *first = &measuring->surveys[0];
    static const char link[] = "h200:13.6%-h200:69.7% between nodes";
    static const char *const besides[] = {YK_PROFILE_FACT_COMPUTE_SLOWDOWN,
                                          YK_PROFILE_FACT_MESSAGE_SLOWDOWN};
    const struct yk_profile_measurement made = {.value = 1.5, .samples = 3, .versions = "test"};
    struct yk_profile *profile = NULL;
    assert_ok(yk_profile_open_or_create(":memory:", &profile));
    for (int32_t i = 0; i < first->layer_count; i++) {
        const struct yk_profiler_layer_row *row = &first->layers[i];
        assert_ok(yk_profile_add_layer_time(profile, &row->layer, row->batch, &row->measurement));
    }
    for (int32_t i = 0; i < first->fact_count; i++) {
        const struct yk_profiler_fact_row *row = &first->facts[i];
        if (strcmp(row->fact.fact, YK_PROFILE_FACT_IDLE_SPEEDUP) != 0) {
            assert_ok(yk_profile_add_fact(profile, &row->fact, &row->measurement));
        }
    }
    for (int i = 0; i < 2; i++) {
        const struct yk_profile_fact_key fact = {link, besides[i]};
        assert_ok(yk_profile_add_fact(profile, &fact, &made));
    }
    measuring->again[0].profile = profile;
    assert_ok(yk_thread_world_run(RANKS, run_again, measuring));
    assert_int_equal(measuring->again[0].layer_count, 0);
    assert_true(find_fact(&measuring->again[0], "h200:69.7%", YK_PROFILE_FACT_IDLE_SPEEDUP) > 0);
    assert_true(find_fact(&measuring->again[1], "h200:13.6%", YK_PROFILE_FACT_IDLE_SPEEDUP) > 0);
    yk_profile_close(profile);
    measuring->again[0].profile = NULL;
}

static void a_step_alone_is_never_longer(void **state)
{
    (void)state;
    assert_true(yk_idle_speedup_time_ratio(3, 4) == 0.75);
    assert_true(yk_idle_speedup_time_ratio(5, 4) == 1);
    assert_true(yk_idle_speedup_time_ratio(0.001, 4) == 0.1);
    assert_true(isnan(yk_idle_speedup_time_ratio(0, 4)));
    assert_true(isnan(yk_idle_speedup_time_ratio(3, NAN)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layers_are_known_by_the_kind_of_gpu_and_its_part),
        cmocka_unit_test(messages_are_known_by_the_two_parts),
        cmocka_unit_test(a_process_holds_its_context_and_what_comms_took),
        cmocka_unit_test(each_device_is_slowed_by_messages_in_its_own_way),
        cmocka_unit_test(each_kind_is_measured_while_others_rest),
        cmocka_unit_test(it_is_measured_where_everything_else_is_known),
        cmocka_unit_test(a_step_alone_is_never_longer),
    };
    return cmocka_run_group_tests(tests, make, unmake);
}
