#include "support/programs/random_walk.h"

#include "support/support.h"

#include <stdlib.h>

/* A rank's list by lanes. */
struct lanes {
    const struct yk_op_list *list;
    int32_t *number;             /* (ops) in its lane */
    int32_t *ops[YK_LANE_COUNT]; /* the ops of each lane */
    int32_t count[YK_LANE_COUNT];
    struct walk_place place;
};

static void *allocate_zeroed(int64_t count, size_t size)
{
    void *memory = calloc((size_t)count + 1, size);
    assert_non_null(memory);
    return memory;
}

static struct lanes lanes_of(const struct yk_op_list *list)
{
    struct lanes lanes = {.list = list, .number = allocate_zeroed(list->op_count, sizeof(int32_t))};
    for (int32_t lane = 0; lane < YK_LANE_COUNT; lane++) {
        lanes.ops[lane] = allocate_zeroed(list->op_count, sizeof(int32_t));
    }
    for (int32_t i = 0; i < list->op_count; i++) {
        const enum yk_lane lane = list->ops[i].lane;
        lanes.number[i] = lanes.count[lane];
        lanes.ops[lane][lanes.count[lane]++] = i;
    }
    return lanes;
}

static void free_lanes(struct lanes *lanes)
{
    free(lanes->number);
    for (int32_t lane = 0; lane < YK_LANE_COUNT; lane++) {
        free(lanes->ops[lane]);
    }
}

static bool has_ended(const struct lanes *lanes, int32_t op, int64_t round)
{
    const enum yk_lane lane = lanes->list->ops[op].lane;
    return lanes->place.ended[lane] > round * lanes->count[lane] + lanes->number[op];
}

static bool has_started(const struct lanes *lanes, int32_t op, int64_t round)
{
    const enum yk_lane lane = lanes->list->ops[op].lane;
    return lanes->place.started[lane] > round * lanes->count[lane] + lanes->number[op];
}

/* The next op of a lane, with its round; −1 after the last round or while another runs. */
static int32_t next_op(const struct lanes *lanes, enum yk_lane lane, int32_t rounds, int64_t *round)
{
    const int64_t at = lanes->place.started[lane];
    if (lanes->count[lane] == 0 || at == (int64_t)rounds * lanes->count[lane] ||
        lanes->place.ended[lane] < at) {
        return -1;
    }
    *round = at / lanes->count[lane];
    return lanes->ops[lane][at % lanes->count[lane]];
}

/* True when all that the next op waits for on its own rank has ended. */
static bool is_ready(const struct lanes *lanes, enum yk_lane lane, int32_t rounds)
{
    int64_t round = 0;
    const int32_t op = next_op(lanes, lane, rounds, &round);
    bool ready = op >= 0;
    for (int32_t w = 0; ready && w < lanes->list->ops[op].wait_count; w++) {
        const struct yk_op_wait *wait = &lanes->list->waits[lanes->list->ops[op].first_wait + w];
        ready = round < wait->lag || has_ended(lanes, wait->op, round - wait->lag);
    }
    return ready;
}

/* The first round of which anything may still be held: what began before it ended in it, and all
 * lanes are past it. */
static int64_t first_round(const struct lanes *lanes)
{
    int64_t round = INT64_MAX;
    for (int32_t lane = 0; lane < YK_LANE_COUNT; lane++) {
        const int64_t at =
            lanes->count[lane] > 0 ? lanes->place.ended[lane] / lanes->count[lane] : INT64_MAX;
        round = at < round ? at : round;
    }
    return round < 1 || round == INT64_MAX ? 0 : round - 1;
}

static bool has_begun(const struct lanes *lanes, const struct yk_buffer_lifetime *lifetime,
                      int64_t round)
{
    bool begun = false;
    for (int lane = 0; lane < YK_BUFFER_LIFETIME_LANES; lane++) {
        const int32_t op = lifetime->begin[lane];
        begun = begun || (op != YK_OP_NONE && has_started(lanes, op, round));
    }
    return begun;
}

static bool is_over(const struct lanes *lanes, const struct yk_buffer_lifetime *lifetime,
                    int64_t round)
{
    bool over = true;
    for (int lane = 0; lane < YK_BUFFER_LIFETIME_LANES; lane++) {
        const int32_t op = lifetime->end[lane];
        over = over && (op == YK_OP_NONE || has_ended(lanes, op, round + lifetime->lag_iterations));
    }
    return over;
}

static double bytes_at(const struct lanes *lanes, const struct yk_program_memory *memory)
{
    double bytes = 0;
    for (int32_t kind = 0; kind < YK_MEMORY_KIND_COUNT; kind++) {
        bytes += memory->permanent_bytes[kind];
    }
    const int64_t first = first_round(lanes);
    for (int32_t i = 0; i < memory->lifetime_count; i++) {
        const struct yk_buffer_lifetime *lifetime = &memory->lifetimes[i];
        for (int64_t round = first; has_begun(lanes, lifetime, round); round++) {
            bytes += is_over(lanes, lifetime, round) ? 0 : lifetime->bytes;
        }
    }
    return bytes;
}

double walk_bytes(const struct yk_op_list *list, const struct yk_program_memory *memory,
                  const struct walk_place *place)
{
    struct lanes lanes = lanes_of(list);
    lanes.place = *place;
    const double bytes = bytes_at(&lanes, memory);
    free_lanes(&lanes);
    return bytes;
}

double walk_in_list_order(const struct yk_op_list *list, int32_t rounds,
                          const struct yk_program_memory *memory)
{
    struct lanes lanes = lanes_of(list);
    double most = 0;
    for (int64_t i = 0; i < (int64_t)rounds * list->op_count; i++) {
        const enum yk_lane lane = list->ops[i % list->op_count].lane;
        lanes.place.started[lane]++;
        const double bytes = bytes_at(&lanes, memory);
        most = bytes > most ? bytes : most;
        lanes.place.ended[lane]++;
    }
    free_lanes(&lanes);
    return most;
}

struct walk {
    const struct yk_program *program;
    struct lanes *ranks;
    int32_t *members; /* (matches) ranks that an op of that match is on */
    int32_t iterations;
    int32_t favourite; /* the start or end that goes first whenever it can; −1: none */
};

static struct walk start(const struct yk_program *program, int32_t rounds)
{
    struct walk walk = {.program = program, .iterations = rounds};
    walk.ranks = allocate_zeroed(program->rank_count, sizeof *walk.ranks);
    walk.members = allocate_zeroed(program->match_count, sizeof *walk.members);
    for (int32_t r = 0; r < program->rank_count; r++) {
        const struct yk_op_list *list = &program->ranks[r];
        walk.ranks[r] = lanes_of(list);
        for (int32_t i = 0; i < list->op_count; i++) {
            if (list->ops[i].match != YK_OP_NO_MATCH) {
                assert_in_range(list->ops[i].match, 0, program->match_count - 1);
                walk.members[list->ops[i].match]++;
            }
        }
    }
    return walk;
}

/* The ranks whose next op on the comm lane is of that match, and ready. */
static int32_t count_ready(const struct walk *walk, int32_t match)
{
    int32_t count = 0;
    for (int32_t r = 0; r < walk->program->rank_count; r++) {
        int64_t round = 0;
        const int32_t op = next_op(&walk->ranks[r], YK_LANE_COMM, walk->iterations, &round);
        count += op >= 0 && walk->ranks[r].list->ops[op].match == match &&
                         is_ready(&walk->ranks[r], YK_LANE_COMM, walk->iterations)
                     ? 1
                     : 0;
    }
    return count;
}

/* Starts the next op of a lane, on all ranks that it communicates with. */
static bool try_start(struct walk *walk, int32_t rank, enum yk_lane lane)
{
    int64_t round = 0;
    const int32_t op = next_op(&walk->ranks[rank], lane, walk->iterations, &round);
    if (op < 0 || !is_ready(&walk->ranks[rank], lane, walk->iterations)) {
        return false;
    }
    const int32_t match = walk->ranks[rank].list->ops[op].match;
    if (match == YK_OP_NO_MATCH) {
        walk->ranks[rank].place.started[lane]++;
        return true;
    }
    if (count_ready(walk, match) < walk->members[match]) {
        return false;
    }
    for (int32_t r = 0; r < walk->program->rank_count; r++) {
        const int32_t other = next_op(&walk->ranks[r], YK_LANE_COMM, walk->iterations, &round);
        if (other >= 0 && walk->ranks[r].list->ops[other].match == match) {
            walk->ranks[r].place.started[YK_LANE_COMM]++;
        }
    }
    return true;
}

static bool try_end(struct walk *walk, int32_t rank, enum yk_lane lane)
{
    struct walk_place *place = &walk->ranks[rank].place;
    const bool runs = place->started[lane] > place->ended[lane];
    place->ended[lane] += runs ? 1 : 0;
    return runs;
}

static int32_t count_choices(const struct yk_program *program)
{
    return 2 * program->rank_count * YK_LANE_COUNT;
}

/* One op starts or ends; which, chance says. False when none can. Only what starts takes memory. */
static bool move(struct walk *walk, struct yk_random *random, bool *starts)
{
    const int32_t choices = count_choices(walk->program);
    const int32_t first =
        walk->favourite >= 0 ? walk->favourite : (int32_t)yk_random_below(random, choices);
    for (int32_t i = 0; i < choices; i++) {
        const int32_t choice = (first + i) % choices;
        const int32_t rank = choice / (2 * YK_LANE_COUNT);
        const enum yk_lane lane = (enum yk_lane)(choice % (2 * YK_LANE_COUNT) / 2);
        *starts = choice % 2 == 0;
        if (*starts ? try_start(walk, rank, lane) : try_end(walk, rank, lane)) {
            return true;
        }
    }
    return false;
}

static void note_bytes(const struct walk *walk, struct yk_program_memory *const *memories,
                       double *most_bytes)
{
    for (int32_t r = 0; memories && r < walk->program->rank_count; r++) {
        const double bytes = bytes_at(&walk->ranks[r], memories[r]);
        most_bytes[r] = bytes > most_bytes[r] ? bytes : most_bytes[r];
    }
}

int64_t walk_program(const struct yk_program *program, int32_t rounds, struct yk_random *random,
                     struct yk_program_memory *const *memories, double *most_bytes)
{
    struct walk walk = start(program, rounds);
    int64_t left = 0;
    /* Half of the walks let one lane run ahead as far as it can. */
    const int64_t choices = count_choices(program);
    walk.favourite = (int32_t)(yk_random_below(random, 2 * choices) - choices);
    for (int32_t r = 0; memories && r < program->rank_count; r++) {
        most_bytes[r] = 0;
    }
    bool starts = false;
    while (move(&walk, random, &starts)) {
        if (starts) {
            note_bytes(&walk, memories, most_bytes);
        }
    }
    for (int32_t r = 0; r < program->rank_count; r++) {
        for (int32_t lane = 0; lane < YK_LANE_COUNT; lane++) {
            left += (int64_t)rounds * walk.ranks[r].count[lane] - walk.ranks[r].place.ended[lane];
        }
        free_lanes(&walk.ranks[r]);
    }
    free(walk.ranks);
    free(walk.members);
    return left;
}
