/* Timeline script: what the scripts of all charts over time share: which times are in view, and how
 * fingers, mouse, wheel, keys and buttons change that. Two pieces of one script: the first after
 * `extent` is known, the second before the chart listens. */
#ifndef YK_REPORT_TIMELINE_SCRIPT_H
#define YK_REPORT_TIMELINE_SCRIPT_H

extern const char yk_timeline_script_view[];
extern const char yk_timeline_script_gestures[];

#endif
