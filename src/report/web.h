/* Web: the files of report/web/ as texts, put there when yoke is built (tools/embed.cmake). They
 * never change. */
#ifndef YK_REPORT_WEB_H
#define YK_REPORT_WEB_H

/* The page around every report, and parts of it, with {{slots}} that page.h fills. */
extern const char yk_web_page_html[];
extern const char yk_web_timeline_html[];
extern const char yk_web_chart_html[];
extern const char yk_web_numbers_html[];

extern const char yk_web_page_css[];    /* of every page */
extern const char yk_web_figure_css[];  /* of pictures, in pages and alone */
extern const char yk_web_palette_css[]; /* the colours of kinds */
extern const char yk_web_charts_css[];  /* of pages with charts */
extern const char yk_web_run_css[];
extern const char yk_web_schedule_css[];

/* Scripts that follow each other in one: numbers first, then those that a page needs, in this
 * order. */
extern const char yk_web_numbers_js[];  /* tables of CSV, units, the tooltip */
extern const char yk_web_figures_js[];  /* titles of pictures as tooltips, downloads */
extern const char yk_web_lanes_js[];    /* charts over time: rows of bars */
extern const char yk_web_ops_js[];      /* rows of ops */
extern const char yk_web_memory_js[];   /* rows of memory */
extern const char yk_web_counters_js[]; /* rows of counters */
extern const char yk_web_schedule_js[]; /* rows of tasks, and details of one */
extern const char yk_web_steps_js[];    /* the step that is pointed at in curves */

#endif
