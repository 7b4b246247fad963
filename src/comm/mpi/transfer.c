#include "comm/mpi/transfer.h"

#include "base/clock.h"

#include <stdio.h>
#include <time.h>

/*
 * How long a waiting lane looks without a pause, and how long it then sleeps between two looks: a
 * part of what it has waited so far, so that little is lost whether that was long or short. It
 * looks for longer than the other side's shortest sleep and waking take; two ranks would otherwise
 * go on sleeping in turns. On a core that computes as well, sleeps of 200 us leave more than nine
 * tenths of it to the computation; MPI's blocking calls leave half.
 */
static const double look_s = 30e-6;
static const double sleep_part = 1.0 / 8;
static const double shortest_sleep_s = 10e-6;
static const double longest_sleep_s = 200e-6;

static void rest(double waited_s)
{
    if (waited_s < look_s) {
        return;
    }
    double sleep_s = waited_s * sleep_part;
    sleep_s = sleep_s < shortest_sleep_s ? shortest_sleep_s : sleep_s;
    sleep_s = sleep_s > longest_sleep_s ? longest_sleep_s : sleep_s;
    const struct timespec pause = {.tv_nsec = (long)(sleep_s * 1e9)};
    (void)nanosleep(&pause, NULL);
}

/* The end that another thread asked for, on the thread that may call MPI. */
static void end_if_wanted(struct yk_comm_world *world)
{
    const int ending = atomic_load(&world->ending);
    if (ending != 0 && !atomic_exchange(&world->ended, true)) {
        (void)MPI_Abort(MPI_COMM_WORLD, ending - 1);
    }
}

int yk_mpi_wait(struct yk_comm_world *world, MPI_Request *requests, int count, MPI_Status *out)
{
    const double begun_s = yk_clock_now_s();
    for (;;) {
        int done = 0;
        const int code = MPI_Testall(count, requests, &done, out);
        if (code != MPI_SUCCESS || done) {
            return code;
        }
        end_if_wanted(world);
        if (atomic_load(&world->ending) != 0) {
            return MPI_ERR_OTHER;
        }
        rest(yk_clock_now_s() - begun_s);
    }
}

bool yk_mpi_fail(struct yk_comm_world *world, int code, const char *doing)
{
    char words[MPI_MAX_ERROR_STRING] = "";
    char sentence[YK_TROUBLE_SIZE];
    int length = 0;
    (void)MPI_Error_string(code, words, &length);
    (void)snprintf(sentence, sizeof sentence, "%s: %s", doing, words);
    yk_trouble_set(&world->trouble, YK_ERROR_LOST, sentence);
    return false;
}

static bool fail_piece(struct yk_comm_world *world, const struct yk_mpi_piece *piece, int code)
{
    char doing[64];
    (void)snprintf(doing, sizeof doing,
                   piece->is_sent ? "sending to rank %d" : "receiving from rank %d",
                   (int)piece->peer);
    return yk_mpi_fail(world, code, doing);
}

/* After a failure: what has not come is not wanted any more, and the run is about to end. */
static void give_up(MPI_Request *requests, int count)
{
    for (int i = 0; i < count; i++) {
        if (requests[i] != MPI_REQUEST_NULL) {
            (void)MPI_Cancel(&requests[i]);
            (void)MPI_Request_free(&requests[i]);
        }
    }
}

static bool is_whole(struct yk_comm_world *world, const struct yk_mpi_piece *piece,
                     const MPI_Status *status)
{
    int count = 0;
    (void)MPI_Get_count(status, MPI_BYTE, &count);
    if (piece->is_sent || (size_t)count == piece->size) {
        return true;
    }
    char sentence[YK_TROUBLE_SIZE];
    (void)snprintf(sentence, sizeof sentence,
                   "rank %d sends %d bytes where %zu are expected: ranks differ in what they "
                   "exchange",
                   (int)piece->peer, count, piece->size);
    yk_trouble_set(&world->trouble, YK_ERROR_LOST, sentence);
    return false;
}

/* The first failure among the pieces, or the code that is of none of them. */
static bool blame(struct yk_comm_world *world, const struct yk_mpi_piece *const *started,
                  const MPI_Status *statuses, int count, int code)
{
    for (int i = 0; code == MPI_ERR_IN_STATUS && i < count; i++) {
        const int own = statuses[i].MPI_ERROR;
        if (own != MPI_SUCCESS && own != MPI_ERR_PENDING) {
            return fail_piece(world, started[i], own);
        }
    }
    return fail_piece(world, started[0], code);
}

bool yk_mpi_transfer(struct yk_comm_world *world, const struct yk_mpi_piece *pieces, int count)
{
    MPI_Request requests[YK_MPI_PIECES];
    MPI_Status statuses[YK_MPI_PIECES];
    const struct yk_mpi_piece *started[YK_MPI_PIECES];
    int under_way = 0;
    for (int i = 0; i < count; i++) {
        const struct yk_mpi_piece *piece = &pieces[i];
        if (piece->size == 0) {
            continue;
        }
        MPI_Request *request = &requests[under_way];
        const int code = piece->is_sent ? MPI_Isend(piece->bytes, (int)piece->size, MPI_BYTE,
                                                    piece->peer, piece->tag, world->comm, request)
                                        : MPI_Irecv(piece->bytes, (int)piece->size, MPI_BYTE,
                                                    piece->peer, piece->tag, world->comm, request);
        if (code != MPI_SUCCESS) {
            give_up(requests, under_way);
            return fail_piece(world, piece, code);
        }
        started[under_way++] = piece;
    }
    if (under_way == 0) {
        return true;
    }
    const int code = yk_mpi_wait(world, requests, under_way, statuses);
    if (code != MPI_SUCCESS) {
        give_up(requests, under_way);
        return blame(world, started, statuses, under_way, code);
    }
    bool whole = true;
    for (int i = 0; i < under_way; i++) {
        whole = whole && is_whole(world, started[i], &statuses[i]);
    }
    return whole;
}
