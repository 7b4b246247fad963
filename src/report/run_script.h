/* Run script: what the page of a run has besides the pieces of plan_script.h. */
#ifndef YK_REPORT_RUN_SCRIPT_H
#define YK_REPORT_RUN_SCRIPT_H

extern const char yk_run_style[];           /* CSS, after that of plans */
extern const char yk_run_script_curves[];   /* the step that is pointed at, in all curves */
extern const char yk_run_script_counters[]; /* rows of counters, after those of lanes */

#endif
