/* Gantt style: the colours and letters of the SVG Gantt, light and dark, as CSS. */
#ifndef YK_REPORT_GANTT_STYLE_H
#define YK_REPORT_GANTT_STYLE_H

enum {
    YK_GANTT_COLOURS = 8
}; /* classes c0 … c7 */

extern const char yk_gantt_style[];

#endif
