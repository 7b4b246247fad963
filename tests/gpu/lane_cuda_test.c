/*
 * Lanes, events and memory of a GPU.
 *
 * A lane is held by work of the host that waits at a gate. Meanwhile nothing may be asked of the
 * GPU that waits for all of it, such as taking memory, and no other lane may call the host: calls
 * need not run side by side.
 */
#include "gpu/gpu.h"

#include "base/clock.h"
#include "support/support.h"

#include <semaphore.h>
#include <stdlib.h>
#include <string.h>

/* One device with two lanes, a few numbers on it and on the host, and a gate. */
struct fixture {
    struct yk_backend_device *device;
    struct yk_backend_lane *first;
    struct yk_backend_lane *second;
    struct yk_backend_event *event;
    int32_t *there; /* (NUMBERS) on the device, zeroed */
    int32_t *here;  /* (NUMBERS) on the host, as copies like it */
    sem_t gate;
    sem_t arrived;
};

enum {
    NUMBERS = 16,
    NUMBER_BYTES = 4,
};

static const struct yk_backend *backend;

static int make_fixture(void **state)
{
    static struct fixture fixture;
    const struct yk_backend_device_options options = {0};
    const size_t bytes = (size_t)NUMBERS * NUMBER_BYTES;
    fixture = (struct fixture){0};
    assert_ok(backend->open(&options, &fixture.device));
    assert_ok(backend->lane_create(fixture.device, "first", &fixture.first));
    assert_ok(backend->lane_create(fixture.device, "second", &fixture.second));
    assert_ok(backend->event_create(fixture.device, &fixture.event));
    assert_ok(backend->allocate(fixture.device, bytes, (void **)&fixture.there));
    assert_ok(backend->allocate_host(fixture.device, bytes, (void **)&fixture.here));
    assert_int_equal(sem_init(&fixture.gate, 0, 0), 0);
    assert_int_equal(sem_init(&fixture.arrived, 0, 0), 0);
    *state = &fixture;
    return 0;
}

static int drop_fixture(void **state)
{
    struct fixture *fixture = *state;
    sem_post(&fixture->gate); /* a test that failed may have left a lane at it */
    backend->lane_destroy(fixture->second);
    backend->lane_destroy(fixture->first);
    backend->event_destroy(fixture->event);
    backend->free(fixture->device, fixture->there);
    backend->free_host(fixture->device, fixture->here);
    backend->close(fixture->device);
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
    backend->call_host(lane, hold, fixture);
    pass(&fixture->arrived);
}

static void enqueue(struct yk_backend_lane *lane, void *to, const void *from)
{
    backend->copy(lane, to, from, NUMBER_BYTES);
}

/* ---- copies ---- */

enum {
    LARGE_BYTES = (5 << 20) + 12345,
};

struct large {
    uint8_t *host;   /* as the system gives it */
    uint8_t *fast;   /* as the device gives it */
    uint8_t *device; /* two of the device's own */
    uint8_t *other;
};

static void allocate_large(const struct fixture *fixture, struct large *out)
{
    out->host = malloc(LARGE_BYTES);
    assert_non_null(out->host);
    assert_ok(backend->allocate_host(fixture->device, LARGE_BYTES, (void **)&out->fast));
    assert_ok(backend->allocate(fixture->device, LARGE_BYTES, (void **)&out->device));
    assert_ok(backend->allocate(fixture->device, LARGE_BYTES, (void **)&out->other));
    for (size_t i = 0; i < LARGE_BYTES; i++) {
        out->host[i] = (uint8_t)(i % 251);
    }
}

static void give_back_large(const struct fixture *fixture, struct large *large)
{
    free(large->host);
    backend->free_host(fixture->device, large->fast);
    backend->free(fixture->device, large->device);
    backend->free(fixture->device, large->other);
}

/* The bytes from `first` on up to `end` that are not `i mod 251`, or not 0 where they were cleared.
 */
static size_t count_wrong(const uint8_t *bytes, size_t first, size_t end, bool cleared)
{
    size_t wrong = 0;
    for (size_t i = first; i < end; i++) {
        wrong += bytes[i] != (cleared ? 0 : (uint8_t)(i % 251));
    }
    return wrong;
}

static void memory_is_copied_in_every_direction(void **state)
{
    const struct fixture *fixture = *state;
    struct yk_backend_lane *lane = fixture->first;
    struct large large;
    allocate_large(fixture, &large);
    backend->copy(lane, large.device, large.host, LARGE_BYTES);
    backend->copy(lane, large.other, large.device, LARGE_BYTES);
    backend->copy(lane, large.fast, large.other, LARGE_BYTES);
    assert_ok(backend->lane_synchronize(lane));
    assert_int_equal(count_wrong(large.fast, 0, LARGE_BYTES, false), 0);
    backend->clear(lane, large.device, LARGE_BYTES);
    backend->copy(lane, large.device, large.fast, LARGE_BYTES);
    memset(large.host, 0, LARGE_BYTES);
    backend->copy(lane, large.host, large.device, LARGE_BYTES);
    assert_ok(backend->lane_synchronize(lane));
    assert_int_equal(count_wrong(large.host, 0, LARGE_BYTES, false), 0);
    memset(large.fast, 0, LARGE_BYTES);
    backend->copy(lane, large.fast, large.host, LARGE_BYTES);
    assert_ok(backend->lane_synchronize(lane));
    assert_int_equal(count_wrong(large.fast, 0, LARGE_BYTES, false), 0);
    give_back_large(fixture, &large);
}

static void copies_and_clears_end_where_they_should(void **state)
{
    enum {
        FIRST = 3,
        END = LARGE_BYTES - 5,
    };
    const struct fixture *fixture = *state;
    struct yk_backend_lane *lane = fixture->first;
    struct large large;
    allocate_large(fixture, &large);
    backend->copy(lane, large.device, large.host, LARGE_BYTES);
    backend->clear(lane, large.device + FIRST, END - FIRST);
    backend->copy(lane, large.fast, large.device, LARGE_BYTES);
    backend->copy(lane, large.other + FIRST, large.host + FIRST, END - FIRST);
    backend->copy(lane, large.host, large.other, LARGE_BYTES);
    backend->copy(lane, NULL, NULL, 0);
    backend->clear(lane, NULL, 0);
    assert_ok(backend->lane_synchronize(lane));
    assert_int_equal(count_wrong(large.fast, 0, FIRST, false), 0);
    assert_int_equal(count_wrong(large.fast, FIRST, END, true), 0);
    assert_int_equal(count_wrong(large.fast, END, LARGE_BYTES, false), 0);
    assert_int_equal(count_wrong(large.host, 0, FIRST, true), 0);
    assert_int_equal(count_wrong(large.host, FIRST, END, false), 0);
    assert_int_equal(count_wrong(large.host, END, LARGE_BYTES, true), 0);
    give_back_large(fixture, &large);
}

/* ---- lanes ---- */

static void work_runs_in_the_order_it_was_enqueued(void **state)
{
    const struct fixture *fixture = *state;
    fixture->here[0] = 7;
    enqueue(fixture->first, &fixture->there[0], &fixture->here[0]);
    for (int i = 1; i < NUMBERS; i++) {
        enqueue(fixture->first, &fixture->there[i], &fixture->there[i - 1]);
    }
    backend->clear(fixture->first, &fixture->there[0], NUMBER_BYTES);
    enqueue(fixture->first, &fixture->here[1], &fixture->there[NUMBERS - 1]);
    enqueue(fixture->first, &fixture->here[0], &fixture->there[0]);
    assert_ok(backend->lane_synchronize(fixture->first));
    assert_int_equal(fixture->here[1], 7);
    assert_int_equal(fixture->here[0], 0);
}

/* Remembers in here[2] what here[1] is. */
static void look(void *user)
{
    const struct fixture *fixture = user;
    fixture->here[2] = fixture->here[1];
}

static void call_runs_in_its_turn(void **state)
{
    struct fixture *fixture = *state;
    for (int32_t i = 1; i <= 100; i++) {
        fixture->here[0] = i;
        enqueue(fixture->first, &fixture->there[0], &fixture->here[0]);
        enqueue(fixture->first, &fixture->here[1], &fixture->there[0]);
        backend->call_host(fixture->first, look, fixture);
        backend->clear(fixture->first, &fixture->there[0], NUMBER_BYTES);
        enqueue(fixture->first, &fixture->here[1], &fixture->there[0]);
        assert_ok(backend->lane_synchronize(fixture->first));
        assert_int_equal(fixture->here[2], i);
        assert_int_equal(fixture->here[1], 0);
    }
}

static void host_does_not_wait_for_what_it_enqueues(void **state)
{
    struct fixture *fixture = *state;
    fixture->here[0] = 5;
    hold_until_open(fixture, fixture->first);
    enqueue(fixture->first, &fixture->there[0], &fixture->here[0]);
    enqueue(fixture->first, &fixture->here[1], &fixture->there[0]);
    assert_int_equal(fixture->here[1], 0);
    sem_post(&fixture->gate);
    assert_ok(backend->lane_synchronize(fixture->first));
    assert_int_equal(fixture->here[1], 5);
}

static void lanes_run_side_by_side(void **state)
{
    struct fixture *fixture = *state;
    fixture->here[0] = 5;
    hold_until_open(fixture, fixture->first);
    enqueue(fixture->second, &fixture->there[0], &fixture->here[0]);
    enqueue(fixture->second, &fixture->here[1], &fixture->there[0]);
    assert_ok(backend->lane_synchronize(fixture->second));
    assert_int_equal(fixture->here[1], 5);
    sem_post(&fixture->gate);
    assert_ok(backend->lane_synchronize(fixture->first));
}

/* ---- events ---- */

static void lane_waits_for_an_event_of_another(void **state)
{
    struct fixture *fixture = *state;
    fixture->here[0] = 5;
    fixture->here[1] = 9;
    hold_until_open(fixture, fixture->first);
    enqueue(fixture->first, &fixture->there[0], &fixture->here[0]);
    backend->event_record(fixture->first, fixture->event);
    backend->event_wait(fixture->second, fixture->event);
    enqueue(fixture->second, &fixture->here[1], &fixture->there[0]);
    assert_int_equal(fixture->here[1], 9);
    sem_post(&fixture->gate);
    assert_ok(backend->lane_synchronize(fixture->second));
    assert_int_equal(fixture->here[1], 5);
    assert_ok(backend->lane_synchronize(fixture->first));
}

static void event_that_was_never_recorded_holds_nobody(void **state)
{
    const struct fixture *fixture = *state;
    fixture->here[1] = 9;
    backend->event_wait(fixture->first, fixture->event);
    enqueue(fixture->first, &fixture->here[1], &fixture->there[0]);
    assert_ok(backend->lane_synchronize(fixture->first));
    assert_int_equal(fixture->here[1], 0);
    assert_ok(backend->event_synchronize(fixture->event));
}

static void event_has_happened_when_its_lane_came_to_it(void **state)
{
    struct fixture *fixture = *state;
    assert_true(backend->event_query(fixture->event)); /* it never was recorded */
    hold_until_open(fixture, fixture->first);
    backend->event_record(fixture->first, fixture->event);
    assert_false(backend->event_query(fixture->event));
    sem_post(&fixture->gate);
    assert_ok(backend->event_synchronize(fixture->event));
    assert_true(backend->event_query(fixture->event));
}

/* The second lane waits for the first time the event is recorded, not for the time after. */
static void wait_is_for_the_event_as_recorded_when_it_was_called(void **state)
{
    struct fixture *fixture = *state;
    fixture->here[1] = 9;
    backend->event_record(fixture->first, fixture->event);
    backend->event_wait(fixture->second, fixture->event);
    hold_until_open(fixture, fixture->first);
    backend->event_record(fixture->first, fixture->event);
    enqueue(fixture->second, &fixture->here[1], &fixture->there[0]);
    assert_ok(backend->lane_synchronize(fixture->second)); /* while the first lane is held */
    assert_int_equal(fixture->here[1], 0);
    sem_post(&fixture->gate);
    assert_ok(backend->event_synchronize(fixture->event));
}

static void lanes_hand_over_to_each_other_many_times(void **state)
{
    enum {
        ROUNDS = 300
    };
    const struct fixture *fixture = *state;
    struct yk_backend_event *back = NULL;
    assert_ok(backend->event_create(fixture->device, &back));
    fixture->here[0] = 7;
    enqueue(fixture->first, &fixture->there[0], &fixture->here[0]);
    for (int i = 0; i < ROUNDS; i++) { /* the number goes round, and nothing stays behind it */
        int32_t *from = &fixture->there[2 * i % NUMBERS];
        backend->event_wait(fixture->first, back);
        enqueue(fixture->first, from + 1, from);
        backend->clear(fixture->first, from, NUMBER_BYTES);
        backend->event_record(fixture->first, fixture->event);
        backend->event_wait(fixture->second, fixture->event);
        enqueue(fixture->second, &fixture->there[(2 * i + 2) % NUMBERS], from + 1);
        backend->clear(fixture->second, from + 1, NUMBER_BYTES);
        backend->event_record(fixture->second, back);
    }
    backend->copy(fixture->second, fixture->here, fixture->there, (size_t)NUMBERS * NUMBER_BYTES);
    assert_ok(backend->lane_synchronize(fixture->second));
    for (int i = 0; i < NUMBERS; i++) {
        assert_int_equal(fixture->here[i], i == 2 * ROUNDS % NUMBERS ? 7 : 0);
    }
    backend->event_destroy(back);
}

static void event_knows_when_it_happened(void **state)
{
    enum {
        ROUNDS = 50
    };
    const struct fixture *fixture = *state;
    const double near_s = 2e-3; /* how far two clocks may be apart */
    double last_s = 0;
    for (int i = 0; i < ROUNDS; i++) {
        const double before_s = yk_clock_now_s();
        backend->clear(fixture->first, fixture->there, (size_t)NUMBERS * NUMBER_BYTES);
        backend->event_record(fixture->first, fixture->event);
        assert_ok(backend->event_synchronize(fixture->event));
        const double after_s = yk_clock_now_s();
        const double happened_s = backend->event_time_s(fixture->event);
        assert_true(happened_s >= before_s - near_s && happened_s <= after_s + near_s);
        assert_true(happened_s >= last_s);
        last_s = happened_s;
    }
}

static void event_happens_after_the_work_before_it(void **state)
{
    struct fixture *fixture = *state;
    const double near_s = 2e-3;
    const double long_s = 0.02;
    hold_until_open(fixture, fixture->first);
    backend->event_record(fixture->first, fixture->event);
    const double held_s = yk_clock_now_s();
    while (yk_clock_now_s() < held_s + long_s) {
    }
    sem_post(&fixture->gate);
    assert_ok(backend->event_synchronize(fixture->event));
    const double happened_s = backend->event_time_s(fixture->event);
    assert_true(happened_s >= held_s + long_s - near_s);
    assert_true(happened_s <= yk_clock_now_s() + near_s);
}

/* ---- memory ---- */

static void memory_is_zeroed_and_aligned(void **state)
{
    const struct fixture *fixture = *state;
    const size_t sizes[] = {1, 64, 100, LARGE_BYTES};
    uint8_t *observed = malloc(LARGE_BYTES);
    assert_non_null(observed);
    for (int round = 0; round < 2; round++) { /* what was given back comes zeroed again */
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
            void *memory = NULL;
            assert_ok(backend->allocate(fixture->device, sizes[i], &memory));
            assert_int_equal((uintptr_t)memory % YK_BACKEND_ALIGNMENT, 0);
            memset(observed, 0xa5, sizes[i]);
            backend->copy(fixture->first, observed, memory, sizes[i]);
            assert_ok(backend->lane_synchronize(fixture->first));
            assert_int_equal(count_wrong(observed, 0, sizes[i], true), 0);
            memset(observed, 0xa5, sizes[i]);
            backend->copy(fixture->first, memory, observed, sizes[i]);
            assert_ok(backend->lane_synchronize(fixture->first));
            backend->free(fixture->device, memory);
        }
    }
    free(observed);
    backend->free(fixture->device, NULL);
    backend->free_host(fixture->device, NULL);
}

static void memory_that_is_not_there_is_refused_by_name(void **state)
{
    const struct fixture *fixture = *state;
    void *memory = NULL;
    assert_int_equal(backend->allocate(fixture->device, (size_t)1 << 45, &memory), YK_ERROR_NO_FIT);
    assert_null(memory);
    const char *sentence = yk_status_message();
    print_message("%s\n", sentence);
    assert_non_null(strstr(sentence, "GPU 0 ("));
    assert_non_null(strstr(sentence, "MiB free"));
    assert_non_null(strstr(sentence, "33554432.0 MiB were asked for"));
    assert_null(strchr(sentence, '\n'));
    /* A refusal is over when it was told. */
    assert_ok(backend->allocate(fixture->device, 64, &memory));
    backend->clear(fixture->first, memory, 64);
    assert_ok(backend->lane_synchronize(fixture->first));
    backend->free(fixture->device, memory);
}

static void used_memory_is_what_was_allocated(void **state)
{
    const struct fixture *fixture = *state;
    const size_t bytes = (size_t)256 << 20;
    void *memory = NULL;
    if (!backend->used_bytes) {
        skip();
        return;
    }
    const size_t before = backend->used_bytes(fixture->device);
    assert_ok(backend->allocate(fixture->device, bytes, &memory));
    assert_true(backend->used_bytes(fixture->device) >= before + bytes);
    backend->free(fixture->device, memory);
}

static void device_says_what_it_is(void **state)
{
    const struct fixture *fixture = *state;
    struct yk_text text = {0};
    struct yk_backend_device *device = NULL;
    const struct yk_backend_device_options another = {.index = 4096};
    const struct yk_backend_device_options negative = {.index = -1};
    backend->describe(fixture->device, &text);
    assert_true(text.length > 0);
    print_message("%s\n", yk_text_chars(&text));
    yk_text_free(&text);
    assert_int_equal(backend->open(&another, &device), YK_ERROR_INPUT);
    assert_int_equal(backend->open(&negative, &device), YK_ERROR_INPUT);
    assert_null(device);
    backend->lane_destroy(NULL);
    backend->event_destroy(NULL);
    backend->close(NULL);
}

#define with_fixture(test) cmocka_unit_test_setup_teardown(test, make_fixture, drop_fixture)

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_fixture(memory_is_copied_in_every_direction),
        with_fixture(copies_and_clears_end_where_they_should),
        with_fixture(work_runs_in_the_order_it_was_enqueued),
        with_fixture(call_runs_in_its_turn),
        with_fixture(host_does_not_wait_for_what_it_enqueues),
        with_fixture(lanes_run_side_by_side),
        with_fixture(lane_waits_for_an_event_of_another),
        with_fixture(event_that_was_never_recorded_holds_nobody),
        with_fixture(event_has_happened_when_its_lane_came_to_it),
        with_fixture(wait_is_for_the_event_as_recorded_when_it_was_called),
        with_fixture(lanes_hand_over_to_each_other_many_times),
        with_fixture(event_knows_when_it_happened),
        with_fixture(event_happens_after_the_work_before_it),
        with_fixture(memory_is_zeroed_and_aligned),
        with_fixture(memory_that_is_not_there_is_refused_by_name),
        with_fixture(used_memory_is_what_was_allocated),
        with_fixture(device_says_what_it_is),
    };
    cmocka_set_skip_filter(getenv("YOKE_LANE_SKIP")); /* "event_*"; NULL: none are */
    const int found = gpu_find(&backend);
    return found != 0 ? found : cmocka_run_group_tests_name("lanes of a GPU", tests, NULL, NULL);
}
