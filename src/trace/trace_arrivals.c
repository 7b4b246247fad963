#include "trace/trace.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* One rank's end of a message. */
struct end {
    const struct yk_trace_event *event;
    const char *subject; /* the op's name, without "send" and "recv" */
    bool paired;         /* it is a send or a recv */
    int32_t number;      /* of the event */
    int32_t before;      /* ops of this name that the rank had before */
    bool alone;          /* its other ends are unknown */
};

static struct end end_of(const struct yk_trace_event *event, int32_t number)
{
    const bool paired = strncmp(event->op, "send", 4) == 0 || strncmp(event->op, "recv", 4) == 0;
    return (struct end){
        .event = event,
        .subject = paired ? event->op + 4 : event->op,
        .paired = paired,
        .number = number,
    };
}

static int compare_messages(const struct end *a, const struct end *b)
{
    return a->paired != b->paired ? (a->paired ? 1 : -1) : strcmp(a->subject, b->subject);
}

static int compare_names(const void *left, const void *right)
{
    const struct end *a = left;
    const struct end *b = right;
    const int by_message = compare_messages(a, b);
    const double difference_s = a->event->start_s - b->event->start_s;
    if (by_message != 0) {
        return by_message;
    }
    if (a->event->rank != b->event->rank) {
        return a->event->rank < b->event->rank ? -1 : 1;
    }
    return difference_s < 0 ? -1 : difference_s > 0 ? 1 : a->number - b->number;
}

static int compare_numbers(const void *left, const void *right)
{
    const struct end *a = left;
    const struct end *b = right;
    const int by_message = compare_messages(a, b);
    return by_message != 0          ? by_message
           : a->before != b->before ? a->before - b->before
                                    : a->number - b->number;
}

/* The first behind `first` that has another name or number of ops before it. Until these are
 * counted, all have 0. */
static int32_t next_of(const struct end *ends, int32_t count, int32_t first)
{
    int32_t next = first + 1;
    while (next < count && ends[next].before == ends[first].before &&
           compare_messages(&ends[next], &ends[first]) == 0) {
        next++;
    }
    return next;
}

/* All ends of one name, by rank and time. Of sends and receives between more than two ranks one
 * cannot tell which belong together. */
static void count_before(struct end *ends, int32_t count)
{
    int32_t rank_count = 1;
    for (int32_t i = 1; i < count; i++) {
        const bool again = ends[i].event->rank == ends[i - 1].event->rank;
        ends[i].before = again ? ends[i - 1].before + 1 : 0;
        rank_count += again ? 0 : 1;
    }
    for (int32_t i = 0; i < count; i++) {
        ends[i].alone = ends[i].paired && rank_count != 2;
    }
}

/* All ends of one message. */
static void set_arrival(const struct end *ends, int32_t count, double *out)
{
    double latest_s = ends[0].event->start_s;
    for (int32_t i = 1; i < count; i++) {
        const double start_s = ends[i].event->start_s;
        latest_s = start_s > latest_s ? start_s : latest_s;
    }
    for (int32_t i = 0; i < count; i++) {
        if (latest_s <= ends[i].event->end_s && !ends[i].alone) {
            out[ends[i].number] = latest_s;
        }
    }
}

yk_status yk_trace_arrivals_find_transfer_starts(const struct yk_trace *trace,
                                                 struct yk_arena *arena, double **out)
{
    const int32_t event_count = yk_trace_event_count(trace);
    struct end *ends = NULL;
    double *arrivals_s = NULL;
    int32_t count = 0;
    YK_TRY_NEW(arena, ends, (int64_t)event_count + 1);
    YK_TRY_NEW(arena, arrivals_s, (int64_t)event_count + 1);
    for (int32_t i = 0; i < event_count; i++) {
        const struct yk_trace_event *event = yk_trace_event_at(trace, i);
        arrivals_s[i] = event->start_s;
        if (event->lane == YK_LANE_COMM) {
            ends[count++] = end_of(event, i);
        }
    }
    qsort(ends, (size_t)count, sizeof *ends, compare_names);
    for (int32_t first = 0, next = 0; first < count; first = next) {
        next = next_of(ends, count, first);
        count_before(&ends[first], next - first);
    }
    qsort(ends, (size_t)count, sizeof *ends, compare_numbers);
    for (int32_t first = 0, next = 0; first < count; first = next) {
        next = next_of(ends, count, first);
        set_arrival(&ends[first], next - first, arrivals_s);
    }
    *out = arrivals_s;
    return YK_OK;
}
