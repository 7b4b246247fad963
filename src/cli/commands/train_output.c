#include "cli/commands/train_output.h"

#include "base/text.h"
#include "base/units.h"
#include "job/counters.h"

#include <inttypes.h>
#include <math.h>

yk_status yk_train_output_forecast(const struct yk_train_request *request,
                                   const struct yk_train_result *result, struct yk_text *out)
{
    if (request->json && result->planned) {
        return yk_train_result_write_json(result, out);
    }
    yk_text_add_bytes(out, yk_text_chars(&result->plan), result->plan.length);
    if (!result->planned) {
        return yk_text_status(out);
    }
    yk_text_addf(out, "\n%" PRId64 " step%s in all; ", result->steps,
                 yk_text_plural(result->steps));
    yk_text_add(out, result->steps == 1 ? "it takes " : "those to come take ");
    yk_text_add_duration(result->predicted_s, out);
    yk_text_addf(out, " ±%.0f %%, as predicted.\n", 100 * result->predicted_error);
    return yk_text_status(out);
}

static void add_speed(const struct yk_train_result *result, struct yk_text *out)
{
    char measured[YK_UNITS_SIZE];
    char predicted[YK_UNITS_SIZE];
    char peak[YK_UNITS_SIZE];
    char planned[YK_UNITS_SIZE];
    const bool own = result->device_bytes > 0; /* the device has memory of its own */
    yk_units_format(result->median_step_s, YK_UNIT_SECONDS, measured);
    yk_units_format(result->predicted_step_s, YK_UNIT_SECONDS, predicted);
    yk_units_format(own ? result->device_bytes : result->peak_bytes, YK_UNIT_BYTES, peak);
    yk_units_format(result->planned_bytes, YK_UNIT_BYTES, planned);
    yk_text_addf(out, "  speed       %.0f tokens/s, MFU %.1f %% (exact %.1f)\n",
                 result->tokens_per_s, 100 * result->mfu, 100 * result->exact_mfu);
    yk_text_addf(out, "  step        %s measured, half of them faster; %s predicted (%.2f of it)\n",
                 measured, predicted, result->predicted_step_s / result->median_step_s);
    yk_text_addf(out, "  memory      %s at most %s; %s planned\n", peak,
                 own ? "in use on the GPU" : "in the whole process", planned);
}

static void add_shares(const int64_t *shares, int32_t count, struct yk_text *out)
{
    for (int32_t r = 0; r < count; r++) {
        yk_text_addf(out, "%s%" PRId64, r > 0 ? " / " : "", shares[r]);
    }
}

/* "after step 40: 8 / 8 samples became 13 / 3", once for every change. */
static void add_rebalancings(const struct yk_train_result *result, struct yk_text *out)
{
    yk_text_add(out, "  rebalanced  ");
    for (int32_t i = 0; i < result->rebalancing_count; i++) {
        const struct yk_train_rebalancing *change = &result->rebalancings[i];
        yk_text_addf(out, "%safter step %" PRId64 ": ", i > 0 ? "; " : "", change->step);
        add_shares(change->shares_before, result->rank_count, out);
        yk_text_add(out, " samples became ");
        add_shares(change->shares, result->rank_count, out);
    }
    yk_text_add(out, "\n");
}

yk_status yk_train_output_summary(const struct yk_train_request *request,
                                  const struct yk_train_result *result, struct yk_text *out)
{
    if (request->json) {
        return yk_train_result_write_json(result, out);
    }
    yk_text_addf(out, "%s trained\n\n", result->model);
    yk_text_addf(out, "  steps       %" PRId64 ", %.0f token%s in ", result->steps_done,
                 result->tokens, yk_text_plural((int64_t)result->tokens));
    yk_text_add_duration(result->seconds, out);
    yk_text_add(out, "\n");
    yk_text_addf(out, "  loss        %.4f, from %.4f\n", fabs(result->last_loss),
                 fabs(result->first_loss));
    if (isfinite(result->evaluation_loss)) {
        yk_text_addf(out, "  evaluation  %.4f, perplexity ", result->evaluation_loss);
        yk_text_add_perplexity(result->evaluation_loss, 2, out);
        yk_text_add(out, "\n");
    }
    add_speed(result, out);
    if (result->rebalancing_count > 0) {
        add_rebalancings(result, out);
    }
    yk_text_addf(out, "  checkpoint  %s\n", request->keep > 0 ? result->checkpoint : "none");
    yk_text_addf(out, "  page        %s/report.html\n", result->folder);
    return yk_counters_add_text(&result->counters, out);
}
