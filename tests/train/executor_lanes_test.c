/* Which op a lane is in, as its events tell: against a walk through all that was put. */
#include "base/random.h"
#include "program/op_index.h"
#include "support/support.h"
#include "support/training/trainer.h"
#include "train/executor/executor_state.h"

#include <stdatomic.h>
#include <string.h>

enum {
    OPS = 11,
    ACTIONS = 4000,
    SAMPLES = 2,
    SEQUENCE = 8,
    TOKENS = 19,
    STEPS = 5,
};

/* ---- lanes that go as the test says ---- */

struct yk_backend_event {
    bool happened;
};

static bool has_happened(const struct yk_backend_event *event)
{
    return event->happened;
}

static const struct yk_backend fake_backend = {.name = "fake", .event_query = has_happened};

/* How far a lane is: begun and ended, of its ops over all rounds. */
struct walk {
    int64_t enqueued;
    int64_t begun;
    int64_t ended;
};

struct scene {
    struct yk_executor executor;
    struct yk_op_index index;
    struct yk_op_list list;
    struct yk_op ops[OPS];
    struct yk_op_events events[YK_EXECUTOR_ROUND_SLOTS][OPS];
    struct yk_backend_event marks[YK_EXECUTOR_ROUND_SLOTS][OPS][2];
    struct walk walks[YK_LANE_COUNT];
    int64_t enqueued; /* of all lanes */
};

static void set_scene(struct scene *scene, struct yk_random *random)
{
    memset(scene, 0, sizeof *scene);
    scene->list = (struct yk_op_list){.ops = scene->ops, .op_count = OPS};
    scene->executor.list = &scene->list;
    scene->executor.backend = &fake_backend;
    assert_ok(yk_arena_create(&scene->executor.arena));
    for (int32_t i = 0; i < OPS; i++) {
        scene->ops[i].lane = (enum yk_lane)yk_random_below(random, YK_LANE_COUNT);
    }
    for (int32_t r = 0; r < YK_EXECUTOR_ROUND_SLOTS; r++) {
        scene->executor.events[r] = scene->events[r];
        for (int32_t i = 0; i < OPS; i++) {
            scene->events[r][i].started = &scene->marks[r][i][0];
            scene->events[r][i].ended = &scene->marks[r][i][1];
            scene->marks[r][i][0].happened = scene->marks[r][i][1].happened = true;
        }
    }
    scene->executor.index = &scene->index;
    assert_ok(yk_op_lane_lists_make(&scene->list, scene->executor.arena, &scene->index.lanes));
}

static int32_t count_lane(const struct scene *scene, int lane)
{
    int32_t count = 0;
    for (int32_t i = 0; i < OPS; i++) {
        count += scene->ops[i].lane == (enum yk_lane)lane;
    }
    return count;
}

/* The lane's op number `at` over all rounds, found by counting. */
static int32_t op_at(const struct scene *scene, int lane, int64_t at, int64_t *round)
{
    const int32_t count = count_lane(scene, lane);
    int64_t left = at % count;
    *round = at / count;
    for (int32_t i = 0; i < OPS; i++) {
        if (scene->ops[i].lane == (enum yk_lane)lane && left-- == 0) {
            return i;
        }
    }
    return -1;
}

/* As the executor does: no round before the one that lies four before it has ended. */
static void enqueue_next(struct scene *scene)
{
    const int64_t round = scene->enqueued / OPS;
    const int32_t op = (int32_t)(scene->enqueued % OPS);
    const int lane = (int)scene->ops[op].lane;
    for (int i = 0; i < YK_LANE_COUNT; i++) {
        const int64_t must = (round - YK_EXECUTOR_ROUND_SLOTS + 1) * count_lane(scene, i);
        if (scene->walks[i].ended < must) {
            return;
        }
    }
    scene->marks[round % YK_EXECUTOR_ROUND_SLOTS][op][0].happened = false;
    scene->marks[round % YK_EXECUTOR_ROUND_SLOTS][op][1].happened = false;
    scene->walks[lane].enqueued++;
    scene->enqueued++;
    atomic_store(&scene->executor.enqueued, scene->enqueued);
}

static void go_on(struct scene *scene, int lane)
{
    struct walk *walk = &scene->walks[lane];
    int64_t round = 0;
    if (walk->ended == walk->enqueued) {
        return;
    }
    const bool begins = walk->begun == walk->ended;
    const int32_t op = op_at(scene, lane, walk->ended, &round);
    scene->marks[round % YK_EXECUTOR_ROUND_SLOTS][op][begins ? 0 : 1].happened = true;
    walk->begun += begins ? 1 : 0;
    walk->ended += begins ? 0 : 1;
}

static void expect_places(const struct scene *scene)
{
    for (int lane = 0; lane < YK_LANE_COUNT; lane++) {
        const struct walk *walk = &scene->walks[lane];
        struct yk_lane_progress place;
        int64_t round = 0;
        yk_executor_get_lane_progress(&scene->executor, (enum yk_lane)lane, &place);
        assert_int_equal(place.passed, walk->ended);
        assert_int_equal(place.op, walk->begun > walk->ended
                                       ? op_at(scene, lane, walk->ended, &round)
                                       : YK_OP_NONE);
    }
}

static void a_lane_is_in_the_first_op_that_has_begun_and_not_ended(void **state)
{
    (void)state;
    struct yk_random random = yk_random_from_seed(7);
    struct scene scene;
    for (int program = 0; program < 8; program++) {
        set_scene(&scene, &random);
        for (int i = 0; i < ACTIONS; i++) {
            const int action = (int)yk_random_below(&random, YK_LANE_COUNT + 3);
            if (action < YK_LANE_COUNT) {
                go_on(&scene, action);
            } else {
                enqueue_next(&scene);
            }
            expect_places(&scene);
        }
        assert_true(scene.enqueued > INT64_C(20) * OPS); /* rounds went by */
        yk_arena_destroy(scene.executor.arena);
    }
}

/* ---- lanes of a CPU ---- */

struct asked {
    _Atomic(const struct yk_executor *) executor;
    atomic_int reported;
    atomic_int wrong;
};

static void note_executor(void *user, const struct yk_executor *executor)
{
    struct asked *asked = user;
    atomic_store(&asked->executor, executor);
    atomic_fetch_add(&asked->reported, 1);
}

/* On the lane, before the op starts: all before it on the lane have ended, and it is in none. */
static void ask(void *user, enum yk_lane lane, int32_t op)
{
    struct asked *asked = user;
    const struct yk_executor *executor = atomic_load(&asked->executor);
    struct yk_lane_progress place;
    if (op == YK_OP_NONE) {
        return;
    }
    yk_executor_get_lane_progress(executor, lane, &place);
    const int32_t next =
        executor->index->lanes.ops[lane][place.passed % executor->index->lanes.count[lane]];
    atomic_fetch_add(&asked->wrong, place.op != YK_OP_NONE || next != op);
}

static void an_executor_reports_where_its_lanes_are(void **state)
{
    (void)state;
    static const char json[] = "{\"model_type\": \"gpt2\", \"vocab_size\": 19, "
                               "\"n_positions\": 8, \"n_embd\": 24, \"n_layer\": 2, "
                               "\"n_head\": 3}";
    struct asked asked = {NULL};
    const struct yk_executor_options options = {
        .op_began = ask, .watch = note_executor, .user = &asked};
    struct yk_arena *arena = NULL;
    const struct yk_model_config *config = NULL;
    int32_t tokens[SAMPLES * SEQUENCE];
    assert_ok(yk_arena_create(&arena));
    assert_ok(yk_model_config_parse(json, strlen(json), "test", arena, &config));
    struct trainer *trainer = trainer_open(&(struct trainer_request){
        .config = config,
        .batch = SAMPLES,
        .sequence = SEQUENCE,
        .micro_batches = 2,
        .optimizer = {.kind = YK_OPTIMIZER_ADAMW, .beta1 = 0.9, .beta2 = 0.99, .epsilon = 1e-8},
    });
    yk_executor_destroy(trainer->executor);
    assert_ok(yk_executor_create(trainer->program, trainer->store, &trainer->optimizer, &options,
                                 &trainer->executor));
    assert_ptr_equal(atomic_load(&asked.executor), trainer->executor);
    assert_ok(yk_parameter_store_init_parameters(trainer->store, 1, YK_PARAMETER_STORE_INIT_ALL));
    for (int i = 0; i < SAMPLES * SEQUENCE; i++) {
        tokens[i] = i * 7 % TOKENS;
    }
    for (int64_t s = 0; s < STEPS; s++) {
        (void)trainer_step(trainer, tokens, tokens, s * SAMPLES,
                           (struct yk_step_options){.lr = 1e-3, .updates = s, .loss_scale = 1});
    }
    assert_ok(yk_executor_finish_steps(trainer->executor));
    for (int lane = 0; lane < YK_LANE_COUNT; lane++) {
        struct yk_lane_progress place;
        yk_executor_get_lane_progress(trainer->executor, (enum yk_lane)lane, &place);
        assert_int_equal(place.op, YK_OP_NONE);
        assert_int_equal(place.passed,
                         trainer->executor->rounds * trainer->executor->index->lanes.count[lane]);
    }
    assert_int_equal(atomic_load(&asked.wrong), 0);
    trainer_close(trainer);
    assert_int_equal(atomic_load(&asked.reported), 2);
    assert_null(atomic_load(&asked.executor));
    yk_arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lane_is_in_the_first_op_that_has_begun_and_not_ended),
        cmocka_unit_test(an_executor_reports_where_its_lanes_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
