#include "cost/communication.h"

#include "cost/curve.h"
#include "cost/subject.h"
#include "profile/profile.h"

#include <math.h>

const char *yk_collective_name(enum yk_collective collective)
{
    static const char *const names[] = {"gather", "scatter", "reduce"};
    return names[collective];
}

/* What the profile says about `bytes` over that link; NAN when it says nothing. */
static yk_status find_in_profile(const struct yk_cost_book *book, int32_t a, int32_t b,
                                 const char *collective, int32_t ranks, double bytes, double *out_s)
{
    struct yk_profile_curve curve = {0};
    char name[YK_SUBJECT_SIZE];
    if (book->profile && yk_subject_link(book->cluster, a, b, name)) {
        const struct yk_profile_link wanted = {
            .link = name, .collective = collective, .ranks = ranks};
        YK_TRY(yk_profile_find_link(book->profile, &wanted, &curve));
    }
    *out_s = NAN;
    if (curve.count > 0) {
        /* Below the smallest message latency is all there is. */
        *out_s = yk_curve_at(&curve, fmax(bytes, curve.points[0].size));
    }
    return YK_OK;
}

static struct yk_cost_time either(double profile_s, double datasheet_s)
{
    return isnan(profile_s) ? (struct yk_cost_time){datasheet_s, YK_COST_DATASHEET}
                            : (struct yk_cost_time){profile_s, YK_COST_PROFILE};
}

yk_status yk_cost_send(const struct yk_cost_book *book, int32_t from, int32_t to, double bytes,
                       struct yk_cost_time *out)
{
    if (from == to) {
        *out = (struct yk_cost_time){0, YK_COST_DATASHEET};
        return YK_OK;
    }
    const struct yk_link *link = yk_cluster_link(book->cluster, from, to);
    double profile_s = NAN;
    YK_TRY(find_in_profile(book, from, to, "send", 2, bytes, &profile_s));
    *out = either(profile_s, link->latency_s + bytes / link->bytes_per_s);
    return YK_OK;
}

yk_status yk_cost_link(const struct yk_cost_book *book, int32_t a, int32_t b, double bytes,
                       struct yk_link *out)
{
    struct yk_cost_time once;
    struct yk_cost_time twice;
    *out = *yk_cluster_link(book->cluster, a, b);
    YK_TRY(yk_cost_send(book, a, b, bytes, &once));
    YK_TRY(yk_cost_send(book, a, b, 2 * bytes, &twice));
    const double more_s = twice.seconds - once.seconds;
    if (once.origin != YK_COST_PROFILE || !(once.seconds > 0)) {
        return YK_OK;
    }
    /* Where the curve falls or bends down, all of the time is taken for bandwidth. */
    if (more_s > 0 && more_s <= once.seconds) {
        *out = (struct yk_link){.latency_s = once.seconds - more_s, .bytes_per_s = bytes / more_s};
    } else {
        *out = (struct yk_link){.latency_s = 0, .bytes_per_s = bytes / once.seconds};
    }
    return YK_OK;
}

/* The rank whose link to the next one on the ring is slowest for a part of that size. */
static int32_t slowest_rank(const struct yk_cluster *cluster, const struct yk_members *ranks,
                            double part_bytes, double *out_s)
{
    int32_t slowest = 0;
    double slowest_s = 0;
    for (int32_t i = 0; i < ranks->count; i++) {
        const struct yk_link *link =
            yk_cluster_link(cluster, ranks->devices[i], ranks->devices[(i + 1) % ranks->count]);
        const double seconds = link->latency_s + part_bytes / link->bytes_per_s;
        if (seconds > slowest_s) {
            slowest_s = seconds;
            slowest = i;
        }
    }
    *out_s = slowest_s;
    return slowest;
}

yk_status yk_cost_collective(const struct yk_cost_book *book, enum yk_collective collective,
                             const struct yk_members *ranks, double bytes,
                             double largest_part_bytes, struct yk_cost_time *out)
{
    const int32_t n = ranks->count;
    if (n < 2) {
        *out = (struct yk_cost_time){0, YK_COST_DATASHEET};
        return YK_OK;
    }
    const double part_bytes = fmax(bytes / n, largest_part_bytes);
    double round_s = 0;
    const int32_t slowest = slowest_rank(book->cluster, ranks, part_bytes, &round_s);
    const int32_t rounds = (n - 1) * (collective == YK_COLLECTIVE_REDUCE ? 2 : 1);
    double profile_s = NAN;
    YK_TRY(find_in_profile(book, ranks->devices[slowest], ranks->devices[(slowest + 1) % n],
                           yk_collective_name(collective), n, part_bytes * n, &profile_s));
    *out = either(profile_s, rounds * round_s);
    return YK_OK;
}

static yk_status find_fact(const struct yk_cost_book *book, const char *link, const char *name,
                           double *worst)
{
    const struct yk_profile_fact fact = {link, name};
    double value = NAN;
    YK_TRY(yk_profile_find_fact(book->profile, &fact, &value));
    if (value >= 1 && isfinite(value)) {
        *worst = fmax(*worst, value); /* of NAN and a number, the number */
    }
    return YK_OK;
}

yk_status yk_cost_beside(const struct yk_cost_book *book, const struct yk_members *ranks,
                         struct yk_cost_beside *out)
{
    struct yk_cost_beside beside = {NAN, NAN};
    char link[YK_SUBJECT_SIZE];
    for (int32_t i = 0; book->profile && ranks->count > 1 && i < ranks->count; i++) {
        if (yk_subject_link(book->cluster, ranks->devices[i],
                            ranks->devices[(i + 1) % ranks->count], link)) {
            YK_TRY(find_fact(book, link, YK_PROFILE_COMPUTE_BESIDE, &beside.compute));
            YK_TRY(find_fact(book, link, YK_PROFILE_MESSAGE_BESIDE, &beside.message));
        }
    }
    *out = beside;
    return YK_OK;
}
