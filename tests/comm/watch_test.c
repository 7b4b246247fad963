#include "support/support.h"

#include "comm/watch.h"
#include "comm/watch_blame.h"
#include "support/exchange_table.h"
#include "support/thread_comm.h"

#include <arpa/inet.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    RANKS = 3,
    LOST_CODE = 6,
};

/* Processes of three ranks, and a pipe on which they report. */
struct crew {
    pid_t pids[RANKS];
    int reports[2];
    struct yk_watch_invitation invitation;
};

struct report {
    int32_t from;
    struct yk_watch_verdict verdict; /* rank -1: ready */
};

static struct crew crew;
static void (*crew_look)(void *user, struct yk_watch *watch); /* at every beat, or NULL */

static void report(int32_t from, const struct yk_watch_verdict *verdict)
{
    const struct report words = {from, *verdict};
    (void)!write(crew.reports[1], &words, sizeof words);
}

static void report_lost(void *user, const struct yk_watch_verdict *verdict)
{
    report(*(const int32_t *)user, verdict);
    _exit(LOST_CODE);
}

/* What a rank does once it is watched; it ends when told to, or never. */
typedef void (*duty)(int32_t rank, struct yk_watch *watch);

static void be_a_rank(int32_t rank, double silence_s, double op_s, duty does)
{
    struct yk_watch *watch = NULL;
    const struct yk_watch_options options = {.beat_s = 0.02,
                                             .silence_s = silence_s,
                                             .op_s = op_s,
                                             .lost = report_lost,
                                             .look = crew_look,
                                             .user = &rank};
    if (yk_watch_start(rank, RANKS, &crew.invitation, &options, &watch) != YK_OK) {
        _exit(1);
    }
    report(rank, &(struct yk_watch_verdict){.rank = -1});
    does(rank, watch);
    yk_watch_close(watch);
    _exit(0);
}

static struct report next_report(void)
{
    struct report words = {.from = -1};
    assert_int_equal(read(crew.reports[0], &words, sizeof words), sizeof words);
    return words;
}

static void muster(double silence_s, double op_s, duty does)
{
    assert_int_equal(pipe(crew.reports), 0);
    assert_ok(yk_watch_invite(true, &crew.invitation));
    for (int32_t i = 0; i < RANKS; i++) {
        crew.pids[i] = fork();
        assert_true(crew.pids[i] >= 0);
        if (crew.pids[i] == 0) {
            be_a_rank(i, silence_s, op_s, does);
        }
    }
    (void)close(crew.invitation.listener);
    for (int i = 0; i < RANKS; i++) {
        assert_int_equal(next_report().verdict.rank, -1);
    }
}

/* Every rank but `except` says that `rank` is lost for `reason`, and ends with code 6. */
static void expect_verdicts(int32_t except, int32_t rank, enum yk_watch_reason reason)
{
    for (int i = 0; i < RANKS - (except >= 0); i++) {
        const struct report words = next_report();
        assert_int_not_equal(words.from, except);
        assert_int_equal(words.verdict.rank, rank);
        assert_int_equal(words.verdict.reason, reason);
    }
    for (int32_t i = 0; i < RANKS; i++) {
        int status = 0;
        if (i == except) {
            (void)kill(crew.pids[i], SIGKILL);
        }
        assert_int_equal(waitpid(crew.pids[i], &status, 0), crew.pids[i]);
        if (i != except) {
            assert_true(WIFEXITED(status));
            assert_int_equal(WEXITSTATUS(status), LOST_CODE);
        }
    }
    (void)close(crew.reports[0]);
    (void)close(crew.reports[1]);
}

static void wait_forever(int32_t rank, struct yk_watch *watch)
{
    yk_watch_note_round(watch, 7);
    yk_watch_note(watch, YK_WATCH_COMM, 100 + rank);
    for (;;) {
        (void)pause();
    }
}

static void a_killed_rank_is_named_by_all_others(void **state)
{
    (void)state;
    muster(60, 60, wait_forever);
    assert_int_equal(kill(crew.pids[2], SIGKILL), 0);
    expect_verdicts(2, 2, YK_WATCH_GONE);
}

static void rank_0_is_missed_by_the_others(void **state)
{
    (void)state;
    muster(60, 60, wait_forever);
    assert_int_equal(kill(crew.pids[0], SIGKILL), 0);
    expect_verdicts(0, 0, YK_WATCH_GONE);
}

static void a_stopped_rank_is_silent(void **state)
{
    (void)state;
    muster(0.3, 60, wait_forever);
    assert_int_equal(kill(crew.pids[1], SIGSTOP), 0);
    expect_verdicts(1, 1, YK_WATCH_SILENT);
}

static void rank_0_stopped_is_silent_for_the_others(void **state)
{
    (void)state;
    muster(0.3, 60, wait_forever);
    assert_int_equal(kill(crew.pids[0], SIGSTOP), 0);
    expect_verdicts(0, 0, YK_WATCH_SILENT);
}

/* Rank 1 computes forever, and the others wait for it in an exchange. */
static void compute_forever(int32_t rank, struct yk_watch *watch)
{
    yk_watch_note(watch, rank == 1 ? YK_WATCH_COMPUTE : YK_WATCH_COMM, 40 + rank);
    for (;;) {
        (void)pause();
    }
}

static void a_rank_that_hangs_is_named_with_its_op(void **state)
{
    (void)state;
    muster(60, 0.2, compute_forever);
    const struct report words = next_report();
    assert_int_equal(words.verdict.rank, 1);
    assert_int_equal(words.verdict.reason, YK_WATCH_HANGING);
    assert_int_equal(words.verdict.lane, YK_WATCH_COMPUTE);
    assert_int_equal(words.verdict.state.ops[YK_WATCH_COMPUTE], 41);
    assert_int_equal(words.verdict.state.ops[YK_WATCH_COMM], YK_WATCH_NO_OP);
    assert_true(words.verdict.since_s > 0.2);
    report(words.from, &words.verdict); /* so that all three are counted */
    expect_verdicts(-1, 1, YK_WATCH_HANGING);
}

static void rest(int32_t rank, struct yk_watch *watch)
{
    (void)rank;
    (void)watch;
    for (;;) {
        (void)pause();
    }
}

/* Finds rank 1 computing, at every look the same op, and the others waiting for it. */
static void find_computing(void *user, struct yk_watch *watch)
{
    const int32_t rank = *(const int32_t *)user;
    static bool known;
    if (!known) {
        yk_watch_note(watch, rank == 1 ? YK_WATCH_COMPUTE : YK_WATCH_COMM, 40 + rank);
        known = true;
    }
}

/* The same, but nobody answers rank 1 when it asks again. */
static void find_no_answer(void *user, struct yk_watch *watch)
{
    find_computing(user, watch);
    static int looks;
    while (*(const int32_t *)user == 1 && ++looks > 1) {
        (void)pause();
    }
}

static void blame_as_seen(void (*look)(void *user, struct yk_watch *watch), int32_t lane)
{
    crew_look = look;
    muster(60, 0.2, rest);
    crew_look = NULL;
    const struct report words = next_report();
    assert_int_equal(words.verdict.lane, lane);
    assert_int_equal(words.verdict.state.ops[YK_WATCH_COMPUTE], lane < 0 ? YK_WATCH_NO_OP : 41);
    report(words.from, &words.verdict);
    expect_verdicts(-1, 1, YK_WATCH_HANGING);
}

static void what_lanes_are_found_in_counts_as_what_they_note(void **state)
{
    (void)state;
    blame_as_seen(find_computing, YK_WATCH_COMPUTE);
}

static void an_op_is_nobodys_fault_when_no_answer_comes(void **state)
{
    (void)state;
    blame_as_seen(find_no_answer, -1);
}

/* A different op all the time, faster than any limit; rank 0 leaves first. */
static void work_and_leave(int32_t rank, struct yk_watch *watch)
{
    for (int32_t i = 0; i < 100 * (rank + 1); i++) {
        yk_watch_note_round(watch, i);
        yk_watch_note(watch, YK_WATCH_COMPUTE, 5);
        yk_watch_note(watch, YK_WATCH_COMPUTE, YK_WATCH_NO_OP);
    }
}

static void ranks_that_say_goodbye_are_not_missed(void **state)
{
    (void)state;
    for (int repeat = 0; repeat < 5; repeat++) {
        muster(60, 60, work_and_leave);
        for (int32_t i = 0; i < RANKS; i++) {
            int status = 0;
            assert_int_equal(waitpid(crew.pids[i], &status, 0), crew.pids[i]);
            assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        }
        (void)close(crew.reports[1]);
        char byte;
        assert_int_equal(read(crew.reports[0], &byte, 1), 0);
        (void)close(crew.reports[0]);
    }
}

static void pretend_lost(void *user, const struct yk_watch_verdict *verdict)
{
    (void)verdict;
    *(bool *)user = true;
}

/* Somebody calls with a wrong token, and somebody who says nothing at all. */
static int call_as_stranger(const struct yk_watch_invitation *invitation, bool speaks)
{
    const struct sockaddr_in address = {.sin_family = AF_INET,
                                        .sin_port = htons((uint16_t)invitation->port),
                                        .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const struct yk_watch_record record = {.word = YK_WATCH_HELLO, .rank = 1};
    const int link = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(connect(link, (const struct sockaddr *)&address, sizeof address), 0);
    if (speaks) {
        yk_watch_tell(link, &record);
    } else {
        (void)shutdown(link, SHUT_WR);
    }
    return link;
}

static void strangers_are_turned_away(void **state)
{
    (void)state;
    struct yk_watch_invitation invitation;
    struct yk_watch *watch = NULL;
    bool lost = false;
    const struct yk_watch_options options = {.lost = pretend_lost, .user = &lost};
    assert_ok(yk_watch_invite(true, &invitation));
    const int liar = call_as_stranger(&invitation, true);
    const int mute = call_as_stranger(&invitation, false);
    const pid_t friend = fork();
    if (friend == 0) {
        const bool joined = yk_watch_start(1, 2, &invitation, &options, &watch) == YK_OK;
        yk_watch_close(watch);
        _exit(joined ? 0 : 1);
    }
    assert_ok(yk_watch_start(0, 2, &invitation, &options, &watch));
    yk_watch_close(watch);
    int status = 0;
    assert_int_equal(waitpid(friend, &status, 0), friend);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_false(lost);
    (void)close(liar);
    (void)close(mute);
}

static yk_status watch_each_other(int32_t rank, int32_t ranks, void *user)
{
    struct exchange_station station;
    struct yk_watch *watch = NULL;
    bool *lost = &((bool *)user)[rank];
    const struct yk_watch_options options = {.beat_s = 0.01, .lost = pretend_lost, .user = lost};
    (void)ranks;
    YK_TRY(exchange_station_open(&yk_comm_threads, 0, &station));
    const yk_status status = yk_watch_open(&station.ranks, &options, &watch);
    if (status == YK_OK) {
        work_and_leave(rank, watch);
        yk_watch_close(watch);
    }
    exchange_station_close(&station);
    return status;
}

static void a_world_comes_to_watch_itself(void **state)
{
    (void)state;
    bool lost[4] = {false};
    for (int32_t ranks = 1; ranks <= 4; ranks++) {
        assert_ok(yk_thread_world_run(ranks, watch_each_other, lost));
    }
    assert_false(lost[0] || lost[1] || lost[2] || lost[3]);
}

/* Three ranks' lanes: op and seconds of compute, comm and copy. */
static struct yk_watch_state lanes(int32_t compute, float compute_s, int32_t comm, float comm_s)
{
    return (struct yk_watch_state){.ops = {compute, comm, YK_WATCH_NO_OP},
                                   .op_s = {compute_s, comm_s, 99}};
}

static void who_waits_in_an_exchange_is_not_to_blame(void **state)
{
    (void)state;
    enum {
        NONE = YK_WATCH_NO_OP
    };
    const bool left[RANKS] = {false};
    struct yk_watch_verdict verdict;
    /* Rank 2 still begins ops: the others wait for it, longer than an op may take. */
    struct yk_watch_state states[RANKS] = {lanes(NONE, 50, 3, 50), lanes(4, 50, 3, 50),
                                           lanes(5, 10, NONE, 60)};
    states[1].ops[YK_WATCH_COMPUTE] = NONE;
    assert_false(yk_watch_blame(states, left, RANKS, 30, &verdict));
    /* It has not for too long. */
    states[2] = lanes(5, 31, NONE, 60);
    assert_true(yk_watch_blame(states, left, RANKS, 30, &verdict));
    assert_int_equal(verdict.rank, 2);
    assert_int_equal(verdict.lane, YK_WATCH_COMPUTE);
    /* It is between ops. */
    states[2] = lanes(NONE, 31, NONE, 60);
    assert_true(yk_watch_blame(states, left, RANKS, 30, &verdict));
    assert_int_equal(verdict.rank, 2);
    assert_int_equal(verdict.lane, -1);
    /* All are in an exchange: the last to come is the one that the others have waited for. */
    states[2] = lanes(NONE, 31, 8, 32);
    assert_true(yk_watch_blame(states, left, RANKS, 30, &verdict));
    assert_int_equal(verdict.rank, 2);
    assert_int_equal(verdict.lane, YK_WATCH_COMM);
    /* Nobody is in anything: between steps all may rest. */
    for (int i = 0; i < RANKS; i++) {
        states[i] = lanes(NONE, 100, NONE, 100);
    }
    assert_false(yk_watch_blame(states, left, RANKS, 30, &verdict));
}

static void verdicts_have_words(void **state)
{
    (void)state;
    struct yk_text text = {0};
    yk_watch_describe(&(struct yk_watch_verdict){.rank = 3, .reason = YK_WATCH_GONE}, &text);
    yk_text_add(&text, "; ");
    yk_watch_describe(
        &(struct yk_watch_verdict){.rank = 1, .reason = YK_WATCH_SILENT, .since_s = 31.04}, &text);
    yk_text_add(&text, "; ");
    yk_watch_describe(
        &(struct yk_watch_verdict){.reason = YK_WATCH_HANGING, .lane = 1, .since_s = 152.3}, &text);
    assert_string_equal(yk_text_chars(&text),
                        "rank 3 has ended; rank 1 has not been heard of for 31 s; rank 0 has been "
                        "in one op for 152 s");
    yk_text_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_killed_rank_is_named_by_all_others),
        cmocka_unit_test(rank_0_is_missed_by_the_others),
        cmocka_unit_test(a_stopped_rank_is_silent),
        cmocka_unit_test(rank_0_stopped_is_silent_for_the_others),
        cmocka_unit_test(a_rank_that_hangs_is_named_with_its_op),
        cmocka_unit_test(what_lanes_are_found_in_counts_as_what_they_note),
        cmocka_unit_test(an_op_is_nobodys_fault_when_no_answer_comes),
        cmocka_unit_test(ranks_that_say_goodbye_are_not_missed),
        cmocka_unit_test(strangers_are_turned_away),
        cmocka_unit_test(a_world_comes_to_watch_itself),
        cmocka_unit_test(who_waits_in_an_exchange_is_not_to_blame),
        cmocka_unit_test(verdicts_have_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
