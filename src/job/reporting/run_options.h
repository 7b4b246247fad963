/* Run options: those that a training was started with, from the run.json of its folder: an object,
 * each member of which but "yoke" and "kind" is one, unless it is null. */
#ifndef YK_JOB_REPORTING_RUN_OPTIONS_H
#define YK_JOB_REPORTING_RUN_OPTIONS_H

#include "base/arena.h"
#include "base/status.h"
#include "report/run/report.h"

/* `source`, the path of the file, begins every message. In the arena. */
yk_status yk_run_options_read(const char *text, size_t length, const char *source,
                              struct yk_arena *arena, const struct yk_run_report_option **out,
                              int32_t *out_count) YK_MUST_USE;

#endif
