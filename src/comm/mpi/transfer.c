#include "comm/mpi/transfer.h"

#include "base/clock.h"

#include <stdio.h>
#include <time.h>

enum {
    DEPTH = 8, /* parts of a piece under way at a time */
};

/*
 * How long a waiting lane looks without a pause, and how long it then sleeps between two looks: a
 * part of what it has waited so far, so that little is lost whether that was long or short. It
 * looks for longer than the other side's shortest sleep and waking take; two ranks would otherwise
 * go on sleeping in turns. On a core that computes as well, sleeps of 200 us leave more than nine
 * tenths of it to the computation; MPI's blocking calls leave half.
 *
 * MPI moves bytes while it is looked at, over shared memory 96 KiB of a message at a look: who
 * slept while a large one comes would have 96 KiB in every sleep. So pieces go in parts, and each
 * that has gone or come starts the waiting anew: a lane sleeps where nothing moves.
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

/* After a look that found nothing: false when the run is to end. */
static bool go_on(struct yk_comm_world *world, double since_s)
{
    end_if_wanted(world);
    if (atomic_load(&world->ending) != 0) {
        return false;
    }
    rest(yk_clock_now_s() - since_s);
    return true;
}

int yk_mpi_transfer_wait(struct yk_comm_world *world, MPI_Request *request, MPI_Status *out)
{
    const double begun_s = yk_clock_now_s();
    for (;;) {
        int done = 0;
        const int code = MPI_Test(request, &done, out);
        if (code != MPI_SUCCESS || done) {
            return code;
        }
        if (!go_on(world, begun_s)) {
            return MPI_ERR_OTHER;
        }
    }
}

bool yk_mpi_transfer_fail(struct yk_comm_world *world, int code, const char *doing)
{
    char words[MPI_MAX_ERROR_STRING] = "";
    char sentence[YK_FAILURE_SIZE];
    int length = 0;
    (void)MPI_Error_string(code, words, &length);
    (void)snprintf(sentence, sizeof sentence, "%s: %s", doing, words);
    yk_failure_set(&world->trouble, YK_ERROR_LOST, sentence);
    return false;
}

static bool fail_piece(struct yk_comm_world *world, const struct yk_mpi_segment *piece, int code)
{
    char doing[64];
    (void)snprintf(doing, sizeof doing,
                   piece->is_sent ? "sending to rank %d" : "receiving from rank %d",
                   (int)piece->peer);
    return yk_mpi_transfer_fail(world, code, doing);
}

/*
 * Pieces on their way. Slot s carries parts of piece s mod count, one after the other; a slot with
 * nothing left to carry has no request.
 */
struct flight {
    struct yk_comm_world *world;
    const struct yk_mpi_segment *pieces;
    int count;
    int slots;
    int under_way;                     /* parts */
    size_t begun[YK_MPI_MAX_SEGMENTS]; /* bytes of each piece */
    size_t at[YK_MPI_MAX_SEGMENTS];    /* where each slot's part is in its piece */
    size_t size[YK_MPI_MAX_SEGMENTS];
    MPI_Request requests[YK_MPI_MAX_SEGMENTS];
};

/* A piece's parts are whole but for the last, and for the first, which is shorter by 8 bytes for
 * each: ranks that differ in the size of a piece differ in that of a part. */
static size_t next_part(size_t size, size_t begun)
{
    const size_t parts = (size + YK_MPI_PART_BYTES - 9) / (YK_MPI_PART_BYTES - 8);
    const size_t most = begun > 0 ? YK_MPI_PART_BYTES : YK_MPI_PART_BYTES - 8 * parts;
    return size - begun < most ? size - begun : most;
}

static const struct yk_mpi_segment *piece_of(const struct flight *flight, int slot)
{
    return &flight->pieces[slot % flight->count];
}

/* The next part of the slot's piece, if there is one. */
static bool start(struct flight *flight, int slot)
{
    const struct yk_mpi_segment *piece = piece_of(flight, slot);
    size_t *begun = &flight->begun[slot % flight->count];
    MPI_Request *request = &flight->requests[slot];
    *request = MPI_REQUEST_NULL;
    if (*begun == piece->size) {
        return true;
    }
    const size_t size = next_part(piece->size, *begun);
    char *bytes = (char *)piece->bytes + *begun;
    const int code = piece->is_sent ? MPI_Isend(bytes, (int)size, MPI_BYTE, piece->peer, piece->tag,
                                                flight->world->comm, request)
                                    : MPI_Irecv(bytes, (int)size, MPI_BYTE, piece->peer, piece->tag,
                                                flight->world->comm, request);
    if (code != MPI_SUCCESS) {
        *request = MPI_REQUEST_NULL;
        return fail_piece(flight->world, piece, code);
    }
    flight->at[slot] = *begun;
    flight->size[slot] = size;
    *begun += size;
    flight->under_way++;
    return true;
}

/* After a failure: what has not come is not wanted any more, and the run is about to end. */
static bool give_up(struct flight *flight)
{
    for (int i = 0; i < flight->slots; i++) {
        if (flight->requests[i] != MPI_REQUEST_NULL) {
            (void)MPI_Cancel(&flight->requests[i]);
            (void)MPI_Request_free(&flight->requests[i]);
        }
    }
    return false;
}

static bool is_whole(const struct flight *flight, int slot, const MPI_Status *status)
{
    const struct yk_mpi_segment *piece = piece_of(flight, slot);
    int count = 0;
    (void)MPI_Get_count(status, MPI_BYTE, &count);
    if (piece->is_sent || (size_t)count == flight->size[slot]) {
        return true;
    }
    char sentence[YK_FAILURE_SIZE];
    (void)snprintf(sentence, sizeof sentence,
                   "rank %d sends %d bytes where %zu are expected: ranks differ in what they "
                   "exchange",
                   (int)piece->peer, count, flight->size[slot]);
    yk_failure_set(&flight->world->trouble, YK_ERROR_LOST, sentence);
    return false;
}

/* The first failure among the parts that MPI is done with, or the code that is of none of them. */
static bool blame(const struct flight *flight, const int *slots, const MPI_Status *statuses,
                  int count, int code)
{
    for (int i = 0; code == MPI_ERR_IN_STATUS && i < count; i++) {
        if (statuses[i].MPI_ERROR != MPI_SUCCESS) {
            return fail_piece(flight->world, piece_of(flight, slots[i]), statuses[i].MPI_ERROR);
        }
    }
    return fail_piece(flight->world, flight->pieces, code);
}

/* Looks once; `out` parts have gone or come, and others have taken their slots. */
static bool look(struct flight *flight, int *out)
{
    int slots[YK_MPI_MAX_SEGMENTS];
    MPI_Status statuses[YK_MPI_MAX_SEGMENTS];
    const int code = MPI_Testsome(flight->slots, flight->requests, out, slots, statuses);
    if (code != MPI_SUCCESS) {
        return blame(flight, slots, statuses, *out, code);
    }
    flight->under_way -= *out;
    for (int i = 0; i < *out; i++) {
        const int slot = slots[i];
        const struct yk_mpi_segment *piece = piece_of(flight, slot);
        const size_t at = flight->at[slot];
        const size_t size = flight->size[slot];
        if (!is_whole(flight, slot, &statuses[i]) || !start(flight, slot)) {
            return false;
        }
        if (piece->arrived) {
            piece->arrived(piece->user, at, size);
        }
    }
    return true;
}

/* The first parts of every piece, as many as go at a time. */
static bool start_all(struct flight *flight)
{
    const int depth =
        flight->count * DEPTH < YK_MPI_MAX_SEGMENTS ? DEPTH : YK_MPI_MAX_SEGMENTS / flight->count;
    bool more = true;
    for (int round = 0; more && round < depth; round++) {
        more = false;
        for (int i = 0; i < flight->count; i++) {
            if (!start(flight, flight->slots++)) {
                return false;
            }
            more = more || flight->begun[i] < flight->pieces[i].size;
        }
    }
    return true;
}

bool yk_mpi_transfer(struct yk_comm_world *world, const struct yk_mpi_segment *pieces, int count)
{
    struct flight flight = {.world = world, .pieces = pieces, .count = count};
    if (!start_all(&flight)) {
        return give_up(&flight);
    }
    double since_s = yk_clock_now_s();
    while (flight.under_way > 0) {
        int found = 0;
        if (!look(&flight, &found)) {
            return give_up(&flight);
        }
        if (found > 0) {
            since_s = yk_clock_now_s();
        } else if (!go_on(world, since_s)) {
            (void)give_up(&flight);
            return fail_piece(world, pieces, MPI_ERR_OTHER);
        }
    }
    return true;
}
