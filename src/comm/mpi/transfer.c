#include "comm/mpi/mpi_internal.h"

#include "base/clock.h"

#include <stdio.h>
#include <time.h>

enum {
    DEPTH = 8, /* parts of a piece under way at a time */
};

/*
 * How long a waiting lane polls without a pause, and how long it then sleeps between two polls: a
 * part of what it has waited so far. It polls for longer than the other side's shortest sleep and
 * waking take; two ranks would otherwise go on sleeping in turn. On a core that computes as well,
 * sleeps of 200 us leave more than nine tenths of it to the computation; MPI's blocking calls leave
 * half.
 *
 * MPI moves bytes while it is polled, over shared memory 96 KiB of a message at a time: so segments
 * go in parts, and each that has gone or come starts the waiting anew.
 */
static const double spin_s = 30e-6;
static const double sleep_part = 1.0 / 8;
static const double shortest_sleep_s = 10e-6;
static const double longest_sleep_s = 200e-6;

static void sleep_a_part(double waited_s)
{
    if (waited_s < spin_s) {
        return;
    }
    double sleep_s = waited_s * sleep_part;
    sleep_s = sleep_s < shortest_sleep_s ? shortest_sleep_s : sleep_s;
    sleep_s = sleep_s > longest_sleep_s ? longest_sleep_s : sleep_s;
    const struct timespec pause = {.tv_nsec = (long)(sleep_s * 1e9)};
    (void)nanosleep(&pause, NULL);
}

/* After a look that found nothing: false when the run is to end, which another thread asks for and
 * the thread that may call MPI carries out. */
static bool wait_a_little(struct yk_comm_world *world, double since_s)
{
    const int exit_request = atomic_load(&world->exit_request);
    if (exit_request == 0) {
        sleep_a_part(yk_clock_now_s() - since_s);
        return true;
    }
    if (!atomic_exchange(&world->is_aborting, true)) {
        (void)MPI_Abort(MPI_COMM_WORLD, exit_request - 1);
    }
    return false;
}

int yk_mpi_transfer_wait_request(struct yk_comm_world *world, MPI_Request *request, MPI_Status *out)
{
    const double begun_s = yk_clock_now_s();
    for (;;) {
        int done = 0;
        const int code = MPI_Test(request, &done, out);
        if (code != MPI_SUCCESS || done) {
            return code;
        }
        if (!wait_a_little(world, begun_s)) {
            return MPI_ERR_OTHER;
        }
    }
}

bool yk_mpi_transfer_set_world_failure(struct yk_comm_world *world, int code, const char *doing)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    (void)MPI_Error_string(code, text, &length);
    yk_first_failure_set(&world->failure, YK_ERROR_LOST, "%s: %s", doing, text);
    return false;
}

static bool fail_segment(struct yk_comm_world *world, const struct yk_mpi_transfer_segment *segment,
                         int code)
{
    char doing[64];
    (void)snprintf(doing, sizeof doing,
                   segment->is_sent ? "sending to rank %d" : "receiving from rank %d",
                   (int)segment->peer);
    return yk_mpi_transfer_set_world_failure(world, code, doing);
}

/* Segments in flight. Slot s carries parts of segment s mod count, one after the other; a slot with
 * nothing left to carry has no request. */
struct flight {
    struct yk_comm_world *world;
    const struct yk_mpi_transfer_segment *segments;
    int count;
    int slots;
    int in_flight;                     /* parts */
    size_t begun[YK_MPI_MAX_SEGMENTS]; /* bytes of each piece */
    size_t at[YK_MPI_MAX_SEGMENTS];    /* where each slot's part is in its piece */
    size_t size[YK_MPI_MAX_SEGMENTS];
    MPI_Request requests[YK_MPI_MAX_SEGMENTS];
};

/* A segment's parts are whole but for the last, and for the first, which is shorter by 8 bytes for
 * each: ranks that differ in the size of a segment differ in that of a part. */
static size_t next_part(size_t size, size_t begun)
{
    const size_t parts = (size + YK_MPI_MAX_MESSAGE_BYTES - 9) / (YK_MPI_MAX_MESSAGE_BYTES - 8);
    const size_t max_size =
        begun > 0 ? YK_MPI_MAX_MESSAGE_BYTES : YK_MPI_MAX_MESSAGE_BYTES - 8 * parts;
    return size - begun < max_size ? size - begun : max_size;
}

static const struct yk_mpi_transfer_segment *segment_of(const struct flight *flight, int slot)
{
    return &flight->segments[slot % flight->count];
}

/* The next part of the slot's piece, if there is one. */
static bool start(struct flight *flight, int slot)
{
    const struct yk_mpi_transfer_segment *segment = segment_of(flight, slot);
    size_t *begun = &flight->begun[slot % flight->count];
    MPI_Request *request = &flight->requests[slot];
    *request = MPI_REQUEST_NULL;
    if (*begun == segment->size) {
        return true;
    }
    const size_t size = next_part(segment->size, *begun);
    char *bytes = (char *)segment->bytes + *begun;
    const int code = segment->is_sent ? MPI_Isend(bytes, (int)size, MPI_BYTE, segment->peer,
                                                  segment->tag, flight->world->comm, request)
                                      : MPI_Irecv(bytes, (int)size, MPI_BYTE, segment->peer,
                                                  segment->tag, flight->world->comm, request);
    if (code != MPI_SUCCESS) {
        *request = MPI_REQUEST_NULL;
        return fail_segment(flight->world, segment, code);
    }
    flight->at[slot] = *begun;
    flight->size[slot] = size;
    *begun += size;
    flight->in_flight++;
    return true;
}

/* After a failure: what has not come is not wanted any more, and the run is about to end. */
static bool cancel(struct flight *flight)
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
    const struct yk_mpi_transfer_segment *segment = segment_of(flight, slot);
    int count = 0;
    (void)MPI_Get_count(status, MPI_BYTE, &count);
    if (segment->is_sent || (size_t)count == flight->size[slot]) {
        return true;
    }
    yk_first_failure_set(&flight->world->failure, YK_ERROR_LOST,
                         "rank %d sends %d bytes where %zu are expected: ranks differ in what they "
                         "exchange",
                         (int)segment->peer, count, flight->size[slot]);
    return false;
}

/* The first failure among the parts that MPI is done with, or the code that is of none of them. */
static bool fail_first(const struct flight *flight, const int *slots, const MPI_Status *statuses,
                       int count, int code)
{
    for (int i = 0; code == MPI_ERR_IN_STATUS && i < count; i++) {
        if (statuses[i].MPI_ERROR != MPI_SUCCESS) {
            return fail_segment(flight->world, segment_of(flight, slots[i]), statuses[i].MPI_ERROR);
        }
    }
    return fail_segment(flight->world, flight->segments, code);
}

/* Looks once; `out` parts have gone or come, and others have taken their slots. */
static bool poll_once(struct flight *flight, int *out)
{
    int slots[YK_MPI_MAX_SEGMENTS];
    MPI_Status statuses[YK_MPI_MAX_SEGMENTS];
    const int code = MPI_Testsome(flight->slots, flight->requests, out, slots, statuses);
    if (code != MPI_SUCCESS) {
        return fail_first(flight, slots, statuses, *out, code);
    }
    flight->in_flight -= *out;
    for (int i = 0; i < *out; i++) {
        const int slot = slots[i];
        const struct yk_mpi_transfer_segment *segment = segment_of(flight, slot);
        const size_t at = flight->at[slot];
        const size_t size = flight->size[slot];
        if (!is_whole(flight, slot, &statuses[i]) || !start(flight, slot)) {
            return false;
        }
        if (segment->arrived) {
            segment->arrived(segment->user, at, size);
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
            more = more || flight->begun[i] < flight->segments[i].size;
        }
    }
    return true;
}

bool yk_mpi_transfer_segments(struct yk_comm_world *world,
                              const struct yk_mpi_transfer_segment *segments, int count)
{
    struct flight flight = {.world = world, .segments = segments, .count = count};
    if (!start_all(&flight)) {
        return cancel(&flight);
    }
    double since_s = yk_clock_now_s();
    while (flight.in_flight > 0) {
        int found = 0;
        if (!poll_once(&flight, &found)) {
            return cancel(&flight);
        }
        if (found > 0) {
            since_s = yk_clock_now_s();
        } else if (!wait_a_little(world, since_s)) {
            (void)cancel(&flight);
            return fail_segment(world, segments, MPI_ERR_OTHER);
        }
    }
    return true;
}
