#include "report/run/ranks.h"

#include "report/label.h"

#include <math.h>

/* If the slowest rank computes for this fraction of the step, computation bounds the step. */
static const double BUSY = 0.7;

/* Relative error up to which a prediction is said to be right. */
static const double ALIKE = 0.05;

/* "cpu1 (rank 1)"; only the device if there is one rank. */
static void add_rank(const struct yk_run_ranks *ranks, int32_t rank, struct yk_text *out)
{
    yk_text_add(out, ranks->ranks[rank].device);
    if (ranks->count > 1) {
        yk_text_addf(out, " (rank %d)", (int)rank);
    }
}

static void add_part(double part_s, double step_s, struct yk_text *out)
{
    yk_text_addf(out, "%s, %.0f %% of the step", YK_LABEL_WITH_UNIT(part_s, YK_UNIT_SECONDS),
                 100 * part_s / step_s);
}

/* Names the rank with the longest idle time, if that is more than a tenth of the step. */
static void add_idle(const struct yk_run_ranks *ranks, int32_t slowest, bool measured,
                     double step_s, struct yk_text *out)
{
    int32_t max = -1;
    double max_s = 0.1 * step_s;
    for (int32_t r = 0; r < ranks->count; r++) {
        const double idle_s = yk_run_ranks_get_times(ranks, r, measured)->idle_s;
        if (r != slowest && idle_s > max_s) {
            max = r;
            max_s = idle_s;
        }
    }
    if (max >= 0) {
        add_rank(ranks, max, out);
        yk_text_add(out, " waits for others longest: ");
        add_part(max_s, step_s, out);
        yk_text_add(out, ".\n");
    }
}

/* What bounds the step: what the rank that computes longest does all the time. */
static void add_bound(const struct yk_run_ranks *ranks, int32_t slowest, bool measured,
                      double step_s, struct yk_text *out)
{
    const struct yk_trace_breakdown *breakdown = yk_run_ranks_get_times(ranks, slowest, measured);
    if (breakdown->compute_s >= BUSY * step_s) {
        yk_text_add(out, "Computation of ");
        add_rank(ranks, slowest, out);
        yk_text_add(out, measured ? " bounds the step: " : " is to bound the step: ");
        add_part(breakdown->compute_s, step_s, out);
    } else {
        const bool exposed = breakdown->exposed_s >= breakdown->idle_s;
        yk_text_add(out, exposed ? "Exposed communication" : "Waiting");
        yk_text_add(out, measured ? " bounds the step: " : " is to bound the step: ");
        add_rank(ranks, slowest, out);
        yk_text_add(out, ranks->count > 1 ? ", which computes longest, computes for "
                                          : " computes for ");
        add_part(breakdown->compute_s, step_s, out);
        yk_text_add(out, exposed ? ", and waits for data that moves for " : ", and waits for ");
        add_part(exposed ? breakdown->exposed_s : breakdown->idle_s, step_s, out);
    }
    yk_text_add(out, ".\n");
}

/* The part of the slowest rank's time that is furthest from what was predicted. */
static void add_cause(const struct yk_run_ranks *ranks, int32_t slowest, struct yk_text *out)
{
    static const char *const names[] = {"computation", "exposed communication", "waiting"};
    const struct yk_run_rank_summary *rank = &ranks->ranks[slowest];
    const double differences[] = {
        rank->measured.compute_s - rank->predicted.compute_s,
        rank->measured.exposed_s - rank->predicted.exposed_s,
        rank->measured.idle_s - rank->predicted.idle_s,
    };
    int max = 0;
    for (int i = 1; i < 3; i++) {
        max = fabs(differences[i]) > fabs(differences[max]) ? i : max;
    }
    if (!isfinite(differences[max])) {
        return;
    }
    yk_text_add(out, " On ");
    add_rank(ranks, slowest, out);
    yk_text_addf(out, ", %s is furthest from it: %s %s than predicted.", names[max],
                 YK_LABEL_WITH_UNIT(fabs(differences[max]), YK_UNIT_SECONDS),
                 differences[max] > 0 ? "longer" : "shorter");
}

static void add_comparison(const struct yk_run_report *report, const struct yk_run_ranks *ranks,
                           int32_t slowest, struct yk_text *out)
{
    const double ratio = report->measured_step_s / report->predicted_step_s;
    if (!(isfinite(ratio) && ratio > 0)) {
        return;
    }
    yk_text_addf(out, "The median step took %s",
                 YK_LABEL_WITH_UNIT(report->measured_step_s, YK_UNIT_SECONDS));
    if (report->measured_low_s > 0 && report->measured_high_s > report->measured_low_s) {
        yk_text_addf(out, " (eight of ten took %s to %s)",
                     YK_LABEL_WITH_UNIT(report->measured_low_s, YK_UNIT_SECONDS),
                     YK_LABEL_WITH_UNIT(report->measured_high_s, YK_UNIT_SECONDS));
    }
    yk_text_addf(out, "; %s", YK_LABEL_WITH_UNIT(report->predicted_step_s, YK_UNIT_SECONDS));
    if (fabs(ratio - 1) <= ALIKE) {
        yk_text_addf(out, " was predicted, which is %.0f %% off.", 100 * fabs(ratio - 1));
    } else {
        yk_text_addf(out, " was predicted: it took %.2f times as long.", ratio);
        if (slowest >= 0) {
            add_cause(ranks, slowest, out);
        }
    }
    yk_text_add(out, "\n");
}

static void add_rebalancings(const struct yk_run_report *report, struct yk_text *out)
{
    for (int32_t n = 0; n < report->rebalancing_count; n++) {
        const struct yk_run_report_rebalancing *change = &report->rebalancings[n];
        const bool last = n + 1 == report->rebalancing_count;
        const int32_t count = n > 0 ? change[-1].share_count : report->first_rank_count;
        yk_text_addf(out, "Samples were divided anew after step %lld: the ranks took ",
                     (long long)change->step);
        for (int32_t r = 0; r < count; r++) {
            yk_text_addf(out, "%s%.0f", r > 0 ? " / " : "",
                         n > 0 ? change[-1].shares[r] : report->first_ranks[r].share);
        }
        yk_text_add(out, count > 0 ? " before, and " : "");
        for (int32_t r = 0; r < change->share_count; r++) {
            yk_text_addf(out, "%s%.0f", r > 0 ? " / " : "", change->shares[r]);
        }
        yk_text_addf(out, " from then on.%s\n",
                     last && report->first_ranks ? " Predictions are for these shares." : "");
    }
}

void yk_run_describe_step_time(const struct yk_run_report *report, const struct yk_run_ranks *ranks,
                               struct yk_text *out)
{
    const bool measured = isfinite(ranks->measured_step_s);
    const double step_s = measured ? ranks->measured_step_s : ranks->predicted_step_s;
    const int32_t slowest = yk_run_ranks_find_slowest(ranks);
    if (slowest >= 0 && step_s > 0) {
        add_bound(ranks, slowest, measured, step_s, out);
        add_idle(ranks, slowest, measured, step_s, out);
    }
    add_comparison(report, ranks, slowest, out);
    add_rebalancings(report, out);
}
