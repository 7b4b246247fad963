/*
 * Trace sums: where the time of a step goes on every rank, by the definition of sim/rounds.h.
 *
 * A trace shows one step of many that follow each other without a gap: what ends after the step's
 * end, or begins before its beginning, stands for the same op of the step before or after, and is
 * counted there. A rank's step is its compute lane's: it computes; or it waits while data moves to
 * or from the rank, which is exposed; or it waits for anything else, which is idle. The three add
 * up to the step.
 *
 * Data moves from the moment on at which all ranks of a message have come to it. A simulated event
 * begins there; a measured one begins when its own rank is ready, and waits. Ops of one name on the
 * comm lanes of several ranks are taken for one message, so are a "send" and a "recv" that only two
 * ranks have.
 */
#ifndef YK_TRACE_TRACE_SUM_H
#define YK_TRACE_TRACE_SUM_H

#include "base/status.h"
#include "trace/trace.h"

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

#endif
