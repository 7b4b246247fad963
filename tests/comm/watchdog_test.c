#include "support/support.h"

#include "base/clock.h"
#include "comm/rendezvous/connection.h"
#include "comm/watchdog/host_addresses.h"
#include "comm/watchdog/watchdog.h"
#include "support/exchanges/exchange_table.h"
#include "support/exchanges/thread_comm.h"

#include <fcntl.h>
#include <math.h>
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
    int go[2]; /* closed when all have joined */
    struct yk_watchdog_endpoint endpoint;
};

struct report {
    int32_t from;
    struct yk_watchdog_failure failure; /* rank -1: ready */
};

static struct crew crew;
static void (*crew_inspect)(void *user, struct yk_watchdog *watchdog); /* at every beat, or NULL */

static void report(int32_t from, const struct yk_watchdog_failure *failure)
{
    const struct report words = {from, *failure};
    (void)!write(crew.reports[1], &words, sizeof words);
}

static void report_lost(void *user, const struct yk_watchdog_failure *failure)
{
    report(*(const int32_t *)user, failure);
    _exit(LOST_CODE);
}

/* What a rank does once it is watched; it ends when told to, or never. */
typedef void (*duty)(int32_t rank, struct yk_watchdog *watchdog);

static void be_a_rank(int32_t rank, double silence_s, double op_s, duty does)
{
    struct yk_watchdog *watchdog = NULL;
    const struct yk_watchdog_options options = {.heartbeat_period_s = 0.02,
                                                .heartbeat_timeout_s = silence_s,
                                                .op_timeout_s = op_s,
                                                .on_failure = report_lost,
                                                .poll_current_ops = crew_inspect,
                                                .user = &rank};
    if (yk_watchdog_connect(rank, RANKS, &crew.endpoint, &options, &watchdog) != YK_OK) {
        _exit(1);
    }
    char byte;
    report(rank, &(struct yk_watchdog_failure){.rank = -1});
    if (read(crew.go[0], &byte, 1) != 0 || yk_watchdog_start_threads(watchdog) != YK_OK) {
        _exit(1);
    }
    report(rank, &(struct yk_watchdog_failure){.rank = -1});
    does(rank, watchdog);
    yk_watchdog_close(watchdog);
    _exit(0);
}

static struct report next_report(void)
{
    struct report words = {.from = -1};
    assert_int_equal(read(crew.reports[0], &words, sizeof words), sizeof words);
    return words;
}

static void listen_for(struct yk_watchdog_endpoint *out)
{
    struct yk_host_addresses machine;
    struct yk_network_address_list addresses;
    yk_host_addresses_list_local(NULL, &machine);
    assert_ok(yk_host_addresses_choose_listening(&machine, 1, &addresses));
    assert_ok(yk_watchdog_channel_listen(&addresses, out));
}

static void await_ranks(void)
{
    for (int i = 0; i < RANKS; i++) {
        assert_int_equal(next_report().failure.rank, -1);
    }
}

static void muster(double silence_s, double op_s, duty does)
{
    assert_int_equal(pipe(crew.reports), 0);
    assert_int_equal(pipe(crew.go), 0);
    listen_for(&crew.endpoint);
    for (int32_t i = 0; i < RANKS; i++) {
        crew.pids[i] = fork();
        assert_true(crew.pids[i] >= 0);
        if (crew.pids[i] == 0) {
            (void)close(crew.go[1]);
            be_a_rank(i, silence_s, op_s, does);
        }
    }
    yk_watchdog_channel_stop_listening(&crew.endpoint);
    await_ranks();
    (void)close(crew.go[0]);
    (void)close(crew.go[1]);
    await_ranks();
}

/* Every rank but `except` says that `rank` is lost for `reason`, and ends with code 6. */
static void expect_verdicts(int32_t except, int32_t rank, enum yk_watchdog_failure_reason reason)
{
    for (int i = 0; i < RANKS - (except >= 0); i++) {
        const struct report words = next_report();
        assert_int_not_equal(words.from, except);
        assert_int_equal(words.failure.rank, rank);
        assert_int_equal(words.failure.reason, reason);
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

static void wait_forever(int32_t rank, struct yk_watchdog *watchdog)
{
    yk_watchdog_set_current_op(watchdog, YK_WATCHDOG_LANE_COMM, 100 + rank);
    for (;;) {
        (void)pause();
    }
}

static void a_killed_rank_is_named_by_all_others(void **state)
{
    (void)state;
    muster(60, 60, wait_forever);
    assert_int_equal(kill(crew.pids[2], SIGKILL), 0);
    expect_verdicts(2, 2, YK_WATCHDOG_RANK_EXITED);
}

static void rank_0_is_missed_by_the_others(void **state)
{
    (void)state;
    muster(60, 60, wait_forever);
    assert_int_equal(kill(crew.pids[0], SIGKILL), 0);
    expect_verdicts(0, 0, YK_WATCHDOG_RANK_EXITED);
}

static void a_stopped_rank_is_silent(void **state)
{
    (void)state;
    muster(0.3, 60, wait_forever);
    assert_int_equal(kill(crew.pids[1], SIGSTOP), 0);
    expect_verdicts(1, 1, YK_WATCHDOG_RANK_UNRESPONSIVE);
}

static void rank_0_stopped_is_silent_for_the_others(void **state)
{
    (void)state;
    muster(0.3, 60, wait_forever);
    assert_int_equal(kill(crew.pids[0], SIGSTOP), 0);
    expect_verdicts(0, 0, YK_WATCHDOG_RANK_UNRESPONSIVE);
}

/* Rank 1 computes forever, and the others wait for it in an exchange. */
static void compute_forever(int32_t rank, struct yk_watchdog *watchdog)
{
    yk_watchdog_set_current_op(
        watchdog, rank == 1 ? YK_WATCHDOG_LANE_COMPUTE : YK_WATCHDOG_LANE_COMM, 40 + rank);
    for (;;) {
        (void)pause();
    }
}

static void a_rank_that_hangs_is_named_with_its_op(void **state)
{
    (void)state;
    muster(60, 0.2, compute_forever);
    const struct report words = next_report();
    assert_int_equal(words.failure.rank, 1);
    assert_int_equal(words.failure.reason, YK_WATCHDOG_RANK_HUNG);
    assert_int_equal(words.failure.lane, YK_WATCHDOG_LANE_COMPUTE);
    assert_int_equal(words.failure.state.ops[YK_WATCHDOG_LANE_COMPUTE], 41);
    assert_int_equal(words.failure.state.ops[YK_WATCHDOG_LANE_COMM], YK_WATCHDOG_NO_OP);
    assert_true(words.failure.since_s > 0.2);
    report(words.from, &words.failure); /* so that all three are counted */
    expect_verdicts(-1, 1, YK_WATCHDOG_RANK_HUNG);
}

static void rest(int32_t rank, struct yk_watchdog *watchdog)
{
    (void)rank;
    (void)watchdog;
    for (;;) {
        (void)pause();
    }
}

/* Finds rank 1 computing, at every look the same op, and the others waiting for it. */
static void find_computing(void *user, struct yk_watchdog *watchdog)
{
    const int32_t rank = *(const int32_t *)user;
    static bool known;
    if (!known) {
        yk_watchdog_set_current_op(
            watchdog, rank == 1 ? YK_WATCHDOG_LANE_COMPUTE : YK_WATCHDOG_LANE_COMM, 40 + rank);
        known = true;
    }
}

/* The same, but nobody answers rank 1 when it asks again. */
static void find_no_answer(void *user, struct yk_watchdog *watchdog)
{
    find_computing(user, watchdog);
    static int looks;
    while (*(const int32_t *)user == 1 && ++looks > 1) {
        (void)pause();
    }
}

static void expect_culprit(void (*inspect)(void *user, struct yk_watchdog *watchdog), int32_t lane)
{
    crew_inspect = inspect;
    muster(60, 0.2, rest);
    crew_inspect = NULL;
    const struct report words = next_report();
    assert_int_equal(words.failure.lane, lane);
    assert_int_equal(words.failure.state.ops[YK_WATCHDOG_LANE_COMPUTE],
                     lane < 0 ? YK_WATCHDOG_NO_OP : 41);
    report(words.from, &words.failure);
    expect_verdicts(-1, 1, YK_WATCHDOG_RANK_HUNG);
}

static void what_lanes_are_found_in_counts_as_what_they_note(void **state)
{
    (void)state;
    expect_culprit(find_computing, YK_WATCHDOG_LANE_COMPUTE);
}

static void an_op_is_nobodys_fault_when_no_answer_comes(void **state)
{
    (void)state;
    expect_culprit(find_no_answer, -1);
}

/* A different op all the time, faster than any limit; rank 0 leaves first. */
static void work_and_leave(int32_t rank, struct yk_watchdog *watchdog)
{
    for (int32_t i = 0; i < 100 * (rank + 1); i++) {
        yk_watchdog_set_current_op(watchdog, YK_WATCHDOG_LANE_COMPUTE, 5);
        yk_watchdog_set_current_op(watchdog, YK_WATCHDOG_LANE_COMPUTE, YK_WATCHDOG_NO_OP);
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

static void pretend_lost(void *user, const struct yk_watchdog_failure *failure)
{
    (void)failure;
    *(bool *)user = true;
}

/* ---- who calls ---- */

static int call(const struct yk_watchdog_endpoint *endpoint)
{
    const struct yk_network_address_list *addresses = &endpoint->addresses;
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(
        connect(fd, (const struct sockaddr *)&addresses->addresses[0], addresses->sizes[0]), 0);
    return fd;
}

/* What rank 1 of 2 says to prove itself. */
static const struct yk_connection_record proof = {.kind = YK_CONNECTION_PROOF,
                                                  .rank = 1,
                                                  .size = 2,
                                                  .length = sizeof(struct yk_watchdog_message)};

/* Says hello, and has the host's number when it returns. */
static struct yk_connection greet(const struct yk_watchdog_endpoint *endpoint, const char *key)
{
    const struct yk_connection_record hello = {.kind = YK_CONNECTION_HELLO};
    struct yk_connection connection = {.fd = call(endpoint), .token = key};
    assert_true(yk_connection_send_record(&connection, &hello, NULL, yk_clock_now_s() + 5));
    return connection;
}

static struct yk_connection_record receive(const struct yk_connection *connection)
{
    unsigned char wire[YK_CONNECTION_RECORD_SIZE];
    struct yk_connection_record received = {0};
    assert_true(
        yk_connection_receive_bytes(connection->fd, wire, sizeof wire, yk_clock_now_s() + 15));
    assert_true(yk_connection_parse_record(wire, &received));
    return received;
}

/* Rank `rank` of two, in a process of its own, which ends with 0 if it has joined. */
static pid_t send_rank(int32_t rank, struct yk_watchdog_endpoint *endpoint)
{
    const struct yk_watchdog_options options = {.on_failure = pretend_lost};
    struct yk_watchdog *watchdog = NULL;
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        _exit(yk_watchdog_connect(rank, 2, endpoint, &options, &watchdog) == YK_OK ? 0 : 1);
    }
    return pid;
}

static void expect_joined(pid_t pid)
{
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* More than are served at a time: some say nothing, some half of it, some nonsense, some stop when
 * it is theirs to prove something; all called before the ranks do, and stay. */
static void callers_that_prove_nothing_do_not_hold_up_the_ranks(void **state)
{
    (void)state;
    enum {
        CALLERS = 120
    };
    int links[CALLERS];
    unsigned char noise[4 * YK_CONNECTION_RECORD_SIZE];
    struct yk_watchdog_endpoint endpoint;
    memset(noise, 'n', sizeof noise);
    listen_for(&endpoint);
    for (int i = 0; i < CALLERS; i++) {
        links[i] = i % 4 == 3 ? greet(&endpoint, "no key").fd : call(&endpoint);
        if (i % 4 == 1) {
            assert_int_equal(send(links[i], "yokemet1", 8, MSG_NOSIGNAL), 8);
        } else if (i % 4 == 2) {
            assert_true(send(links[i], noise, sizeof noise, MSG_NOSIGNAL) > 0);
        }
    }
    const pid_t server = send_rank(0, &endpoint);
    expect_joined(send_rank(1, &endpoint));
    expect_joined(server);
    yk_watchdog_channel_stop_listening(&endpoint);
    for (int i = 0; i < CALLERS; i++) {
        (void)close(links[i]);
    }
}

/* With another key, and with a proof that a rank gave on another connection. */
static void a_caller_with_no_proof_is_no_rank(void **state)
{
    (void)state;
    struct yk_watchdog_endpoint endpoint;
    listen_for(&endpoint);
    struct yk_connection earlier = greet(&endpoint, endpoint.key);
    struct yk_connection liar = greet(&endpoint, "another key");
    const pid_t server = send_rank(0, &endpoint);
    memcpy(earlier.server_nonce, receive(&earlier).nonce, YK_CONNECTION_NONCE_SIZE);
    memcpy(liar.server_nonce, receive(&liar).nonce, YK_CONNECTION_NONCE_SIZE);
    assert_true(yk_connection_send_record(&liar, &proof, NULL, yk_clock_now_s() + 5));
    assert_int_equal(receive(&liar).kind, YK_CONNECTION_REFUSED);
    yk_connection_close(&liar);

    struct yk_connection thief = greet(&endpoint, endpoint.key);
    assert_memory_not_equal(receive(&thief).nonce, earlier.server_nonce, YK_CONNECTION_NONCE_SIZE);
    memcpy(thief.server_nonce, earlier.server_nonce, YK_CONNECTION_NONCE_SIZE);
    assert_true(yk_connection_send_record(&thief, &proof, NULL, yk_clock_now_s() + 5));
    assert_int_equal(receive(&thief).kind, YK_CONNECTION_REFUSED);
    yk_connection_close(&thief);
    yk_connection_close(&earlier);

    expect_joined(send_rank(1, &endpoint));
    expect_joined(server);
    yk_watchdog_channel_stop_listening(&endpoint);
}

/* Answers one caller as rank 0 would, with the caller's own proof instead of one of its own. */
static void pose_as_rank_0(int listener)
{
    struct yk_connection_record challenge = {.kind = YK_CONNECTION_CHALLENGE};
    struct yk_connection connection = {.fd = accept(listener, NULL, NULL), .token = "a guess"};
    unsigned char wire[YK_CONNECTION_RECORD_SIZE];
    (void)close(listener);
    (void)receive(&connection);
    assert_true(yk_connection_send_record(&connection, &challenge, NULL, yk_clock_now_s() + 5));
    struct yk_connection_record answer = receive(&connection);
    assert_int_equal(answer.kind, YK_CONNECTION_PROOF);
    answer.kind = YK_CONNECTION_WELCOME;
    yk_connection_serialize_record(&answer, wire);
    assert_int_equal(send(connection.fd, wire, sizeof wire, MSG_NOSIGNAL), sizeof wire);
    /* It is hung up on. */
    assert_true(recv(connection.fd, wire, 1, 0) <= 0);
    yk_connection_close(&connection);
}

static void a_rank_refuses_a_false_watch_and_finds_the_true_one(void **state)
{
    (void)state;
    struct yk_watchdog_endpoint endpoint;
    struct yk_watchdog_endpoint false_one;
    listen_for(&endpoint);
    listen_for(&false_one);
    const int true_listener = endpoint.sockets[0];
    struct yk_watchdog_endpoint both = endpoint;
    both.addresses.addresses[0] = false_one.addresses.addresses[0];
    both.addresses.addresses[1] = endpoint.addresses.addresses[0];
    both.addresses.sizes[1] = endpoint.addresses.sizes[0];
    both.addresses.count = 2;
    both.socket_count = 0;
    const pid_t server = send_rank(0, &endpoint);
    (void)close(true_listener);
    const pid_t client = send_rank(1, &both);
    const int flags = fcntl(false_one.sockets[0], F_GETFL);
    assert_int_equal(fcntl(false_one.sockets[0], F_SETFL, flags & ~O_NONBLOCK), 0);
    pose_as_rank_0(false_one.sockets[0]);
    expect_joined(client);
    expect_joined(server);
}

static struct yk_host_address address(int a, int b, int c, int d, int32_t prefix)
{
    return (struct yk_host_address){
        AF_INET, prefix, {(unsigned char)a, (unsigned char)b, (unsigned char)c, (unsigned char)d}};
}

static void expect_place(const struct yk_network_address_list *addresses, const char *words)
{
    struct yk_text text = {0};
    yk_network_address_list_describe(addresses, &text);
    assert_string_equal(yk_text_chars(&text), words);
    yk_text_free(&text);
}

static void rank_0_listens_where_the_others_can_reach_it_and_nowhere_else(void **state)
{
    (void)state;
    struct yk_network_address_list addresses;
    /* Networks of the machine: of all ranks, of some, of its containers, and to the outside. */
    struct yk_host_addresses machines[RANKS] = {
        {"a",
         4,
         {address(198, 51, 100, 7, 24), address(172, 17, 0, 1, 16), address(10, 0, 0, 1, 24),
          address(192, 168, 5, 1, 24)}},
        {"b", 2, {address(172, 17, 0, 1, 16), address(10, 0, 0, 2, 24)}},
        {"c", 2, {address(192, 168, 5, 3, 24), address(10, 0, 0, 3, 24)}},
    };
    assert_ok(yk_host_addresses_choose_listening(machines, RANKS, &addresses));
    expect_place(&addresses, "10.0.0.1");
    /* No network for all: one for each. */
    machines[2].count = 1;
    assert_ok(yk_host_addresses_choose_listening(machines, RANKS, &addresses));
    expect_place(&addresses, "10.0.0.1 and 192.168.5.1");
    /* A rank on the same machine reaches it anywhere. */
    strcpy(machines[2].name, "a");
    assert_ok(yk_host_addresses_choose_listening(machines, RANKS, &addresses));
    expect_place(&addresses, "10.0.0.1");
    strcpy(machines[1].name, "a");
    assert_ok(yk_host_addresses_choose_listening(machines, RANKS, &addresses));
    expect_place(&addresses, "127.0.0.1");
}

static void an_unreachable_machine_is_named(void **state)
{
    (void)state;
    struct yk_network_address_list addresses;
    /* 192.0.2.1 is of no machine, so no route leads from it. */
    const struct yk_host_addresses machines[2] = {{"a", 1, {address(192, 0, 2, 1, 24)}},
                                                  {"b", 1, {address(203, 0, 113, 1, 24)}}};
    assert_int_equal(yk_host_addresses_choose_listening(machines, 2, &addresses), YK_ERROR_INPUT);
    assert_non_null(strstr(yk_status_message(), "rank 1; name the interface"));
}

static void records_that_no_rank_sends_are_refused(void **state)
{
    (void)state;
    const struct yk_watchdog_message sound = {
        .kind = YK_WATCHDOG_MESSAGE_FAILURE, .rank = 2, .lane = 2};
    struct yk_watchdog_message out;
    struct yk_watchdog_message wrong[8];
    for (int i = 0; i < 8; i++) {
        wrong[i] = sound;
    }
    wrong[0].kind = 0;
    wrong[1].kind = YK_WATCHDOG_MESSAGE_GOODBYE + 1;
    wrong[2].rank = RANKS;
    wrong[3].rank = -1;
    wrong[4].lane = YK_WATCHDOG_LANE_COUNT;
    wrong[5].reason = YK_WATCHDOG_RANK_HUNG + 1;
    wrong[6].since_s = -1;
    wrong[7].state.op_s[0] = NAN;
    assert_true(yk_watchdog_channel_parse_message(&sound, sizeof sound, RANKS, &out));
    assert_int_equal(out.rank, 2);
    assert_false(yk_watchdog_channel_parse_message(&sound, sizeof sound - 1, RANKS, &out));
    for (int i = 0; i < 8; i++) {
        assert_false(yk_watchdog_channel_parse_message(&wrong[i], sizeof wrong[i], RANKS, &out));
    }
}

static yk_status watch_each_other(int32_t rank, int32_t ranks, void *user)
{
    struct exchange_station station;
    struct yk_watchdog *watchdog = NULL;
    bool *lost = &((bool *)user)[rank];
    const struct yk_watchdog_options options = {
        .heartbeat_period_s = 0.01, .on_failure = pretend_lost, .user = lost};
    (void)ranks;
    YK_TRY(exchange_station_open(&yk_comm_threads, 0, &station));
    const yk_status status = yk_watchdog_open(&station.ranks, &options, &watchdog);
    if (status == YK_OK) {
        work_and_leave(rank, watchdog);
        yk_watchdog_close(watchdog);
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
static struct yk_watchdog_current_ops lanes(int32_t compute, float compute_s, int32_t comm,
                                            float comm_s)
{
    return (struct yk_watchdog_current_ops){.ops = {compute, comm, YK_WATCHDOG_NO_OP},
                                            .op_s = {compute_s, comm_s, 99}};
}

static void who_waits_in_an_exchange_is_not_to_blame(void **state)
{
    (void)state;
    enum {
        NONE = YK_WATCHDOG_NO_OP
    };
    const bool left[RANKS] = {false};
    struct yk_watchdog_failure failure;
    /* Rank 2 still begins ops: the others wait for it, longer than an op may take. */
    struct yk_watchdog_current_ops states[RANKS] = {lanes(NONE, 50, 3, 50), lanes(4, 50, 3, 50),
                                                    lanes(5, 10, NONE, 60)};
    states[1].ops[YK_WATCHDOG_LANE_COMPUTE] = NONE;
    assert_false(yk_watchdog_find_hung_rank(states, left, RANKS, 30, &failure));
    /* It has not for too long. */
    states[2] = lanes(5, 31, NONE, 60);
    assert_true(yk_watchdog_find_hung_rank(states, left, RANKS, 30, &failure));
    assert_int_equal(failure.rank, 2);
    assert_int_equal(failure.lane, YK_WATCHDOG_LANE_COMPUTE);
    /* It is between ops. */
    states[2] = lanes(NONE, 31, NONE, 60);
    assert_true(yk_watchdog_find_hung_rank(states, left, RANKS, 30, &failure));
    assert_int_equal(failure.rank, 2);
    assert_int_equal(failure.lane, -1);
    /* All are in an exchange: the last to come is the one that the others have waited for. */
    states[2] = lanes(NONE, 31, 8, 32);
    assert_true(yk_watchdog_find_hung_rank(states, left, RANKS, 30, &failure));
    assert_int_equal(failure.rank, 2);
    assert_int_equal(failure.lane, YK_WATCHDOG_LANE_COMM);
    /* Nobody is in anything: between steps all may rest. */
    for (int i = 0; i < RANKS; i++) {
        states[i] = lanes(NONE, 100, NONE, 100);
    }
    assert_false(yk_watchdog_find_hung_rank(states, left, RANKS, 30, &failure));
}

static void verdicts_have_words(void **state)
{
    (void)state;
    struct yk_text text = {0};
    yk_watchdog_describe_failure(
        &(struct yk_watchdog_failure){.rank = 3, .reason = YK_WATCHDOG_RANK_EXITED}, &text);
    yk_text_add(&text, "; ");
    yk_watchdog_describe_failure(
        &(struct yk_watchdog_failure){
            .rank = 1, .reason = YK_WATCHDOG_RANK_UNRESPONSIVE, .since_s = 31.04},
        &text);
    yk_text_add(&text, "; ");
    yk_watchdog_describe_failure(
        &(struct yk_watchdog_failure){.reason = YK_WATCHDOG_RANK_HUNG, .lane = 1, .since_s = 152.3},
        &text);
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
        cmocka_unit_test(callers_that_prove_nothing_do_not_hold_up_the_ranks),
        cmocka_unit_test(a_caller_with_no_proof_is_no_rank),
        cmocka_unit_test(a_rank_refuses_a_false_watch_and_finds_the_true_one),
        cmocka_unit_test(rank_0_listens_where_the_others_can_reach_it_and_nowhere_else),
        cmocka_unit_test(an_unreachable_machine_is_named),
        cmocka_unit_test(records_that_no_rank_sends_are_refused),
        cmocka_unit_test(a_world_comes_to_watch_itself),
        cmocka_unit_test(who_waits_in_an_exchange_is_not_to_blame),
        cmocka_unit_test(verdicts_have_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
