#include "support/programs/program_lines.h"

#include "support/support.h"

#include <string.h>

static void write_op(const struct yk_program *program, const struct yk_op *op, struct yk_text *text)
{
    static const char letters[YK_OP_KIND_COUNT] = {
        [YK_OP_LOAD] = 'L',       [YK_OP_FORWARD] = 'F',    [YK_OP_RECOMPUTE] = 'C',
        [YK_OP_BACKWARD] = 'B',   [YK_OP_ALL_GATHER] = 'G', [YK_OP_REDUCE_SCATTER] = 'S',
        [YK_OP_ALL_REDUCE] = 'R', [YK_OP_SEND] = 's',       [YK_OP_RECV] = 'r',
        [YK_OP_AGREE] = 'A',      [YK_OP_UPDATE] = 'U',     [YK_OP_RELEASE] = 'X',
    };
    const bool pass =
        op->kind == YK_OP_FORWARD || op->kind == YK_OP_RECOMPUTE || op->kind == YK_OP_BACKWARD;
    const bool whole = op->kind == YK_OP_UPDATE || op->kind == YK_OP_AGREE || op->step != 0;
    yk_text_addf(text, "%c", letters[op->kind]);
    if (op->kind == YK_OP_ALL_REDUCE) {
        yk_text_addf(text, "%d", (int)op->bucket);
    } else if (op->layer != YK_LAYER_NONE) {
        yk_text_addf(text, "%d%s", (int)op->layer, op->backward && !pass ? "b" : "");
    }
    if (program->plan->micro_batches > 1 && !whole) {
        yk_text_addf(text, ":%d", (int)op->micro_batch);
    }
    if (op->peer >= 0) {
        yk_text_addf(text, "%c%d", op->kind == YK_OP_SEND ? '>' : '<', (int)op->peer);
    }
    yk_text_add(text, op->step > 0 ? "+" : op->step < 0 ? "-" : "");
}

static void write_waits(const struct yk_program *program, const struct yk_op_list *list,
                        const struct yk_op *op, struct yk_text *text)
{
    for (int32_t w = 0; w < op->wait_count; w++) {
        const struct yk_op_wait *wait = &list->waits[op->first_wait + w];
        yk_text_add(text, w == 0 ? "(" : " ");
        write_op(program, &list->ops[wait->op], text);
        yk_text_add(text, wait->lag > 0 ? "'" : "");
    }
    yk_text_add(text, op->wait_count > 0 ? ")" : "");
}

void words_assert(const struct yk_program *program, int32_t rank, bool waits, const char *expected,
                  const char *file, int line)
{
    const struct yk_op_list *list = &program->ranks[rank];
    struct yk_text text = {0};
    for (int32_t i = 0; i < list->op_count; i++) {
        yk_text_add(&text, i > 0 ? " " : "");
        write_op(program, &list->ops[i], &text);
        if (waits) {
            write_waits(program, list, &list->ops[i], &text);
        }
    }
    assert_ok(yk_text_status(&text));
    const char *written = text.bytes ? text.bytes : "";
    const bool same = strcmp(written, expected) == 0;
    if (!same) {
        print_error("rank %d: %s\nnot the expected: %s\n", (int)rank, written, expected);
    }
    yk_text_free(&text);
    if (!same) {
        _fail(file, line);
    }
}
