/* Look: the kinds of things that a plan's pictures tell apart, and their colours as CSS, light and
 * dark. A thing of kind K has the class op-K, memory-K or time-K, in an SVG and in a page. Letters
 * on these colours are dark, and no kind is told by its colour alone. */
#ifndef YK_REPORT_PLAN_LOOK_H
#define YK_REPORT_PLAN_LOOK_H

#include <stdint.h>

enum {
    YK_LOOK_OTHER_OP = 12, /* as many as there are kinds of ops in programs */
    YK_LOOK_OP_COUNT,
};

/* The kind that the first word of an op's name says; YK_LOOK_OTHER_OP for any other word. */
int32_t yk_look_op_kind(const char *op);

/* "forward", "all_gather" … "other". */
const char *yk_look_op_name(int32_t kind);

/* One or two characters that stand for it on a bar with no room for more. */
const char *yk_look_op_code(int32_t kind);

extern const char yk_look_style[];

#endif
