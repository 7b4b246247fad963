#include "sim/iterations.h"

#include "base/priority_queue.h"
#include "sim/sim.h"

#include <math.h>
#include <stdbool.h>

enum {
    EVENTS_BETWEEN_CHECKS = 256 /* of the deadline */
};

struct lane {
    int32_t *ops; /* (op_count) in order */
    int32_t op_count;
    int32_t next;       /* index in `ops` of the running or next op */
    int32_t round;      /* iteration of that op */
    int32_t waits_over; /* number of its waits that are satisfied */
    bool busy;          /* the op runs, or is ready and waits for other ranks */

    /* While the op runs. For a message, only the lane of its first class has these. */
    double left_s; /* remaining isolated time at since_s */
    double since_s;
    double rate;
};

struct class_state {
    int32_t rank; /* the first rank of the class */
    const struct yk_op_list *list;
    const double *isolated_s; /* (ops) */
    int32_t *rounds_over;     /* (ops) number of iterations in which the op has ended */
    struct lane lanes[YK_LANE_COUNT];
    int32_t message; /* the message in flight, or YK_OP_NO_MATCH */
    double slowdown; /* of compute ops during the message; 1 without a message */
    bool queued;     /* an op may be ready to start */

    /* Until now_s: total time in which it computed, and waited during a message. */
    double now_s;
    double computed_s;
    double waited_s;
};

/* A message in flight. */
struct under_way {
    double port_rate;  /* its rate as limited by node ports */
    int32_t computing; /* number of its classes that compute */
};

struct run {
    const struct yk_program *program;
    const struct yk_sim_op_times *times;
    struct yk_arena *arena;
    struct yk_sim_iterations *all;
    double slowdown;
    double now_s;
    int32_t class_count;
    int32_t computing_count; /* classes with compute ops */
    int32_t rounds_over;     /* number of iterations whose ops have all ended */
    struct class_state *classes;
    struct yk_priority_queue events; /* ends of running ops; see lane_number() */
    int32_t *arrived;                /* (messages) number of classes that are ready for it */
    struct under_way *under_way;     /* (messages) */
    int32_t *queue;                  /* ring buffer of the classes where an op may start */
    int32_t queue_first;
    int32_t queue_count;

    struct yk_node_ports ports;
    int32_t crossing_count; /* messages in flight that use ports */
    int32_t *crossing;
    const struct yk_node_port_demand **demands; /* (crossing_count) their demands */
    double *rates;
};

static int32_t lane_number(int32_t rank_class, enum yk_lane lane)
{
    return rank_class * YK_LANE_COUNT + (int32_t)lane;
}

static void queue(struct run *run, int32_t rank_class)
{
    if (!run->classes[rank_class].queued) {
        run->classes[rank_class].queued = true;
        run->queue[(run->queue_first + run->queue_count++) % run->class_count] = rank_class;
    }
}

/* ---- lanes: how far each lane of each class is in its list of ops ---- */

static const struct yk_op *lane_op(const struct class_state *rank_class, const struct lane *lane)
{
    return &rank_class->list->ops[lane->ops[lane->next]];
}

static yk_status allocate_lanes(struct class_state *rank_class, struct yk_arena *arena)
{
    for (int32_t i = 0; i < rank_class->list->op_count; i++) {
        rank_class->lanes[rank_class->list->ops[i].lane].op_count++;
    }
    for (int which = 0; which < YK_LANE_COUNT; which++) {
        YK_TRY_NEW(arena, rank_class->lanes[which].ops, rank_class->lanes[which].op_count);
        rank_class->lanes[which].op_count = 0;
    }
    for (int32_t i = 0; i < rank_class->list->op_count; i++) {
        struct lane *lane = &rank_class->lanes[rank_class->list->ops[i].lane];
        lane->ops[lane->op_count++] = i;
    }
    return YK_OK;
}

/* True if the next op of the lane can start as far as its own rank is concerned. Its iteration must
 * be below `round_count`. */
static bool lane_is_ready(const struct class_state *rank_class, struct lane *lane,
                          int32_t round_count)
{
    if (lane->busy || lane->op_count == 0 || lane->round >= round_count) {
        return false;
    }
    const struct yk_op *op = lane_op(rank_class, lane);
    while (lane->waits_over < op->wait_count) {
        const struct yk_op_wait *wait = &rank_class->list->waits[op->first_wait + lane->waits_over];
        if (rank_class->rounds_over[wait->op] < lane->round + 1 - wait->lag) {
            return false;
        }
        lane->waits_over++;
    }
    return true;
}

/* Ends the op of the lane. Returns true if it was the last one of its iteration. */
static bool advance_lane(struct class_state *rank_class, struct lane *lane)
{
    rank_class->rounds_over[lane->ops[lane->next]]++;
    lane->busy = false;
    lane->waits_over = 0;
    lane->next++;
    if (lane->next < lane->op_count) {
        return false;
    }
    lane->next = 0;
    lane->round++;
    return true;
}

/* Updates the total times of the class to `now_s`. */
static void advance_class(struct class_state *rank_class, double now_s)
{
    const double passed_s = now_s - rank_class->now_s;
    if (rank_class->lanes[YK_LANE_COMPUTE].busy) {
        rank_class->computed_s += passed_s;
    } else if (rank_class->message != YK_OP_NO_MATCH) {
        rank_class->waited_s += passed_s;
    }
    rank_class->now_s = now_s;
}

/* ---- clocks ---- */

static void set_rate(struct run *run, int32_t rank_class, enum yk_lane which, double rate)
{
    struct lane *lane = &run->classes[rank_class].lanes[which];
    lane->left_s = fmax(lane->left_s - (run->now_s - lane->since_s) * lane->rate, 0);
    lane->since_s = run->now_s;
    lane->rate = rate;
    yk_priority_queue_insert_or_update(&run->events, lane_number(rank_class, which),
                                       run->now_s + lane->left_s / rate);
}

static void set_going(struct run *run, int32_t rank_class, enum yk_lane which, double seconds,
                      double rate)
{
    struct lane *lane = &run->classes[rank_class].lanes[which];
    lane->left_s = seconds;
    lane->since_s = run->now_s;
    set_rate(run, rank_class, which, rate);
}

/* The compute slowdown: from the options, else measured for the device, else for the links. */
static double slowdown_of(const struct run *run, int32_t rank, const struct yk_sim_message *message)
{
    const int32_t device = run->program->plan->ranks[rank].device;
    const double own =
        yk_device_measurements_of_device(run->program->measurements, device).communication_slowdown;
    return run->slowdown > 0                  ? run->slowdown
           : own > 0                          ? own
           : isnan(message->slowdown.compute) ? YK_SIM_DEFAULT_SLOWDOWN
                                              : message->slowdown.compute;
}

/* Sets the message in flight of a class; YK_OP_NO_MATCH: none. */
static void set_message(struct run *run, int32_t number, int32_t message)
{
    struct class_state *rank_class = &run->classes[number];
    const double before = rank_class->slowdown;
    rank_class->message = message;
    rank_class->slowdown = message == YK_OP_NO_MATCH
                               ? 1
                               : slowdown_of(run, rank_class->rank, &run->times->messages[message]);
    if (rank_class->lanes[YK_LANE_COMPUTE].busy && rank_class->slowdown != before) {
        set_rate(run, number, YK_LANE_COMPUTE, 1 / rank_class->slowdown);
    }
}

/* Sets the rate of a message in flight from its port rate and the slowdown by compute ops. */
static void set_message_rate(struct run *run, int32_t number)
{
    const struct yk_sim_message *message = &run->times->messages[number];
    const struct under_way *under_way = &run->under_way[number];
    const int32_t rank_class = run->times->ends[message->first_end].rank_class;
    const double slowdown =
        under_way->computing > 0 && message->slowdown.message > 1 ? message->slowdown.message : 1;
    if (run->classes[rank_class].lanes[YK_LANE_COMM].rate != under_way->port_rate / slowdown) {
        set_rate(run, rank_class, YK_LANE_COMM, under_way->port_rate / slowdown);
    }
}

/* The class starts (`delta` 1) or ends (`delta` −1) a compute op. */
static void note_computing(struct run *run, int32_t rank_class, int32_t delta)
{
    const int32_t message = run->classes[rank_class].message;
    if (message != YK_OP_NO_MATCH) {
        run->under_way[message].computing += delta;
        set_message_rate(run, message);
    }
}

/* ---- rounds ---- */

static yk_status open_round(struct run *run)
{
    const int64_t op_count = run->all->first_op[run->class_count];
    struct yk_sim_iteration iteration = {.ops_left = (int32_t)op_count,
                                         .classes_left = run->computing_count};
    YK_TRY_NEW(run->arena, iteration.start_s, op_count);
    YK_TRY_NEW(run->arena, iteration.end_s, op_count);
    YK_TRY_NEW(run->arena, iteration.exposed_s, op_count);
    YK_TRY_NEW(run->arena, iteration.computed_s, run->class_count);
    YK_TRY_NEW(run->arena, iteration.waited_s, run->class_count);
    for (int64_t i = 0; i < op_count; i++) {
        iteration.start_s[i] = INFINITY;
        iteration.end_s[i] = INFINITY;
    }
    run->all->iterations[run->all->count++] = iteration;
    return YK_OK;
}

static bool is_opening(const struct run *run)
{
    return run->all->count < YK_SIM_ITERATIONS_CAPACITY &&
           run->all->count <= run->rounds_over + YK_SIM_ITERATIONS_LOOKAHEAD;
}

/* Opens the iterations that lanes may enter now. */
static yk_status open_rounds(struct run *run)
{
    while (is_opening(run)) {
        YK_TRY(open_round(run));
        for (int32_t c = 0; c < run->class_count; c++) {
            queue(run, c);
        }
    }
    return YK_OK;
}

static bool is_steady(const struct yk_sim_iteration *rounds, int32_t number)
{
    if (number + 1 < YK_SIM_ITERATIONS_MIN) {
        return false;
    }
    const double last_s = rounds[number].end_s_of_iteration - rounds[number - 1].end_s_of_iteration;
    const double before_s =
        rounds[number - 1].end_s_of_iteration - rounds[number - 2].end_s_of_iteration;
    return fabs(last_s - before_s) <= YK_SIM_ITERATIONS_TOLERANCE * last_s;
}

static void end_round(struct run *run, int32_t number)
{
    struct yk_sim_iteration *iteration = &run->all->iterations[number];
    iteration->end_s_of_iteration = run->now_s;
    for (int32_t c = 0; c < run->class_count; c++) {
        struct class_state *rank_class = &run->classes[c];
        advance_class(rank_class, run->now_s);
        iteration->computed_s[c] = rank_class->computed_s;
        iteration->waited_s[c] = rank_class->waited_s;
    }
    if (number < run->all->reported && is_steady(run->all->iterations, number)) {
        run->all->reported = number;
    }
}

/* ---- ends ---- */

static void end_op(struct run *run, int32_t number, enum yk_lane which)
{
    struct class_state *rank_class = &run->classes[number];
    struct lane *lane = &rank_class->lanes[which];
    const int32_t op = lane->ops[lane->next];
    const int32_t round_number = lane->round;
    struct yk_sim_iteration *iteration = &run->all->iterations[round_number];
    const int32_t place = run->all->first_op[number] + op;
    advance_class(rank_class, run->now_s);
    if (which == YK_LANE_COMPUTE && rank_class->isolated_s[op] > 0) {
        note_computing(run, number, -1);
    }
    iteration->end_s[place] = run->now_s;
    if (rank_class->list->ops[op].match != YK_OP_NO_MATCH) {
        iteration->exposed_s[place] += rank_class->waited_s;
    }
    if (advance_lane(rank_class, lane) && which == YK_LANE_COMPUTE) {
        iteration->classes_left--;
        if (iteration->classes_left == 0) {
            end_round(run, round_number);
        }
    }
    iteration->ops_left--;
    if (iteration->ops_left == 0) {
        run->rounds_over++;
        if (run->computing_count == 0) {
            end_round(run, round_number);
        }
    }
    queue(run, number);
}

/* Recomputes the rates of all messages that use ports. */
static void share_ports(struct run *run)
{
    for (int32_t i = 0; i < run->crossing_count; i++) {
        run->demands[i] = &run->times->messages[run->crossing[i]].demand;
    }
    yk_node_ports_share_bandwidth(&run->ports, run->demands, run->crossing_count, run->rates);
    for (int32_t i = 0; i < run->crossing_count; i++) {
        run->under_way[run->crossing[i]].port_rate = run->rates[i];
        set_message_rate(run, run->crossing[i]);
    }
}

static void leave_ports(struct run *run, int32_t number)
{
    int32_t kept = 0;
    for (int32_t i = 0; i < run->crossing_count; i++) {
        if (run->crossing[i] != number) {
            run->crossing[kept++] = run->crossing[i];
        }
    }
    if (kept < run->crossing_count) {
        run->crossing_count = kept;
        share_ports(run);
    }
}

static void end_message(struct run *run, int32_t number)
{
    const struct yk_sim_message *message = &run->times->messages[number];
    const struct yk_sim_message_op *ends = &run->times->ends[message->first_end];
    for (int32_t i = 0; i < message->end_count; i++) {
        end_op(run, ends[i].rank_class, YK_LANE_COMM);
        set_message(run, ends[i].rank_class, YK_OP_NO_MATCH);
    }
    leave_ports(run, number);
}

/* ---- starts ---- */

static void start_message(struct run *run, int32_t number)
{
    const struct yk_sim_message *message = &run->times->messages[number];
    const struct yk_sim_message_op *ends = &run->times->ends[message->first_end];
    for (int32_t i = 0; i < message->end_count; i++) {
        struct class_state *rank_class = &run->classes[ends[i].rank_class];
        struct yk_sim_iteration *iteration =
            &run->all->iterations[rank_class->lanes[YK_LANE_COMM].round];
        const int32_t place = run->all->first_op[ends[i].rank_class] + ends[i].op;
        advance_class(rank_class, run->now_s);
        iteration->start_s[place] = run->now_s;
        iteration->exposed_s[place] =
            -rank_class->waited_s; /* end_op() adds the total at the end of the op */
    }
    run->arrived[number] = 0;
    if (!(message->time.seconds > 0)) {
        end_message(run, number);
        return;
    }
    struct under_way under_way = {.port_rate = 1};
    for (int32_t i = 0; i < message->end_count; i++) {
        set_message(run, ends[i].rank_class, number);
        under_way.computing += run->classes[ends[i].rank_class].lanes[YK_LANE_COMPUTE].busy ? 1 : 0;
    }
    run->under_way[number] = under_way;
    set_going(run, ends[0].rank_class, YK_LANE_COMM, message->time.seconds, 1);
    set_message_rate(run, number);
    if (message->demand.port_count > 0) {
        run->crossing[run->crossing_count++] = number;
        share_ports(run);
    }
}

static void start_op(struct run *run, int32_t number, enum yk_lane which)
{
    struct class_state *rank_class = &run->classes[number];
    struct lane *lane = &rank_class->lanes[which];
    const struct yk_op *op = lane_op(rank_class, lane);
    const int32_t op_number = lane->ops[lane->next];
    if (op->match != YK_OP_NO_MATCH) {
        lane->busy = true;
        run->arrived[op->match]++;
        if (run->arrived[op->match] == run->times->messages[op->match].end_count) {
            start_message(run, op->match);
        }
        return;
    }
    advance_class(rank_class, run->now_s);
    run->all->iterations[lane->round].start_s[run->all->first_op[number] + op_number] = run->now_s;
    lane->busy = true;
    if (!(rank_class->isolated_s[op_number] > 0)) {
        end_op(run, number, which);
        return;
    }
    set_going(run, number, which, rank_class->isolated_s[op_number],
              which == YK_LANE_COMPUTE ? 1 / rank_class->slowdown : 1);
    if (which == YK_LANE_COMPUTE) {
        note_computing(run, number, 1);
    }
}

/* Starts all ops that can start now. An op that takes no time ends at once; others may then start.
 */
static void start_ready(struct run *run)
{
    while (run->queue_count > 0) {
        const int32_t number = run->queue[run->queue_first];
        struct class_state *rank_class = &run->classes[number];
        run->queue_first = (run->queue_first + 1) % run->class_count;
        run->queue_count--;
        rank_class->queued = false;
        for (int which = 0; which < YK_LANE_COUNT; which++) {
            if (lane_is_ready(rank_class, &rank_class->lanes[which], run->all->count)) {
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
    for (int32_t c = 0; c < run->class_count && !name.bytes; c++) {
        for (int which = 0; which < YK_LANE_COUNT && !name.bytes; which++) {
            const struct lane *lane = &run->classes[c].lanes[which];
            if (lane->op_count > 0 && lane->round == run->rounds_over) {
                rank = run->classes[c].rank;
                yk_op_describe(run->program, lane_op(&run->classes[c], lane), &name);
            }
        }
    }
    const yk_status status =
        yk_fail(YK_ERROR_INPUT, "the program waits on itself: \"%s\" of rank %d never ends",
                yk_text_chars(&name), rank);
    yk_text_free(&name);
    return status;
}

/* Creates the state of all classes before the first iteration. */
static yk_status begin_classes(struct run *run, const struct yk_rank_classes *classes)
{
    YK_TRY_NEW(run->arena, run->classes, classes->count);
    YK_TRY_NEW(run->arena, run->all->first_op, classes->count + 1);
    for (int32_t c = 0; c < classes->count; c++) {
        struct class_state *rank_class = &run->classes[c];
        rank_class->rank = classes->ranks[c];
        rank_class->message = YK_OP_NO_MATCH;
        rank_class->slowdown = 1;
        rank_class->list = &run->program->ranks[rank_class->rank];
        rank_class->isolated_s = run->times->isolated_s[c];
        YK_TRY_NEW(run->arena, rank_class->rounds_over, rank_class->list->op_count);
        YK_TRY(allocate_lanes(rank_class, run->arena));
        run->all->first_op[c + 1] = run->all->first_op[c] + rank_class->list->op_count;
        run->computing_count += rank_class->lanes[YK_LANE_COMPUTE].op_count > 0 ? 1 : 0;
    }
    return run->all->first_op[classes->count] > 0
               ? YK_OK
               : yk_fail(YK_ERROR_INPUT, "the program has nothing to do: no rank has an op");
}

static double worst_slowdown(const struct run *run)
{
    double worst = 0;
    for (int32_t m = 0; m < run->program->match_count; m++) {
        const struct yk_sim_message *message = &run->times->messages[m];
        for (int32_t i = 0; i < message->end_count; i++) {
            const struct yk_sim_message_op *end = &run->times->ends[message->first_end + i];
            worst = fmax(worst, slowdown_of(run, run->classes[end->rank_class].rank, message));
        }
    }
    return worst > 0 ? worst : run->slowdown > 0 ? run->slowdown : YK_SIM_DEFAULT_SLOWDOWN;
}

static yk_status begin(struct run *run, const struct yk_rank_classes *classes)
{
    YK_TRY_NEW(run->arena, run->all, 1);
    run->all->reported = YK_SIM_ITERATIONS_MAX - 1;
    YK_TRY(begin_classes(run, classes));
    run->all->slowdown = worst_slowdown(run);
    YK_TRY(yk_priority_queue_create(run->arena, YK_LANE_COUNT * classes->count, &run->events));
    YK_TRY(yk_node_ports_create(run->program->cluster, run->arena, &run->ports));
    YK_TRY_NEW(run->arena, run->arrived, run->program->match_count);
    YK_TRY_NEW(run->arena, run->under_way, run->program->match_count);
    YK_TRY_NEW(run->arena, run->queue, classes->count);
    YK_TRY_NEW(run->arena, run->crossing, classes->count);
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers */
    YK_TRY_NEW(run->arena, run->demands, classes->count);
    YK_TRY_NEW(run->arena, run->rates, classes->count);
    return YK_OK;
}

yk_status yk_sim_iterations_run(const struct yk_program *program,
                                const struct yk_rank_classes *classes,
                                const struct yk_sim_op_times *times, double slowdown,
                                struct yk_arena *arena, struct yk_sim_iterations **out)
{
    struct run run = {
        .program = program,
        .times = times,
        .arena = arena,
        .slowdown = slowdown,
        .class_count = classes->count,
    };
    YK_TRY(begin(&run, classes));
    for (int64_t events = 1;; events++) {
        if (events % EVENTS_BETWEEN_CHECKS == 0) {
            YK_TRY(yk_deadline_check(program->deadline));
        }
        do {
            YK_TRY(open_rounds(&run));
            start_ready(&run);
        } while (is_opening(&run));
        if (run.rounds_over > run.all->reported) {
            break;
        }
        const int32_t lane = yk_priority_queue_pop(&run.events, &run.now_s);
        if (lane < 0) {
            return fail_stuck(&run);
        }
        const struct class_state *rank_class = &run.classes[lane / YK_LANE_COUNT];
        const int32_t match = lane_op(rank_class, &rank_class->lanes[lane % YK_LANE_COUNT])->match;
        if (match != YK_OP_NO_MATCH) {
            end_message(&run, match);
        } else {
            end_op(&run, lane / YK_LANE_COUNT, (enum yk_lane)(lane % YK_LANE_COUNT));
        }
    }
    *out = run.all;
    return YK_OK;
}
