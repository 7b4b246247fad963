#include "train/op_timeline_log.h"

#include "program/program.h"

#include <math.h>
#include <stdlib.h>

struct span {
    double begin_s;
    double end_s;
};

/* One rank in the current round. */
struct rank_round {
    const struct yk_op_list *list;
    const double *begin_s; /* (ops) */
    const double *end_s;
    double *from_s; /* (ops) begin and end including the pauses that belong to an op */
    double *until_s;
    struct span *computing; /* (ops) of its compute lane, in order */
    struct span *transfers; /* (ops) messages */
    int32_t computing_count;
    int32_t transfer_count;
    /* (ops, rounds) */
    double *seconds;
    double *overlapped;
};

/* A message in the current round: from when its last rank arrives until it has ended on all. */
struct message {
    struct span span;
    double computing_s; /* time in which any of its ranks computes */
};

struct merge {
    const struct yk_program *program;
    const struct yk_rank_timelines *rank_rounds;
    struct yk_arena *arena;
    int32_t rounds; /* maximum number of rounds that all ranks recorded */
    struct rank_round *ranks;
    struct message *messages; /* (matches) */
    struct span *spans;       /* for one message: computation of all its ranks */
    int32_t span_count;
    int32_t *first_rank;    /* (matches + 1) first entry in message_ranks */
    int32_t *message_ranks; /* the ranks of each message */
};

static double overlap_s(struct span a, struct span b)
{
    return fmax(fmin(a.end_s, b.end_s) - fmax(a.begin_s, b.begin_s), 0);
}

/* The first span that ends after `from_s`; the spans are in order. */
static int32_t first_after(const struct span *spans, int32_t count, double from_s)
{
    int32_t low = 0;
    int32_t high = count;
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        if (spans[middle].end_s > from_s) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

static double covered_s(const struct span *spans, int32_t count, struct span within)
{
    double sum_s = 0;
    for (int32_t i = first_after(spans, count, within.begin_s);
         i < count && spans[i].begin_s < within.end_s; i++) {
        sum_s += overlap_s(spans[i], within);
    }
    return sum_s;
}

/* ---- one round ---- */

static bool find_round(const struct yk_rank_timelines *own, int64_t step, int32_t *out)
{
    for (int32_t k = 0; k < own->round_count; k++) {
        if (own->steps[k] == step) {
            *out = k;
            return true;
        }
    }
    return false;
}

static bool open_round(struct merge *merge, int64_t step)
{
    for (int32_t r = 0; r < merge->program->rank_count; r++) {
        const struct yk_rank_timelines *own = &merge->rank_rounds[r];
        struct rank_round *rank = &merge->ranks[r];
        int32_t number = 0;
        if (!find_round(own, step, &number)) {
            return false;
        }
        rank->begin_s = own->begin_s + (int64_t)number * own->op_count;
        rank->end_s = own->end_s + (int64_t)number * own->op_count;
        yk_op_spans_compute(rank->list, rank->begin_s, rank->end_s, rank->from_s, rank->until_s);
        rank->computing_count = 0;
        for (int32_t i = 0; i < rank->list->op_count; i++) {
            if (rank->list->ops[i].lane == YK_LANE_COMPUTE && rank->until_s[i] > rank->from_s[i]) {
                rank->computing[rank->computing_count++] =
                    (struct span){rank->from_s[i], rank->until_s[i]};
            }
        }
    }
    return true;
}

/* Finds when each message was transferred, and each rank's part of that time. */
static void find_messages(struct merge *merge)
{
    for (int32_t m = 0; m < merge->program->match_count; m++) {
        merge->messages[m] = (struct message){{-INFINITY, -INFINITY}, 0};
    }
    for (int32_t r = 0; r < merge->program->rank_count; r++) {
        const struct rank_round *rank = &merge->ranks[r];
        for (int32_t i = 0; i < rank->list->op_count; i++) {
            if (rank->list->ops[i].match != YK_OP_NO_MATCH) {
                struct span *span = &merge->messages[rank->list->ops[i].match].span;
                span->begin_s = fmax(span->begin_s, rank->begin_s[i]);
                span->end_s = fmax(span->end_s, rank->end_s[i]);
            }
        }
    }
    for (int32_t r = 0; r < merge->program->rank_count; r++) {
        struct rank_round *rank = &merge->ranks[r];
        rank->transfer_count = 0;
        for (int32_t i = 0; i < rank->list->op_count; i++) {
            if (rank->list->ops[i].match != YK_OP_NO_MATCH) {
                const double met_s = merge->messages[rank->list->ops[i].match].span.begin_s;
                rank->transfers[rank->transfer_count++] =
                    (struct span){fmin(met_s, rank->end_s[i]), rank->end_s[i]};
            }
        }
    }
}

static int compare_spans(const void *a, const void *b)
{
    const struct span *left = a;
    const struct span *right = b;
    return left->begin_s < right->begin_s ? -1 : left->begin_s > right->begin_s;
}

/* The time in which any rank of a message computed during it: the union over its ranks. */
static void find_computing(struct merge *merge, int32_t match)
{
    struct message *message = &merge->messages[match];
    int32_t count = 0;
    for (int32_t e = merge->first_rank[match]; e < merge->first_rank[match + 1]; e++) {
        const struct rank_round *rank = &merge->ranks[merge->message_ranks[e]];
        for (int32_t i = first_after(rank->computing, rank->computing_count, message->span.begin_s);
             i < rank->computing_count && rank->computing[i].begin_s < message->span.end_s; i++) {
            merge->spans[count++] = rank->computing[i];
        }
    }
    qsort(merge->spans, (size_t)count, sizeof *merge->spans, compare_spans);
    double until_s = message->span.begin_s;
    for (int32_t i = 0; i < count; i++) {
        const struct span rest = {fmax(merge->spans[i].begin_s, until_s), merge->spans[i].end_s};
        message->computing_s += overlap_s(rest, message->span);
        until_s = fmax(until_s, rest.end_s);
    }
}

static void add_round(struct merge *merge, int32_t number)
{
    find_messages(merge);
    for (int32_t m = 0; m < merge->program->match_count; m++) {
        find_computing(merge, m);
    }
    for (int32_t r = 0; r < merge->program->rank_count; r++) {
        struct rank_round *rank = &merge->ranks[r];
        for (int32_t i = 0; i < rank->list->op_count; i++) {
            const struct yk_op *op = &rank->list->ops[i];
            const int64_t place = (int64_t)i * merge->rounds + number;
            const struct span own = {rank->from_s[i], rank->until_s[i]};
            double seconds = own.end_s - own.begin_s;
            double overlapped_s = 0;
            if (op->match != YK_OP_NO_MATCH) {
                const struct message *message = &merge->messages[op->match];
                seconds = message->span.end_s - message->span.begin_s;
                overlapped_s = message->computing_s;
            } else if (op->lane == YK_LANE_COMPUTE) {
                overlapped_s = covered_s(rank->transfers, rank->transfer_count, own);
            }
            rank->seconds[place] = fmax(seconds, 0);
            rank->overlapped[place] = seconds > 0 ? fmin(overlapped_s / seconds, 1) : 0;
        }
    }
}

/* ---- all rounds ---- */

static int compare(const void *a, const void *b)
{
    const double left = *(const double *)a;
    const double right = *(const double *)b;
    return left < right ? -1 : left > right;
}

double yk_op_durations_sort_and_find_median(double *numbers, int64_t count)
{
    qsort(numbers, (size_t)count, sizeof *numbers, compare);
    return (numbers[(count - 1) / 2] + numbers[count / 2]) / 2;
}

static yk_status summarise(const struct merge *merge, int32_t number, int32_t count,
                           struct yk_op_times_rank *out)
{
    const struct yk_program *program = merge->program;
    const struct rank_round *rank = &merge->ranks[number];
    out->device = program->cluster->devices[program->plan->ranks[number].device].name;
    out->share = yk_plan_largest_share_of_rank(program->plan, number);
    out->versions = "";
    out->op_count = rank->list->op_count;
    YK_TRY_NEW(merge->arena, out->ops, (int64_t)out->op_count + 1);
    for (int32_t i = 0; i < out->op_count; i++) {
        double *seconds = rank->seconds + (int64_t)i * merge->rounds;
        struct yk_op_times_op *op = &out->ops[i];
        op->seconds = yk_op_durations_sort_and_find_median(seconds, count);
        op->low_s = seconds[count / 4];
        op->high_s = seconds[count - 1 - count / 4];
        op->overlap = yk_op_durations_sort_and_find_median(
            rank->overlapped + (int64_t)i * merge->rounds, count);
        YK_TRY(yk_op_describe_in_arena(program, &rank->list->ops[i], merge->arena, &op->op));
    }
    return YK_OK;
}

static yk_status open_rank(struct merge *merge, int32_t number)
{
    struct rank_round *rank = &merge->ranks[number];
    rank->list = &merge->program->ranks[number];
    const int64_t ops = rank->list->op_count;
    if (merge->rank_rounds[number].op_count != ops) {
        return yk_fail(YK_ERROR_INPUT, "rank %d kept times of %d ops, its program has %d",
                       (int)number, (int)merge->rank_rounds[number].op_count, (int)ops);
    }
    YK_TRY_NEW(merge->arena, rank->from_s, ops + 1);
    YK_TRY_NEW(merge->arena, rank->until_s, ops + 1);
    YK_TRY_NEW(merge->arena, rank->computing, ops + 1);
    YK_TRY_NEW(merge->arena, rank->transfers, ops + 1);
    YK_TRY_NEW(merge->arena, rank->seconds, ops * merge->rounds + 1);
    YK_TRY_NEW(merge->arena, rank->overlapped, ops * merge->rounds + 1);
    merge->span_count += rank->list->op_count;
    return YK_OK;
}

/* Lists the ranks of each message. */
static yk_status find_message_ranks(struct merge *merge)
{
    const struct yk_program *program = merge->program;
    YK_TRY_NEW(merge->arena, merge->messages, program->match_count + 1);
    YK_TRY_NEW(merge->arena, merge->first_rank, program->match_count + 2);
    YK_TRY_NEW(merge->arena, merge->message_ranks, merge->span_count + 1);
    YK_TRY_NEW(merge->arena, merge->spans, merge->span_count + 1);
    int32_t *next = merge->first_rank + 1; /* moves on while ranks are filled in */
    for (int pass = 0; pass < 2; pass++) {
        for (int32_t r = 0; r < program->rank_count; r++) {
            for (int32_t i = 0; i < program->ranks[r].op_count; i++) {
                const int32_t match = program->ranks[r].ops[i].match;
                if (match != YK_OP_NO_MATCH && pass == 0) {
                    next[match + 1]++;
                } else if (match != YK_OP_NO_MATCH) {
                    merge->message_ranks[next[match]++] = r;
                }
            }
        }
        for (int32_t m = 0; pass == 0 && m < program->match_count; m++) {
            next[m + 1] += next[m];
        }
    }
    return YK_OK;
}

static yk_status merge_rounds(struct merge *merge, struct yk_arena *arena, struct yk_op_times *out)
{
    const struct yk_program *program = merge->program;
    int32_t count = 0;
    YK_TRY_NEW(merge->arena, merge->ranks, program->rank_count);
    merge->rounds = merge->rank_rounds[0].round_count;
    for (int32_t r = 0; r < program->rank_count; r++) {
        YK_TRY(open_rank(merge, r));
    }
    YK_TRY(find_message_ranks(merge));
    for (int32_t k = 0; k < merge->rounds; k++) {
        if (open_round(merge, merge->rank_rounds[0].steps[k])) {
            add_round(merge, count++);
        }
    }
    struct yk_op_times times = {.steps = count, .rank_count = count > 0 ? program->rank_count : 0};
    merge->arena = arena;
    YK_TRY_NEW(arena, times.ranks, times.rank_count + 1);
    for (int32_t r = 0; r < times.rank_count; r++) {
        YK_TRY(summarise(merge, r, count, &times.ranks[r]));
    }
    *out = times;
    return YK_OK;
}

yk_status yk_op_durations_compute_medians(const struct yk_program *program,
                                          const struct yk_rank_timelines *rank_rounds,
                                          struct yk_arena *arena, struct yk_op_times *out)
{
    struct merge merge = {.program = program, .rank_rounds = rank_rounds};
    YK_TRY(yk_arena_create(&merge.arena));
    struct yk_arena *scratch = merge.arena;
    const yk_status status = merge_rounds(&merge, arena, out);
    yk_arena_destroy(scratch);
    return status;
}
