#include "report/profile/report.h"

#include "base/units.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

void yk_profile_describe_age(int64_t then, int64_t now, struct yk_text *out)
{
    static const struct {
        int64_t seconds;
        const char *name;
    } units[] = {{31536000, "year"}, {2592000, "month"}, {604800, "week"},
                 {86400, "day"},     {3600, "hour"},     {60, "minute"}};
    if (then <= 0) {
        yk_text_add(out, "at an unknown time");
        return;
    }
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        const int64_t count = (now - then) / units[i].seconds;
        if (count > 0) {
            yk_text_addf(out, "%" PRId64 " %s%s ago", count, units[i].name, count > 1 ? "s" : "");
            return;
        }
    }
    yk_text_add(out, "just now"); /* or on a machine whose clock is ahead */
}

void yk_profile_describe_device(const struct yk_profile_layer_key *layer, struct yk_text *out)
{
    yk_text_add(out, layer->device);
    if (layer->part < 1) {
        yk_text_addf(out, ", %.3g %% of it", 100 * layer->part);
    }
}

void yk_profile_describe_collective(const struct yk_profile_link_key *link, struct yk_text *out)
{
    yk_text_add(out, link->collective);
    if (link->ranks > 1 && strcmp(link->collective, "send") != 0) {
        yk_text_addf(out, " among %d ranks", (int)link->ranks);
    }
}

void yk_profile_describe_curve_knee(const struct yk_profile_report_link_curve *link,
                                    struct yk_text *out)
{
    const struct yk_saturation_size *saturation = &link->saturation;
    if (!link->has_knee) {
        yk_text_add(out, "no knee: one size tells none");
        return;
    }
    yk_text_addf(out, "knee %s", YK_UNITS_FORMAT_TEMPORARY(saturation->bytes, YK_UNIT_BYTES));
    if (isfinite(saturation->uncertainty) && saturation->uncertainty >= 1.05) {
        yk_text_addf(out, ", give or take a factor of %.3g", saturation->uncertainty);
    }
    yk_text_addf(out, ": %.0f %% of %s, latency %s", 100 * YK_SATURATION_SIZE_BANDWIDTH_FRACTION,
                 YK_UNITS_FORMAT_TEMPORARY(saturation->plateau_bytes_per_s, YK_UNIT_BYTES_PER_S),
                 YK_UNITS_FORMAT_TEMPORARY(saturation->latency_s, YK_UNIT_SECONDS));
    if (!saturation->reached) {
        yk_text_add(out, "; not reached by what was measured");
    } else if (saturation->exceeds_measured_sizes) {
        yk_text_add(out, "; four times as much was not measured");
    }
    if (!isfinite(saturation->uncertainty)) {
        yk_text_add(out, link->count <= 3 ? "; a guess from few sizes" : "; a guess");
    }
}

void yk_profile_describe_fact(const struct yk_profile_fact_row *row, struct yk_text *out)
{
    const double value = row->measurement.value;
    yk_text_addf(out, "%s: ", row->fact.subject);
    if (strcmp(row->fact.fact, YK_PROFILE_FACT_CONTEXT_BYTES) == 0) {
        yk_text_addf(out, "a process holds %s besides what it trains",
                     YK_UNITS_FORMAT_TEMPORARY(value, YK_UNIT_BYTES));
    } else if (strcmp(row->fact.fact, YK_PROFILE_FACT_COMPUTE_SLOWDOWN) == 0) {
        yk_text_addf(out, "computation takes %.3g times as long beside messages", value);
    } else if (strcmp(row->fact.fact, YK_PROFILE_FACT_IDLE_SPEEDUP) == 0) {
        yk_text_addf(out, "computation takes %.3g times as long while others rest", value);
    } else if (strcmp(row->fact.fact, YK_PROFILE_FACT_MESSAGE_SLOWDOWN) == 0) {
        yk_text_addf(out, "messages take %.3g times as long beside computation", value);
    } else {
        yk_text_addf(out, "%s: %.4g", row->fact.fact, value);
    }
}
