#include "report/time_chart.h"

#include "program/program.h"

#include <string.h>

_Static_assert((int)YK_OP_STYLE_OTHER == (int)YK_OP_KIND_COUNT,
               "one style for each kind of op, and one more");

int32_t yk_op_style_find_by_op_name(const char *op)
{
    const size_t length = strcspn(op, " ");
    for (int32_t k = 0; k < YK_OP_STYLE_OTHER; k++) {
        const char *name = yk_op_style_name(k);
        if (strlen(name) == length && strncmp(name, op, length) == 0) {
            return k;
        }
    }
    return YK_OP_STYLE_OTHER;
}

const char *yk_op_style_name(int32_t kind)
{
    return kind == YK_OP_STYLE_OTHER ? "other" : yk_op_kind_name((enum yk_op_kind)kind);
}

const char *yk_op_style_symbol(int32_t kind)
{
    static const char *const codes[YK_OP_STYLE_COUNT] = {
        [YK_OP_LOAD] = "L",        [YK_OP_FORWARD] = "F",         [YK_OP_RECOMPUTE] = "C",
        [YK_OP_BACKWARD] = "B",    [YK_OP_ALL_GATHER] = "G",      [YK_OP_REDUCE_SCATTER] = "S",
        [YK_OP_ALL_REDUCE] = "R",  [YK_OP_SEND] = "\xe2\x86\x92", [YK_OP_RECV] = "\xe2\x86\x90",
        [YK_OP_AGREE] = "A",       [YK_OP_UPDATE] = "U",          [YK_OP_RELEASE] = "X",
        [YK_OP_STYLE_OTHER] = "?",
    };
    return codes[kind];
}
