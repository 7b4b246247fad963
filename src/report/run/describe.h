/* Run describe: where the time of a run's step goes, and how far that is from what was predicted,
 * in sentences. */
#ifndef YK_REPORT_RUN_DESCRIBE_H
#define YK_REPORT_RUN_DESCRIBE_H

#include "report/run/ranks.h"

/* Plain text, a line each; nothing where nothing is known. */
void yk_run_describe_time(const struct yk_run_report *report, const struct yk_run_ranks *ranks,
                          struct yk_text *out);

#endif
