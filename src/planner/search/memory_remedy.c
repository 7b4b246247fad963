/* Memory remedy: searches for the cheapest change of a request that makes a plan fit. */
#include "planner/search/search.h"

#include <math.h>
#include <stdio.h>

/* Maximum fraction of the budget for one change. */
static const double max_part = 0.25;
enum {
    LORA_RANK = 16,
    TEXT_SIZE = 120,
    REMEDY_COUNT = 6,
};

/* Applies change `number`, from cheap to expensive; returns false if it changes nothing. */
static bool reduce_request(struct yk_plan_request *request, int32_t number, char *text)
{
    const struct yk_plan_request before = *request;
    struct yk_workload *workload = &request->workload;
    switch (number) {
    case 0:
        snprintf(text, TEXT_SIZE, "the memory that --memory leaves unused");
        request->memory_bytes = 0;
        return before.memory_bytes > 0;
    case 1:
        snprintf(text, TEXT_SIZE, "strategies, micro-batches and placement left to yoke");
        request->strategy = YK_SHARDING_STRATEGY_COUNT;
        request->random_strategies = false;
        request->decisions = YK_DECIDE_ALL;
        request->micro_batches = 0;
        return before.strategy != YK_SHARDING_STRATEGY_COUNT || before.random_strategies ||
               before.decisions != YK_DECIDE_ALL || before.micro_batches != 0;
    case 2:
        snprintf(text, TEXT_SIZE, "--batch %lld", (long long)(workload->batch / 2));
        workload->batch /= 2;
        return workload->batch > 0;
    case 3:
        snprintf(text, TEXT_SIZE, "--seq %lld", (long long)(workload->sequence / 2));
        workload->sequence /= 2;
        return workload->sequence > 0;
    case 4:
        snprintf(text, TEXT_SIZE, "--lora %d", LORA_RANK);
        workload->lora_rank = LORA_RANK;
        return before.workload.lora_rank <= 0;
    default:
        snprintf(text, TEXT_SIZE, "--lora %d --nf4", LORA_RANK);
        workload->lora_rank = workload->lora_rank > 0 ? workload->lora_rank : LORA_RANK;
        workload->nf4 = true;
        return !before.workload.nf4;
    }
}

yk_status yk_plan_search_find_memory_remedy(struct yk_search_context *context, struct yk_text *out)
{
    const struct yk_plan_request *request = context->request;
    bool all_known = true;
    int64_t trials = 0; /* not counted */
    for (int32_t number = 0; number < REMEDY_COUNT; number++) {
        struct yk_plan_request less = *request;
        char text[TEXT_SIZE];
        double step_s = NAN;
        bool known = false;
        less.search.progress = NULL;
        if (!reduce_request(&less, number, text)) {
            continue;
        }
        if (request->search.moves == 0) {
            less.search.budget_s *=
                fmin(max_part, (1 - yk_search_context_spent_budget_fraction(context)) /
                                   (REMEDY_COUNT - number));
        }
        if (yk_deadline_has_passed(&context->deadline)) {
            all_known = false;
            break;
        }
        YK_TRY(yk_plan_search_explore_phase_of_request(&less, false, &trials, &known, &step_s));
        all_known = all_known && known;
        if (isfinite(step_s)) {
            yk_text_addf(out, "it fits with %s", text);
            return YK_OK;
        }
    }
    yk_text_add(out, all_known ? "half the batch, half the sequence or adapters on NF4 do not fit "
                                 "either: more devices or devices with more memory are needed"
                               : "there was no time to find out what would fit");
    return YK_OK;
}
