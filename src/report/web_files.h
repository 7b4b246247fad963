/* Web files: the files of report/web/ as constant strings. The build embeds them
 * (tools/embed.cmake). */
#ifndef YK_REPORT_WEB_FILES_H
#define YK_REPORT_WEB_FILES_H

/* Templates with {{placeholders}}, which yk_page_fill_template_until_unknown() replaces with
 * values. */
extern const char yk_web_page_html[];    /* the HTML around every report */
extern const char yk_web_zoom_html[];    /* zoom buttons of time charts */
extern const char yk_web_chart_html[];   /* the canvas of a chart */
extern const char yk_web_numbers_html[]; /* a CSV table */

extern const char yk_web_page_css[];    /* styles of every page */
extern const char yk_web_figure_css[];  /* styles of SVG pictures, in pages and in files */
extern const char yk_web_palette_css[]; /* colours of ops, memory, times and tasks */
extern const char yk_web_charts_css[];  /* styles of pages with charts */
extern const char yk_web_run_css[];
extern const char yk_web_schedule_css[];

/* Scripts. A page needs some of them and joins these into one script, in the order of this list.
 * numbers.js is always the first. */
extern const char yk_web_numbers_js[];    /* reads CSV, formats units, shows the tooltip */
extern const char yk_web_figures_js[];    /* tooltips of SVG pictures, CSV downloads */
extern const char yk_web_time_chart_js[]; /* time charts: zoom, pan, keys, rows of bars */
extern const char yk_web_ops_js[];        /* rows of ops */
extern const char yk_web_memory_js[];     /* rows of memory */
extern const char yk_web_counters_js[];   /* rows of device counters */
extern const char yk_web_schedule_js[];   /* rows of tasks, and details of one task */
extern const char
    yk_web_steps_js[]; /* charts whose x axis is the step: shows the step under the pointer */

#endif
