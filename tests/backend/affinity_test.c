/* Where threads are is what the system says of them, not what the backend thinks. */
#include "support/support.h"

#include "backend/backend.h"
#include "base/log.h"

#include <dirent.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct yk_backend *const backend = &yk_backend_cpu;
static atomic_int notes;

static void count_note(void *user, enum yk_log_level level, const char *line)
{
    (void)user;
    (void)line;
    atomic_fetch_add(&notes, level == YK_LOG_NOTE ? 1 : 0);
}

/* Cores that this process may use, up to two; how many that are. */
static int32_t find_cores(int32_t out[2])
{
    cpu_set_t set;
    int32_t count = 0;
    if (sched_getaffinity(0, sizeof set, &set) != 0) {
        return 0;
    }
    for (int32_t i = 0; i < CPU_SETSIZE && count < 2; i++) {
        if (CPU_ISSET((size_t)i, &set)) {
            out[count++] = i;
        }
    }
    return count;
}

static void look(void *user)
{
    if (sched_getaffinity(0, sizeof(cpu_set_t), user) != 0) {
        CPU_ZERO((cpu_set_t *)user);
    }
}

/* The cores on which a lane of that name may run. */
static cpu_set_t cores_of(struct yk_backend_device *device, const char *name)
{
    struct yk_backend_lane *lane = NULL;
    cpu_set_t set;
    assert_ok(backend->lane_create(device, name, &lane));
    backend->call_host(lane, look, &set);
    assert_ok(backend->lane_synchronize(lane));
    backend->lane_destroy(lane);
    return set;
}

static void lanes_stay_on_their_cores(void **state)
{
    (void)state;
    int32_t cores[2];
    if (find_cores(cores) < 2) {
        skip();
    }
    const struct yk_backend_device_options options = {
        .threads = 1, .cores = cores, .core_count = 1, .comm_core = cores[1]};
    struct yk_backend_device *device = NULL;
    assert_ok(backend->open(&options, &device));
    const cpu_set_t compute = cores_of(device, "compute");
    const cpu_set_t comm = cores_of(device, "comm");
    const cpu_set_t copy = cores_of(device, "copy");
    backend->close(device);
    assert_int_equal(CPU_COUNT(&compute), 1);
    assert_true(CPU_ISSET((size_t)cores[0], &compute));
    assert_int_equal(CPU_COUNT(&comm), 1);
    assert_true(CPU_ISSET((size_t)cores[1], &comm));
    assert_true(CPU_EQUAL(&copy, &compute));
}

static void threads_of_this_process_stay_free(void **state)
{
    (void)state;
    int32_t cores[2] = {0};
    const int32_t count = find_cores(cores);
    struct yk_backend_device *device = NULL;
    const struct yk_backend_device_options options = {
        .threads = 1, .cores = cores, .core_count = 1, .comm_core = cores[0]};
    assert_ok(backend->open(&options, &device));
    (void)cores_of(device, "compute");
    backend->close(device);
    assert_int_equal(find_cores(cores), count);
}

/* How many threads of this process are bound to that core alone. */
static int count_threads_on(int32_t core)
{
    DIR *folder = opendir("/proc/self/task");
    assert_non_null(folder);
    int count = 0;
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        cpu_set_t set;
        const int thread = (int)strtol(entry->d_name, NULL, 10);
        if (thread > 0 && sched_getaffinity(thread, sizeof set, &set) == 0) {
            count += CPU_COUNT(&set) == 1 && CPU_ISSET((size_t)core, &set) ? 1 : 0;
        }
    }
    (void)closedir(folder);
    return count;
}

static void threads_of_a_team_get_a_core_each(void **state)
{
    (void)state;
    int32_t cores[2];
#ifdef NO_OPENMP
    skip();
#endif
    if (find_cores(cores) < 2) {
        skip();
    }
    const struct yk_backend_device_options options = {
        .threads = 2, .cores = cores, .core_count = 2, .comm_core = cores[1]};
    struct yk_backend_device *device = NULL;
    struct yk_backend_lane *lane = NULL;
    void *memory = NULL;
    assert_ok(backend->open(&options, &device));
    assert_ok(backend->lane_create(device, "compute", &lane));
    assert_ok(backend->allocate(device, 8 << 20, &memory));
    backend->clear(lane, memory, 8 << 20); /* enough for both threads */
    assert_ok(backend->lane_synchronize(lane));
    const int first = count_threads_on(cores[0]);
    const int second = count_threads_on(cores[1]);
    backend->free(device, memory);
    backend->lane_destroy(lane);
    backend->close(device);
    assert_int_equal(first, 1);
    assert_int_equal(second, 1);
}

static void refusal_is_a_note_and_no_failure(void **state)
{
    (void)state;
    static const int32_t nowhere[] = {100000, -1};
    const struct yk_backend_device_options options = {
        .threads = 1, .cores = nowhere, .core_count = 2, .comm_core = -5};
    struct yk_backend_device *device = NULL;
    int32_t cores[2] = {0};
    assert_true(find_cores(cores) > 0);
    atomic_store(&notes, 0);
    yk_log_set_sink(count_note, NULL);
    assert_ok(backend->open(&options, &device));
    const cpu_set_t compute = cores_of(device, "compute");
    const cpu_set_t comm = cores_of(device, "comm");
    (void)cores_of(device, "copy");
    backend->close(device);
    yk_log_set_sink(NULL, NULL);
    assert_int_equal(atomic_load(&notes), 1);
    assert_true(CPU_ISSET((size_t)cores[0], &compute));
    assert_true(CPU_EQUAL(&comm, &compute));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lanes_stay_on_their_cores),
        cmocka_unit_test(threads_of_this_process_stay_free),
        cmocka_unit_test(threads_of_a_team_get_a_core_each),
        cmocka_unit_test(refusal_is_a_note_and_no_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
