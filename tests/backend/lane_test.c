#include "support/support.h"

#include "backend/backend.h"
#include "base/clock.h"

#include <semaphore.h>
#include <string.h>

/* One device with two lanes, and a gate that a lane can be held at. */
struct fixture {
    const struct yk_backend *backend;
    struct yk_backend_device *device;
    struct yk_backend_lane *first;
    struct yk_backend_lane *second;
    struct yk_backend_event *event;
    sem_t gate;
    sem_t arrived;
};

static int make_fixture(void **state)
{
    static struct fixture fixture;
    const struct yk_backend_device_options options = {.threads = 2};
    fixture = (struct fixture){.backend = &yk_backend_cpu};
    assert_ok(fixture.backend->open(&options, &fixture.device));
    assert_ok(fixture.backend->lane_create(fixture.device, "first", &fixture.first));
    assert_ok(fixture.backend->lane_create(fixture.device, "second", &fixture.second));
    assert_ok(fixture.backend->event_create(fixture.device, &fixture.event));
    assert_int_equal(sem_init(&fixture.gate, 0, 0), 0);
    assert_int_equal(sem_init(&fixture.arrived, 0, 0), 0);
    *state = &fixture;
    return 0;
}

static int drop_fixture(void **state)
{
    struct fixture *fixture = *state;
    fixture->backend->lane_destroy(fixture->second);
    fixture->backend->lane_destroy(fixture->first);
    fixture->backend->event_destroy(fixture->event);
    fixture->backend->close(fixture->device);
    sem_destroy(&fixture->gate);
    sem_destroy(&fixture->arrived);
    return 0;
}

static void pass(sem_t *semaphore)
{
    while (sem_wait(semaphore) != 0) {
    }
}

/* Says that the lane came here, and holds it until the gate is opened. */
static void hold(void *user)
{
    struct fixture *fixture = user;
    sem_post(&fixture->arrived);
    pass(&fixture->gate);
}

static void hold_until_open(struct fixture *fixture, struct yk_backend_lane *lane)
{
    fixture->backend->call_host(lane, hold, fixture);
    pass(&fixture->arrived);
}

static void add_one(void *user)
{
    (*(int *)user)++;
}

static void arrive(void *user)
{
    sem_post(user);
}

static void work_runs_in_the_order_it_was_enqueued(void **state)
{
    const struct fixture *fixture = *state;
    int32_t chain[65] = {7};
    for (size_t i = 1; i < 65; i++) {
        fixture->backend->copy(fixture->first, &chain[i], &chain[i - 1], sizeof chain[0]);
    }
    fixture->backend->clear(fixture->first, &chain[0], sizeof chain[0]);
    assert_ok(fixture->backend->lane_synchronize(fixture->first));
    assert_int_equal(chain[0], 0);
    assert_int_equal(chain[64], 7);
}

static void lane_accepts_more_than_it_holds(void **state)
{
    enum {
        CALLS = 20000
    };
    const struct fixture *fixture = *state;
    int count = 0;
    for (int i = 0; i < CALLS; i++) {
        fixture->backend->call_host(fixture->first, add_one, &count);
    }
    assert_ok(fixture->backend->lane_synchronize(fixture->first));
    assert_int_equal(count, CALLS);
}

static void host_does_not_wait_for_what_it_enqueues(void **state)
{
    struct fixture *fixture = *state;
    int count = 0;
    hold_until_open(fixture, fixture->first);
    for (int i = 0; i < 100; i++) {
        fixture->backend->call_host(fixture->first, add_one, &count);
    }
    assert_int_equal(count, 0);
    sem_post(&fixture->gate);
    assert_ok(fixture->backend->lane_synchronize(fixture->first));
    assert_int_equal(count, 100);
}

static void arguments_are_copied_when_work_is_enqueued(void **state)
{
    struct fixture *fixture = *state;
    const float from[4] = {1, 2, 3, 4};
    float to[4] = {0};
    hold_until_open(fixture, fixture->first);
    for (int i = 0; i < 4; i++) {
        const float *one = &from[i]; /* gone when the copy runs */
        fixture->backend->copy(fixture->first, &to[i], one, sizeof *one);
    }
    sem_post(&fixture->gate);
    assert_ok(fixture->backend->lane_synchronize(fixture->first));
    assert_memory_equal(to, from, sizeof to);
}

static void lanes_run_side_by_side(void **state)
{
    struct fixture *fixture = *state;
    int count = 0;
    hold_until_open(fixture, fixture->first);
    fixture->backend->call_host(fixture->second, add_one, &count);
    assert_ok(fixture->backend->lane_synchronize(fixture->second));
    assert_int_equal(count, 1);
    sem_post(&fixture->gate);
    assert_ok(fixture->backend->lane_synchronize(fixture->first));
}

static void lane_waits_for_an_event_of_another(void **state)
{
    struct fixture *fixture = *state;
    int32_t from = 0;
    int32_t between = 5;
    int32_t to = 9;
    hold_until_open(fixture, fixture->first);
    fixture->backend->copy(fixture->first, &between, &from, sizeof from);
    fixture->backend->event_record(fixture->first, fixture->event);
    fixture->backend->event_wait(fixture->second, fixture->event);
    fixture->backend->copy(fixture->second, &to, &between, sizeof to);
    assert_int_equal(to, 9);
    sem_post(&fixture->gate);
    assert_ok(fixture->backend->lane_synchronize(fixture->second));
    assert_int_equal(to, 0);
    assert_ok(fixture->backend->lane_synchronize(fixture->first));
}

static void event_that_was_never_recorded_holds_nobody(void **state)
{
    const struct fixture *fixture = *state;
    int count = 0;
    fixture->backend->event_wait(fixture->first, fixture->event);
    fixture->backend->call_host(fixture->first, add_one, &count);
    assert_ok(fixture->backend->lane_synchronize(fixture->first));
    assert_int_equal(count, 1);
    assert_ok(fixture->backend->event_synchronize(fixture->event));
}

static void event_has_happened_when_its_lane_came_to_it(void **state)
{
    struct fixture *fixture = *state;
    assert_true(fixture->backend->event_query(fixture->event)); /* it never was recorded */
    hold_until_open(fixture, fixture->first);
    fixture->backend->event_record(fixture->first, fixture->event);
    assert_false(fixture->backend->event_query(fixture->event));
    sem_post(&fixture->gate);
    assert_ok(fixture->backend->event_synchronize(fixture->event));
    assert_true(fixture->backend->event_query(fixture->event));
}

/* The second lane waits for the first time the event is recorded, not for the time after. */
static void wait_is_for_the_event_as_recorded_when_it_was_called(void **state)
{
    struct fixture *fixture = *state;
    int count = 0;
    fixture->backend->event_record(fixture->first, fixture->event);
    fixture->backend->event_wait(fixture->second, fixture->event);
    hold_until_open(fixture, fixture->first);
    fixture->backend->event_record(fixture->first, fixture->event);
    fixture->backend->call_host(fixture->second, add_one, &count);
    assert_ok(
        fixture->backend->lane_synchronize(fixture->second)); /* while the first lane is held */
    assert_int_equal(count, 1);
    sem_post(&fixture->gate);
    assert_ok(fixture->backend->event_synchronize(fixture->event));
}

/* The event was recorded again on a lane that is ahead: who waited for the lane that is behind
 * must not be let go by it. */
static void event_recorded_on_two_lanes_happens_in_order(void **state)
{
    struct fixture *fixture = *state;
    struct yk_backend_lane *third = NULL;
    sem_t went_on;
    int value = 0;
    assert_int_equal(sem_init(&went_on, 0, 0), 0);
    assert_ok(fixture->backend->lane_create(fixture->device, "third", &third));
    hold_until_open(fixture, fixture->first);
    fixture->backend->event_record(fixture->first, fixture->event);
    fixture->backend->event_wait(third, fixture->event);
    fixture->backend->call_host(third, arrive, &went_on);
    fixture->backend->event_record(fixture->second, fixture->event);
    for (int i = 0; i < 1000; i++) {
        fixture->backend->call_host(fixture->second, add_one, &value);
    }
    assert_int_not_equal(sem_trywait(&went_on), 0);
    sem_post(&fixture->gate);
    assert_ok(fixture->backend->lane_synchronize(third));
    assert_int_equal(sem_trywait(&went_on), 0);
    assert_ok(fixture->backend->lane_synchronize(fixture->second));
    assert_int_equal(value, 1000);
    fixture->backend->lane_destroy(third);
    sem_destroy(&went_on);
}

static void lanes_hand_over_to_each_other_many_times(void **state)
{
    enum {
        ROUNDS = 300
    };
    const struct fixture *fixture = *state;
    struct yk_backend_event *back = NULL;
    int count = 0; /* touched by both lanes, in turns */
    assert_ok(fixture->backend->event_create(fixture->device, &back));
    for (int i = 0; i < ROUNDS; i++) {
        fixture->backend->event_wait(fixture->first, back);
        fixture->backend->call_host(fixture->first, add_one, &count);
        fixture->backend->event_record(fixture->first, fixture->event);
        fixture->backend->event_wait(fixture->second, fixture->event);
        fixture->backend->call_host(fixture->second, add_one, &count);
        fixture->backend->event_record(fixture->second, back);
    }
    assert_ok(fixture->backend->event_synchronize(back));
    assert_int_equal(count, 2 * ROUNDS);
    assert_ok(fixture->backend->lane_synchronize(fixture->second));
    fixture->backend->event_destroy(back);
}

static void event_can_go_once_it_was_reached(void **state)
{
    const struct fixture *fixture = *state;
    for (int i = 0; i < 200; i++) {
        struct yk_backend_event *event = NULL;
        assert_ok(fixture->backend->event_create(fixture->device, &event));
        fixture->backend->event_record(fixture->first, event);
        assert_ok(fixture->backend->event_synchronize(event));
        fixture->backend->event_destroy(event);
    }
}

static void event_knows_when_it_happened(void **state)
{
    struct fixture *fixture = *state;
    const double before_s = yk_clock_now_s();
    hold_until_open(fixture, fixture->first);
    fixture->backend->event_record(fixture->first, fixture->event);
    const double held_s = yk_clock_now_s();
    sem_post(&fixture->gate);
    assert_ok(fixture->backend->event_synchronize(fixture->event));
    const double first_s = fixture->backend->event_time_s(fixture->event);
    assert_true(before_s <= held_s && held_s <= first_s && first_s <= yk_clock_now_s());
    fixture->backend->event_record(fixture->first, fixture->event);
    assert_ok(fixture->backend->event_synchronize(fixture->event));
    assert_true(fixture->backend->event_time_s(fixture->event) >= first_s);
}

static void lane_is_destroyed_after_what_is_on_it_has_run(void **state)
{
    const struct fixture *fixture = *state;
    struct yk_backend_lane *lane = NULL;
    int count = 0;
    assert_ok(fixture->backend->lane_create(fixture->device, "a name of more than 15", &lane));
    for (int i = 0; i < 500; i++) {
        fixture->backend->call_host(lane, add_one, &count);
    }
    fixture->backend->lane_destroy(lane);
    assert_int_equal(count, 500);
    fixture->backend->lane_destroy(NULL);
    fixture->backend->event_destroy(NULL);
    fixture->backend->close(NULL);
}

static void memory_is_zeroed_and_aligned(void **state)
{
    const struct fixture *fixture = *state;
    const size_t sizes[] = {1, 64, 100, 5 << 20};
    for (int round = 0; round < 2; round++) { /* what was given back comes zeroed again */
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
            unsigned char *memory = NULL;
            assert_ok(fixture->backend->allocate(fixture->device, sizes[i], (void **)&memory));
            assert_int_equal((uintptr_t)memory % YK_BACKEND_ALIGNMENT, 0);
            assert_int_equal(memory[0] | memory[sizes[i] / 2] | memory[sizes[i] - 1], 0);
            memset(memory, 0xa5, sizes[i]);
            fixture->backend->free(fixture->device, memory);
        }
    }
    fixture->backend->free(fixture->device, NULL);
}

static void large_memory_is_copied_and_cleared_whole(void **state)
{
    enum {
        BYTES = (5 << 20) + 12345
    };
    const struct fixture *fixture = *state;
    unsigned char *from = NULL;
    unsigned char *to = NULL;
    assert_ok(fixture->backend->allocate_host(fixture->device, BYTES, (void **)&from));
    assert_ok(fixture->backend->allocate(fixture->device, BYTES, (void **)&to));
    for (size_t i = 0; i < BYTES; i++) {
        from[i] = (unsigned char)(i % 251);
    }
    fixture->backend->copy(fixture->first, to, from, BYTES);
    assert_ok(fixture->backend->lane_synchronize(fixture->first));
    assert_memory_equal(to, from, BYTES);
    fixture->backend->clear(fixture->first, to, BYTES - 1);
    assert_ok(fixture->backend->lane_synchronize(fixture->first));
    unsigned char any = 0;
    for (size_t i = 0; i < BYTES - 1; i++) {
        any |= to[i];
    }
    assert_int_equal(any, 0);
    assert_int_equal(to[BYTES - 1], (BYTES - 1) % 251);
    fixture->backend->free_host(fixture->device, from);
    fixture->backend->free(fixture->device, to);
}

static void memory_that_is_not_there_is_refused_by_name(void **state)
{
    const struct fixture *fixture = *state;
    void *memory = NULL;
    assert_int_equal(fixture->backend->allocate(fixture->device, (size_t)1 << 45, &memory),
                     YK_ERROR_NO_FIT);
    assert_non_null(strstr(yk_status_message(), "cpu: 32TiB of memory were asked for and "));
    assert_int_equal(fixture->backend->allocate(fixture->device, SIZE_MAX, &memory),
                     YK_ERROR_NO_FIT);
    assert_null(memory);
}

static void device_says_what_it_is(void **state)
{
    const struct fixture *fixture = *state;
    struct yk_text text = {0};
    struct yk_backend_device *device = NULL;
    const struct yk_backend_device_options second = {.index = 1};
    const struct yk_backend_device_options negative = {.threads = -1};
    const struct yk_backend_device_options all = {0};
    fixture->backend->describe(fixture->device, &text);
    assert_non_null(strstr(yk_text_chars(&text), ", 2 threads"));
    yk_text_free(&text);
    assert_fails(fixture->backend->open(&second, &device), YK_ERROR_INPUT,
                 "cpu: there is one, number 0; number 1 is not");
    assert_fails(fixture->backend->open(&negative, &device), YK_ERROR_INPUT,
                 "cpu: -1 threads cannot compute: 1 or more, or 0 for one on each core");
    assert_ok(fixture->backend->open(&all, &device));
    fixture->backend->close(device);
}

#define with_fixture(test) cmocka_unit_test_setup_teardown(test, make_fixture, drop_fixture)

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_fixture(work_runs_in_the_order_it_was_enqueued),
        with_fixture(lane_accepts_more_than_it_holds),
        with_fixture(host_does_not_wait_for_what_it_enqueues),
        with_fixture(arguments_are_copied_when_work_is_enqueued),
        with_fixture(lanes_run_side_by_side),
        with_fixture(lane_waits_for_an_event_of_another),
        with_fixture(event_that_was_never_recorded_holds_nobody),
        with_fixture(wait_is_for_the_event_as_recorded_when_it_was_called),
        with_fixture(event_recorded_on_two_lanes_happens_in_order),
        with_fixture(lanes_hand_over_to_each_other_many_times),
        with_fixture(event_can_go_once_it_was_reached),
        with_fixture(event_has_happened_when_its_lane_came_to_it),
        with_fixture(event_knows_when_it_happened),
        with_fixture(lane_is_destroyed_after_what_is_on_it_has_run),
        with_fixture(memory_is_zeroed_and_aligned),
        with_fixture(large_memory_is_copied_and_cleared_whole),
        with_fixture(memory_that_is_not_there_is_refused_by_name),
        with_fixture(device_says_what_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
