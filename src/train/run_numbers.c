#include "train/run_numbers.h"

#include "comm/exchange.h"
#include "train/run_agree.h"

#include <math.h>
#include <string.h>

enum {
    MOST_BAD_STEPS = 8, /* in a row */
};

static yk_status fail_named(const struct yk_vector_span_array *run, const char *name,
                            const char *what)
{
    const char *advice =
        run->options.clip > 0 ? "try a lower --rate" : "try a lower --rate, or --clip 1";
    if (strcmp(what, "weights") == 0) {
        return yk_fail(YK_ERROR_NUMBERS,
                       "step %lld: the weights %s hold numbers that are not finite; %s",
                       (long long)run->state.step, name, advice);
    }
    return yk_fail(YK_ERROR_NUMBERS,
                   "step %lld: the gradient of %s is not finite, %lld times in a row; %s",
                   (long long)run->state.step, name, (long long)run->state.bad, advice);
}

yk_status yk_run_steps_fail_nonfinite(struct yk_vector_span_array *run, double loss)
{
    const char *name = NULL;
    const char *what = NULL;
    const char *advice =
        run->options.clip > 0 ? "try a lower --rate" : "try a lower --rate, or --clip 1";
    yk_status status = yk_store_find_nonfinite_values(run->store, &name, &what);
    if (status == YK_OK && name) {
        status = fail_named(run, name, what);
    }
    status = yk_run_steps_agree(run, status);
    run->agreed = true;
    return status != YK_OK
               ? status
               : yk_fail(YK_ERROR_NUMBERS, "step %lld: the loss is %g, %lld times in a row; %s",
                         (long long)run->state.step, loss, (long long)run->state.bad, advice);
}

yk_status yk_run_steps_check_end(struct yk_vector_span_array *run)
{
    const char *name = NULL;
    const char *what = NULL;
    double harmed = 0;
    if (run->state.bad > 0 && isfinite(run->last_loss)) {
        YK_TRY(yk_store_find_nonfinite_values(run->store, &name, &what));
        harmed = name && strcmp(what, "weights") == 0 ? 1 : 0;
        if (run->executor.ranks) {
            YK_TRY(yk_exchange_max(run->executor.ranks, &harmed, 1));
        }
    }
    return run->state.bad > 0 && (harmed > 0 || !isfinite(run->last_loss))
               ? yk_run_steps_fail_nonfinite(run, run->last_loss)
               : YK_OK;
}

yk_status yk_run_steps_check_result(struct yk_vector_span_array *run, struct yk_executor *executor,
                                    const struct yk_step_result *result)
{
    const bool bad = result->skipped || !isfinite(result->loss) || !isfinite(result->norm);
    run->state.bad = bad ? run->state.bad + 1 : 0;
    if (bad && (!result->skipped || run->state.bad >= MOST_BAD_STEPS)) {
        YK_TRY(yk_executor_finish_steps(executor));
        return yk_run_steps_fail_nonfinite(run, result->loss);
    }
    return YK_OK;
}
