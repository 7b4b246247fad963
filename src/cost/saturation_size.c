#include "cost/saturation_size.h"

#include "cost/profile_key.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_SIZES = 64,
    MIN_SIZES = 2,       /* that make a line */
    MIN_FOR_PLATEAU = 4, /* sizes that the slope is fitted to, if there are as many */
    NEIGHBOURS = 2,      /* on each side, that a size is compared with */
    STEPS_AN_OCTAVE = 8, /* of the coarse search */
    HALVINGS = 30,       /* of the bisection after it */
};

/* The slope is fitted to sizes from this fraction of the largest on. */
static const double plateau_part = 1.0 / 64;
/* A time this many times its neighbours' is an outlier caused by other load. */
static const double outlier_ratio = 3;
/* Distances from the line up to three times the spread are noise, clamped to these limits. */
static const double min_noise = 0.08;
static const double max_noise = 0.3;

struct size {
    double bytes;
    double seconds;
    double spread;
    double bend; /* log of measured time / time on the line */
};

struct curve {
    struct size sizes[MAX_SIZES];
    int32_t count;
    double latency_s;  /* α */
    double s_per_byte; /* β */
};

struct weighed {
    double value;
    double weight;
};

static int by_value(const void *a, const void *b)
{
    const double left = ((const struct weighed *)a)->value;
    const double right = ((const struct weighed *)b)->value;
    return (left > right) - (left < right);
}

/* The value with half of the weight below it; the mean of two values if it lies between them. */
static double weighted_median(struct weighed *items, int32_t count)
{
    double whole = 0;
    double below = 0;
    for (int32_t i = 0; i < count; i++) {
        whole += items[i].weight;
    }
    qsort(items, (size_t)count, sizeof *items, by_value);
    for (int32_t i = 0; i < count; i++) {
        below += items[i].weight;
        if (below > 0.5 * whole * (1 + 1e-12)) {
            return items[i].value;
        }
        if (below >= 0.5 * whole * (1 - 1e-12) && i + 1 < count) {
            return 0.5 * (items[i].value + items[i + 1].value);
        }
    }
    return count > 0 ? items[count - 1].value : NAN;
}

/*
 * The weighted median of the slopes of all pairs of the largest sizes. The errors of times T and U
 * are proportional to them, so the error of the slope between sizes s and t is proportional to
 * √(T² + U²)/(t - s). Its inverse is the weight of the pair.
 */
static double find_slope(const struct curve *curve)
{
    struct weighed slopes[MAX_SIZES * (MAX_SIZES - 1) / 2];
    int32_t count = 0;
    int32_t first = curve->count - 1;
    const double largest = curve->sizes[first].bytes;
    while (first > 0 && (curve->count - first < MIN_FOR_PLATEAU ||
                         curve->sizes[first - 1].bytes >= plateau_part * largest)) {
        first--;
    }
    for (int32_t i = first; i < curve->count; i++) {
        for (int32_t j = i + 1; j < curve->count; j++) {
            const struct size *low = &curve->sizes[i];
            const struct size *high = &curve->sizes[j];
            const double bytes = high->bytes - low->bytes;
            slopes[count++] = (struct weighed){(high->seconds - low->seconds) / bytes,
                                               bytes / hypot(low->seconds, high->seconds)};
        }
    }
    return weighted_median(slopes, count);
}

/* The intercept; sizes whose time is mostly latency have the largest weight. */
static double find_latency(const struct curve *curve)
{
    struct weighed rests[MAX_SIZES];
    for (int32_t i = 0; i < curve->count; i++) {
        const struct size *size = &curve->sizes[i];
        rests[i] =
            (struct weighed){size->seconds - curve->s_per_byte * size->bytes, 1 / size->seconds};
    }
    return fmax(weighted_median(rests, curve->count), 0);
}

static double line_at(const struct curve *curve, double bytes)
{
    return curve->latency_s + curve->s_per_byte * bytes;
}

/* Removes sizes whose distance from the line differs from their neighbours', unless too few would
 * remain. */
static void drop_outliers(struct curve *curve)
{
    struct size kept[MAX_SIZES];
    int32_t count = 0;
    if (curve->count < MIN_FOR_PLATEAU) {
        return;
    }
    for (int32_t i = 0; i < curve->count; i++) {
        struct weighed around[2 * NEIGHBOURS + 1];
        int32_t around_count = 0;
        for (int32_t j = i - NEIGHBOURS; j <= i + NEIGHBOURS; j++) {
            if (j >= 0 && j < curve->count) {
                around[around_count++] = (struct weighed){curve->sizes[j].bend, 1};
            }
        }
        const double off = curve->sizes[i].bend - weighted_median(around, around_count);
        if (fabs(off) <= log(outlier_ratio)) {
            kept[count++] = curve->sizes[i];
        }
    }
    if (count >= MIN_SIZES) {
        memcpy(curve->sizes, kept, (size_t)count * sizeof *kept);
        curve->count = count;
    }
}

static void fit_line(struct curve *curve)
{
    curve->s_per_byte = fmax(find_slope(curve), 0);
    curve->latency_s = find_latency(curve);
    for (int32_t i = 0; i < curve->count; i++) {
        struct size *size = &curve->sizes[i];
        size->bend = log(size->seconds / line_at(curve, size->bytes));
    }
}

/* Removes bends up to the noise, and fades them in between once and twice the noise. */
static void remove_noise(struct curve *curve)
{
    for (int32_t i = 0; i < curve->count; i++) {
        struct size *size = &curve->sizes[i];
        const double noise = fmax(min_noise, fmin(3 * size->spread, max_noise));
        size->bend *= fmax(0, fmin(fabs(size->bend) / noise - 1, 1));
    }
}

/* Bandwidth as a fraction of the plateau. Bends are interpolated linearly in the logarithm of the
 * size; beyond the last size its efficiency is constant. */
static double efficiency_at(const struct curve *curve, double bytes)
{
    const struct size *last = &curve->sizes[curve->count - 1];
    const struct size *above = curve->sizes;
    if (bytes >= last->bytes) {
        return last->bytes * curve->s_per_byte / (line_at(curve, last->bytes) * exp(last->bend));
    }
    while (above->bytes < bytes) {
        above++;
    }
    const struct size *below = above > curve->sizes ? above - 1 : above;
    const double along =
        above > below ? log(bytes / below->bytes) / log(above->bytes / below->bytes) : 0;
    const double bend = below->bend + along * (above->bend - below->bend);
    return bytes * curve->s_per_byte / (line_at(curve, bytes) * exp(bend));
}

static bool is_enough(const struct curve *curve, double bytes)
{
    /* A point exactly on the line must not fail by rounding. */
    const double min = YK_SATURATION_SIZE_BANDWIDTH_FRACTION * (1 - 1e-9);
    return efficiency_at(curve, bytes) >= min && efficiency_at(curve, 2 * bytes) >= min &&
           efficiency_at(curve, 4 * bytes) >= min;
}

/* The smallest saturating size within the measured range; NAN if there is none. */
static double search(const struct curve *curve)
{
    const double last = curve->sizes[curve->count - 1].bytes;
    const double step = exp2(1.0 / STEPS_AN_OCTAVE);
    double low = curve->sizes[0].bytes;
    double high = low;
    if (is_enough(curve, low)) {
        return low;
    }
    while (high < last) {
        low = high;
        high = fmin(high * step, last);
        if (!is_enough(curve, high)) {
            continue;
        }
        for (int32_t i = 0; i < HALVINGS; i++) {
            const double middle = sqrt(low * high);
            *(is_enough(curve, middle) ? &high : &low) = middle;
        }
        return high;
    }
    return NAN;
}

/* For a curve of at least two sizes. */
static struct yk_saturation_size find(struct curve *curve)
{
    fit_line(curve);
    drop_outliers(curve);
    fit_line(curve);
    const struct size *last = &curve->sizes[curve->count - 1];
    struct yk_saturation_size saturation = {
        .bytes = last->bytes,
        .latency_s = curve->latency_s,
        .plateau_bytes_per_s = last->bytes / last->seconds,
        .exceeds_measured_sizes = true,
    };
    if (curve->s_per_byte > 0) {
        remove_noise(curve);
        const double found = search(curve);
        const double on_line = YK_SATURATION_SIZE_BANDWIDTH_FRACTION /
                               (1 - YK_SATURATION_SIZE_BANDWIDTH_FRACTION) * curve->latency_s /
                               curve->s_per_byte;
        saturation.reached = !isnan(found);
        saturation.bytes = saturation.reached ? found : fmax(on_line, last->bytes);
        saturation.exceeds_measured_sizes = 4 * saturation.bytes > last->bytes;
        saturation.plateau_bytes_per_s = 1 / curve->s_per_byte;
    }
    return saturation;
}

/* Takes every k-th size from the largest down, so that they fit; skips invalid points. */
static void select_sizes(const struct yk_profile_curve *curve, struct curve *out)
{
    const int32_t every = (curve->count + MAX_SIZES - 1) / MAX_SIZES;
    out->count = 0;
    for (int32_t i = every > 0 ? (curve->count - 1) % every : 0; i < curve->count; i += every) {
        const struct yk_profile_point *point = &curve->points[i];
        if (point->size > 0 && point->seconds > 0 && isfinite(point->size) &&
            isfinite(point->seconds)) {
            out->sizes[out->count++] = (struct size){
                .bytes = point->size,
                .seconds = point->seconds,
                .spread = point->spread > 0 ? point->spread : 0,
            };
        }
    }
}

/*
 * Jackknife: the result's standard error as a factor, from leaving out one size at a time. The
 * standard error of the logarithm is √((n - 1)/n Σ(y - x)²).
 */
static double find_uncertainty(const struct curve *all, double bytes)
{
    double sum = 0;
    if (all->count <= 3) {
        return INFINITY;
    }
    for (int32_t left = 0; left < all->count; left++) {
        struct curve fewer = {.count = all->count - 1};
        memcpy(fewer.sizes, all->sizes, (size_t)left * sizeof *fewer.sizes);
        memcpy(fewer.sizes + left, all->sizes + left + 1,
               (size_t)(all->count - 1 - left) * sizeof *fewer.sizes);
        const double moved = log(find(&fewer).bytes / bytes);
        sum += moved * moved;
    }
    return exp(sqrt(sum * (all->count - 1) / all->count));
}

bool yk_saturation_size_from_curve(const struct yk_profile_curve *curve, double part,
                                   struct yk_saturation_size *out)
{
    struct curve all;
    select_sizes(curve, &all);
    struct curve worked = all;
    if (all.count < MIN_SIZES) {
        return false;
    }
    *out = find(&worked);
    out->uncertainty = worked.s_per_byte > 0 ? find_uncertainty(&all, out->bytes) : INFINITY;
    out->plateau_bytes_per_s *= part;
    return true;
}

double yk_saturation_size_bus_bandwidth_factor(const char *collective, int32_t ranks)
{
    const double others = ranks > 1 ? (double)(ranks - 1) / ranks : 1;
    if (strcmp(collective, "send") == 0) {
        return 1;
    }
    return strcmp(collective, "all_reduce") == 0 ? 2 * others : others;
}

yk_status yk_saturation_size_of_all_gather(const struct yk_cost_sources *sources, int32_t a,
                                           int32_t b, int32_t ranks, double *out_bytes)
{
    char name[YK_PROFILE_KEY_SIZE];
    *out_bytes = NAN;
    if (!sources->profile ||
        !yk_profile_key_format_link(sources->cluster, sources->measurements, a, b, name)) {
        return YK_OK;
    }
    const struct {
        struct yk_profile_link_key link;
        double scale;
    } known[] = {{{name, "all_gather", ranks}, 1}, {{name, "send", 2}, ranks}};
    for (size_t i = 0; i < sizeof known / sizeof known[0] && isnan(*out_bytes); i++) {
        struct yk_profile_curve points = {0};
        struct curve curve;
        YK_TRY(yk_profile_find_link_times(sources->profile, &known[i].link, &points));
        select_sizes(&points, &curve);
        if (curve.count >= MIN_SIZES) {
            *out_bytes = known[i].scale * find(&curve).bytes;
        }
    }
    return YK_OK;
}
