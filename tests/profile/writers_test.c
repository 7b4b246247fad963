#include "support/support.h"

#include "place.h"
#include "profile/profile.h"

#include <signal.h>
#include <sys/wait.h>

enum {
    WRITERS = 4,
    COMMITS = 2,
    ROWS = 4, /* a commit */
};

static const struct yk_profile_link_key ring = {"v100-v100 within a node", "send", 2};

static yk_status add(struct yk_profile *profile, int64_t bytes)
{
    const struct yk_profile_measurement measured = {.value = 1, .samples = 1, .versions = "test"};
    return yk_profile_add_link_time(profile, &ring, bytes, &measured);
}

/* One of several writers: begins the profile, maybe, and adds rows that no other adds. */
static yk_status write_rows(const char *path, int writer)
{
    struct yk_profile *profile = NULL;
    YK_TRY(yk_profile_open_or_create(path, &profile));
    for (int i = 0; i < COMMITS; i++) {
        YK_TRY(yk_profile_begin_transaction(profile));
        for (int j = 0; j < ROWS; j++) {
            YK_TRY(add(profile, 1 + (writer * COMMITS + i) * ROWS + j));
        }
        YK_TRY(yk_profile_commit(profile));
    }
    yk_profile_close(profile);
    return YK_OK;
}

static int32_t count_rows(const char *path)
{
    struct yk_profile *profile = NULL;
    struct yk_profile_curve curve = {0};
    assert_ok(yk_profile_open_for_reading(path, &profile));
    assert_ok(yk_profile_find_link_times(profile, &ring, &curve));
    yk_profile_close(profile);
    return curve.count;
}

static int wait_for(pid_t process)
{
    int how = 0;
    assert_int_equal(waitpid(process, &how, 0), process);
    return how;
}

/* They are let go at once by the end of a pipe, so that all find no file there. */
static void several_writers_keep_everything(void **state)
{
    const struct place *place = *state;
    pid_t processes[WRITERS];
    int gate[2];
    assert_int_equal(pipe(gate), 0);
    for (int i = 0; i < WRITERS; i++) {
        processes[i] = fork();
        assert_true(processes[i] >= 0);
        if (processes[i] == 0) {
            char byte = 0;
            close(gate[1]);
            _exit(read(gate[0], &byte, 1) != 0 ? 1 : (int)write_rows(place->path, i));
        }
    }
    close(gate[0]);
    close(gate[1]);
    for (int i = 0; i < WRITERS; i++) {
        assert_int_equal(wait_for(processes[i]), 0);
    }
    assert_int_equal(count_rows(place->path), WRITERS * COMMITS * ROWS);
}

/* The link's name is so long that what is added does not stay in SQLite's memory (2 MB), but is in
 * the file, half written, when the process is killed. */
static void write_until_killed(const char *path)
{
    const struct yk_profile_measurement measured = {.value = 1, .samples = 1, .versions = "test"};
    struct yk_profile *profile = NULL;
    static char name[16000];
    const struct yk_profile_link_key long_link = {name, "send", 2};
    memset(name, 'x', sizeof name - 1);
    if (yk_profile_open_or_create(path, &profile) != YK_OK || add(profile, 1) != YK_OK ||
        yk_profile_begin_transaction(profile) != YK_OK || add(profile, 2) != YK_OK) {
        _exit(1);
    }
    for (int i = 0; i < 300; i++) {
        if (yk_profile_add_link_time(profile, &long_link, i, &measured) != YK_OK) {
            _exit(1);
        }
    }
    kill(getpid(), SIGKILL);
}

static void a_killed_writer_loses_only_what_it_had_not_committed(void **state)
{
    const struct place *place = *state;
    struct yk_profile *profile = NULL;
    char journal[96];
    const pid_t process = fork();
    assert_true(process >= 0);
    if (process == 0) {
        write_until_killed(place->path);
        _exit(1);
    }
    const int how = wait_for(process);
    assert_true(WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL);
    snprintf(journal, sizeof journal, "%s-journal", place->path);
    assert_int_equal(access(journal, F_OK), 0); /* it was in the middle of something */
    assert_int_equal(count_rows(place->path), 1);
    assert_ok(yk_profile_open_or_create(place->path, &profile));
    assert_ok(add(profile, 3));
    yk_profile_close(profile);
    assert_int_equal(count_rows(place->path), 2);
}

static void what_is_not_committed_is_hidden_from_others(void **state)
{
    const struct place *place = *state;
    struct yk_profile *profile = NULL;
    assert_ok(yk_profile_open_or_create(place->path, &profile));
    assert_ok(yk_profile_begin_transaction(profile));
    assert_ok(add(profile, 1));
    assert_int_equal(count_rows(place->path), 0);
    assert_ok(yk_profile_commit(profile));
    assert_int_equal(count_rows(place->path), 1);
    yk_profile_close(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        in_place(several_writers_keep_everything),
        in_place(a_killed_writer_loses_only_what_it_had_not_committed),
        in_place(what_is_not_committed_is_hidden_from_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
