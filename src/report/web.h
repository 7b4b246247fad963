/* Web: the files of report/web/ as constant strings, embedded by the build (tools/embed.cmake). */
#ifndef YK_REPORT_WEB_H
#define YK_REPORT_WEB_H

/* Templates with {{placeholders}}, see yk_page_fill_template(). */
extern const char yk_web_page_html[];    /* the whole page */
extern const char yk_web_zoom_html[];    /* zoom buttons of time charts */
extern const char yk_web_chart_html[];   /* the canvas of a chart */
extern const char yk_web_numbers_html[]; /* a CSV table */

extern const char yk_web_page_css[];    /* every page */
extern const char yk_web_figure_css[];  /* SVG pictures, in pages and as files */
extern const char yk_web_palette_css[]; /* colours of ops, memory, times and tasks */
extern const char yk_web_charts_css[];  /* pages with charts */
extern const char yk_web_run_css[];
extern const char yk_web_schedule_css[];

/* Scripts. A page concatenates those it needs into one, in this order; numbers.js is always first.
 */
extern const char yk_web_numbers_js[];    /* reading CSV, units, the tooltip */
extern const char yk_web_figures_js[];    /* tooltips of SVG pictures, CSV downloads */
extern const char yk_web_time_chart_js[]; /* time charts: zoom, pan, keys, rows of bars */
extern const char yk_web_ops_js[];        /* rows of ops */
extern const char yk_web_memory_js[];     /* rows of memory */
extern const char yk_web_counters_js[];   /* rows of device counters */
extern const char yk_web_schedule_js[];   /* rows of tasks, and details of one task */
extern const char yk_web_steps_js[];      /* the step under the pointer, in curves over steps */

#endif
