/* Trace arrivals: when the data of every message in a trace begins to move (trace_sum.h). */
#ifndef YK_TRACE_TRACE_ARRIVALS_H
#define YK_TRACE_TRACE_ARRIVALS_H

#include "base/arena.h"
#include "base/status.h"
#include "trace/trace.h"

/* `out` (events): of an event on a comm lane, when all its ranks have come to it, if that is before
 * its end; of any other, its start. In the arena. */
yk_status yk_trace_arrivals(const struct yk_trace *trace, struct yk_arena *arena,
                            double **out) YK_MUST_USE;

#endif
