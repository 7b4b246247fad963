#include "train/round_durations.h"

#include "program/program.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct span {
    double begin_s;
    double end_s;
};

/* One rank in the round that is looked at. */
struct rank_round {
    const struct yk_program_rank *list;
    const double *begin_s; /* (ops) */
    const double *end_s;
    double *from_s; /* (ops) with the pauses that belong to them */
    double *until_s;
    struct span *computing; /* (ops) of its compute lane, one after the other */
    struct span *moving;    /* (ops) messages */
    int32_t computing_count;
    int32_t moving_count;
    /* (ops, rounds) */
    double *seconds;
    double *overlapped;
};

/* A message in the round: from when the last rank came until it is over everywhere. */
struct meeting {
    struct span span;
    double computing_s; /* any of its ranks */
};

struct uniting {
    const struct yk_program *program;
    const struct yk_rank_rounds *rank_rounds;
    struct yk_arena *arena;
    int32_t rounds; /* that all ranks have, at most */
    struct rank_round *ranks;
    struct meeting *meetings; /* (matches) */
    struct span *spans;       /* for one meeting: computing of all its ranks */
    int32_t span_count;
    int32_t *first_end; /* (matches + 1) in ends */
    int32_t *ends;      /* ranks, by match */
};

static double shared_s(struct span a, struct span b)
{
    return fmax(fmin(a.end_s, b.end_s) - fmax(a.begin_s, b.begin_s), 0);
}

/* The first of spans in order that ends after `from_s`. */
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
        sum_s += shared_s(spans[i], within);
    }
    return sum_s;
}

/* ---- one round ---- */

static bool find_round(const struct yk_rank_rounds *own, int64_t step, int32_t *out)
{
    for (int32_t k = 0; k < own->round_count; k++) {
        if (own->steps[k] == step) {
            *out = k;
            return true;
        }
    }
    return false;
}

static bool open_round(struct uniting *uniting, int64_t step)
{
    for (int32_t r = 0; r < uniting->program->rank_count; r++) {
        const struct yk_rank_rounds *own = &uniting->rank_rounds[r];
        struct rank_round *rank = &uniting->ranks[r];
        int32_t number = 0;
        if (!find_round(own, step, &number)) {
            return false;
        }
        rank->begin_s = own->begin_s + (int64_t)number * own->op_count;
        rank->end_s = own->end_s + (int64_t)number * own->op_count;
        yk_op_spans_find(rank->list, rank->begin_s, rank->end_s, rank->from_s, rank->until_s);
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

/* When each message's data moved, and on every rank as that saw it. */
static void meet(struct uniting *uniting)
{
    for (int32_t m = 0; m < uniting->program->match_count; m++) {
        uniting->meetings[m] = (struct meeting){{-INFINITY, -INFINITY}, 0};
    }
    for (int32_t r = 0; r < uniting->program->rank_count; r++) {
        const struct rank_round *rank = &uniting->ranks[r];
        for (int32_t i = 0; i < rank->list->op_count; i++) {
            if (rank->list->ops[i].match != YK_NO_MATCH) {
                struct span *span = &uniting->meetings[rank->list->ops[i].match].span;
                span->begin_s = fmax(span->begin_s, rank->begin_s[i]);
                span->end_s = fmax(span->end_s, rank->end_s[i]);
            }
        }
    }
    for (int32_t r = 0; r < uniting->program->rank_count; r++) {
        struct rank_round *rank = &uniting->ranks[r];
        rank->moving_count = 0;
        for (int32_t i = 0; i < rank->list->op_count; i++) {
            if (rank->list->ops[i].match != YK_NO_MATCH) {
                const double met_s = uniting->meetings[rank->list->ops[i].match].span.begin_s;
                rank->moving[rank->moving_count++] =
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

/* How long any rank of a message computed while it was under way: the union over ranks. */
static void find_computing(struct uniting *uniting, int32_t match)
{
    struct meeting *meeting = &uniting->meetings[match];
    int32_t count = 0;
    for (int32_t e = uniting->first_end[match]; e < uniting->first_end[match + 1]; e++) {
        const struct rank_round *rank = &uniting->ranks[uniting->ends[e]];
        for (int32_t i = first_after(rank->computing, rank->computing_count, meeting->span.begin_s);
             i < rank->computing_count && rank->computing[i].begin_s < meeting->span.end_s; i++) {
            uniting->spans[count++] = rank->computing[i];
        }
    }
    qsort(uniting->spans, (size_t)count, sizeof *uniting->spans, compare_spans);
    double until_s = meeting->span.begin_s;
    for (int32_t i = 0; i < count; i++) {
        const struct span rest = {fmax(uniting->spans[i].begin_s, until_s),
                                  uniting->spans[i].end_s};
        meeting->computing_s += shared_s(rest, meeting->span);
        until_s = fmax(until_s, rest.end_s);
    }
}

static void add_round(struct uniting *uniting, int32_t number)
{
    meet(uniting);
    for (int32_t m = 0; m < uniting->program->match_count; m++) {
        find_computing(uniting, m);
    }
    for (int32_t r = 0; r < uniting->program->rank_count; r++) {
        struct rank_round *rank = &uniting->ranks[r];
        for (int32_t i = 0; i < rank->list->op_count; i++) {
            const struct yk_op *op = &rank->list->ops[i];
            const int64_t place = (int64_t)i * uniting->rounds + number;
            const struct span own = {rank->from_s[i], rank->until_s[i]};
            double seconds = own.end_s - own.begin_s;
            double overlapped_s = 0;
            if (op->match != YK_NO_MATCH) {
                const struct meeting *meeting = &uniting->meetings[op->match];
                seconds = meeting->span.end_s - meeting->span.begin_s;
                overlapped_s = meeting->computing_s;
            } else if (op->lane == YK_LANE_COMPUTE) {
                overlapped_s = covered_s(rank->moving, rank->moving_count, own);
            }
            rank->seconds[place] = fmax(seconds, 0);
            rank->overlapped[place] = seconds > 0 ? fmin(overlapped_s / seconds, 1) : 0;
        }
    }
}

/* ---- all rounds ---- */

/* A rank's samples in a step: of the groups that it is in, one may only keep state. */
static int64_t share_of(const struct yk_plan *plan, int32_t rank)
{
    int64_t share = 0;
    for (int32_t g = 0; g < plan->group_count; g++) {
        for (int32_t m = 0; m < plan->groups[g].member_count; m++) {
            const struct yk_plan_member *member = &plan->groups[g].members[m];
            share = member->rank == rank && member->share > share ? member->share : share;
        }
    }
    return share;
}

static int compare(const void *a, const void *b)
{
    const double left = *(const double *)a;
    const double right = *(const double *)b;
    return left < right ? -1 : left > right;
}

static double median(double *numbers, int32_t count)
{
    qsort(numbers, (size_t)count, sizeof *numbers, compare);
    return (numbers[(count - 1) / 2] + numbers[count / 2]) / 2;
}

static yk_status summarise(const struct uniting *uniting, int32_t number, int32_t count,
                           struct yk_op_times_rank *out)
{
    const struct yk_program *program = uniting->program;
    const struct rank_round *rank = &uniting->ranks[number];
    struct yk_text name = {0};
    yk_status status = YK_OK;
    out->device = program->cluster->devices[program->plan->ranks[number].device].name;
    out->share = share_of(program->plan, number);
    out->versions = "";
    out->op_count = rank->list->op_count;
    YK_TRY_NEW(uniting->arena, out->ops, (int64_t)out->op_count + 1);
    for (int32_t i = 0; i < out->op_count && status == YK_OK; i++) {
        double *seconds = rank->seconds + (int64_t)i * uniting->rounds;
        struct yk_op_times_op *op = &out->ops[i];
        op->seconds = median(seconds, count);
        op->low_s = seconds[count / 4];
        op->high_s = seconds[count - 1 - count / 4];
        op->overlap = median(rank->overlapped + (int64_t)i * uniting->rounds, count);
        name.length = 0;
        yk_op_describe(program, &rank->list->ops[i], &name);
        op->op = yk_arena_copy_text(uniting->arena, yk_text_chars(&name), name.length);
        status = op->op ? yk_text_status(&name) : yk_fail_out_of_memory();
    }
    yk_text_free(&name);
    return status;
}

static yk_status open_rank(struct uniting *uniting, int32_t number)
{
    struct rank_round *rank = &uniting->ranks[number];
    rank->list = &uniting->program->ranks[number];
    const int64_t ops = rank->list->op_count;
    if (uniting->rank_rounds[number].op_count != ops) {
        return yk_fail(YK_ERROR_INPUT, "rank %d kept times of %d ops, its program has %d",
                       (int)number, (int)uniting->rank_rounds[number].op_count, (int)ops);
    }
    YK_TRY_NEW(uniting->arena, rank->from_s, ops + 1);
    YK_TRY_NEW(uniting->arena, rank->until_s, ops + 1);
    YK_TRY_NEW(uniting->arena, rank->computing, ops + 1);
    YK_TRY_NEW(uniting->arena, rank->moving, ops + 1);
    YK_TRY_NEW(uniting->arena, rank->seconds, ops * uniting->rounds + 1);
    YK_TRY_NEW(uniting->arena, rank->overlapped, ops * uniting->rounds + 1);
    uniting->span_count += rank->list->op_count;
    return YK_OK;
}

/* Which ranks each message has. */
static yk_status find_ends(struct uniting *uniting)
{
    const struct yk_program *program = uniting->program;
    int32_t *next = NULL;
    YK_TRY_NEW(uniting->arena, uniting->meetings, program->match_count + 1);
    YK_TRY_NEW(uniting->arena, uniting->first_end, program->match_count + 2);
    YK_TRY_NEW(uniting->arena, uniting->ends, uniting->span_count + 1);
    YK_TRY_NEW(uniting->arena, uniting->spans, uniting->span_count + 1);
    YK_TRY_NEW(uniting->arena, next, program->match_count + 1);
    for (int pass = 0; pass < 2; pass++) {
        for (int32_t r = 0; r < program->rank_count; r++) {
            for (int32_t i = 0; i < program->ranks[r].op_count; i++) {
                const int32_t match = program->ranks[r].ops[i].match;
                if (match != YK_NO_MATCH && pass == 0) {
                    uniting->first_end[match + 1]++;
                } else if (match != YK_NO_MATCH) {
                    uniting->ends[uniting->first_end[match] + next[match]++] = r;
                }
            }
        }
        for (int32_t m = 0; pass == 0 && m < program->match_count; m++) {
            uniting->first_end[m + 1] += uniting->first_end[m];
        }
    }
    return YK_OK;
}

static yk_status unite(struct uniting *uniting, struct yk_arena *arena, struct yk_op_times *out)
{
    const struct yk_program *program = uniting->program;
    int32_t count = 0;
    YK_TRY_NEW(uniting->arena, uniting->ranks, program->rank_count);
    uniting->rounds = uniting->rank_rounds[0].round_count;
    for (int32_t r = 0; r < program->rank_count; r++) {
        YK_TRY(open_rank(uniting, r));
    }
    YK_TRY(find_ends(uniting));
    for (int32_t k = 0; k < uniting->rounds; k++) {
        if (open_round(uniting, uniting->rank_rounds[0].steps[k])) {
            add_round(uniting, count++);
        }
    }
    struct yk_op_times spent = {.steps = count, .rank_count = count > 0 ? program->rank_count : 0};
    uniting->arena = arena;
    YK_TRY_NEW(arena, spent.ranks, spent.rank_count + 1);
    for (int32_t r = 0; r < spent.rank_count; r++) {
        YK_TRY(summarise(uniting, r, count, &spent.ranks[r]));
    }
    *out = spent;
    return YK_OK;
}

yk_status yk_round_durations(const struct yk_program *program,
                             const struct yk_rank_rounds *rank_rounds, struct yk_arena *arena,
                             struct yk_op_times *out)
{
    struct uniting uniting = {.program = program, .rank_rounds = rank_rounds};
    YK_TRY(yk_arena_create(&uniting.arena));
    struct yk_arena *scratch = uniting.arena;
    const yk_status status = unite(&uniting, arena, out);
    yk_arena_destroy(scratch);
    return status;
}
