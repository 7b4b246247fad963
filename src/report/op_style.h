/* Op style: the kinds of ops that pictures and charts distinguish. An op of kind K has the class
 * op-K, in an SVG and in a page (web/palette.css); no kind is known by its colour alone. */
#ifndef YK_REPORT_OP_STYLE_H
#define YK_REPORT_OP_STYLE_H

#include <stdint.h>

enum {
    YK_OP_STYLE_OTHER = 12, /* as many as there are kinds of ops in programs */
    YK_OP_STYLE_COUNT,
};

/* The kind that is the first word of an op's name; YK_OP_STYLE_OTHER for any other word. */
int32_t yk_op_style_kind(const char *op);

/* "forward", "all_gather" … "other". */
const char *yk_op_style_name(int32_t kind);

/* One or two characters that stand for it on a bar with no room for more. */
const char *yk_op_style_code(int32_t kind);

#endif
