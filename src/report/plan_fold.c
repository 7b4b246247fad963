#include "report/plan_fold.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Times that differ by less than this part of the step are the same: the sums of a simulation
 * round. */
static const double ROUNDING = 1e-9;

/* What makes folds: the events of every rank and lane, in order. */
struct folding {
    const struct yk_plan_result *result;
    struct yk_arena *arena;
    const struct yk_plan_lane *lanes; /* (ranks, lanes) */
    double span_s;
};

struct numbered {
    const struct yk_trace_event *event;
    int32_t number;
};

static int compare_doubles(double a, double b)
{
    return (a > b) - (a < b);
}

static int compare_events(const void *left, const void *right)
{
    const struct numbered *a = left;
    const struct numbered *b = right;
    if (a->event->rank != b->event->rank) {
        return a->event->rank < b->event->rank ? -1 : 1;
    }
    if (a->event->lane != b->event->lane) {
        return a->event->lane < b->event->lane ? -1 : 1;
    }
    const int by_start = compare_doubles(a->event->start_s, b->event->start_s);
    const int by_end = compare_doubles(a->event->end_s, b->event->end_s);
    return by_start ? by_start : by_end ? by_end : a->number < b->number ? -1 : 1;
}

/* Events of the first ranks, by rank, lane and time; `first` (ranks × lanes + 1) says where the
 * lanes begin. */
static yk_status sort_events(const struct yk_trace *trace, int32_t rank_count,
                             struct yk_arena *arena, int32_t *first,
                             const struct yk_trace_event **out)
{
    const int32_t count = yk_trace_event_count(trace);
    struct numbered *sorted = NULL;
    int32_t kept = 0;
    YK_TRY_NEW(arena, sorted, count > 0 ? count : 1);
    for (int32_t i = 0; i < count; i++) {
        const struct yk_trace_event *event = yk_trace_event_at(trace, i);
        if (event->rank < rank_count) {
            sorted[kept++] = (struct numbered){.event = event, .number = i};
            first[event->rank * YK_LANE_COUNT + (int32_t)event->lane + 1]++;
        }
    }
    qsort(sorted, (size_t)kept, sizeof *sorted, compare_events);
    for (int32_t i = 0; i < kept; i++) {
        out[i] = sorted[i].event;
    }
    for (int32_t i = 0; i < rank_count * YK_LANE_COUNT; i++) {
        first[i + 1] += first[i];
    }
    return YK_OK;
}

yk_status yk_plan_lanes_make(const struct yk_trace *trace, int32_t rank_count,
                             struct yk_arena *arena, const struct yk_plan_lane **out,
                             double *out_end_s)
{
    const int32_t count = yk_trace_event_count(trace);
    const int32_t lane_count = rank_count * YK_LANE_COUNT;
    const struct yk_trace_event **events = NULL;
    struct yk_plan_lane *lanes = NULL;
    int32_t *first = NULL;
    double end_s = 0;
    YK_TRY_NEW(arena, first, (int64_t)lane_count + 1);
    YK_TRY_NEW(arena, lanes, lane_count);
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers */
    YK_TRY_NEW(arena, events, count > 0 ? count : 1);
    YK_TRY(sort_events(trace, rank_count, arena, first, events));
    for (int32_t i = 0; i < lane_count; i++) {
        lanes[i] = (struct yk_plan_lane){
            .name = yk_trace_lane_name((enum yk_lane)(i % YK_LANE_COUNT)),
            .events = events + first[i],
            .count = first[i + 1] - first[i],
        };
    }
    for (int32_t i = 0; i < first[lane_count]; i++) {
        end_s = fmax(end_s, events[i]->end_s);
    }
    *out = lanes;
    *out_end_s = end_s;
    return YK_OK;
}

static struct yk_plan_lane lane_of(const struct folding *folding, int32_t rank, int32_t lane)
{
    return folding->lanes[rank * YK_LANE_COUNT + lane];
}

static bool same_number(double a, double b, double most)
{
    return fabs(a - b) <= ROUNDING * most || a == b || (isnan(a) && isnan(b));
}

static bool same_events(const struct folding *folding, int32_t a, int32_t b)
{
    for (int32_t l = 0; l < YK_LANE_COUNT; l++) {
        const struct yk_plan_lane left = lane_of(folding, a, l);
        const struct yk_plan_lane right = lane_of(folding, b, l);
        if (left.count != right.count) {
            return false;
        }
        for (int32_t i = 0; i < left.count; i++) {
            const struct yk_trace_event *one = left.events[i];
            const struct yk_trace_event *other = right.events[i];
            if (!same_number(one->start_s, other->start_s, folding->span_s) ||
                !same_number(one->end_s, other->end_s, folding->span_s) ||
                one->bytes != other->bytes || strcmp(one->op, other->op) != 0) {
                return false;
            }
        }
    }
    return true;
}

static bool same_bytes(const double *a, const double *b)
{
    for (int k = 0; k < YK_MEMORY_KIND_COUNT; k++) {
        if (!same_number(a[k], b[k], fmax(a[k], b[k]))) {
            return false;
        }
    }
    return true;
}

static bool same_figures(const struct folding *folding, int32_t a, int32_t b)
{
    const struct yk_plan_result_rank *one = &folding->result->ranks[a];
    const struct yk_plan_result_rank *other = &folding->result->ranks[b];
    const double span_s = folding->span_s;
    if (!same_number(one->compute_s, other->compute_s, span_s) ||
        !same_number(one->exposed_s, other->exposed_s, span_s) ||
        !same_number(one->idle_s, other->idle_s, span_s) ||
        !same_number(one->peak_bytes, other->peak_bytes, one->peak_bytes) ||
        !same_bytes(one->peak_by_kind, other->peak_by_kind) ||
        one->moment_count != other->moment_count) {
        return false;
    }
    for (int32_t i = 0; i < one->moment_count; i++) {
        if (!same_number(one->moments[i].at_s, other->moments[i].at_s, span_s) ||
            !same_bytes(one->moments[i].bytes, other->moments[i].bytes)) {
            return false;
        }
    }
    return true;
}

const struct yk_plan_member *yk_plan_member_of(const struct yk_plan *plan, int32_t group,
                                               int32_t rank)
{
    for (int32_t m = 0; m < plan->groups[group].member_count; m++) {
        if (plan->groups[group].members[m].rank == rank) {
            return &plan->groups[group].members[m];
        }
    }
    return NULL;
}

static bool same_membership(const struct yk_plan *plan, int32_t a, int32_t b)
{
    for (int32_t g = 0; g < plan->group_count; g++) {
        const struct yk_plan_member *one = yk_plan_member_of(plan, g, a);
        const struct yk_plan_member *other = yk_plan_member_of(plan, g, b);
        if (!one != !other ||
            (one && (one->share != other->share || !same_number(one->part, other->part, 1)))) {
            return false;
        }
    }
    return true;
}

static bool same_device(const struct yk_plan_result *result, int32_t a, int32_t b)
{
    const struct yk_device *one = yk_plan_device_of(result, a);
    const struct yk_device *other = yk_plan_device_of(result, b);
    return strcmp(one->type ? one->type : "", other->type ? other->type : "") == 0 &&
           one->memory_bytes == other->memory_bytes && one->part == other->part &&
           result->plan->ranks[a].limit_bytes == result->plan->ranks[b].limit_bytes;
}

static bool same_rank(const struct folding *folding, int32_t a, int32_t b)
{
    return same_device(folding->result, a, b) && same_figures(folding, a, b) &&
           same_events(folding, a, b) && same_membership(folding->result->plan, a, b);
}

static yk_status keep_text(struct yk_text *text, struct yk_arena *arena, const char **out)
{
    yk_status status = yk_text_status(text);
    if (status == YK_OK) {
        *out = yk_arena_copy_text(arena, yk_text_chars(text), text->length);
        status = *out ? YK_OK : yk_fail_out_of_memory();
    }
    yk_text_free(text);
    return status;
}

yk_status yk_plan_device_name(const struct yk_device *device, struct yk_arena *arena,
                              const char **out)
{
    struct yk_text text = {0};
    yk_text_add(&text, device->name);
    if (device->type && !strstr(device->name, device->type)) {
        yk_text_addf(&text, " %s", device->type);
    }
    return keep_text(&text, arena, out);
}

/* "0 to 31, 40": the ranks whose fold is `fold`, as runs. */
static void add_numbers(const int32_t *fold_of, int32_t ranks, int32_t fold, struct yk_text *out)
{
    for (int32_t r = 0; r < ranks; r++) {
        if (fold_of[r] != fold) {
            continue;
        }
        const int32_t first = r;
        while (r + 1 < ranks && fold_of[r + 1] == fold) {
            r++;
        }
        yk_text_add(out, out->length > 0 ? ", " : "");
        yk_text_addf(out, first == r ? "%d" : "%d to %d", first, r);
    }
}

static yk_status name_fold(const struct folding *folding, const int32_t *fold_of, int32_t number,
                           struct yk_plan_fold *fold)
{
    const struct yk_device *device = yk_plan_device_of(folding->result, fold->rank);
    struct yk_text numbers = {0};
    struct yk_text name = {0};
    add_numbers(fold_of, folding->result->plan->rank_count, number, &numbers);
    YK_TRY(keep_text(&numbers, folding->arena, &fold->numbers));
    if (fold->count == 1) {
        return yk_plan_device_name(device, folding->arena, &fold->name);
    }
    yk_text_addf(&name, "%s \xc3\x97%d", device->type ? device->type : device->name, fold->count);
    return keep_text(&name, folding->arena, &fold->name);
}

/* Two folds of one name are told apart by their ranks. */
static yk_status tell_apart(struct yk_plan_fold *folds, int32_t count, struct yk_arena *arena)
{
    for (int32_t f = 0; f < count; f++) {
        const char *name = folds[f].name;
        bool twice = false;
        for (int32_t other = f + 1; other < count; other++) {
            if (strcmp(folds[other].name, name) == 0) {
                struct yk_text text = {0};
                yk_text_addf(&text, "%s (%s)", name, folds[other].numbers);
                YK_TRY(keep_text(&text, arena, &folds[other].name));
                twice = true;
            }
        }
        if (twice) {
            struct yk_text text = {0};
            yk_text_addf(&text, "%s (%s)", name, folds[f].numbers);
            YK_TRY(keep_text(&text, arena, &folds[f].name));
        }
    }
    return YK_OK;
}

yk_status yk_plan_folds_make(const struct yk_plan_result *result, struct yk_arena *arena,
                             struct yk_plan_folds *out)
{
    const int32_t ranks = result->plan->rank_count;
    struct folding folding = {.result = result, .arena = arena};
    struct yk_plan_fold *folds = NULL;
    int32_t *fold_of = NULL;
    int32_t count = 0;
    YK_TRY(yk_plan_lanes_make(result->trace, ranks, arena, &folding.lanes, &folding.span_s));
    folding.span_s =
        isfinite(result->step_s) ? fmax(result->step_s, folding.span_s) : folding.span_s;
    YK_TRY_NEW(arena, folds, ranks);
    YK_TRY_NEW(arena, fold_of, ranks);
    for (int32_t r = 0; r < ranks; r++) {
        int32_t f = 0;
        while (f < count && !same_rank(&folding, folds[f].rank, r)) {
            f++;
        }
        if (f == count) {
            folds[count++].rank = r;
            for (int32_t l = 0; l < YK_LANE_COUNT; l++) {
                folds[f].lanes[l] = lane_of(&folding, r, l);
            }
        }
        folds[f].count++;
        fold_of[r] = f;
    }
    for (int32_t f = 0; f < count; f++) {
        YK_TRY(name_fold(&folding, fold_of, f, &folds[f]));
    }
    YK_TRY(tell_apart(folds, count, arena));
    *out = (struct yk_plan_folds){
        .result = result,
        .folds = folds,
        .count = count,
        .span_s = folding.span_s,
    };
    return YK_OK;
}
