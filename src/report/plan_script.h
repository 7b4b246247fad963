/* Plan script: what makes the page of a plan move, in pieces of one script (with those of
 * timeline_script.h between them), and how the page looks besides what all pages share. */
#ifndef YK_REPORT_PLAN_SCRIPT_H
#define YK_REPORT_PLAN_SCRIPT_H

extern const char yk_plan_style[];          /* CSS */
extern const char yk_plan_script_numbers[]; /* the CSV in the page, units, the tooltip */
extern const char yk_plan_script_charts[];  /* rows on a canvas, over time */
extern const char yk_plan_script_lanes[];   /* rows of ops */
extern const char yk_plan_script_memory[];  /* rows of memory */
extern const char yk_plan_script_input[];   /* what is pointed at, keys, buttons, downloads */

#endif
