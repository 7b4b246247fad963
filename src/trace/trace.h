/*
 * Trace: what happened, or would happen, on every device and when: one record for predictions and
 * measurements. A trace owns copies of all names. One thread at a time.
 *
 * The room:
 *   trace            the record; merging the traces of ranks, each by its own clock
 *   chrome           a trace as Chrome trace events, written and read
 *   trace_bytes      a trace as bytes that ranks send each other
 *   trace_sum        compute, exposed and idle time of each rank
 *   trace_arrivals   when all ranks of a message had come to it
 *   op_times         medians of the ops of a run: op-times.json
 *   counters         readings of device counters; counters_fit divides them among the parts of a
 *                    step, by least squares (bounded_fit)
 *   counters_file    the counters of a run: counters.json
 */
#ifndef YK_TRACE_TRACE_H
#define YK_TRACE_TRACE_H

#include "base/arena.h"
#include "base/status.h"
#include "base/text.h"

#include <stddef.h>
#include <stdint.h>

enum yk_lane {
    YK_LANE_COMPUTE,
    YK_LANE_COMM,
    YK_LANE_COPY,
    YK_LANE_COUNT,
};

struct yk_trace_event {
    int32_t rank;
    enum yk_lane lane;
    const char *op;
    double start_s;
    double end_s;
    double bytes; /* moved by the op; 0 for computation */
};

/* Data that one event produced and another, later one used. */
struct yk_trace_flow {
    int32_t from_event;
    int32_t to_event;
};

struct yk_trace; /* opaque */

yk_status yk_trace_create(struct yk_trace **out) YK_MUST_USE;
void yk_trace_destroy(struct yk_trace *trace);

/* Names a rank; ranks are numbered in the order they are added. */
yk_status yk_trace_add_rank(struct yk_trace *trace, const char *device) YK_MUST_USE;

/* `out` is the event's number, for flows; it may be NULL. */
yk_status yk_trace_add_event(struct yk_trace *trace, const struct yk_trace_event *event,
                             int32_t *out) YK_MUST_USE;
yk_status yk_trace_add_flow(struct yk_trace *trace, struct yk_trace_flow flow) YK_MUST_USE;

int32_t yk_trace_rank_count(const struct yk_trace *trace);
const char *yk_trace_rank_name(const struct yk_trace *trace, int32_t rank);
int32_t yk_trace_event_count(const struct yk_trace *trace);
const struct yk_trace_event *yk_trace_event_at(const struct yk_trace *trace, int32_t number);
int32_t yk_trace_flow_count(const struct yk_trace *trace);
struct yk_trace_flow yk_trace_flow_at(const struct yk_trace *trace, int32_t number);

struct yk_trace_part {
    const struct yk_trace *trace;
    double offset_s; /* what is added to its times, to have them by the clock of the whole */
};

/* The ranks of the first part are the first, and so on; flows stay within their part. The caller
 * destroys the trace. */
yk_status yk_trace_merge(const struct yk_trace_part *parts, int32_t count,
                         struct yk_trace **out) YK_MUST_USE;

/* "compute", "comm", "copy". */
const char *yk_trace_lane_name(enum yk_lane lane);

/*
 * Where the time of a step goes on every rank, by the definition of sim/rounds.h: its compute lane
 * computes; or it waits while data moves to or from the rank, which is exposed; or it waits for
 * anything else, which is idle. The three add up to the step.
 *
 * A trace shows one step of many that follow each other without a gap: what ends after the step's
 * end, or begins before its beginning, stands for the same op of the step before or after, and is
 * counted there. Data moves from the moment on at which all ranks of a message have come to it. A
 * simulated event begins there; a measured one begins when its own rank is ready, and waits. Ops of
 * one name on the comm lanes of several ranks are taken for one message, so are a "send" and a
 * "recv" that only two ranks have.
 */
struct yk_trace_sum {
    double compute_s;
    double exposed_s;
    double idle_s;
};

/* The end of the last computation of any rank, or of the last op where none computes; 0 of a trace
 * without events. */
double yk_trace_sum_step_s(const struct yk_trace *trace);

/* The start of the first event; 0 of a trace without events. */
double yk_trace_sum_begin_s(const struct yk_trace *trace);

/* Of every rank: `out` has room for them. `step_s` is finite; of one that is not above 0 all sums
 * are 0. */
yk_status yk_trace_sum(const struct yk_trace *trace, double step_s,
                       struct yk_trace_sum *out) YK_MUST_USE;

/* `out` (events): of an event on a comm lane, when all its ranks have come to it, if that is before
 * its end; of any other, its start. In the arena. */
yk_status yk_trace_arrivals(const struct yk_trace *trace, struct yk_arena *arena,
                            double **out) YK_MUST_USE;

/* A trace as bytes for another rank, added to `out`; times come back to the last bit. */
yk_status yk_trace_bytes_pack(const struct yk_trace *trace, struct yk_text *out) YK_MUST_USE;

/* Bytes that were cut or changed on the way are refused; `source`, whose they are, begins the
 * message. The caller destroys the trace. */
yk_status yk_trace_bytes_unpack(const void *bytes, size_t length, const char *source,
                                struct yk_trace **out) YK_MUST_USE;

#endif
