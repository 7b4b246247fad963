/* Schedule script: what makes the page of a schedule move, in four pieces of one script (with those
 * of timeline_script.h between them), the buttons it listens to, and how the chart looks then. */
#ifndef YK_REPORT_SCHEDULE_SCRIPT_H
#define YK_REPORT_SCHEDULE_SCRIPT_H

extern const char yk_schedule_style[];          /* CSS */
extern const char yk_schedule_controls[];       /* HTML */
extern const char yk_schedule_script_view[];    /* the data, and the bars */
extern const char yk_schedule_script_draw[];    /* the chart for what is in view */
extern const char yk_schedule_script_details[]; /* one task: its inputs, its wait, the chain */
extern const char yk_schedule_script_input[];   /* what is pointed at, keys, buttons */

#endif
