#include "sim/rounds.h"

#include "sim/event_queue.h"
#include "sim/lanes.h"
#include "sim/sim.h"

#include <math.h>
#include <stdbool.h>

enum {
    EVENTS_BETWEEN_LOOKS = 256 /* at the clock */
};

struct under_way {
    double way_rate;   /* that its ways leave it */
    int32_t computing; /* of its folds */
};

struct run {
    const struct yk_program *program;
    const struct yk_times *times;
    struct yk_arena *arena;
    struct yk_rounds *all;
    double slowdown;
    double now_s;
    int32_t fold_count;
    int32_t computing_count; /* folds that compute anything */
    int32_t rounds_over;     /* all ops of so many rounds have ended */
    struct yk_sim_class *folds;
    struct yk_event_queue agenda; /* numbers are of lanes, see lane_number() */
    int32_t *arrived;             /* (messages) folds that are ready for it */
    struct under_way *under_way;  /* (messages) */
    int32_t *queue;               /* folds where something may start, a ring of fold_count */
    int32_t queue_first;
    int32_t queue_count;

    struct yk_ports ways;
    int32_t crossing_count; /* messages under way that take ways */
    int32_t *crossing;
    const struct yk_demand **demands; /* of them */
    double *rates;
};

static int32_t lane_number(int32_t fold, enum yk_lane lane)
{
    return fold * YK_LANE_COUNT + (int32_t)lane;
}

static void queue(struct run *run, int32_t fold)
{
    if (!run->folds[fold].queued) {
        run->folds[fold].queued = true;
        run->queue[(run->queue_first + run->queue_count++) % run->fold_count] = fold;
    }
}

/* ---- clocks ---- */

static void set_rate(struct run *run, int32_t fold, enum yk_lane which, double rate)
{
    struct yk_sim_lane *lane = &run->folds[fold].lanes[which];
    lane->left_s = fmax(lane->left_s - (run->now_s - lane->since_s) * lane->rate, 0);
    lane->since_s = run->now_s;
    lane->rate = rate;
    yk_event_queue_set(&run->agenda, lane_number(fold, which), run->now_s + lane->left_s / rate);
}

static void set_going(struct run *run, int32_t fold, enum yk_lane which, double seconds,
                      double rate)
{
    struct yk_sim_lane *lane = &run->folds[fold].lanes[which];
    lane->left_s = seconds;
    lane->since_s = run->now_s;
    set_rate(run, fold, which, rate);
}

/* As was measured of the fold's device, else of the message's links. */
static double slowdown_of(const struct run *run, int32_t rank, const struct yk_message *message)
{
    const int32_t device = run->program->plan->ranks[rank].device;
    const double own = yk_device_facts_at(run->program->facts, device).communication_slowdown;
    return run->slowdown > 0                ? run->slowdown
           : own > 0                        ? own
           : isnan(message->beside.compute) ? YK_SIM_SLOWDOWN
                                            : message->beside.compute;
}

/* `message` is under way at the fold from now on; YK_NO_MATCH: none. */
static void set_message(struct run *run, int32_t number, int32_t message)
{
    struct yk_sim_class *fold = &run->folds[number];
    const double before = fold->slowdown;
    fold->message = message;
    fold->slowdown =
        message == YK_NO_MATCH ? 1 : slowdown_of(run, fold->rank, &run->times->messages[message]);
    if (fold->lanes[YK_LANE_COMPUTE].taken && fold->slowdown != before) {
        set_rate(run, number, YK_LANE_COMPUTE, 1 / fold->slowdown);
    }
}

/* Sets the rate of a message under way by what it is beside. */
static void set_message_rate(struct run *run, int32_t number)
{
    const struct yk_message *message = &run->times->messages[number];
    const struct under_way *under_way = &run->under_way[number];
    const int32_t fold = run->times->ends[message->first_end].fold;
    const double slowdown =
        under_way->computing > 0 && message->beside.message > 1 ? message->beside.message : 1;
    if (run->folds[fold].lanes[YK_LANE_COMM].rate != under_way->way_rate / slowdown) {
        set_rate(run, fold, YK_LANE_COMM, under_way->way_rate / slowdown);
    }
}

/* The fold begins or ends to compute: `change` is 1 or −1. */
static void note_computing(struct run *run, int32_t fold, int32_t change)
{
    const int32_t message = run->folds[fold].message;
    if (message != YK_NO_MATCH) {
        run->under_way[message].computing += change;
        set_message_rate(run, message);
    }
}

/* ---- rounds ---- */

static yk_status open_round(struct run *run)
{
    const int64_t op_count = run->all->first_op[run->fold_count];
    struct yk_round round = {.ops_left = (int32_t)op_count, .folds_left = run->computing_count};
    YK_TRY_NEW(run->arena, round.start_s, op_count);
    YK_TRY_NEW(run->arena, round.end_s, op_count);
    YK_TRY_NEW(run->arena, round.exposed_s, op_count);
    YK_TRY_NEW(run->arena, round.computed_s, run->fold_count);
    YK_TRY_NEW(run->arena, round.waited_s, run->fold_count);
    for (int64_t i = 0; i < op_count; i++) {
        round.start_s[i] = INFINITY;
        round.end_s[i] = INFINITY;
    }
    run->all->rounds[run->all->count++] = round;
    return YK_OK;
}

static bool is_opening(const struct run *run)
{
    return run->all->count < YK_ROUNDS_ALL &&
           run->all->count <= run->rounds_over + YK_ROUNDS_LOOKAHEAD;
}

/* Lets lanes into the rounds that they may be in by now. */
static yk_status open_rounds(struct run *run)
{
    while (is_opening(run)) {
        YK_TRY(open_round(run));
        for (int32_t f = 0; f < run->fold_count; f++) {
            queue(run, f);
        }
    }
    return YK_OK;
}

static bool settled(const struct yk_round *rounds, int32_t number)
{
    if (number + 1 < YK_ROUNDS_MIN) {
        return false;
    }
    const double last_s = rounds[number].end_of_round_s - rounds[number - 1].end_of_round_s;
    const double before_s = rounds[number - 1].end_of_round_s - rounds[number - 2].end_of_round_s;
    return fabs(last_s - before_s) <= YK_ROUNDS_TOLERANCE * last_s;
}

static void end_round(struct run *run, int32_t number)
{
    struct yk_round *round = &run->all->rounds[number];
    round->end_of_round_s = run->now_s;
    for (int32_t f = 0; f < run->fold_count; f++) {
        struct yk_sim_class *fold = &run->folds[f];
        yk_sim_class_advance(fold, run->now_s);
        round->computed_s[f] = fold->computed_s;
        round->waited_s[f] = fold->waited_s;
    }
    if (number < run->all->reported && settled(run->all->rounds, number)) {
        run->all->reported = number;
    }
}

/* ---- ends ---- */

static void end_op(struct run *run, int32_t number, enum yk_lane which)
{
    struct yk_sim_class *fold = &run->folds[number];
    struct yk_sim_lane *lane = &fold->lanes[which];
    const int32_t op = lane->ops[lane->next];
    const int32_t round_number = lane->round;
    struct yk_round *round = &run->all->rounds[round_number];
    const int32_t place = run->all->first_op[number] + op;
    yk_sim_class_advance(fold, run->now_s);
    if (which == YK_LANE_COMPUTE && fold->alone_s[op] > 0) {
        note_computing(run, number, -1);
    }
    round->end_s[place] = run->now_s;
    if (fold->list->ops[op].match != YK_NO_MATCH) {
        round->exposed_s[place] += fold->waited_s;
    }
    if (yk_sim_lane_advance(fold, lane) && which == YK_LANE_COMPUTE) {
        round->folds_left--;
        if (round->folds_left == 0) {
            end_round(run, round_number);
        }
    }
    round->ops_left--;
    if (round->ops_left == 0) {
        run->rounds_over++;
        if (run->computing_count == 0) {
            end_round(run, round_number);
        }
    }
    queue(run, number);
}

/* Messages that meet on the nodes' ways slow each other down. */
static void share_ways(struct run *run)
{
    for (int32_t i = 0; i < run->crossing_count; i++) {
        run->demands[i] = &run->times->messages[run->crossing[i]].demand;
    }
    yk_ports_share(&run->ways, run->demands, run->crossing_count, run->rates);
    for (int32_t i = 0; i < run->crossing_count; i++) {
        run->under_way[run->crossing[i]].way_rate = run->rates[i];
        set_message_rate(run, run->crossing[i]);
    }
}

static void leave_ways(struct run *run, int32_t number)
{
    int32_t kept = 0;
    for (int32_t i = 0; i < run->crossing_count; i++) {
        if (run->crossing[i] != number) {
            run->crossing[kept++] = run->crossing[i];
        }
    }
    if (kept < run->crossing_count) {
        run->crossing_count = kept;
        share_ways(run);
    }
}

static void end_message(struct run *run, int32_t number)
{
    const struct yk_message *message = &run->times->messages[number];
    const struct yk_message_end *ends = &run->times->ends[message->first_end];
    for (int32_t i = 0; i < message->end_count; i++) {
        end_op(run, ends[i].fold, YK_LANE_COMM);
        set_message(run, ends[i].fold, YK_NO_MATCH);
    }
    leave_ways(run, number);
}

/* ---- starts ---- */

static void start_message(struct run *run, int32_t number)
{
    const struct yk_message *message = &run->times->messages[number];
    const struct yk_message_end *ends = &run->times->ends[message->first_end];
    for (int32_t i = 0; i < message->end_count; i++) {
        struct yk_sim_class *fold = &run->folds[ends[i].fold];
        struct yk_round *round = &run->all->rounds[fold->lanes[YK_LANE_COMM].round];
        const int32_t place = run->all->first_op[ends[i].fold] + ends[i].op;
        yk_sim_class_advance(fold, run->now_s);
        round->start_s[place] = run->now_s;
        round->exposed_s[place] = -fold->waited_s; /* what it has waited by the end is added then */
    }
    run->arrived[number] = 0;
    if (!(message->time.seconds > 0)) {
        end_message(run, number);
        return;
    }
    struct under_way under_way = {.way_rate = 1};
    for (int32_t i = 0; i < message->end_count; i++) {
        set_message(run, ends[i].fold, number);
        under_way.computing += run->folds[ends[i].fold].lanes[YK_LANE_COMPUTE].taken ? 1 : 0;
    }
    run->under_way[number] = under_way;
    set_going(run, ends[0].fold, YK_LANE_COMM, message->time.seconds, 1);
    set_message_rate(run, number);
    if (message->demand.way_count > 0) {
        run->crossing[run->crossing_count++] = number;
        share_ways(run);
    }
}

static void start_op(struct run *run, int32_t number, enum yk_lane which)
{
    struct yk_sim_class *fold = &run->folds[number];
    struct yk_sim_lane *lane = &fold->lanes[which];
    const struct yk_op *op = yk_sim_lane_op(fold, lane);
    const int32_t op_number = lane->ops[lane->next];
    if (op->match != YK_NO_MATCH) {
        lane->taken = true;
        run->arrived[op->match]++;
        if (run->arrived[op->match] == run->times->messages[op->match].end_count) {
            start_message(run, op->match);
        }
        return;
    }
    yk_sim_class_advance(fold, run->now_s);
    run->all->rounds[lane->round].start_s[run->all->first_op[number] + op_number] = run->now_s;
    lane->taken = true;
    if (!(fold->alone_s[op_number] > 0)) {
        end_op(run, number, which);
        return;
    }
    set_going(run, number, which, fold->alone_s[op_number],
              which == YK_LANE_COMPUTE ? 1 / fold->slowdown : 1);
    if (which == YK_LANE_COMPUTE) {
        note_computing(run, number, 1);
    }
}

/* Starts all that can start now. What takes no time ends at once and may let others start. */
static void start_ready(struct run *run)
{
    while (run->queue_count > 0) {
        const int32_t number = run->queue[run->queue_first];
        struct yk_sim_class *fold = &run->folds[number];
        run->queue_first = (run->queue_first + 1) % run->fold_count;
        run->queue_count--;
        fold->queued = false;
        for (int which = 0; which < YK_LANE_COUNT; which++) {
            if (yk_sim_lane_is_ready(fold, &fold->lanes[which], run->all->count)) {
                start_op(run, number, (enum yk_lane)which);
            }
        }
    }
}

/* ---- the run ---- */

static yk_status fail_stuck(const struct run *run)
{
    struct yk_text name = {0};
    int32_t rank = 0;
    for (int32_t f = 0; f < run->fold_count && !name.bytes; f++) {
        for (int which = 0; which < YK_LANE_COUNT && !name.bytes; which++) {
            const struct yk_sim_lane *lane = &run->folds[f].lanes[which];
            if (lane->op_count > 0 && lane->round == run->rounds_over) {
                rank = run->folds[f].rank;
                yk_op_describe(run->program, yk_sim_lane_op(&run->folds[f], lane), &name);
            }
        }
    }
    const yk_status status =
        yk_fail(YK_ERROR_INPUT, "the program waits on itself: \"%s\" of rank %d never ends",
                yk_text_chars(&name), rank);
    yk_text_free(&name);
    return status;
}

static yk_status begin_folds(struct run *run, const struct yk_rank_classes *folds)
{
    YK_TRY(yk_sim_classes_begin(run->program, folds, run->times, run->arena, &run->folds));
    YK_TRY_NEW(run->arena, run->all->first_op, folds->count + 1);
    for (int32_t f = 0; f < folds->count; f++) {
        const struct yk_sim_class *fold = &run->folds[f];
        run->all->first_op[f + 1] = run->all->first_op[f] + fold->list->op_count;
        run->computing_count += fold->lanes[YK_LANE_COMPUTE].op_count > 0 ? 1 : 0;
    }
    return run->all->first_op[folds->count] > 0
               ? YK_OK
               : yk_fail(YK_ERROR_INPUT, "the program has nothing to do: no rank has an op");
}

static double worst_slowdown(const struct run *run)
{
    double worst = 0;
    for (int32_t m = 0; m < run->program->match_count; m++) {
        const struct yk_message *message = &run->times->messages[m];
        for (int32_t i = 0; i < message->end_count; i++) {
            const struct yk_message_end *end = &run->times->ends[message->first_end + i];
            worst = fmax(worst, slowdown_of(run, run->folds[end->fold].rank, message));
        }
    }
    return worst > 0 ? worst : run->slowdown > 0 ? run->slowdown : YK_SIM_SLOWDOWN;
}

static yk_status begin(struct run *run, const struct yk_rank_classes *folds)
{
    YK_TRY_NEW(run->arena, run->all, 1);
    run->all->reported = YK_ROUNDS_MAX - 1;
    YK_TRY(begin_folds(run, folds));
    run->all->slowdown = worst_slowdown(run);
    YK_TRY(yk_event_queue_create(run->arena, YK_LANE_COUNT * folds->count, &run->agenda));
    YK_TRY(yk_ports_create(run->program->cluster, run->arena, &run->ways));
    YK_TRY_NEW(run->arena, run->arrived, run->program->match_count);
    YK_TRY_NEW(run->arena, run->under_way, run->program->match_count);
    YK_TRY_NEW(run->arena, run->queue, folds->count);
    YK_TRY_NEW(run->arena, run->crossing, folds->count);
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers */
    YK_TRY_NEW(run->arena, run->demands, folds->count);
    YK_TRY_NEW(run->arena, run->rates, folds->count);
    return YK_OK;
}

yk_status yk_rounds_run(const struct yk_program *program, const struct yk_rank_classes *folds,
                        const struct yk_times *times, double slowdown, struct yk_arena *arena,
                        struct yk_rounds **out)
{
    struct run run = {
        .program = program,
        .times = times,
        .arena = arena,
        .slowdown = slowdown,
        .fold_count = folds->count,
    };
    YK_TRY(begin(&run, folds));
    for (int64_t events = 1;; events++) {
        if (events % EVENTS_BETWEEN_LOOKS == 0) {
            YK_TRY(yk_deadline_check(program->deadline));
        }
        do {
            YK_TRY(open_rounds(&run));
            start_ready(&run);
        } while (is_opening(&run));
        if (run.rounds_over > run.all->reported) {
            break;
        }
        const int32_t lane = yk_event_queue_pop(&run.agenda, &run.now_s);
        if (lane < 0) {
            return fail_stuck(&run);
        }
        const struct yk_sim_class *fold = &run.folds[lane / YK_LANE_COUNT];
        const int32_t match = yk_sim_lane_op(fold, &fold->lanes[lane % YK_LANE_COUNT])->match;
        if (match != YK_NO_MATCH) {
            end_message(&run, match);
        } else {
            end_op(&run, lane / YK_LANE_COUNT, (enum yk_lane)(lane % YK_LANE_COUNT));
        }
    }
    *out = run.all;
    return YK_OK;
}
