#include "support/support.h"

#include "base/clock.h"
#include "comm/rendezvous/connection.h"
#include "comm/rendezvous/network_address.h"
#include "comm/rendezvous/rendezvous.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    MOST = 6, /* processes */
    ID_SIZE = 128,
    SENTENCE_SIZE = 512,
};

/* What a process came to. */
struct end {
    yk_status status;
    char sentence[SENTENCE_SIZE];
    char id[ID_SIZE];
};

struct crew {
    int32_t port; /* where it meets; free a moment ago */
    int listener; /* of the test itself, which processes do not keep; 0: none */
    int32_t count;
    pid_t pids[MOST];
    int pipes[MOST];
    struct end ends[MOST];
};

static struct crew crew;

static struct sockaddr_in loopback(int32_t number)
{
    return (struct sockaddr_in){.sin_family = AF_INET,
                                .sin_port = htons((uint16_t)number),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

/* A socket at a port that no other has. Until it listens, calls are refused. */
static int bind_somewhere(int32_t *number)
{
    struct sockaddr_in address = loopback(0);
    socklen_t size = sizeof address;
    const int bound = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int yes = 1;
    assert_true(bound >= 0);
    (void)setsockopt(bound, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    assert_int_equal(bind(bound, (const struct sockaddr *)&address, size), 0);
    assert_int_equal(getsockname(bound, (struct sockaddr *)&address, &size), 0);
    *number = ntohs(address.sin_port);
    return bound;
}

static int listen_somewhere(int32_t *number)
{
    const int listener = bind_somewhere(number);
    assert_int_equal(listen(listener, 8), 0);
    return listener;
}

static int start(void **state)
{
    (void)state;
    crew = (struct crew){0};
    (void)close(listen_somewhere(&crew.port));
    return 0;
}

static struct yk_rendezvous_options rendezvous_of(int32_t rank, int32_t size)
{
    return (struct yk_rendezvous_options){.rank = rank,
                                          .size = size,
                                          .address = "127.0.0.1",
                                          .port = crew.port,
                                          .token = "a token of this job",
                                          .timeout_s = 5};
}

/* The bytes that rank 0 has for all: as long as NCCL's id. */
static void fill(char id[ID_SIZE], int round)
{
    for (int i = 0; i < ID_SIZE; i++) {
        id[i] = (char)(17 * i + round);
    }
}

static void meet(struct yk_rendezvous_options rendezvous, int rounds, struct end *out)
{
    const struct yk_comm_bootstrap bootstrap = yk_rendezvous_make_bootstrap(&rendezvous);
    for (int i = 0; i < rounds && out->status == YK_OK; i++) {
        if (rendezvous.rank == 0) {
            fill(out->id, i);
        }
        out->status = bootstrap.share(bootstrap.user, YK_OK, out->id, ID_SIZE);
    }
    if (out->status != YK_OK) {
        snprintf(out->sentence, sizeof out->sentence, "%s", yk_status_message());
    }
}

/* A process that meets. */
static void send_out(struct yk_rendezvous_options rendezvous, int rounds)
{
    int ends[2];
    assert_true(crew.count < MOST);
    assert_int_equal(pipe(ends), 0);
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        struct end end = {0};
        if (crew.listener > 0) {
            (void)close(crew.listener);
        }
        meet(rendezvous, rounds, &end);
        const ssize_t written = write(ends[1], &end, sizeof end);
        _exit(written == (ssize_t)sizeof end ? 0 : 1);
    }
    (void)close(ends[1]);
    crew.pipes[crew.count] = ends[0];
    crew.pids[crew.count++] = pid;
}

static void await_one(int32_t i)
{
    int status = 0;
    if (crew.pids[i] > 0) {
        assert_int_equal(read(crew.pipes[i], &crew.ends[i], sizeof crew.ends[i]),
                         sizeof crew.ends[i]);
        assert_int_equal(waitpid(crew.pids[i], &status, 0), crew.pids[i]);
        assert_int_equal(status, 0);
        (void)close(crew.pipes[i]);
        crew.pids[i] = 0;
    }
}

static void await_all(void)
{
    for (int32_t i = 0; i < crew.count; i++) {
        await_one(i);
    }
}

static void expect_bytes(int round)
{
    char expected[ID_SIZE];
    fill(expected, round);
    for (int32_t i = 0; i < crew.count; i++) {
        assert_string_equal(crew.ends[i].sentence, "");
        assert_int_equal(crew.ends[i].status, YK_OK);
        assert_memory_equal(crew.ends[i].id, expected, ID_SIZE);
    }
}

static void expect_end(int32_t process, yk_status status, const char *part)
{
    if (!strstr(crew.ends[process].sentence, part)) {
        fail_msg("process %d said \"%s\", not \"%s\"", (int)process, crew.ends[process].sentence,
                 part);
    }
    assert_int_equal(crew.ends[process].status, status);
}

/* A connection to where rank 0 listens; waits for it. */
static int call(void)
{
    const struct sockaddr_in address = loopback(crew.port);
    const double end_s = yk_clock_now_s() + 20;
    for (;;) {
        assert_true(yk_clock_now_s() < end_s);
        const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (connect(fd, (const struct sockaddr *)&address, sizeof address) == 0) {
            return fd;
        }
        (void)close(fd);
        (void)usleep(2000);
    }
}

static struct yk_connection_record receive(const struct yk_connection *connection)
{
    unsigned char wire[YK_CONNECTION_RECORD_SIZE];
    struct yk_connection_record received = {0};
    assert_true(
        yk_connection_receive_bytes(connection->fd, wire, sizeof wire, yk_clock_now_s() + 5));
    assert_true(yk_connection_parse_record(wire, &received));
    return received;
}

/* A rank that has come when it returns: rank 0 has said so. */
static struct yk_connection come(int32_t rank, int32_t size)
{
    const struct yk_rendezvous_options as = rendezvous_of(rank, size);
    const struct yk_connection_record hello = {.kind = YK_CONNECTION_HELLO};
    const struct yk_connection_record proof = {
        .kind = YK_CONNECTION_PROOF, .rank = rank, .size = size, .length = ID_SIZE};
    const double end_s = yk_clock_now_s() + 5;
    struct yk_connection connection = {.fd = call(), .token = as.token};
    assert_true(yk_connection_send_record(&connection, &hello, NULL, end_s));
    memcpy(connection.server_nonce, receive(&connection).nonce, sizeof connection.server_nonce);
    assert_true(yk_connection_send_record(&connection, &proof, NULL, end_s));
    assert_int_equal(receive(&connection).kind, YK_CONNECTION_WELCOME);
    return connection;
}

static bool is_refused(void)
{
    const struct sockaddr_in address = loopback(crew.port);
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int got = connect(fd, (const struct sockaddr *)&address, sizeof address);
    const int problem = errno;
    (void)close(fd);
    return got != 0 && problem == ECONNREFUSED;
}

/* ---- ranks that meet ---- */

static void bytes_of_rank_0_come_to_all_and_nobody_listens_after(void **state)
{
    (void)state;
    for (int32_t i = 0; i < 4; i++) {
        send_out(rendezvous_of(i, 4), 1);
    }
    await_all();
    expect_bytes(0);
    assert_true(is_refused());
}

static void ranks_meet_again_at_the_same_port(void **state)
{
    (void)state;
    for (int32_t i = 0; i < 3; i++) {
        send_out(rendezvous_of(i, 3), 3);
    }
    await_all();
    expect_bytes(2);
}

static void ranks_wait_for_a_late_rank_0(void **state)
{
    (void)state;
    /* Calls have come, and met nobody, when rank 0 begins. */
    crew.listener = listen_somewhere(&crew.port);
    for (int32_t i = 1; i < 3; i++) {
        send_out(rendezvous_of(i, 3), 1);
    }
    for (int i = 0; i < 2; i++) {
        (void)close(accept(crew.listener, NULL, NULL));
    }
    (void)close(crew.listener);
    crew.listener = 0;
    send_out(rendezvous_of(0, 3), 1);
    await_all();
    expect_bytes(0);
}

static void a_name_serves_as_the_address(void **state)
{
    (void)state;
    for (int32_t i = 0; i < 2; i++) {
        struct yk_rendezvous_options named = rendezvous_of(i, 2);
        named.address = "localhost";
        named.nccl_interfaces = "lo";
        send_out(named, 1);
    }
    await_all();
    expect_bytes(0);
}

static void rank_0_listens_at_the_interface_that_is_named(void **state)
{
    (void)state;
    struct yk_rendezvous_options server = rendezvous_of(0, 2);
    server.address = "unknown.invalid";
    server.interface = "lo";
    send_out(server, 1);
    send_out(rendezvous_of(1, 2), 1);
    await_all();
    expect_bytes(0);
    server.interface = "nosuch0";
    server.timeout_s = 0.05;
    struct end end = {0};
    meet(server, 1, &end);
    assert_int_equal(end.status, YK_ERROR_INPUT);
    assert_non_null(strstr(end.sentence, "YOKE_INTERFACE=nosuch0"));
}

/* A rank that began and died is no rank that came twice. */
static void a_rank_may_come_again_after_it_was_lost(void **state)
{
    (void)state;
    send_out(rendezvous_of(0, 3), 1);
    (void)close(come(1, 3).fd);
    send_out(rendezvous_of(1, 3), 1);
    send_out(rendezvous_of(2, 3), 1);
    await_all();
    expect_bytes(0);
}

/* ---- ranks that do not ---- */

static void a_stranger_does_not_end_the_meeting(void **state)
{
    (void)state;
    struct yk_rendezvous_options stranger = rendezvous_of(1, 2);
    stranger.token = "a token of that job";
    send_out(rendezvous_of(0, 2), 1);
    send_out(stranger, 1);
    await_one(1);
    send_out(rendezvous_of(1, 2), 1);
    await_all();
    assert_int_equal(crew.ends[0].status, YK_OK);
    assert_int_equal(crew.ends[1].status, YK_ERROR_INPUT);
    assert_int_equal(crew.ends[2].status, YK_OK);
}

static void a_rank_that_comes_twice_ends_the_meeting_for_all(void **state)
{
    (void)state;
    static const char expected[] = "two processes say that they are rank 2 of 4";
    send_out(rendezvous_of(0, 4), 1);
    const struct yk_connection first[] = {come(1, 4), come(2, 4)};
    send_out(rendezvous_of(2, 4), 1);
    await_all();
    for (int32_t i = 0; i < 2; i++) {
        char sentence[SENTENCE_SIZE] = "";
        const struct yk_connection_record refusal = receive(&first[i]);
        expect_end(i, YK_ERROR_INPUT, expected);
        assert_int_equal(refusal.kind, YK_CONNECTION_REFUSED);
        assert_true(refusal.length < sizeof sentence);
        assert_true(yk_connection_receive_bytes(first[i].fd, sentence, refusal.length,
                                                yk_clock_now_s() + 5));
        assert_true(yk_connection_verify_proof(&first[i], &refusal, sentence));
        assert_non_null(strstr(sentence, expected));
        (void)close(first[i].fd);
    }
}

static void numbers_that_cannot_be_are_reported_on_both_sides(void **state)
{
    (void)state;
    send_out(rendezvous_of(0, 3), 1);
    send_out(rendezvous_of(1, 2), 1);
    await_all();
    for (int32_t i = 0; i < 2; i++) {
        expect_end(i, YK_ERROR_INPUT,
                   "rank 1 says that there are 2 ranks and rank 0 that there are 3");
    }
    (void)start(NULL);
    send_out(rendezvous_of(0, 3), 1);
    send_out(rendezvous_of(3, 3), 1);
    await_all();
    for (int32_t i = 0; i < 2; i++) {
        expect_end(i, YK_ERROR_INPUT, "a second process says that it is rank 3");
    }
}

static void a_port_in_use_is_reported(void **state)
{
    (void)state;
    struct end end = {0};
    const int used = listen_somewhere(&crew.port);
    meet(rendezvous_of(0, 2), 1, &end);
    (void)close(used);
    assert_int_equal(end.status, YK_ERROR_INPUT);
    assert_non_null(strstr(end.sentence, "Address already in use"));
}

/* 192.0.2.0/24 is for documentation, and of no machine. */
static void rank_0_must_be_where_its_address_is(void **state)
{
    (void)state;
    struct end end = {0};
    struct yk_rendezvous_options server = rendezvous_of(0, 2);
    server.address = "192.0.2.1";
    meet(server, 1, &end);
    assert_int_equal(end.status, YK_ERROR_INPUT);
    assert_non_null(strstr(end.sentence, "must name the machine of rank 0"));
}

static void rank_0_never_listens_everywhere(void **state)
{
    (void)state;
    static const char *const everywhere[] = {"0.0.0.0", "::", "0"};
    for (size_t i = 0; i < sizeof everywhere / sizeof everywhere[0]; i++) {
        struct end end = {0};
        struct yk_rendezvous_options server = rendezvous_of(0, 2);
        server.address = everywhere[i];
        meet(server, 1, &end);
        assert_int_equal(end.status, YK_ERROR_INPUT);
        assert_non_null(strstr(end.sentence, "is no address of one machine"));
    }
}

/* ---- strangers ---- */

static void strangers_neither_hang_nor_end_it(void **state)
{
    (void)state;
    int links[80]; /* more than may wait at a time */
    static const char web[] =
        "GET / HTTP/1.1\r\nHost: localhost\r\nUser-Agent: a scanner of ports, "
        "which says more than a record\r\n\r\n";
    send_out(rendezvous_of(0, 3), 1);
    for (int i = 0; i < 80; i++) {
        links[i] = call();
        if (i % 3 == 1) {
            assert_true(send(links[i], web, sizeof web, MSG_NOSIGNAL) > 0);
        } else if (i % 3 == 2) {
            assert_true(send(links[i], "yokemet1", 8, MSG_NOSIGNAL) > 0); /* and never goes on */
        }
    }
    send_out(rendezvous_of(1, 3), 1);
    send_out(rendezvous_of(2, 3), 1);
    await_all();
    expect_bytes(0);
    for (int i = 0; i < 80; i++) {
        (void)close(links[i]);
    }
}

/* What one guest said proves nothing for another. */
static void a_proof_cannot_be_used_again(void **state)
{
    (void)state;
    unsigned char wire[YK_CONNECTION_RECORD_SIZE];
    struct yk_connection_record received;
    struct yk_connection connection = {.token = "a token of this job"};
    send_out(rendezvous_of(0, 2), 1);
    struct yk_connection_record proof = {
        .kind = YK_CONNECTION_PROOF, .rank = 1, .size = 2, .length = ID_SIZE};
    const double end_s = yk_clock_now_s() + 2;
    for (int i = 0; i < 2; i++) {
        /* The second time with the host's old number in it, as one who listened has it. */
        const struct yk_connection_record hello = {.kind = YK_CONNECTION_HELLO};
        struct yk_connection line = connection;
        line.fd = call();
        assert_true(yk_connection_send_record(&line, &hello, NULL, end_s));
        assert_true(yk_connection_receive_bytes(line.fd, wire, sizeof wire, end_s));
        assert_true(yk_connection_parse_record(wire, &received));
        assert_int_equal(received.kind, YK_CONNECTION_CHALLENGE);
        if (i == 0) {
            memcpy(connection.server_nonce, received.nonce, sizeof connection.server_nonce);
        } else {
            assert_memory_not_equal(connection.server_nonce, received.nonce,
                                    sizeof connection.server_nonce);
            assert_true(yk_connection_send_record(&line, &proof, NULL, end_s));
            assert_true(yk_connection_receive_bytes(line.fd, wire, sizeof wire, end_s));
            assert_true(yk_connection_parse_record(wire, &received));
            assert_int_equal(received.kind, YK_CONNECTION_REFUSED);
        }
        (void)close(line.fd);
    }
    send_out(rendezvous_of(1, 2), 1);
    await_all();
    expect_bytes(0);
}

/* ---- time that is over: these wait for it while the others are tested ---- */

enum slow {
    SOME_MISSING,
    WITH_ANOTHER_TOKEN,
    RANK_0_MISSING,
    WITH_A_SERVER,
    SLOW_COUNT,
};

static const double slow_s = 0.25;
static struct crew slow[SLOW_COUNT];
static int noisy; /* a connection that only makes noise */

static struct yk_rendezvous_options short_rendezvous_of(int32_t rank, int32_t size)
{
    struct yk_rendezvous_options rendezvous = rendezvous_of(rank, size);
    rendezvous.timeout_s = slow_s;
    return rendezvous;
}

static void make_noise(int listener)
{
    char noise[4096];
    memset(noise, 'n', sizeof noise);
    noisy = accept(listener, NULL, NULL);
    assert_true(noisy >= 0);
    assert_true(send(noisy, noise, sizeof noise, MSG_NOSIGNAL) > 0);
    (void)close(listener);
}

static int start_slow(void **state)
{
    struct yk_rendezvous_options stranger;
    (void)start(state);
    send_out(short_rendezvous_of(0, 5), 1);
    send_out(rendezvous_of(2, 5), 1);
    slow[SOME_MISSING] = crew;

    (void)start(state);
    stranger = rendezvous_of(1, 2);
    stranger.token = "a token of that job";
    send_out(short_rendezvous_of(0, 2), 1);
    send_out(stranger, 1);
    slow[WITH_ANOTHER_TOKEN] = crew;

    crew = (struct crew){0};
    crew.listener = bind_somewhere(&crew.port); /* else somebody might come to listen there */
    send_out(short_rendezvous_of(1, 2), 1);
    slow[RANK_0_MISSING] = crew;

    crew = (struct crew){0};
    const int listener = listen_somewhere(&crew.port);
    send_out(short_rendezvous_of(1, 2), 1);
    make_noise(listener);
    slow[WITH_A_SERVER] = crew;
    return 0;
}

static void await_slow(enum slow which)
{
    crew = slow[which];
    await_all();
}

static void ranks_that_did_not_come_are_named_to_those_that_did(void **state)
{
    (void)state;
    await_slow(SOME_MISSING);
    for (int32_t i = 0; i < 2; i++) {
        expect_end(i, YK_ERROR_LOST, "ranks 1, 3 and 4 of 5 did not come");
        expect_end(i, YK_ERROR_LOST, "within 0.25 s");
    }
    assert_true(is_refused());
}

static void another_token_is_turned_away_and_reported(void **state)
{
    (void)state;
    await_slow(WITH_ANOTHER_TOKEN);
    expect_end(0, YK_ERROR_LOST, "rank 1 of 2 did not come to rank 0 at 127.0.0.1");
    expect_end(0, YK_ERROR_LOST, "1 called with another token");
    expect_end(1, YK_ERROR_INPUT, "has another token than rank 1");
}

static void a_rank_that_finds_nobody_says_where_it_looked(void **state)
{
    (void)state;
    char part[64];
    await_slow(RANK_0_MISSING);
    (void)close(crew.listener);
    snprintf(part, sizeof part, "did not find rank 0 at 127.0.0.1, port %d,", (int)crew.port);
    expect_end(0, YK_ERROR_LOST, part);
    expect_end(0, YK_ERROR_LOST, "Connection refused");
}

static void a_rank_is_not_held_up_by_another_server(void **state)
{
    (void)state;
    await_slow(WITH_A_SERVER);
    (void)close(noisy);
    expect_end(0, YK_ERROR_LOST, "did not find rank 0");
}

/* ---- from the environment ---- */

static void words_come_from_the_environment(void **state)
{
    (void)state;
    struct yk_rendezvous_options found;
    struct yk_launcher launcher = {.name = "env",
                                   .rank = 1,
                                   .size = 3,
                                   .uses_rendezvous = true,
                                   .address = "node1",
                                   .port = 29500};
    (void)unsetenv("YOKE_TOKEN");
    (void)unsetenv("YOKE_MEET_S");
    (void)setenv("TORCHELASTIC_RUN_ID", "7c1e", 1);
    assert_int_equal(yk_rendezvous_options_from_environment(&launcher, &found), YK_ERROR_INPUT);
    assert_non_null(strstr(yk_status_message(), "YOKE_TOKEN"));
    launcher.name = "torchrun";
    assert_ok(yk_rendezvous_options_from_environment(&launcher, &found));
    assert_string_equal(found.token, "7c1e");
    (void)setenv("TORCHELASTIC_RUN_ID", "none", 1);
    assert_int_equal(yk_rendezvous_options_from_environment(&launcher, &found), YK_ERROR_INPUT);
    (void)setenv("YOKE_TOKEN", "secret", 1);
    assert_ok(yk_rendezvous_options_from_environment(&launcher, &found));
    assert_string_equal(found.token, "secret");
    assert_string_equal(found.address, "node1");
    assert_int_equal(found.port, 29500);
    assert_true(found.timeout_s == 60);
    (void)setenv("YOKE_MEET_S", "2.5", 1);
    assert_ok(yk_rendezvous_options_from_environment(&launcher, &found));
    assert_true(found.timeout_s == 2.5);
    (void)setenv("YOKE_MEET_S", "soon", 1);
    assert_int_equal(yk_rendezvous_options_from_environment(&launcher, &found), YK_ERROR_INPUT);
}

/* As NCCL's documentation has it for NCCL_SOCKET_IFNAME. */
static void interfaces_are_named_as_for_nccl(void **state)
{
    (void)state;
    assert_true(yk_network_address_is_interface_selected("eth0", "eth"));
    assert_true(yk_network_address_is_interface_selected("eth0", "ib,eth"));
    assert_true(yk_network_address_is_interface_selected("eth0", "=eth1,eth0"));
    assert_false(yk_network_address_is_interface_selected("eth0", "=eth"));
    assert_false(yk_network_address_is_interface_selected("lo", "eth,ib"));
    assert_false(yk_network_address_is_interface_selected("eth0", "^docker"));
    assert_false(yk_network_address_is_interface_selected("eth0", ""));
}

#define MEETS(test) cmocka_unit_test_setup(test, start)

int main(void)
{
    const struct CMUnitTest tests[] = {
        MEETS(bytes_of_rank_0_come_to_all_and_nobody_listens_after),
        MEETS(ranks_meet_again_at_the_same_port),
        MEETS(ranks_wait_for_a_late_rank_0),
        MEETS(a_name_serves_as_the_address),
        MEETS(rank_0_listens_at_the_interface_that_is_named),
        MEETS(a_rank_may_come_again_after_it_was_lost),
        MEETS(a_rank_that_comes_twice_ends_the_meeting_for_all),
        MEETS(numbers_that_cannot_be_are_reported_on_both_sides),
        MEETS(a_port_in_use_is_reported),
        MEETS(rank_0_must_be_where_its_address_is),
        MEETS(rank_0_never_listens_everywhere),
        MEETS(strangers_neither_hang_nor_end_it),
        MEETS(a_proof_cannot_be_used_again),
        MEETS(a_stranger_does_not_end_the_meeting),
        cmocka_unit_test(ranks_that_did_not_come_are_named_to_those_that_did),
        cmocka_unit_test(another_token_is_turned_away_and_reported),
        cmocka_unit_test(a_rank_that_finds_nobody_says_where_it_looked),
        cmocka_unit_test(a_rank_is_not_held_up_by_another_server),
        cmocka_unit_test(words_come_from_the_environment),
        cmocka_unit_test(interfaces_are_named_as_for_nccl),
    };
    return cmocka_run_group_tests(tests, start_slow, NULL);
}
