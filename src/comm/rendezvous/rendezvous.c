#include "comm/rendezvous/rendezvous.h"

#include "base/clock.h"
#include "base/number.h"
#include "base/text.h"
#include "comm/rendezvous/rendezvous_client.h"
#include "comm/rendezvous/rendezvous_listener.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const double usual_limit_s = 60;
static const double longest_limit_s = 1e6;
static const double grace_s = 10; /* in which rank 0 tells what it waited for in vain */

/* The variable, or NULL where it says nothing. */
static const char *read_variable(const char *name)
{
    const char *text = getenv(name);
    return text && *text ? text : NULL;
}

/* torchrun gives every job an id, which is "none" unless somebody asks for one. */
static const char *find_token(const struct yk_launcher *launcher)
{
    const char *token = read_variable("YOKE_TOKEN");
    const char *run = read_variable("TORCHELASTIC_RUN_ID");
    if (token || !launcher->name || strcmp(launcher->name, "torchrun") != 0) {
        return token;
    }
    return run && strcmp(run, "none") != 0 ? run : NULL;
}

static yk_status read_limit(double *out)
{
    const char *text = read_variable("YOKE_MEET_S");
    *out = usual_limit_s;
    if (text &&
        (!yk_number_parse(text, strlen(text), out) || *out <= 0 || *out > longest_limit_s)) {
        return yk_fail(YK_ERROR_INPUT, "YOKE_MEET_S=%s: seconds, more than 0", text);
    }
    return YK_OK;
}

yk_status yk_rendezvous_options_from_environment(const struct yk_launcher *launcher,
                                                 struct yk_rendezvous_options *out)
{
    struct yk_rendezvous_options found = {
        .rank = launcher->rank,
        .size = launcher->size,
        .address = launcher->address,
        .port = launcher->port,
        .token = find_token(launcher),
        .interface = read_variable("YOKE_INTERFACE"),
        .nccl_interfaces = read_variable("NCCL_SOCKET_IFNAME"),
    };
    YK_TRY(read_limit(&found.timeout_s));
    if (!found.token) {
        return yk_fail(YK_ERROR_INPUT,
                       "ranks that meet without MPI know each other by a secret of the job; set "
                       "YOKE_TOKEN to the same random words for all of them");
    }
    *out = found;
    return YK_OK;
}

/* ---- ranks from 1 on ---- */

static yk_status fail_token(const struct yk_rendezvous_options *rendezvous)
{
    return yk_fail(YK_ERROR_INPUT,
                   "rank 0 at %s, port %" PRId32 ", has another token than rank %" PRId32
                   ": it is another job's, or YOKE_TOKEN is not the same for all",
                   rendezvous->address, rendezvous->port, rendezvous->rank);
}

static yk_status connect_until_accepted(const struct yk_rendezvous_options *rendezvous,
                                        struct yk_rendezvous_client *client,
                                        struct yk_connection *connection)
{
    double pause_s = 0;
    yk_status status = YK_OK;
    do {
        struct yk_network_address_list addresses;
        enum yk_rendezvous_client_connect_result end = YK_RENDEZVOUS_CLIENT_RETRY;
        status = yk_network_address_resolve_host(rendezvous->address, rendezvous->port, &addresses);
        if (status != YK_OK && status != YK_ERROR_LOST) {
            return status; /* lost: a machine that starts late gets its name late */
        }
        const int32_t count = status == YK_OK ? addresses.count : 0;
        for (int32_t i = 0; i < count && end == YK_RENDEZVOUS_CLIENT_RETRY; i++) {
            end = yk_rendezvous_client_try_connect(client, &addresses, i, connection, &status);
        }
        if (end != YK_RENDEZVOUS_CLIENT_RETRY) {
            return end == YK_RENDEZVOUS_CLIENT_WRONG_TOKEN ? fail_token(rendezvous) : status;
        }
        yk_rendezvous_client_sleep_backoff(&pause_s);
    } while (yk_clock_now_s() < client->end_s);
    if (status == YK_ERROR_LOST) {
        return status;
    }
    return yk_fail(YK_ERROR_LOST,
                   "rank %" PRId32 " did not find rank 0 at %s, port %" PRId32
                   ", within %.3g s (%s); start rank 0 there, or name its machine in MASTER_ADDR "
                   "or --master",
                   rendezvous->rank, rendezvous->address, rendezvous->port, rendezvous->timeout_s,
                   client->failure);
}

/* The record of this kind; a refusal is a failure. */
static yk_status await(const struct yk_rendezvous_options *rendezvous,
                       const struct yk_connection *connection, uint32_t kind,
                       struct yk_connection_record *out, double end_s)
{
    if (!yk_rendezvous_client_receive_record(connection, out, end_s)) {
        return yk_fail(YK_ERROR_LOST,
                       "rank 0 at %s, port %" PRId32 ", was lost while the ranks met",
                       rendezvous->address, rendezvous->port);
    }
    yk_status refused = YK_OK;
    if (out->kind == YK_CONNECTION_REFUSED &&
        yk_rendezvous_client_receive_refusal_message(connection, out, end_s, &refused)) {
        return refused;
    }
    return out->kind == kind ? YK_OK : fail_token(rendezvous);
}

static yk_status receive_bytes(const struct yk_rendezvous_options *rendezvous,
                               const struct yk_connection *connection, void *bytes, size_t size)
{
    const struct yk_connection_record have = {.kind = YK_CONNECTION_RECEIVED};
    /* Rank 0 ends the waiting, and says for whom. */
    const double end_s = yk_clock_now_s() + rendezvous->timeout_s + grace_s;
    struct yk_connection_record received;
    YK_TRY(await(rendezvous, connection, YK_CONNECTION_BYTES, &received, end_s));
    if (received.length != size ||
        !yk_connection_receive_bytes(connection->fd, bytes, size, end_s) ||
        !yk_connection_verify_proof(connection, &received, bytes)) {
        return yk_fail(YK_ERROR_LOST, "what rank 0 at %s, port %" PRId32 ", shares came damaged",
                       rendezvous->address, rendezvous->port);
    }
    (void)yk_connection_send_record(connection, &have, NULL, end_s);
    YK_TRY(await(rendezvous, connection, YK_CONNECTION_DONE, &received, end_s));
    return yk_connection_verify_proof(connection, &received, NULL) ? YK_OK : fail_token(rendezvous);
}

static yk_status join(const struct yk_rendezvous_options *rendezvous, void *bytes, size_t size)
{
    struct yk_connection connection = {.fd = -1};
    struct yk_rendezvous_client client = {
        .token = rendezvous->token,
        .rank = rendezvous->rank,
        .size = rendezvous->size,
        .length = (uint32_t)size,
        .end_s = yk_clock_now_s() + rendezvous->timeout_s,
        .failure = "nobody answers",
    };
    void *received = malloc(size > 0 ? size : 1);
    YK_TRY_ALLOCATED(received);
    yk_status status = connect_until_accepted(rendezvous, &client, &connection);
    YK_IF_OK(receive_bytes(rendezvous, &connection, received, size));
    if (status == YK_OK) {
        memcpy(bytes, received, size);
    }
    yk_connection_close(&connection);
    free(received);
    return status;
}

/* ---- rank 0 ---- */

struct server {
    const struct yk_rendezvous_options *rendezvous;
    struct yk_network_address_list addresses;
    struct yk_rendezvous_listener listener;
};

static yk_status fail_to_listen(const struct server *server, int problem)
{
    const struct yk_rendezvous_options *rendezvous = server->rendezvous;
    return yk_fail(YK_ERROR_INPUT, "rank 0 cannot listen at %s, port %" PRId32 ": %s; %s",
                   rendezvous->interface ? rendezvous->interface : rendezvous->address,
                   rendezvous->port, strerror(problem),
                   problem == EADDRNOTAVAIL
                       ? "MASTER_ADDR or --master must name the machine of rank 0"
                       : "name another port in MASTER_PORT or --master");
}

static yk_status listen_at_addresses(struct server *server)
{
    struct yk_rendezvous_listener *listener = &server->listener;
    int problem = 0;
    YK_TRY(yk_network_address_choose_listening(server->rendezvous, &server->addresses));
    for (int32_t i = 0; i < server->addresses.count; i++) {
        if (yk_network_address_listen(&server->addresses, i,
                                      &listener->sockets[listener->socket_count])) {
            listener->socket_count++;
        } else if (problem != EADDRINUSE) {
            problem = errno;
        }
    }
    return listener->socket_count > 0 ? YK_OK : fail_to_listen(server, problem);
}

static yk_status fail_missing(struct server *server)
{
    const struct yk_rendezvous_options *rendezvous = server->rendezvous;
    struct yk_text text = {0};
    yk_rendezvous_listener_describe_missing_ranks(&server->listener, &text);
    yk_text_addf(
        &text, " of %" PRId32 " did not come to rank 0 at %s, port %" PRId32 ", within %.3g s",
        rendezvous->size, rendezvous->interface ? rendezvous->interface : rendezvous->address,
        rendezvous->port, rendezvous->timeout_s);
    if (server->listener.rejected > 0) {
        yk_text_addf(&text,
                     "; %" PRId32 " called with another token: YOKE_TOKEN must be the same "
                     "for all",
                     server->listener.rejected);
    }
    if (yk_network_address_list_is_all_loopback(&server->addresses)) {
        yk_text_add(&text, "; that is ");
        yk_network_address_list_describe(&server->addresses, &text);
        yk_text_add(&text, " here, which no other machine reaches: for several machines give its "
                           "address as a number, or set YOKE_INTERFACE");
    }
    const yk_status status = yk_fail(YK_ERROR_LOST, "%s", yk_text_chars(&text));
    yk_text_free(&text);
    return yk_rendezvous_listener_send_failure_to_clients(&server->listener, status);
}

static yk_status fail_lost(struct server *server, int32_t rank)
{
    yk_connection_close(&server->listener.clients[rank]);
    return yk_rendezvous_listener_send_failure_to_clients(
        &server->listener,
        yk_fail(YK_ERROR_LOST, "rank %" PRId32 " was lost while the ranks met", rank));
}

static bool has_received(const struct yk_connection *client, double end_s)
{
    struct yk_connection_record received;
    return yk_rendezvous_client_receive_record(client, &received, end_s) &&
           received.kind == YK_CONNECTION_RECEIVED &&
           yk_connection_verify_proof(client, &received, NULL);
}

static yk_status send_record(struct server *server, const struct yk_connection_record *record,
                             const void *following, double end_s)
{
    for (int32_t i = 1; i < server->rendezvous->size; i++) {
        if (!yk_connection_send_record(&server->listener.clients[i], record, following, end_s)) {
            return fail_lost(server, i);
        }
    }
    return YK_OK;
}

static yk_status send_to_all(struct server *server, const void *bytes)
{
    const struct yk_connection_record record = {.kind = YK_CONNECTION_BYTES,
                                                .length = server->listener.length};
    const struct yk_connection_record done = {.kind = YK_CONNECTION_DONE};
    const double end_s = yk_clock_now_s() + server->rendezvous->timeout_s;
    YK_TRY(send_record(server, &record, bytes, end_s));
    for (int32_t i = 1; i < server->rendezvous->size; i++) {
        if (!has_received(&server->listener.clients[i], end_s)) {
            return fail_lost(server, i);
        }
    }
    return send_record(server, &done, NULL, end_s);
}

static yk_status run_server(struct server *server, const void *bytes)
{
    YK_TRY(yk_rendezvous_listener_init(&server->listener));
    YK_TRY(listen_at_addresses(server));
    YK_TRY(yk_rendezvous_listener_accept_all_ranks(
        &server->listener, yk_clock_now_s() + server->rendezvous->timeout_s));
    if (server->listener.missing > 0) {
        return fail_missing(server);
    }
    yk_rendezvous_listener_stop_listening(&server->listener);
    return send_to_all(server, bytes);
}

static yk_status serve(const struct yk_rendezvous_options *rendezvous, const void *bytes,
                       size_t size)
{
    struct server server = {
        .rendezvous = rendezvous,
        .listener = {.size = rendezvous->size,
                     .token = rendezvous->token,
                     .length = (uint32_t)size},
    };
    const yk_status status = run_server(&server, bytes);
    yk_rendezvous_listener_close(&server.listener);
    return status;
}

/* ---- the bootstrap ---- */

/* A rank that has failed does not come: its own sentence is reported at once, and the others name
 * it. */
static yk_status share(void *user, yk_status mine, void *bytes, size_t size)
{
    const struct yk_rendezvous_options *rendezvous = user;
    if (mine != YK_OK) {
        return mine;
    }
    if (size > YK_RENDEZVOUS_MAX_BYTES) {
        return yk_fail(YK_ERROR_INPUT, "ranks that meet share at most %d bytes",
                       YK_RENDEZVOUS_MAX_BYTES);
    }
    if (rendezvous->size <= 1) {
        return YK_OK;
    }
    return rendezvous->rank == 0 ? serve(rendezvous, bytes, size) : join(rendezvous, bytes, size);
}

struct yk_comm_bootstrap yk_rendezvous_make_bootstrap(struct yk_rendezvous_options *rendezvous)
{
    return (struct yk_comm_bootstrap){
        .rank = rendezvous->rank,
        .size = rendezvous->size,
        .share = share,
        .user = rendezvous,
    };
}
