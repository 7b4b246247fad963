/*
 * Trace: the events of a training step. An event says which op ran on which rank and lane, and
 * when. A lane is a queue of ops of a rank: the ops of one lane run one after the other, and the
 * lanes of a rank run in parallel. Predictions and measurements have the same form. A trace owns
 * copies of all names. Only one thread at a time may use a trace.
 *
 * Files of this folder:
 *   trace            a trace; merges the traces of several ranks
 *   chrome_trace     writes and reads Chrome trace events
 *   trace_bytes      serializes a trace, to send it to another rank
 *   trace_breakdown  compute, exposed and idle time of each rank
 *   trace_arrivals   when all ranks of a message were ready
 *   op_times         median times of the ops of a run: op-times.json
 *   counters         readings of device counters
 *   counters_fit     estimates the counters for each part of a step
 *   bounded_fit      least squares with bounds, for counters_fit
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

/* Returns "compute", "comm" or "copy". */
const char *yk_trace_lane_name(enum yk_lane lane);

struct yk_trace_event {
    int32_t rank;
    enum yk_lane lane;
    const char *op;
    double start_s;
    double end_s;
    double bytes; /* number of bytes that the op moves; 0 for computation */
};

/* One event produced data that a later event used. The members are numbers of events. */
struct yk_trace_flow {
    int32_t from_event;
    int32_t to_event;
};

struct yk_trace; /* opaque */

yk_status yk_trace_create(struct yk_trace **out) YK_MUST_USE;
void yk_trace_destroy(struct yk_trace *trace);

/* Adds a rank; `device` is the name of its device. Ranks are numbered from 0 in the order of the
 * calls. */
yk_status yk_trace_add_rank(struct yk_trace *trace, const char *device) YK_MUST_USE;

/* Adds an event. Sets `*out` to the number of the event, for use in a flow. `out` may be NULL. */
yk_status yk_trace_add_event(struct yk_trace *trace, const struct yk_trace_event *event,
                             int32_t *out) YK_MUST_USE;
yk_status yk_trace_add_flow(struct yk_trace *trace, struct yk_trace_flow flow) YK_MUST_USE;

int32_t yk_trace_rank_count(const struct yk_trace *trace);
const char *yk_trace_rank_device_name(const struct yk_trace *trace, int32_t rank);
int32_t yk_trace_event_count(const struct yk_trace *trace);
const struct yk_trace_event *yk_trace_event_at(const struct yk_trace *trace, int32_t number);
int32_t yk_trace_flow_count(const struct yk_trace *trace);
struct yk_trace_flow yk_trace_flow_at(const struct yk_trace *trace, int32_t number);

struct yk_trace_merge_input {
    const struct yk_trace *trace;
    double offset_s; /* added to the times of `trace`, to convert them to the clock of the merged
                        trace */
};

/* Joins traces into one. The ranks of the first input get the lowest numbers, the ranks of the
 * second input get the next numbers, and so on. The flows of each input are kept. The caller
 * destroys the result. */
yk_status yk_trace_merge(const struct yk_trace_merge_input *parts, int32_t count,
                         struct yk_trace **out) YK_MUST_USE;

/* ---- time of each rank (trace_breakdown.c, trace_arrivals.c) ---- */

/*
 * How one rank spends the time of a step. At every moment of the step, one of these is true:
 *   compute  the compute lane is busy
 *   exposed  the compute lane waits, and data moves to or from the rank on the comm lane
 *   idle     the compute lane waits, and no data moves on the comm lane
 * The sum of the three times is the length of the step. The simulator (sim/iterations.h) divides
 * the time in the same way.
 *
 * A trace shows one of many equal steps, so each of its ops also runs one step length earlier and
 * later. Therefore an event before or after the step is counted as if it were shifted into the step
 * by one or more whole step lengths. The data of a message begins to move when all ranks of the
 * message are ready. A simulated event starts at this time; a measured event starts when its own
 * rank is ready. Events with the same name on the comm lanes of several ranks are one message.
 * "send NAME" on one rank and "recv NAME" on another rank are also one message, unless a third rank
 * has such an event. If a name occurs several times on a rank, the first events of all ranks are
 * one message, then the second events, and so on.
 */
struct yk_trace_breakdown {
    double compute_s;
    double exposed_s;
    double idle_s;
};

/* Returns the length of the step: the end of the last computation on any rank, or the end of the
 * last event if there is no computation. Returns 0 for an empty trace. */
double yk_trace_breakdown_step_length_s(const struct yk_trace *trace);

/* Returns the start of the first event, or 0 for an empty trace. */
double yk_trace_breakdown_first_event_start_s(const struct yk_trace *trace);

/* Fills `out`, which has one element for each rank. `step_s` must be finite. If it is 0 or less,
 * all times are 0. */
yk_status yk_trace_breakdown_compute(const struct yk_trace *trace, double step_s,
                                     struct yk_trace_breakdown *out) YK_MUST_USE;

/* Finds out when the data of each event starts to move. `out` has one element for each event and
 * lives in the arena. For an event on a comm lane, the element is the time at which all ranks of
 * the message were ready. For other events, and if this time is unknown or later than the end of
 * the event, the element is the start of the event. */
yk_status yk_trace_arrivals_find_transfer_starts(const struct yk_trace *trace,
                                                 struct yk_arena *arena, double **out) YK_MUST_USE;

/* ---- files and messages (chrome_trace.c, trace_bytes.c) ---- */

/* Writes Chrome trace events, the JSON that Perfetto and chrome://tracing open. A rank becomes a
 * process (pid), a lane a thread of this process (tid), and a flow an arrow. */
yk_status yk_chrome_trace_write_json(const struct yk_trace *trace, struct yk_text *out) YK_MUST_USE;

/* Reads the ranks and events that yk_chrome_trace_write_json() wrote, with times rounded to
 * nanoseconds. Ignores flows and all other trace events. `source` is the name of the file, for
 * error messages. The caller destroys the trace. */
yk_status yk_chrome_trace_parse_json(const char *text, size_t length, const char *source,
                                     struct yk_trace **out) YK_MUST_USE;

/* Serializes a trace to bytes and adds them to `out`. Times are stored exactly. */
yk_status yk_trace_bytes_pack(const struct yk_trace *trace, struct yk_text *out) YK_MUST_USE;

/* Deserializes a trace. Fails if the bytes are truncated or were changed. `source` is the name of
 * the sender, for error messages. The caller destroys the trace. */
yk_status yk_trace_bytes_unpack(const void *bytes, size_t length, const char *source,
                                struct yk_trace **out) YK_MUST_USE;

#endif
