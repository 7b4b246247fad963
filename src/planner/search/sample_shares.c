/*
 * First, the time of the slowest rank. Each rank has a sorted row of times for 1, 2, … samples. The
 * minimum time for B samples in total is the B-th smallest of all times in all rows, or the time of
 * a rank with no samples, if that is longer. It is found by quickselect: the pivot is the weighted
 * median of the rows' middles, and every row is narrowed by bisection.
 *
 * Second, the sum of times. Within the minimum time, the ranks could compute E samples more than B.
 * Dynamic programming over ranks and remaining samples minimises the sum. Of shares with equal
 * times, only the largest is a choice. Since fewer than B samples are possible in less time, all
 * ranks together have fewer than B + 2n choices.
 */
#include "planner/search/plan_evaluation.h"

#include "base/number.h"

#include <math.h>
#include <string.h>

/* Above this many steps, the sum is not minimised. */
static const double MAX_STEPS = 3e7;

/* Relative difference of sums that is only rounding. */
static const double EQUAL_SUMS = 1e-12;

/* The row of a rank: numbers of samples. */
struct row {
    int64_t max;
    int64_t low;   /* samples whose time is at most the answer */
    int64_t high;  /* larger numbers take longer than the answer */
    int64_t under; /* samples that take less than the pivot */
    int64_t until; /* samples that take at most the pivot */
    int64_t middle;
    double middle_s;
};

struct choice {
    int64_t samples;
    double time_s;
};

/* The choices of one rank, in ascending order. `sums_s[i]` is the minimum sum of this rank and all
 * after it, if they take at least `first_need` + i samples together. */
struct stage {
    struct choice *choices;
    int64_t choice_count;
    int64_t first_need;
    int64_t need_count;
    double *sums_s;
};

struct search {
    const struct yk_sample_shares_problem *problem;
    struct yk_arena *arena;
    int32_t n;
    int64_t samples; /* B, in total */
    struct row *rows;
    int32_t *order;       /* of the rows, by their middles' times */
    struct stage *stages; /* (n + 1) */
    int64_t *shares;
};

static yk_status time_of(const struct search *search, int32_t rank, int64_t samples, double *out_s)
{
    const struct yk_sample_shares_problem *problem = search->problem;
    YK_TRY(problem->time(problem->user, rank, samples, out_s));
    if (!isfinite(*out_s)) {
        return yk_fail(YK_ERROR_NUMBERS, "the time of rank %d for %lld samples is not a number",
                       rank, (long long)samples);
    }
    return YK_OK;
}

/* Narrows `low` < x ≤ `high` to the last x whose time is less than `limit_s` (or, with `equal`, no
 * more than it); `low` where none is. */
static yk_status bisect(const struct search *search, int32_t rank, double limit_s, bool equal,
                        int64_t low, int64_t high, int64_t *out)
{
    while (low < high) {
        const int64_t middle = low + (high - low + 1) / 2;
        double time_s = 0;
        YK_TRY(time_of(search, rank, middle, &time_s));
        if (time_s < limit_s || (equal && time_s == limit_s)) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    *out = low;
    return YK_OK;
}

/* Counts what a rank can take under and within `pivot_s`. What is known of its middle is used, so
 * that the row whose middle is the pivot gets shorter even if its times fall somewhere. */
static yk_status count_row(const struct search *search, int32_t rank, double pivot_s)
{
    struct row *row = &search->rows[rank];
    const bool empty = row->low == row->high;
    const int64_t from = !empty && row->middle_s < pivot_s ? row->middle : row->low;
    const int64_t to = !empty && row->middle_s >= pivot_s ? row->middle - 1 : row->high;
    YK_TRY(bisect(search, rank, pivot_s, false, from, to, &row->under));
    int64_t within = row->under;
    if (!empty && row->middle_s == pivot_s) {
        within = row->middle;
    } else if (row->under < row->high && row->under + 1 != row->middle) {
        double next_s = 0;
        YK_TRY(time_of(search, rank, row->under + 1, &next_s));
        if (next_s > pivot_s) {
            row->until = row->under;
            return YK_OK;
        }
    }
    const int64_t last = !empty && row->middle_s > pivot_s ? row->middle - 1 : row->high;
    return bisect(search, rank, pivot_s, true, within, last, &row->until);
}

static yk_status count_rows(const struct search *search, double pivot_s, int64_t *under,
                            int64_t *until)
{
    *under = 0;
    *until = 0;
    for (int32_t i = 0; i < search->n; i++) {
        YK_TRY(count_row(search, i, pivot_s));
        *under += search->rows[i].under;
        *until += search->rows[i].until;
    }
    return YK_OK;
}

/* The weighted median of the middles of all rows that are left: of what is left, a quarter takes at
 * least as long, and a quarter at most. */
static yk_status choose_pivot(const struct search *search, double *out_s)
{
    int32_t count = 0;
    int64_t left = 0;
    for (int32_t i = 0; i < search->n; i++) {
        struct row *row = &search->rows[i];
        if (row->low == row->high) {
            continue;
        }
        row->middle = row->low + (row->high - row->low + 1) / 2;
        YK_TRY(time_of(search, i, row->middle, &row->middle_s));
        left += row->high - row->low;
        int32_t at = count++;
        while (at > 0 && search->rows[search->order[at - 1]].middle_s > row->middle_s) {
            search->order[at] = search->order[at - 1];
            at--;
        }
        search->order[at] = i;
    }
    int64_t sum = 0;
    for (int32_t k = 0; k < count && 2 * sum < left; k++) {
        const struct row *row = &search->rows[search->order[k]];
        sum += row->high - row->low;
        *out_s = row->middle_s;
    }
    return YK_OK;
}

/* The B-th smallest time; the rows say then what takes less, and no longer. Rows are never all
 * empty: their lows add up to less than B, their highs to no less. */
static yk_status select_time(const struct search *search, double *out_s)
{
    for (;;) {
        double pivot_s = 0;
        int64_t under = 0;
        int64_t until = 0;
        YK_TRY(choose_pivot(search, &pivot_s));
        YK_TRY(count_rows(search, pivot_s, &under, &until));
        if (under < search->samples && until >= search->samples) {
            *out_s = pivot_s;
            return YK_OK;
        }
        for (int32_t i = 0; i < search->n; i++) {
            struct row *row = &search->rows[i];
            if (under >= search->samples) {
                row->high = row->under;
            } else {
                row->low = row->until;
            }
        }
    }
}

/* How many samples more than there are can be taken within the rows' times. */
static int64_t count_excess(const struct search *search)
{
    int64_t excess = -search->samples;
    for (int32_t i = 0; i < search->n; i++) {
        excess += search->rows[i].until;
    }
    return excess;
}

static double count_steps(const struct search *search)
{
    const int64_t excess = count_excess(search);
    double choices = 0;
    for (int32_t i = 0; i < search->n; i++) {
        choices += (double)yk_number_min(search->rows[i].under, excess) + 2;
    }
    return choices * (double)(yk_number_min(excess, search->samples) + 1);
}

/* A rank that takes none may be the slowest all the same: then the others may take as long. */
static yk_status widen(struct search *search, double slowest_s)
{
    double longest_s = 0;
    for (int32_t i = 0; i < search->n; i++) {
        double none_s = 0;
        YK_TRY(time_of(search, i, 0, &none_s));
        longest_s = fmax(longest_s, none_s);
    }
    if (longest_s <= slowest_s) {
        return YK_OK;
    }
    struct row *before = NULL;
    YK_TRY_NEW(search->arena, before, search->n);
    memcpy(before, search->rows, (size_t)search->n * sizeof *before);
    for (int32_t i = 0; i < search->n; i++) {
        struct row *row = &search->rows[i];
        YK_TRY(bisect(search, i, longest_s, true, row->until, row->max, &row->until));
        row->under = row->until;
    }
    if (count_steps(search) > MAX_STEPS) {
        memcpy(search->rows, before, (size_t)search->n * sizeof *before);
    }
    return YK_OK;
}

/* Of samples with equal times, the most; none so few that the others could not take the rest.
 * Without `all`, only as many as there can be: lower ranks take more then. */
static yk_status list_choices(const struct search *search, int32_t rank, int64_t excess, bool all)
{
    const struct row *row = &search->rows[rank];
    struct stage *stage = &search->stages[rank];
    const int64_t min = row->until > excess ? row->until - excess : 0;
    const int64_t room = all && min <= row->under ? row->under - min + 2 : 1;
    YK_TRY_NEW(search->arena, stage->choices, room);
    double longest_s = 0;
    for (int64_t samples = min; all && samples <= row->under && samples < row->until; samples++) {
        double time_s = 0;
        YK_TRY(time_of(search, rank, samples, &time_s));
        longest_s = fmax(longest_s, time_s);
        const int64_t last = stage->choice_count - 1;
        const bool equal = last >= 0 && stage->choices[last].time_s == longest_s;
        stage->choice_count = equal ? last + 1 : last + 2;
        stage->choices[stage->choice_count - 1] = (struct choice){samples, longest_s};
    }
    struct choice max = {.samples = row->until};
    YK_TRY(time_of(search, rank, row->until, &max.time_s));
    max.time_s = fmax(max.time_s, longest_s);
    stage->choices[stage->choice_count++] = max;
    return YK_OK;
}

/* The least sum of `rank` taking a choice and all after it the rest of `need`. */
static double sum_with(const struct search *search, int32_t rank, const struct choice *choice,
                       int64_t need)
{
    const struct stage *after = &search->stages[rank + 1];
    const int64_t rest = need > choice->samples ? need - choice->samples : 0;
    const int64_t number = rest > after->first_need ? rest - after->first_need : 0;
    return number < after->need_count ? choice->time_s + after->sums_s[number] : INFINITY;
}

/* From the last rank to the first. The ranks from `rank` on can take `max`, and at most E less
 * than that is asked of them. */
static yk_status sum_up(const struct search *search)
{
    const int64_t excess = count_excess(search);
    const bool all = count_steps(search) <= MAX_STEPS;
    struct stage *end = &search->stages[search->n];
    YK_TRY_NEW(search->arena, end->sums_s, 1);
    end->need_count = 1;
    int64_t max = 0;
    for (int32_t i = search->n - 1; i >= 0; i--) {
        struct stage *stage = &search->stages[i];
        max += search->rows[i].until;
        stage->first_need = max > excess ? max - excess : 0;
        stage->need_count = yk_number_min(max, search->samples) - stage->first_need + 1;
        YK_TRY(list_choices(search, i, excess, all));
        YK_TRY_NEW(search->arena, stage->sums_s, stage->need_count);
        for (int64_t k = 0; k < stage->need_count; k++) {
            double min_s = INFINITY;
            for (int64_t c = 0; c < stage->choice_count; c++) {
                min_s = fmin(min_s, sum_with(search, i, &stage->choices[c], stage->first_need + k));
            }
            stage->sums_s[k] = min_s;
        }
    }
    return YK_OK;
}

/* The most for each rank, from the first on, that leaves the least sum within reach. */
static void hand_out(const struct search *search)
{
    int64_t left = search->samples;
    int64_t need = search->samples;
    for (int32_t i = 0; i < search->n; i++) {
        const struct stage *stage = &search->stages[i];
        const int64_t number = need > stage->first_need ? need - stage->first_need : 0;
        const double enough_s = stage->sums_s[number] * (1 + EQUAL_SUMS);
        int64_t c = stage->choice_count - 1;
        while (c > 0 && sum_with(search, i, &stage->choices[c], need) > enough_s) {
            c--;
        }
        const int64_t samples = stage->choices[c].samples;
        search->shares[i] = yk_number_min(samples, left);
        left -= search->shares[i];
        need = need > samples ? need - samples : 0;
    }
}

static yk_status begin(struct search *search)
{
    const struct yk_sample_shares_problem *problem = search->problem;
    int64_t sum = 0;
    YK_TRY_NEW(search->arena, search->rows, search->n);
    YK_TRY_NEW(search->arena, search->order, search->n);
    YK_TRY_NEW(search->arena, search->stages, search->n + 1);
    YK_TRY_NEW(search->arena, search->shares, search->n);
    for (int32_t i = 0; i < search->n; i++) {
        const int64_t max = problem->max[i] > 0 ? problem->max[i] : 0;
        search->rows[i].max = yk_number_min(max, search->samples);
        search->rows[i].high = search->rows[i].max;
        sum += search->rows[i].high;
    }
    if (sum < search->samples) {
        return yk_fail(YK_ERROR_NO_FIT,
                       "the ranks have room for %lld samples of %lld; use a smaller batch, more "
                       "micro-batches or recomputation",
                       (long long)sum, (long long)problem->samples);
    }
    return YK_OK;
}

static yk_status find(struct search *search, struct yk_arena *arena, int64_t *out_shares,
                      double *out_s)
{
    double slowest_s = 0;
    search->arena = arena;
    YK_TRY(begin(search));
    if (search->samples > 0) {
        YK_TRY(select_time(search, &slowest_s));
        YK_TRY(widen(search, slowest_s));
        YK_TRY(sum_up(search));
        hand_out(search);
    }
    slowest_s = 0;
    for (int32_t i = 0; i < search->n; i++) {
        double time_s = 0;
        YK_TRY(time_of(search, i, search->shares[i], &time_s));
        slowest_s = fmax(slowest_s, time_s);
    }
    memcpy(out_shares, search->shares, (size_t)search->n * sizeof *out_shares);
    *out_s = slowest_s;
    return YK_OK;
}

yk_status yk_sample_shares_find(const struct yk_sample_shares_problem *problem, int64_t *out_shares,
                                double *out_s)
{
    struct search search = {
        .problem = problem,
        .n = problem->rank_count,
        .samples = problem->samples,
    };
    YK_TRY_WITH_TEMPORARY_ARENA(arena, find(&search, arena, out_shares, out_s));
    return YK_OK;
}
