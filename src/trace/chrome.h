/* Chrome: a trace as Chrome trace events, the JSON that Perfetto and chrome://tracing open.
 * A device is a process (pid), a lane one of its threads (tid), a flow an arrow. */
#ifndef YK_TRACE_CHROME_H
#define YK_TRACE_CHROME_H

#include "base/status.h"
#include "base/text.h"
#include "trace/trace.h"

#include <stddef.h>

yk_status yk_chrome_write(const struct yk_trace *trace, struct yk_text *out) YK_MUST_USE;

/*
 * Reads back what was written: ranks and events, times to the nanosecond; flows are left out. Other
 * kinds of events are passed over. `source`, the name the user knows the file by, begins every
 * message. The caller destroys the trace.
 */
yk_status yk_chrome_read(const char *text, size_t length, const char *source,
                         struct yk_trace **out) YK_MUST_USE;

#endif
