#include "program/check/precedence.h"

#include "base/array.h"
#include "program/check/rule.h"

#include <stdlib.h>

struct reason {
    const char *rule;
    const char *explanation;
};

static const struct reason reasons[] = {
    [YK_PRECEDENCE_FORWARD_AFTER_INPUT] = {"passes",
                                           "a layer goes forward after all that it takes is there"},
    [YK_PRECEDENCE_SAME_LAYER] = {"passes", "forward comes first, then recompute, then backward"},
    [YK_PRECEDENCE_BACKWARD_AFTER_OUTPUT_GRADIENT] =
        {"passes", "a layer goes backward after all that took its output"},
    [YK_PRECEDENCE_SEND_AFTER_COMPUTE] = {"passes", "what is sent is computed first"},
    [YK_PRECEDENCE_USE_AFTER_GATHER] = {"resident", "parameters are gathered before they are used"},
    [YK_PRECEDENCE_RELEASE_AFTER_USE] = {"resident",
                                         "parameters are released after their last use"},
    [YK_PRECEDENCE_GATHER_AFTER_RELEASE] = {"resident",
                                            "parameters are gathered after the release before"},
    [YK_PRECEDENCE_REDUCE_AFTER_BACKWARD] = {"ordered", "a gradient is reduced after its backward"},
    [YK_PRECEDENCE_UPDATE_AFTER_REDUCE] =
        {"ordered", "parameters are updated after their gradient is complete"},
    [YK_PRECEDENCE_AGREE_AFTER_REDUCE] = {"ordered",
                                          "ranks agree after all gradients are complete"},
    [YK_PRECEDENCE_UPDATE_AFTER_AGREE] = {"ordered",
                                          "parameters are updated after the ranks agreed"},
    [YK_PRECEDENCE_UPDATE_AFTER_USE] = {"ordered", "parameters are updated after their last use"},
    [YK_PRECEDENCE_GATHER_AFTER_UPDATE] = {"ordered", "parameters are gathered after their update"},
    [YK_PRECEDENCE_USE_AFTER_UPDATE] = {"ordered", "parameters are used after their update"},
};

void yk_precedences_free(struct yk_precedences *precedences)
{
    free(precedences->items);
    *precedences = (struct yk_precedences){0};
}

yk_status yk_precedences_add_with_lag(struct yk_precedences *precedences, int32_t before,
                                      int32_t after, int32_t lag, enum yk_precedence_reason reason)
{
    YK_TRY_GROW_ARRAY(precedences->items, precedences->capacity, precedences->count);
    precedences->items[precedences->count++] = (struct yk_precedence){before, after, lag, reason};
    return YK_OK;
}

yk_status yk_precedences_add_across_steps(struct yk_precedences *precedences, int32_t before,
                                          int32_t after, int32_t steps,
                                          enum yk_precedence_reason reason)
{
    const struct yk_op *ops = precedences->index->list->ops;
    return yk_precedences_add_with_lag(precedences, before, after,
                                       steps + ops[before].step - ops[after].step, reason);
}

yk_status yk_precedences_check(const struct yk_precedences *precedences)
{
    const struct yk_op_index *index = precedences->index;
    const struct yk_program *program = index->facts->program;
    for (int32_t i = 0; i < precedences->count; i++) {
        const struct yk_precedence *precedence = &precedences->items[i];
        if (!yk_op_index_happens_before(index, precedence->before, precedence->after,
                                        precedence->lag)) {
            char before[YK_RULE_TEXT_SIZE];
            yk_rule_describe_op(program, &index->list->ops[precedence->before], before);
            return yk_rule_fail(program, index->rank, reasons[precedence->reason].rule,
                                &index->list->ops[precedence->after],
                                "could start before %s%s has ended, but %s", before,
                                precedence->lag > 0 ? " of the round before" : "",
                                reasons[precedence->reason].explanation);
        }
    }
    return YK_OK;
}
