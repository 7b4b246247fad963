/*
 * What is left of the checkpoints when the machine fails while one is saved: calls of the system
 * that fail, a disk that is full, and a process that ends at any of its calls or is killed anywhere
 * in between.
 *
 * The calls by which checkpoints change the disk go through this file.
 */
#include "train/checkpoint/checkpoint.h"

#include "support/files/disk_faults.h"
#include "support/files/scratch.h"
#include "support/support.h"
#include "support/training/small_checkpoint.h"
#include "tensors/safetensors.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const struct small_store_request request = {.config = &small_gpt,
                                                   .optimizer = YK_OPTIMIZER_SGD};

enum fault {
    FAULT_NONE,
    FAULT_FSYNC, /* its number `fault_at` fails */
    FAULT_END,   /* the process ends at its call number `fault_at` */
};

enum {
    ENDED = 42 /* exit code of a process that ended by a fault */
};

static enum fault fault;
static int fault_at;
static int calls;
static int syncs;

/* Before a call: the process may end here. */
static void pass(void)
{
    calls++;
    if (fault == FAULT_END && calls == fault_at) {
        _exit(ENDED);
    }
}

static bool fails(enum disk_call call)
{
    syncs += call == DISK_FSYNC;
    errno = EIO;
    return call == DISK_FSYNC && fault == FAULT_FSYNC && syncs == fault_at;
}

/* What the disk has free, in bytes. */
static uint64_t free_bytes;

int statvfs(const char *file, struct statvfs *buf)
{
    struct stat info;
    *buf = (struct statvfs){.f_frsize = 1, .f_blocks = UINT64_MAX, .f_bavail = free_bytes};
    return stat(file, &info);
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

static void start(enum fault kind, int at)
{
    calls = 0;
    syncs = 0;
    fault_at = at;
    fault = kind;
}

static const char *run_folder(void)
{
    return support_scratch_path("run");
}

static yk_status save(int64_t step, int32_t keep)
{
    struct small_store small = small_store_open(&request);
    const yk_status status = small_checkpoint_save(run_folder(), &small, step, keep);
    small_store_close(&small);
    return status;
}

static void every_file_is_synced(void **state)
{
    (void)state;
    start(FAULT_NONE, 0);
    assert_ok(save(1, 1));
    /* config, model, optimizer, state and manifest, their folder and the one above. */
    assert_true(syncs >= 7);
}

static void a_sync_that_fails_leaves_the_checkpoint_before(void **state)
{
    (void)state;
    assert_ok(save(1, 1));
    start(FAULT_NONE, 0);
    assert_ok(save(2, 1));
    const int max = syncs;
    for (int at = 1; at <= max; at++) {
        start(FAULT_FSYNC, at);
        assert_int_equal(save(2 + at, 1), YK_ERROR_SYSTEM);
        fault = FAULT_NONE;
        assert_memory_equal(yk_status_message(), "cannot write /", 14);
        assert_non_null(strstr(yk_status_message(), ": Input/output error"));
        /* The very last one says that the folder above is not synced: then both are there. */
        assert_int_equal(support_scratch_count("run"), at < max ? 1 : 2);
        assert_int_equal(small_checkpoint_step(run_folder(), &request), at < max ? 2 : 2 + at);
    }
}

/* The limit on the size of files stands in for a disk that is full. */
static void a_full_disk_leaves_the_checkpoint_before(void **state)
{
    (void)state;
    struct rlimit before;
    assert_ok(save(1, 1));
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    assert_true(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
    for (rlim_t max = 0; max < 20000; max += 1000) {
        const struct rlimit limit = {.rlim_cur = max, .rlim_max = before.rlim_max};
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
        const yk_status status = save(2, 1);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
        if (status == YK_OK) {
            assert_true(max > 5000); /* the model alone has 1896 numbers */
            assert_int_equal(small_checkpoint_step(run_folder(), &request), 2);
            return;
        }
        assert_int_equal(status, YK_ERROR_SYSTEM);
        assert_memory_equal(yk_status_message(), "cannot write /", 14);
        assert_non_null(strstr(yk_status_message(), ": File too large"));
        assert_int_equal(support_scratch_count("run"), 1);
        assert_int_equal(small_checkpoint_step(run_folder(), &request), 1);
    }
    fail_msg("no limit was large enough");
}

/* The bytes of all tensors in the files of `folder`. */
static uint64_t tensor_bytes(const char *folder)
{
    uint64_t bytes = 0;
    DIR *listing = opendir(folder);
    assert_non_null(listing);
    for (struct dirent *entry = NULL; (entry = readdir(listing));) {
        struct yk_safetensors_file *file = NULL;
        char path[512];
        if (strstr(entry->d_name, ".safetensors")) {
            (void)snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
            assert_ok(yk_safetensors_open(path, &file));
            for (int32_t i = 0; i < file->header->count; i++) {
                bytes += file->header->entries[i].bytes;
            }
            yk_safetensors_close(file);
        }
    }
    closedir(listing);
    return bytes;
}

static void the_size_of_a_checkpoint_is_known_before(void **state)
{
    (void)state;
    static const struct small_store_request requests[] = {
        {.config = &small_gpt, .optimizer = YK_OPTIMIZER_SGD},
        {.config = &small_gpt, .precision = YK_PRECISION_BF16, .optimizer = YK_OPTIMIZER_ADAMW},
        {.config = &small_llama, .lora_rank = 2, .optimizer = YK_OPTIMIZER_ADAMW},
        {.config = &small_llama,
         .precision = YK_PRECISION_BF16,
         .lora_rank = 2,
         .nf4 = true,
         .optimizer = YK_OPTIMIZER_ADAMW},
    };
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        struct small_store small = small_store_open(&requests[i]);
        const struct yk_checkpoint_content content = {.store = small.store};
        assert_ok(small_checkpoint_save(run_folder(), &small, 1, 1));
        assert_int_equal(yk_checkpoint_save_size_bytes(&content),
                         tensor_bytes(support_scratch_path("run/step-00000001")));
        small_store_close(&small);
    }
}

static void check_room(const struct yk_checkpoint_content *content, int64_t saves, int32_t keep,
                       uint64_t needed)
{
    const uint64_t each = yk_checkpoint_save_size_bytes(content);
    free_bytes = needed * each;
    assert_ok(yk_checkpoint_check_save_disk_space(support_scratch_folder(), content, saves, keep));
    free_bytes = needed * each - 1;
    assert_int_equal(
        yk_checkpoint_check_save_disk_space(support_scratch_folder(), content, saves, keep),
        YK_ERROR_SYSTEM);
}

/* Those that stay and the one that is written, without those that are there. */
static void room_is_needed_for_those_that_stay_and_one_more(void **state)
{
    (void)state;
    struct small_store small = small_store_open(&request);
    const struct yk_checkpoint_content content = {.store = small.store};
    check_room(&content, 1, 2, 1);
    check_room(&content, 2, 2, 2);
    check_room(&content, 9, 2, 3);
    check_room(&content, 9, 0, 9);
    const char *folder = support_scratch_path("checkpoints");
    assert_ok(small_checkpoint_save(folder, &small, 1, 2));
    check_room(&content, 9, 2, 2);
    assert_ok(small_checkpoint_save(folder, &small, 2, 2));
    check_room(&content, 9, 2, 1);
    free_bytes = 1024;
    assert_int_equal(yk_checkpoint_check_save_disk_space(support_scratch_folder(), &content, 9, 2),
                     YK_ERROR_SYSTEM);
    /* 1896 numbers of the model and as many of SGD's velocity, of four bytes each. */
    assert_non_null(strstr(yk_status_message(),
                           ": 1 checkpoint of 14.8KiB, of which one is being written, needs "
                           "14.8KiB, and 1KiB are free there; make room, keep fewer (--keep) or "
                           "save elsewhere (--out)"));
    small_store_close(&small);
}

/* Runs `work` in a process of its own; returns its exit code, or −1 when it was killed. */
static int run_apart(int (*work)(int64_t step), int64_t step)
{
    int code = 0;
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        _exit(work(step));
    }
    assert_int_equal(waitpid(child, &code, 0), child);
    return WIFEXITED(code) ? WEXITSTATUS(code) : -1;
}

static int save_one(int64_t step)
{
    return (int)save(step, 1);
}

/* Whichever call is its last, a process that saves leaves the old or the new checkpoint. */
static void a_process_that_ends_at_any_call_leaves_a_whole_checkpoint(void **state)
{
    (void)state;
    int old = 0;
    int new = 0;
    int code = ENDED;
    for (int at = 1; code == ENDED; at++) {
        assert_ok(save(1, 1));
        start(FAULT_END, at);
        code = run_apart(save_one, 2);
        fault = FAULT_NONE;
        assert_true(code == ENDED || code == 0);
        const int64_t step = small_checkpoint_step(run_folder(), &request);
        assert_true(step == 1 || step == 2);
        old += step == 1;
        new += step == 2;
        /* The next save clears away what is left, step 2 included: it is of a run taken back. */
        assert_ok(save(1, 1));
        assert_int_equal(support_scratch_count("run"), 1);
        assert_int_equal(small_checkpoint_step(run_folder(), &request), 1);
    }
    assert_true(old >= 15 && new >= 5);
}

/* The same where one of the same step is replaced. */
static void a_replacement_that_ends_at_any_call_leaves_a_whole_checkpoint(void **state)
{
    (void)state;
    int code = ENDED;
    for (int at = 1; code == ENDED; at++) {
        assert_ok(save(1, 1));
        start(FAULT_END, at);
        code = run_apart(save_one, 1);
        fault = FAULT_NONE;
        assert_true(code == ENDED || code == 0);
        assert_int_equal(small_checkpoint_step(run_folder(), &request), 1);
    }
    assert_ok(save(1, 1));
    assert_int_equal(support_scratch_count("run"), 1);
}

static int save_forever(int64_t step)
{
    struct small_store small = small_store_open(&request);
    while (small_checkpoint_save(run_folder(), &small, step, 2) == YK_OK) {
        step++;
    }
    return 1;
}

static void a_process_that_is_killed_leaves_a_whole_checkpoint(void **state)
{
    (void)state;
    const char *wanted = getenv("YOKE_TEST_KILLS"); /* for more of them */
    const long kills = wanted ? strtol(wanted, NULL, 10) : 25;
    int64_t step = 0;
    assert_ok(save(step, 2));
    srandom(1);
    for (long i = 0; i < kills; i++) {
        /* Killed at any moment, on purpose; nothing is waited for. */
        const struct timespec while_s = {.tv_nsec = random() % 4000000};
        int code = 0;
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            _exit(save_forever(step + 1));
        }
        nanosleep(&while_s, NULL);
        assert_int_equal(kill(child, SIGKILL), 0);
        assert_int_equal(waitpid(child, &code, 0), child);
        assert_true(WIFSIGNALED(code));
        const int64_t found = small_checkpoint_step(run_folder(), &request);
        assert_true(found >= step);
        step = found;
    }
}

#define IN_SCRATCH(test) cmocka_unit_test_setup_teardown(test, make, drop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SCRATCH(every_file_is_synced),
        IN_SCRATCH(a_sync_that_fails_leaves_the_checkpoint_before),
        IN_SCRATCH(a_full_disk_leaves_the_checkpoint_before),
        IN_SCRATCH(the_size_of_a_checkpoint_is_known_before),
        IN_SCRATCH(room_is_needed_for_those_that_stay_and_one_more),
        IN_SCRATCH(a_process_that_ends_at_any_call_leaves_a_whole_checkpoint),
        IN_SCRATCH(a_replacement_that_ends_at_any_call_leaves_a_whole_checkpoint),
        IN_SCRATCH(a_process_that_is_killed_leaves_a_whole_checkpoint),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
