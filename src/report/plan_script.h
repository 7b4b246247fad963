/* Plan script: what makes pages of plans and runs move, in pieces of one script (with those of
 * timeline_script.h between them), and how they look besides what all pages share. Numbers come
 * first; lanes and memory each add rows to the charts, which input then makes. */
#ifndef YK_REPORT_PLAN_SCRIPT_H
#define YK_REPORT_PLAN_SCRIPT_H

extern const char yk_plan_style[];          /* CSS */
extern const char yk_plan_script_numbers[]; /* the CSV in the page, units, the tooltip */
extern const char yk_plan_script_charts[];  /* rows on a canvas, over time */
extern const char yk_plan_script_lanes[];   /* rows of ops */
extern const char yk_plan_script_memory[];  /* rows of memory */
extern const char yk_plan_script_input[];   /* what is pointed at in charts, keys, buttons */
extern const char yk_plan_script_figures[]; /* pictures that stand still, downloads */

#endif
