/* Schedule script: what makes the page of a schedule move, in four pieces that follow each other in
 * one script, the buttons it listens to, and how the chart looks when it does. */
#ifndef YK_REPORT_SCHEDULE_SCRIPT_H
#define YK_REPORT_SCHEDULE_SCRIPT_H

extern const char yk_schedule_style[];          /* CSS */
extern const char yk_schedule_controls[];       /* HTML */
extern const char yk_schedule_script_view[];    /* the data, and which times are in view */
extern const char yk_schedule_script_draw[];    /* the chart for that view */
extern const char yk_schedule_script_details[]; /* one task: its inputs, its wait, the chain */
extern const char yk_schedule_script_input[];   /* mouse, touch, keyboard, buttons */

#endif
