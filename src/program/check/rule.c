#include "program/check/rule.h"

#include "base/number.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

const char *yk_rule_rank_device_name(const struct yk_program *program, int32_t rank)
{
    return program->cluster->devices[program->plan->ranks[rank].device].name;
}

void yk_rule_describe_op(const struct yk_program *program, const struct yk_op *op,
                         char out[YK_RULE_TEXT_SIZE])
{
    struct yk_text text = {0};
    yk_op_describe(program, op, &text);
    snprintf(out, YK_RULE_TEXT_SIZE, "%s", yk_text_chars(&text));
    yk_text_free(&text);
}

yk_status yk_rule_fail(const struct yk_program *program, int32_t rank, const char *rule,
                       const struct yk_op *op, const char *format, ...)
{
    char reason[4 * YK_RULE_TEXT_SIZE];
    char described[YK_RULE_TEXT_SIZE] = "";
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    if (op) {
        yk_rule_describe_op(program, op, described);
    }
    return yk_fail(YK_ERROR_INPUT, "%s: %s%s%s %s", rule, described, op ? " on " : "",
                   yk_rule_rank_device_name(program, rank), reason);
}

static int by_blocks(const void *left, const void *right)
{
    const struct yk_rule_block_range *a = left;
    const struct yk_rule_block_range *b = right;
    int order = yk_number_compare(a->set, b->set);
    order = order != 0 ? order : yk_number_compare(a->first_block, b->first_block);
    return order != 0 ? order : yk_number_compare(a->op, b->op);
}

void yk_rule_block_ranges_sort(struct yk_rule_block_range *messages, int32_t count)
{
    if (count > 0) {
        qsort(messages, (size_t)count, sizeof *messages, by_blocks);
    }
}

bool yk_rule_block_ranges_cover_once(const struct yk_rule_block_range *messages, int32_t count,
                                     int32_t set, int32_t blocks, int32_t *next,
                                     struct yk_rule_block_error *out)
{
    int32_t covered = 0;
    int32_t last = -1;
    for (; *next < count && messages[*next].set == set; (*next)++) {
        const struct yk_rule_block_range *message = &messages[*next];
        if (message->first_block < covered) {
            *out = (struct yk_rule_block_error){message->first_block, last, message->op};
            return false;
        }
        if (message->first_block > covered) {
            break;
        }
        covered += message->block_count;
        last = message->op;
    }
    *out = (struct yk_rule_block_error){covered, -1, -1};
    return covered == blocks;
}
