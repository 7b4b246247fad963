#include "program/demand.h"

#include "base/grow.h"
#include "program/rule.h"

#include <stdlib.h>

struct reason {
    const char *rule;
    const char *words;
};

static const struct reason reasons[] = {
    [YK_DEMAND_INPUT] = {"passes", "a layer goes forward after all that it takes is there"},
    [YK_DEMAND_SAVED] = {"passes", "forward comes first, then recompute, then backward"},
    [YK_DEMAND_OUTPUT_GRADIENT] = {"passes",
                                   "a layer goes backward after all that took its output"},
    [YK_DEMAND_MESSAGE] = {"passes", "what is sent is computed first"},
    [YK_DEMAND_GATHERED] = {"resident", "parameters are gathered before they are used"},
    [YK_DEMAND_RELEASED] = {"resident", "parameters are released after their last use"},
    [YK_DEMAND_DROPPED] = {"resident", "parameters are gathered after the release before"},
    [YK_DEMAND_GRADIENT] = {"ordered", "a gradient is reduced after its backward"},
    [YK_DEMAND_REDUCED] = {"ordered", "parameters are updated after their gradient is complete"},
    [YK_DEMAND_NORM] = {"ordered", "ranks agree after all gradients are complete"},
    [YK_DEMAND_AGREED] = {"ordered", "parameters are updated after the ranks agreed"},
    [YK_DEMAND_LAST_USE] = {"ordered", "parameters are updated after their last use"},
    [YK_DEMAND_NEW_PART] = {"ordered", "parameters are gathered after their update"},
    [YK_DEMAND_NEW_WEIGHTS] = {"ordered", "parameters are used after their update"},
};

void yk_demands_free(struct yk_demands *demands)
{
    free(demands->items);
    *demands = (struct yk_demands){0};
}

yk_status yk_demands_add(struct yk_demands *demands, struct yk_demand demand)
{
    YK_TRY(yk_grow((void **)&demands->items, &demands->capacity, demands->count, sizeof demand));
    demands->items[demands->count++] = demand;
    return YK_OK;
}

yk_status yk_demands_add_step(const struct yk_rank_view *view, struct yk_demands *demands,
                              int32_t before, int32_t after, int32_t steps,
                              enum yk_demand_reason reason)
{
    const struct yk_op *ops = view->list->ops;
    const struct yk_demand demand = {
        .before = before,
        .after = after,
        .lag = steps + ops[before].step - ops[after].step,
        .reason = reason,
    };
    return yk_demands_add(demands, demand);
}

yk_status yk_demands_check(const struct yk_rank_view *view, const struct yk_demands *demands)
{
    const struct yk_program *program = view->facts->program;
    for (int32_t i = 0; i < demands->count; i++) {
        const struct yk_demand *demand = &demands->items[i];
        if (!yk_rank_view_knows(view, demand->before, demand->after, demand->lag)) {
            char before[YK_RULE_WORDS_SIZE];
            yk_rule_describe(program, &view->list->ops[demand->before], before);
            return yk_rule_refuse(
                program, view->rank, reasons[demand->reason].rule, &view->list->ops[demand->after],
                "could start before %s%s has ended, but %s", before,
                demand->lag > 0 ? " of the round before" : "", reasons[demand->reason].words);
        }
    }
    return YK_OK;
}
