#include "sched/scheduler.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/random.h"
#include "sched/search/anneal_state.h"

#include <assert.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>

/*
 * A small change of a solution: tasks move to another device, or one task to another position in
 * the order. Most moves change a task of the critical path, the chain of tasks and waits that
 * determines the makespan.
 */
struct move {
    int32_t task;
    int32_t device; /* the new device of the task and its group; may be the old one */
    int32_t place;  /* the new position in the order; may be the old one */
    int32_t old_device;
    int32_t old_place;
    int32_t first_place; /* the first position in the order that the move changes */
};

enum {
    NONE = -1
};

struct generator {
    struct yk_anneal_state *state;
    int32_t *path; /* (n) the tasks of the critical path, the last one first */
    int32_t path_length;
    bool path_known;
    int32_t *group_first; /* (groups + 1) places in group_tasks */
    int32_t *group_tasks; /* (tasks with a group) */
};

static yk_status make_generator(struct yk_anneal_state *state, struct generator *generator)
{
    const struct yk_graph *graph = state->graph;
    struct yk_arena *arena = state->arena;
    int32_t *filled = NULL;
    generator->state = state;
    YK_TRY_NEW(arena, generator->path, graph->task_count);
    YK_TRY_NEW(arena, generator->group_first, graph->group_count + 1);
    YK_TRY_NEW(arena, generator->group_tasks, graph->task_count);
    YK_TRY_NEW(arena, filled, graph->group_count);
    for (int32_t i = 0; i < graph->task_count; i++) {
        if (graph->tasks[i].group != YK_GRAPH_NO_GROUP) {
            generator->group_first[graph->tasks[i].group + 1]++;
        }
    }
    for (int32_t g = 0; g < graph->group_count; g++) {
        generator->group_first[g + 1] += generator->group_first[g];
    }
    for (int32_t i = 0; i < graph->task_count; i++) {
        const int32_t group = graph->tasks[i].group;
        if (group != YK_GRAPH_NO_GROUP) {
            generator->group_tasks[generator->group_first[group] + filled[group]++] = i;
        }
    }
    return YK_OK;
}

/* The input whose data `task` started on as soon as it arrived, or NONE. */
static int32_t critical_input(const struct yk_anneal_state *state, int32_t task)
{
    const struct yk_graph *graph = state->graph;
    for (int32_t k = graph->in_first[task]; k < graph->in_first[task + 1]; k++) {
        const struct yk_graph_edge *edge = &graph->edges[graph->inputs[k].edge];
        const int64_t arrival =
            state->schedule.finishes[edge->from] +
            yk_graph_edge_delay_ticks(graph, edge, state->schedule.devices[edge->from],
                                      state->schedule.devices[task]);
        if (arrival == state->schedule.starts[task]) {
            return edge->from;
        }
    }
    return NONE;
}

/*
 * Whether `task` started as soon as its device was done with the task before it. Of tasks without
 * length at one moment only those earlier in the order count, as is so for inputs: every step of
 * the path then goes back in time or in the order, and it ends.
 */
static bool device_was_busy(const struct yk_anneal_state *state, int32_t task)
{
    const int32_t previous = state->previous[task];
    return previous != NONE && state->schedule.finishes[previous] == state->schedule.starts[task] &&
           (state->schedule.starts[previous] < state->schedule.starts[task] ||
            state->places[previous] < state->places[task]);
}

static void find_path(struct generator *generator)
{
    const struct yk_anneal_state *state = generator->state;
    int32_t task = 0;
    for (int32_t i = 1; i < state->graph->task_count; i++) {
        task = state->schedule.finishes[i] > state->schedule.finishes[task] ? i : task;
    }
    generator->path_length = 0;
    while (task != NONE) {
        assert(generator->path_length < state->graph->task_count);
        generator->path[generator->path_length++] = task;
        task = device_was_busy(state, task) ? state->previous[task] : critical_input(state, task);
    }
    generator->path_known = true;
}

static int32_t draw_task(struct generator *generator, struct yk_random *random)
{
    if (!generator->path_known) {
        find_path(generator);
    }
    /* Where a task waited for memory the path is not followed further, so others matter more. */
    const int64_t elsewhere_in_eight = generator->state->graph->limited ? 4 : 1;
    if (yk_random_below(random, 8) < elsewhere_in_eight) {
        return (int32_t)yk_random_below(random, generator->state->graph->task_count);
    }
    return generator->path[yk_random_below(random, generator->path_length)];
}

/* The places `task` can have in the order: after its inputs and before what uses it. */
static void find_room(const struct yk_anneal_state *state, int32_t task, int32_t *first,
                      int32_t *last)
{
    const struct yk_graph *graph = state->graph;
    *first = 0;
    *last = graph->task_count - 1;
    for (int32_t k = graph->in_first[task]; k < graph->in_first[task + 1]; k++) {
        const int32_t place = state->places[graph->inputs[k].from];
        *first = place + 1 > *first ? place + 1 : *first;
    }
    for (int32_t e = graph->out_first[task]; e < graph->out_first[task + 1]; e++) {
        const int32_t place = state->places[graph->edges[e].to];
        *last = place - 1 < *last ? place - 1 : *last;
    }
}

/* A device other than the present one: that of the input it waits for as often as any. */
static bool draw_device(const struct yk_anneal_state *state, struct yk_random *random,
                        struct move *move)
{
    const struct yk_graph *graph = state->graph;
    const int32_t present = state->schedule.devices[move->task];
    int32_t device = NONE;
    if (graph->device_count < 2) {
        return false;
    }
    if (yk_random_below(random, 2) == 0) {
        const int32_t input = critical_input(state, move->task);
        device = input == NONE ? NONE : state->schedule.devices[input];
    }
    if (device == NONE || device == present) {
        device = (int32_t)yk_random_below(random, graph->device_count - 1);
        device += device >= present ? 1 : 0;
    }
    move->device = device;
    return yk_graph_task_can_run_on(graph, move->task, device);
}

static void draw_place(const struct yk_anneal_state *state, struct yk_random *random,
                       struct move *move)
{
    int32_t first = 0;
    int32_t last = 0;
    find_room(state, move->task, &first, &last);
    const int32_t previous = state->previous[move->task];
    const int32_t before = previous == NONE ? NONE : state->places[previous];
    const int64_t kind = yk_random_below(random, 4);
    if (kind < 2 && before >= first && before < move->old_place) {
        move->place = before;
    } else if (kind == 2 && first < move->old_place) {
        move->place = first + (int32_t)yk_random_below(random, move->old_place - first);
    } else {
        move->place = first + (int32_t)yk_random_below(random, last - first + 1);
    }
}

static int32_t first_of_group(const struct generator *generator, int32_t group, int32_t place)
{
    for (int32_t k = generator->group_first[group]; k < generator->group_first[group + 1]; k++) {
        const int32_t other = generator->state->places[generator->group_tasks[k]];
        place = other < place ? other : place;
    }
    return place;
}

static bool propose(struct generator *generator, struct yk_random *random, struct move *out)
{
    const struct yk_anneal_state *state = generator->state;
    const int32_t task = draw_task(generator, random);
    struct move move = {
        .task = task,
        .device = state->schedule.devices[task],
        .place = state->places[task],
        .old_device = state->schedule.devices[task],
        .old_place = state->places[task],
    };
    const int64_t kind = yk_random_below(random, 8);
    const bool changes_device = kind < 5 && draw_device(state, random, &move);
    if (!changes_device) {
        move.device = move.old_device;
    }
    if (!changes_device || kind == 0) {
        draw_place(state, random, &move);
    }
    if (move.device == move.old_device && move.place == move.old_place) {
        return false;
    }
    move.first_place = move.place < move.old_place ? move.place : move.old_place;
    const int32_t group = state->graph->tasks[task].group;
    if (changes_device && group != YK_GRAPH_NO_GROUP) {
        move.first_place = first_of_group(generator, group, move.first_place);
    }
    *out = move;
    return true;
}

/* Moves a task to a position in the order, and the task and its group to a device. */
static void move_task(struct generator *generator, int32_t task, int32_t device, int32_t place)
{
    struct yk_anneal_state *state = generator->state;
    const int32_t group = state->graph->tasks[task].group;
    state->schedule.devices[task] = device;
    if (group != YK_GRAPH_NO_GROUP) {
        for (int32_t k = generator->group_first[group]; k < generator->group_first[group + 1];
             k++) {
            state->schedule.devices[generator->group_tasks[k]] = device;
        }
    }
    yk_anneal_state_move_task(state, task, place);
}

enum {
    CHAIN_COUNT = 2,
    MAX_MOVES_PER_CHECK = 64, /* between two looks at the clock; fewer where a move takes long */
    TASKS_PER_CHECK = 100000,
};

/*
 * A chain goes through cycles of cooling down. Each starts at one of these temperatures, as a part
 * of the mean cost of a task, in turn: the low ones refine a good schedule, the high ones leave it.
 */
static const double PEAKS[] = {0.05, 0.2, 0.8, 0.1};
enum {
    PEAK_COUNT = sizeof PEAKS / sizeof PEAKS[0]
};
static const double COLD = 0.01;

/* Length of a cycle in moves for each task; moves a second assumed where time is given. */
static const double MOVES_PER_TASK = 2000;
static const double MOVES_PER_S = 5e5;
static const double LONGEST_S = 1e9;

/* What the chains of one call share. */
struct annealing {
    const struct yk_scheduler_options *options;
    double begin_s;
    double seconds;
    int64_t moves; /* of each chain; 0: until the time is over */
    double cycles;
    int64_t lower_bound;
    atomic_bool reached; /* some chain is at the lower bound; unused when moves are counted */
};

struct chain {
    struct annealing *annealing;
    struct yk_schedule *best;
    uint64_t seed;
    bool reports; /* progress is reported from the calling thread only */
    yk_status status;
    char message[256];
};

/* How much of the chain is over, 0 to 1. */
static double part_done(const struct annealing *annealing, int64_t moves)
{
    if (annealing->moves > 0) {
        return (double)moves / (double)annealing->moves;
    }
    return (yk_clock_now_s() - annealing->begin_s) / annealing->seconds;
}

static bool finished(struct annealing *annealing, const struct yk_schedule *best, double done)
{
    if (best->makespan <= annealing->lower_bound) {
        atomic_store(&annealing->reached, true);
        return true;
    }
    /* With counted moves, what one chain finds must not decide how far the other gets. */
    return done >= 1 || yk_scheduler_stop_requested(annealing->options) ||
           (annealing->moves == 0 && atomic_load(&annealing->reached));
}

/* The temperature, as a part of the mean cost, when that much of the chain is over. It falls
 * with the cube of what is left of the cycle. */
static double temperature_at(const struct annealing *annealing, double done)
{
    const double cycle = floor(done * annealing->cycles);
    const double left = 1 - (done * annealing->cycles - cycle);
    const double peak = PEAKS[(int64_t)cycle % PEAK_COUNT];
    return COLD + (peak - COLD) * left * left * left;
}

static double count_cycles(const struct annealing *annealing, int32_t task_count)
{
    const double moves =
        annealing->moves > 0 ? (double)annealing->moves : annealing->seconds * MOVES_PER_S;
    return fmax(1, floor(moves / (MOVES_PER_TASK * task_count)));
}

/* Tries one move; keeps it when it is no longer than chance allows at this temperature. */
static bool step(struct generator *generator, struct yk_anneal_state *state,
                 struct yk_random *random, double temperature)
{
    struct move move;
    if (!propose(generator, random, &move)) {
        return false;
    }
    const double worse = temperature * yk_random_exponential(random);
    move_task(generator, move.task, move.device, move.place);
    if (yk_anneal_state_evaluate(state, move.first_place,
                                 state->schedule.makespan + (int64_t)worse) ==
        YK_ANNEAL_STATE_REJECTED) {
        move_task(generator, move.task, move.old_device, move.old_place);
        return false;
    }
    return true;
}

/* What a task takes on average, where it is now: what a move changes is of that size. */
static double find_mean_cost(const struct yk_anneal_state *state)
{
    double sum = 0;
    for (int32_t i = 0; i < state->graph->task_count; i++) {
        sum += (double)(state->schedule.finishes[i] - state->schedule.starts[i]);
    }
    return sum / state->graph->task_count;
}

static int64_t count_moves_per_check(int32_t task_count)
{
    const int64_t moves = TASKS_PER_CHECK / task_count;
    return moves > MAX_MOVES_PER_CHECK ? MAX_MOVES_PER_CHECK : moves < 1 ? 1 : moves;
}

/* Decodes the whole solution, after something else than a move changed it. */
static void decode_anew(struct generator *generator, struct yk_anneal_state *state)
{
    (void)yk_anneal_state_evaluate(state, 0, YK_ANNEAL_STATE_REJECTED - 1);
    generator->path_known = false;
}

static void report(const struct chain *chain, double done)
{
    const struct yk_scheduler_options *options = chain->annealing->options;
    if (chain->reports && options->progress) {
        options->progress(options->progress_user, "annealing", done);
    }
}

static yk_status search(struct chain *chain, struct yk_anneal_state *state,
                        struct generator *generator)
{
    struct annealing *annealing = chain->annealing;
    struct yk_random random = yk_random_from_seed(chain->seed);
    const double mean_cost = find_mean_cost(state);
    const int64_t moves_per_sort = 8 * (int64_t)state->graph->task_count;
    const int64_t moves_per_check = count_moves_per_check(state->graph->task_count);
    double temperature = 0;
    int64_t cycle = 0;
    for (int64_t moves = 0;; moves++) {
        if (moves % moves_per_check == 0) {
            const double done = part_done(annealing, moves);
            if (finished(annealing, chain->best, done)) {
                return YK_OK;
            }
            temperature = mean_cost * temperature_at(annealing, done);
            report(chain, done);
            /* Every other cycle goes on from the best schedule, the others from where they are. */
            if ((int64_t)(done * annealing->cycles) > cycle && ++cycle % 2 == 1) {
                YK_TRY(yk_anneal_state_load_schedule(state, chain->best));
                decode_anew(generator, state);
            }
        }
        if (moves % moves_per_sort == 0 && !state->graph->limited) {
            YK_TRY(yk_anneal_state_sort_by_start(state));
            decode_anew(generator, state);
        }
        if (step(generator, state, &random, temperature)) {
            generator->path_known = false;
            if (state->schedule.makespan < chain->best->makespan) {
                yk_schedule_copy(&state->schedule, chain->best);
            }
        }
    }
}

static void *run_chain(void *argument)
{
    struct chain *chain = argument;
    struct yk_anneal_state *state = NULL;
    struct generator generator = {0};
    yk_status status = yk_anneal_state_create(chain->best, &state);
    YK_IF_OK(make_generator(state, &generator));
    YK_IF_OK(search(chain, state, &generator));
    yk_anneal_state_destroy(state);
    if (status != YK_OK) {
        /* The error message is stored in this thread, which is about to end. */
        snprintf(chain->message, sizeof chain->message, "%s", yk_status_message());
    }
    chain->status = status;
    return NULL;
}

/* All chains but the first get a thread. A chain without a thread runs after the first one. */
static void run_chains(struct chain *chains)
{
    pthread_t threads[CHAIN_COUNT];
    bool started[CHAIN_COUNT] = {false};
    for (int i = 1; i < CHAIN_COUNT; i++) {
        started[i] = pthread_create(&threads[i], NULL, run_chain, &chains[i]) == 0;
    }
    run_chain(&chains[0]);
    for (int i = 1; i < CHAIN_COUNT; i++) {
        if (started[i]) {
            pthread_join(threads[i], NULL);
        } else {
            run_chain(&chains[i]);
        }
    }
}

yk_status yk_anneal_run(const struct yk_scheduler_options *options, double seconds,
                        int64_t lower_bound, struct yk_schedule *schedule)
{
    if (schedule->makespan <= lower_bound || (options->moves == 0 && !(seconds > 0))) {
        return YK_OK;
    }
    struct annealing annealing = {
        .options = options,
        .begin_s = yk_clock_now_s(),
        .seconds = fmin(seconds, LONGEST_S),
        .moves = options->moves / CHAIN_COUNT + (options->moves % CHAIN_COUNT > 0 ? 1 : 0),
        .lower_bound = lower_bound,
    };
    annealing.cycles = count_cycles(&annealing, schedule->graph->task_count);
    struct chain chains[CHAIN_COUNT] = {{0}};
    yk_status status = YK_OK;
    for (int i = 0; i < CHAIN_COUNT; i++) {
        chains[i].annealing = &annealing;
        chains[i].seed = options->seed * CHAIN_COUNT + (uint64_t)i;
        chains[i].reports = i == 0;
        YK_TRY_GOTO(yk_schedule_create(schedule->graph, &chains[i].best), done);
        yk_schedule_copy(schedule, chains[i].best);
    }
    run_chains(chains);
    for (int i = 0; i < CHAIN_COUNT; i++) {
        if (chains[i].status != YK_OK) {
            status = yk_fail(chains[i].status, "%s", chains[i].message);
            goto done;
        }
        if (chains[i].best->makespan < schedule->makespan) {
            yk_schedule_copy(chains[i].best, schedule);
        }
    }
done:
    for (int i = 0; i < CHAIN_COUNT; i++) {
        yk_schedule_destroy(chains[i].best);
    }
    return status;
}
