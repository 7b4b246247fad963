#include "sched/search/anneal.h"

#include "base/clock.h"
#include "base/random.h"
#include "sched/scheduler.h"
#include "sched/search/move.h"
#include "sched/search/solution.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

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

/* How long a cycle should be, in moves for each task, and how many moves a second are reckoned with
 * where time is given. */
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
    return done >= 1 || yk_scheduler_is_stopped(annealing->options) ||
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
static bool step(struct yk_move_generator *generator, struct yk_solution *solution,
                 struct yk_random *random, double temperature)
{
    struct yk_move move;
    if (!yk_move_propose(generator, random, &move)) {
        return false;
    }
    const double worse = temperature * yk_random_exponential(random);
    yk_move_apply(generator, &move);
    if (yk_solution_decode(solution, move.first_place, solution->makespan + (int64_t)worse) ==
        YK_SOLUTION_NONE) {
        yk_move_undo(generator, &move);
        return false;
    }
    return true;
}

/* What a task takes on average, where it is now: what a move changes is of that size. */
static double find_mean_cost(const struct yk_solution *solution)
{
    double sum = 0;
    for (int32_t i = 0; i < solution->graph->task_count; i++) {
        sum += (double)(solution->finishes[i] - solution->starts[i]);
    }
    return sum / solution->graph->task_count;
}

static int64_t count_moves_per_check(int32_t task_count)
{
    const int64_t moves = TASKS_PER_CHECK / task_count;
    return moves > MAX_MOVES_PER_CHECK ? MAX_MOVES_PER_CHECK : moves < 1 ? 1 : moves;
}

/* Decodes the whole solution, after something else than a move changed it. */
static void decode_anew(struct yk_move_generator *generator, struct yk_solution *solution)
{
    (void)yk_solution_decode(solution, 0, YK_SOLUTION_NONE - 1);
    yk_move_invalidate_path(generator);
}

static void report(const struct chain *chain, double done)
{
    const struct yk_scheduler_options *options = chain->annealing->options;
    if (chain->reports && options->progress) {
        options->progress(options->progress_user, "annealing", done);
    }
}

static yk_status search(struct chain *chain, struct yk_solution *solution,
                        struct yk_move_generator *generator)
{
    struct annealing *annealing = chain->annealing;
    struct yk_random random = yk_random_from_seed(chain->seed);
    const double mean_cost = find_mean_cost(solution);
    const int64_t moves_per_sort = 8 * (int64_t)solution->graph->task_count;
    const int64_t moves_per_check = count_moves_per_check(solution->graph->task_count);
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
                YK_TRY(yk_solution_load(solution, chain->best));
                decode_anew(generator, solution);
            }
        }
        if (moves % moves_per_sort == 0 && !solution->graph->limited) {
            YK_TRY(yk_solution_sort(solution));
            decode_anew(generator, solution);
        }
        if (step(generator, solution, &random, temperature)) {
            yk_move_invalidate_path(generator);
            if (solution->makespan < chain->best->makespan) {
                yk_solution_write(solution, chain->best);
            }
        }
    }
}

static void *run_chain(void *argument)
{
    struct chain *chain = argument;
    struct yk_solution *solution = NULL;
    struct yk_move_generator *generator = NULL;
    chain->status = yk_solution_create(chain->best, &solution);
    if (chain->status == YK_OK) {
        chain->status = yk_move_generator_create(solution, &generator);
    }
    if (chain->status == YK_OK) {
        chain->status = search(chain, solution, generator);
    }
    yk_solution_destroy(solution);
    if (chain->status != YK_OK) {
        /* The sentence belongs to this thread, which is about to end. */
        snprintf(chain->message, sizeof chain->message, "%s", yk_status_message());
    }
    return NULL;
}

/* All chains but the first get a thread; where none can be had, they run one after the other. */
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
