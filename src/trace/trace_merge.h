/* Trace merging: the traces that ranks kept by themselves, each by its own clock, as one. */
#ifndef YK_TRACE_TRACE_MERGE_H
#define YK_TRACE_TRACE_MERGE_H

#include "base/status.h"
#include "trace/trace.h"

struct yk_trace_part {
    const struct yk_trace *trace;
    double offset_s; /* what is added to its times, to have them by the clock of the whole */
};

/* The ranks of the first piece are the first, and so on; flows stay within their piece. The caller
 * destroys the trace. */
yk_status yk_trace_merge(const struct yk_trace_part *pieces, int32_t count,
                         struct yk_trace **out) YK_MUST_USE;

#endif
