/*
 * What is left of the checkpoints when one of several ranks fails while they save one: calls of the
 * system that fail on one rank, a disk that is full, and a process that ends at any of its calls or
 * is killed anywhere in between.
 *
 * The calls by which checkpoints change the disk go through this file.
 */
#include "support/files/disk_faults.h"
#include "support/files/scratch.h"
#include "support/support.h"
#include "support/training/sharded_checkpoint.h"
#include "support/training/small_checkpoint.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const struct small_store_request request = {.config = &small_gpt,
                                                   .optimizer = YK_OPTIMIZER_SGD};

enum fault {
    FAULT_NONE,
    FAULT_WRITE, /* on rank `fault_rank` fails with `fault_error`, from number `fault_at` on */
    FAULT_OPEN,  /* for writing, likewise */
    FAULT_FSYNC, /* number `fault_at` alone */
    FAULT_RENAME,
    FAULT_OTHER, /* rank `fault_rank` reads what is in OTHER where others read what is in RUN */
    FAULT_END,   /* the process ends at its call number `fault_at`, whichever rank's it is */
};

enum {
    ENDED = 42, /* exit code of a process that ended by a fault */
    RANKS = 3,
};

static const char RUN[] = "/run/";
static const char OTHER[] = "/other/";

static enum fault fault;
static int fault_at;
static int fault_rank;
static int fault_error;
static atomic_int calls;
static atomic_int counts[RANKS]; /* of the calls that may fail, by rank */

/* Before a call: the process may end here. */
static void pass(void)
{
    if (atomic_fetch_add(&calls, 1) + 1 == fault_at && fault == FAULT_END) {
        _exit(ENDED);
    }
}

/* Whether this call of the rank fails. */
static bool is_faulty(enum fault kind)
{
    if (fault != kind || sharded_rank != fault_rank) {
        return false;
    }
    const int number = atomic_fetch_add(&counts[sharded_rank], 1) + 1;
    errno = fault_error;
    return kind == FAULT_FSYNC || kind == FAULT_RENAME ? number == fault_at : number >= fault_at;
}

static bool fails(enum disk_call call)
{
    static const enum fault kinds[] = {
        [DISK_FSYNC] = FAULT_FSYNC, [DISK_RENAME] = FAULT_RENAME, [DISK_WRITE] = FAULT_WRITE};
    return is_faulty(kinds[call]);
}

/* What is there for this rank. */
static const char *see(const char *path, char *room, size_t size)
{
    const char *run = strstr(path, RUN);
    if (fault != FAULT_OTHER || sharded_rank != fault_rank || !run) {
        return path;
    }
    snprintf(room, size, "%.*s%s%s", (int)(run - path), path, OTHER, run + strlen(RUN));
    return room;
}

int open(const char *file, int oflag, ...)
{
    char room[512];
    if ((oflag & O_ACCMODE) != O_RDONLY) {
        pass();
        if (is_faulty(FAULT_OPEN)) {
            return -1;
        }
    }
    return (int)syscall(SYS_openat, AT_FDCWD, see(file, room, sizeof room), oflag, 0666);
}

FILE *fopen(const char *filename, const char *modes)
{
    const int descriptor =
        open(filename, modes[0] == 'r' ? O_RDONLY : O_WRONLY | O_CREAT | O_TRUNC, 0666);
    return descriptor < 0 ? NULL : fdopen(descriptor, modes);
}

static int make(void **state)
{
    fault = FAULT_NONE;
    return support_scratch_make(state);
}

static int drop(void **state)
{
    fault = FAULT_NONE;
    return support_scratch_drop(state);
}

static void start(enum fault kind, int rank, int error, int at)
{
    atomic_store(&calls, 0);
    for (int i = 0; i < RANKS; i++) {
        atomic_store(&counts[i], 0);
    }
    fault_rank = rank;
    fault_error = error;
    fault_at = at;
    fault = kind;
}

static const char *run_folder(void)
{
    return support_scratch_path("run");
}

static struct sharded_world world_of_three(uint64_t seed)
{
    return (struct sharded_world){
        .request = &request, .folder = run_folder(), .ranks = RANKS, .seed = seed};
}

static yk_status save(int64_t step)
{
    const struct sharded_world world = world_of_three(7);
    return sharded_save(&world, step, 1);
}

/* Whether a checkpoint of a later step has its name. */
static bool has_later(int64_t step)
{
    bool found = false;
    DIR *listing = opendir(run_folder());
    assert_non_null(listing);
    for (struct dirent *entry = NULL; (entry = readdir(listing));) {
        char *end = entry->d_name;
        const bool named = strncmp(entry->d_name, "step-", 5) == 0;
        const int64_t number = named ? strtoll(entry->d_name + 5, &end, 10) : -1;
        found = found || (*end == '\0' && number > step);
    }
    closedir(listing);
    return found;
}

static void assert_whole(int64_t step)
{
    assert_int_equal(support_scratch_count("run"), 1);
    assert_int_equal(small_checkpoint_step(run_folder(), &request), step);
}

/* ---- calls of one rank that fail ---- */

/* All ranks are told which could not and why; nothing is left of it, and the next one is saved. */
static void check_fault(enum fault kind, int rank, int error, int at)
{
    char expected[64];
    assert_ok(save(1));
    start(kind, rank, error, at);
    assert_int_equal(save(2), YK_ERROR_SYSTEM);
    fault = FAULT_NONE;
    snprintf(expected, sizeof expected, "rank %d: cannot write /", rank);
    if (strncmp(yk_status_message(), expected, strlen(expected)) != 0 ||
        !strstr(yk_status_message(), strerror(error))) {
        fail_msg("rank %d, call %d: %s", rank, at, yk_status_message());
    }
    assert_whole(1);
    assert_ok(save(3));
    assert_whole(3);
}

static void a_rank_whose_disk_is_full_leaves_the_checkpoint_before(void **state)
{
    (void)state;
    for (int rank = 0; rank < RANKS; rank++) {
        check_fault(FAULT_WRITE, rank, ENOSPC, 1);
    }
    /* Of the first, after its shard: config, state, manifest, and the checkpoint itself. */
    for (int at = 1; at <= 5; at++) {
        check_fault(FAULT_RENAME, 0, ENOSPC, at);
    }
    check_fault(FAULT_RENAME, 2, ENOSPC, 1);
}

static void a_rank_that_does_not_see_the_folder_leaves_the_checkpoint_before(void **state)
{
    (void)state;
    for (int rank = 0; rank < RANKS; rank++) {
        check_fault(FAULT_OPEN, rank, ENOENT, 1);
        check_fault(FAULT_OPEN, rank, EROFS, 1);
    }
}

static void a_sync_that_fails_on_any_rank_leaves_the_checkpoint_before(void **state)
{
    (void)state;
    for (int rank = 0; rank < RANKS; rank++) {
        assert_ok(save(1));
        start(FAULT_FSYNC, rank, EIO, -1);
        assert_ok(save(2));
        const int max = atomic_load(&counts[rank]);
        assert_true(max >= (rank == 0 ? 7 : 2));
        /* The very last one of the first rank syncs the folder above: the new one is there then. */
        for (int at = 1; at < max + (rank > 0); at++) {
            check_fault(FAULT_FSYNC, rank, EIO, at);
        }
    }
}

/* The limit on the size of files stands in for a disk that is full for all. */
static void a_full_disk_leaves_the_checkpoint_before(void **state)
{
    (void)state;
    struct rlimit before;
    assert_ok(save(1));
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    assert_true(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
    for (rlim_t max = 0; max < 20000; max += 1000) {
        const struct rlimit limit = {.rlim_cur = max, .rlim_max = before.rlim_max};
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
        const yk_status status = save(2);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
        if (status == YK_OK) {
            assert_true(max > 5000); /* the model alone has 1896 numbers, twice */
            assert_whole(2);
            return;
        }
        assert_int_equal(status, YK_ERROR_SYSTEM);
        assert_memory_equal(yk_status_message(), "rank ", 5);
        assert_non_null(strstr(yk_status_message(), ": File too large"));
        assert_whole(1);
    }
    fail_msg("no limit was large enough");
}

/* Machines that have folders of one name, but not one folder. Both checkpoints are whole, and their
 * files of the same sizes. */
static void ranks_that_see_different_checkpoints_open_none(void **state)
{
    (void)state;
    const struct sharded_world world = world_of_three(7);
    struct sharded_world other = world;
    char from[256];
    char to[256];
    char expected[600];
    int64_t found = 0;
    other.folder = support_scratch_path("other");
    assert_ok(save(2));
    assert_ok(sharded_save(&other, 3, 1));
    snprintf(from, sizeof from, "%s/step-00000003", other.folder);
    snprintf(to, sizeof to, "%s/step-00000002", other.folder);
    assert_int_equal(rename(from, to), 0);
    start(FAULT_OTHER, 1, 0, 0);
    assert_int_equal(sharded_load(&world, &found), YK_ERROR_INPUT);
    fault = FAULT_NONE;
    snprintf(expected, sizeof expected,
             "no checkpoint in %s is whole: rank 1: %s/step-00000002 holds another checkpoint here "
             "than for rank 0; it must be a folder that all ranks share",
             world.folder, world.folder);
    assert_string_equal(yk_status_message(), expected);
    assert_ok(sharded_load(&world, &found));
    assert_int_equal(found, 2);
}

/* ---- processes that end ---- */

/* Saves step 2 in a process of its own; returns its exit code. */
static int save_apart(void)
{
    int code = 0;
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        _exit((int)save(2));
    }
    assert_int_equal(waitpid(child, &code, 0), child);
    assert_true(WIFEXITED(code));
    return WEXITSTATUS(code);
}

static void ranks_that_end_at_any_call_leave_a_whole_checkpoint(void **state)
{
    (void)state;
    int old = 0;
    int new = 0;
    int code = ENDED;
    assert_ok(save(1));
    for (int at = 1; code == ENDED; at++) {
        start(FAULT_END, 0, 0, at);
        code = save_apart();
        fault = FAULT_NONE;
        assert_true(code == ENDED || code == 0);
        const int64_t step = small_checkpoint_step(run_folder(), &request);
        assert_true(step == 1 || step == 2);
        old += step == 1;
        new += step == 2;
        assert_ok(save(1)); /* clears away what is left, step 2 included */
        assert_whole(1);
    }
    assert_true(old >= 20 && new >= 5);
}

/* Another layout each time, and one that was saved by another number of ranks before it. */
static void ranks_that_are_killed_leave_a_whole_checkpoint(void **state)
{
    (void)state;
    const char *wanted = getenv("YOKE_TEST_KILLS"); /* for more of them */
    const long kills = wanted ? strtol(wanted, NULL, 10) : 200;
    int64_t step = 0;
    int64_t saved = 0;
    assert_ok(save(step));
    srandom(1);
    for (long i = 0; i < kills; i++) {
        const struct sharded_world world = world_of_three((uint64_t)i);
        int code = 0;
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            _exit((int)sharded_save_forever(&world, step + 1, 2));
        }
        /* At any moment, on purpose; but now and then only when a checkpoint has been saved. */
        const struct timespec while_s = {.tv_nsec = random() % 8000000};
        do {
            nanosleep(&while_s, NULL);
        } while (i % 20 == 19 && !has_later(step));
        assert_int_equal(kill(child, SIGKILL), 0);
        assert_int_equal(waitpid(child, &code, 0), child);
        assert_true(WIFSIGNALED(code));
        const int64_t found = small_checkpoint_step(run_folder(), &request);
        assert_true(found >= step);
        saved += found - step;
        step = found;
    }
    assert_true(saved > 0);
}

#define IN_SCRATCH(test) cmocka_unit_test_setup_teardown(test, make, drop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SCRATCH(a_rank_whose_disk_is_full_leaves_the_checkpoint_before),
        IN_SCRATCH(a_rank_that_does_not_see_the_folder_leaves_the_checkpoint_before),
        IN_SCRATCH(a_sync_that_fails_on_any_rank_leaves_the_checkpoint_before),
        IN_SCRATCH(a_full_disk_leaves_the_checkpoint_before),
        IN_SCRATCH(ranks_that_see_different_checkpoints_open_none),
        IN_SCRATCH(ranks_that_end_at_any_call_leave_a_whole_checkpoint),
        IN_SCRATCH(ranks_that_are_killed_leave_a_whole_checkpoint),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
