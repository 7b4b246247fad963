#include "cost/communication.h"

#include "cost/curve.h"
#include "cost/profile_key.h"
#include "profile/profile.h"

#include <math.h>
#include <stdbool.h>

/* Looks up `bytes` over a link in the profile; `*found` is false if it has no such curve. */
static yk_status find_in_profile(const struct yk_cost_sources *sources,
                                 const struct yk_profile_link_key *wanted, double bytes,
                                 struct yk_cost_time_estimate *out, bool *found)
{
    struct yk_profile_curve curve = {0};
    YK_TRY(yk_profile_find_link_times(sources->profile, wanted, &curve));
    *found = curve.count > 0;
    if (*found) {
        /* Messages smaller than the smallest measured one take as long: latency dominates. */
        const double min = curve.points[0].size;
        const struct yk_curve_estimate value = yk_curve_interpolate(&curve, fmax(bytes, min));
        *out = (struct yk_cost_time_estimate){
            .seconds = value.seconds,
            .origin = value.measured && bytes >= min ? YK_COST_ORIGIN_MEASURED
                                                     : YK_COST_ORIGIN_INTERPOLATED,
            .error = value.error,
        };
    }
    return YK_OK;
}

/* Looks up the link between two devices in the profile; `otherwise_s` if it is not there. `wanted`
 * is all of the key but the link. */
static yk_status find_message(const struct yk_cost_sources *sources, int32_t from, int32_t to,
                              struct yk_profile_link_key wanted, double bytes, double otherwise_s,
                              struct yk_cost_time_estimate *out)
{
    char name[YK_PROFILE_KEY_SIZE];
    bool found = false;
    if (sources->profile &&
        yk_profile_key_format_link(sources->cluster, sources->measurements, from, to, name)) {
        wanted.link = name;
        YK_TRY(find_in_profile(sources, &wanted, bytes, out, &found));
    }
    if (!found) {
        *out = (struct yk_cost_time_estimate){otherwise_s, YK_COST_ORIGIN_DATASHEET,
                                              YK_ROOFLINE_P90_ERROR_PERCENT / 100.0};
    }
    return YK_OK;
}

yk_status yk_communication_send_time(const struct yk_cost_sources *sources, int32_t from,
                                     int32_t to, double bytes, struct yk_cost_time_estimate *out)
{
    if (from == to) {
        *out = (struct yk_cost_time_estimate){0, YK_COST_ORIGIN_DATASHEET, 0};
        return YK_OK;
    }
    const struct yk_link *link = yk_cluster_link_between(sources->cluster, from, to);
    const struct yk_profile_link_key wanted = {.collective = "send", .ranks = 2};
    return find_message(sources, from, to, wanted, bytes,
                        link->latency_s + bytes / link->bytes_per_s, out);
}

yk_status yk_communication_effective_link(const struct yk_cost_sources *sources, int32_t a,
                                          int32_t b, double bytes, struct yk_link *out)
{
    struct yk_cost_time_estimate once;
    struct yk_cost_time_estimate twice;
    *out = *yk_cluster_link_between(sources->cluster, a, b);
    YK_TRY(yk_communication_send_time(sources, a, b, bytes, &once));
    YK_TRY(yk_communication_send_time(sources, a, b, 2 * bytes, &twice));
    const double more_s = twice.seconds - once.seconds;
    if (once.origin == YK_COST_ORIGIN_DATASHEET || !(once.seconds > 0)) {
        return YK_OK;
    }
    /* If the curve falls or bends down, the line goes through the origin. */
    if (more_s > 0 && more_s <= once.seconds) {
        *out = (struct yk_link){.latency_s = once.seconds - more_s, .bytes_per_s = bytes / more_s};
    } else {
        *out = (struct yk_link){.latency_s = 0, .bytes_per_s = bytes / once.seconds};
    }
    return YK_OK;
}

int32_t yk_communication_slowest_ring_link(const struct yk_cluster *cluster,
                                           const struct yk_ring_devices *ranks, double part_bytes,
                                           double *out_s)
{
    int32_t slowest = 0;
    double slowest_s = 0;
    for (int32_t i = 0; i < ranks->count; i++) {
        const struct yk_link *link = yk_cluster_link_between(
            cluster, ranks->devices[i], ranks->devices[(i + 1) % ranks->count]);
        const double seconds = link->latency_s + part_bytes / link->bytes_per_s;
        if (seconds > slowest_s) {
            slowest_s = seconds;
            slowest = i;
        }
    }
    *out_s = slowest_s;
    return slowest;
}

yk_status yk_communication_collective_time(const struct yk_cost_sources *sources,
                                           enum yk_collective collective,
                                           const struct yk_ring_devices *ranks, double bytes,
                                           double largest_part_bytes,
                                           struct yk_cost_time_estimate *out)
{
    static const char *const names[] = {"all_gather", "reduce_scatter", "all_reduce"};
    const int32_t n = ranks->count;
    if (n < 2) {
        *out = (struct yk_cost_time_estimate){0, YK_COST_ORIGIN_DATASHEET, 0};
        return YK_OK;
    }
    const double part_bytes = fmax(bytes / n, largest_part_bytes);
    double round_s = 0;
    const int32_t slowest =
        yk_communication_slowest_ring_link(sources->cluster, ranks, part_bytes, &round_s);
    const int32_t rounds = (n - 1) * (collective == YK_COLLECTIVE_ALL_REDUCE ? 2 : 1);
    const struct yk_profile_link_key wanted = {.collective = names[collective], .ranks = n};
    return find_message(sources, ranks->devices[slowest], ranks->devices[(slowest + 1) % n], wanted,
                        part_bytes * n, rounds * round_s, out);
}

yk_status yk_communication_copy_to_device_time(const struct yk_cost_sources *sources,
                                               int32_t device, double bytes,
                                               struct yk_cost_time_estimate *out)
{
    char name[YK_PROFILE_KEY_SIZE];
    bool found = false;
    *out = (struct yk_cost_time_estimate){0, YK_COST_ORIGIN_DATASHEET, 0};
    if (!sources->profile || !(bytes > 0) ||
        !yk_profile_key_format_host_link(
            &sources->cluster->devices[device],
            sources->measurements ? &sources->measurements[device] : NULL, name)) {
        return YK_OK;
    }
    const struct yk_profile_link_key wanted = {name, YK_PROFILE_KEY_COPY_TO_DEVICE, 1};
    return find_in_profile(sources, &wanted, bytes, out, &found);
}

static yk_status find_fact(const struct yk_cost_sources *sources, const char *link,
                           const char *name, double *worst)
{
    const struct yk_profile_fact_key fact = {link, name};
    double value = NAN;
    YK_TRY(yk_profile_find_fact_value(sources->profile, &fact, &value));
    if (value >= 1 && isfinite(value)) {
        *worst = fmax(*worst, value); /* fmax() ignores NAN */
    }
    return YK_OK;
}

yk_status yk_communication_overlap_slowdown(const struct yk_cost_sources *sources,
                                            const struct yk_ring_devices *ranks,
                                            struct yk_communication_overlap_slowdown *out)
{
    struct yk_communication_overlap_slowdown slowdown = {NAN, NAN};
    char link[YK_PROFILE_KEY_SIZE];
    for (int32_t i = 0; sources->profile && ranks->count > 1 && i < ranks->count; i++) {
        if (yk_profile_key_format_link(sources->cluster, sources->measurements, ranks->devices[i],
                                       ranks->devices[(i + 1) % ranks->count], link)) {
            YK_TRY(find_fact(sources, link, YK_PROFILE_FACT_COMPUTE_SLOWDOWN, &slowdown.compute));
            YK_TRY(find_fact(sources, link, YK_PROFILE_FACT_MESSAGE_SLOWDOWN, &slowdown.message));
        }
    }
    *out = slowdown;
    return YK_OK;
}
