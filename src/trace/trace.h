/*
 * Trace: the events of a step: which op ran on which rank and lane, and when. Predictions and
 * measurements have the same form. A trace owns copies of all names. One thread at a time.
 *
 * Files of this folder:
 *   trace            the record; merging the traces of several ranks
 *   chrome           Chrome trace events, written and read
 *   trace_bytes      serialization, for sending a trace to another rank
 *   trace_sum        compute, exposed and idle time of each rank
 *   trace_arrivals   when the last rank of a message arrived
 *   op_times         median times of the ops of a run: op-times.json
 *   counters         readings of device counters; counters_fit attributes them to the parts of a
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

/* "compute", "comm", "copy". */
const char *yk_trace_lane_name(enum yk_lane lane);

struct yk_trace_event {
    int32_t rank;
    enum yk_lane lane;
    const char *op;
    double start_s;
    double end_s;
    double bytes; /* moved by the op; 0 for computation */
};

/* Data that one event produced and a later event used. */
struct yk_trace_flow {
    int32_t from_event;
    int32_t to_event;
};

struct yk_trace; /* opaque */

yk_status yk_trace_create(struct yk_trace **out) YK_MUST_USE;
void yk_trace_destroy(struct yk_trace *trace);

/* Adds a rank with the name of its device. Ranks are numbered from 0 in the order of the calls. */
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

struct yk_trace_merge_input {
    const struct yk_trace *trace;
    double offset_s; /* added to its times, to convert them to the clock of the merged trace */
};

/* Concatenates traces: the ranks of the first part come first. Flows stay within their part. The
 * caller destroys the result. */
yk_status yk_trace_merge(const struct yk_trace_merge_input *parts, int32_t count,
                         struct yk_trace **out) YK_MUST_USE;

/* ---- time of each rank (trace_breakdown.c, trace_arrivals.c) ---- */

/*
 * Where the time of a step goes on one rank. The definition is that of sim/iterations.h. At every
 * moment the compute lane computes; or it waits while data moves to or from the rank (exposed); or
 * it waits for something else (idle). The three add up to the length of the step.
 *
 * A trace shows one of many consecutive steps. An event outside of the step stands for the same op
 * of the step before or after, and is counted at that place in the step. Data of a message moves
 * once all its ranks have arrived. A simulated event starts then; a measured event starts when its
 * own rank is ready. Events of the same name on the comm lanes of several ranks are one message; so
 * are a "send" and a "recv" of the same name on exactly two ranks.
 */
struct yk_trace_breakdown {
    double compute_s;
    double exposed_s;
    double idle_s;
};

/* The length of the step: the end of the last computation on any rank, or of the last event if
 * there is no computation; 0 for an empty trace. */
double yk_trace_breakdown_step_s(const struct yk_trace *trace);

/* The start of the first event; 0 for an empty trace. */
double yk_trace_breakdown_begin_s(const struct yk_trace *trace);

/* Fills `out`, one element for each rank. `step_s` is finite; if it is 0 or less, all times are 0.
 */
yk_status yk_trace_breakdown(const struct yk_trace *trace, double step_s,
                             struct yk_trace_breakdown *out) YK_MUST_USE;

/* `out` has one element for each event, in the arena: for an event on a comm lane the time at which
 * the last rank of its message arrived, if that is before the event's end; otherwise its start. */
yk_status yk_trace_arrivals_find(const struct yk_trace *trace, struct yk_arena *arena,
                                 double **out) YK_MUST_USE;

/* ---- files and messages (chrome_trace.c, trace_bytes.c) ---- */

/* Writes Chrome trace events, the JSON that Perfetto and chrome://tracing open. A rank is a process
 * (pid), a lane one of its threads (tid), a flow an arrow. */
yk_status yk_chrome_trace_write(const struct yk_trace *trace, struct yk_text *out) YK_MUST_USE;

/* Reads what yk_chrome_trace_write() wrote: ranks and events, times rounded to nanoseconds. Flows
 * and other kinds of trace events are ignored. `source` is the file's name, for error messages. The
 * caller destroys the trace. */
yk_status yk_chrome_trace_read(const char *text, size_t length, const char *source,
                               struct yk_trace **out) YK_MUST_USE;

/* Serializes a trace to bytes and adds them to `out`. Times keep every bit. */
yk_status yk_trace_bytes_pack(const struct yk_trace *trace, struct yk_text *out) YK_MUST_USE;

/* Deserializes a trace. Truncated or changed bytes are an error. `source` is the sender's name, for
 * error messages. The caller destroys the trace. */
yk_status yk_trace_bytes_unpack(const void *bytes, size_t length, const char *source,
                                struct yk_trace **out) YK_MUST_USE;

#endif
