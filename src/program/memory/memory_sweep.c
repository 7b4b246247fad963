#include "program/memory/memory_sweep.h"

#include "base/number.h"

#include <math.h>

enum {
    ROUNDS = 3,
    MIDDLE = 1,
    DELTAS = 3,            /* of one lifetime in one round, at most */
    NEVER = INT32_MAX - 1, /* a point that no lane reaches */
};

/* A change of the bytes at a range of comm points, applied when the sweep reaches a compute point.
 */
struct delta {
    int32_t next; /* the next change at the same compute point; −1: none */
    int32_t first;
    int32_t last;
    double bytes;
};

struct yk_memory_sweep {
    struct yk_arena *arena;
    const struct yk_op_list *list;
    const struct yk_program_memory *memory;
    struct yk_op_lane_lists lanes;
    int32_t *min_comm;    /* (compute ops of all rounds) point that the comm lane is at or
                               past when the op starts */
    int32_t *min_compute; /* (comm ops of all rounds) likewise */
    struct delta *deltas;
    int32_t *deltas_at; /* (points of the compute lane) the first delta; −1: none */
    int32_t delta_count;
    int32_t point;
    double always_bytes;
    int32_t first; /* of the range at the point */
    int32_t last;
    int32_t started;   /* compute ops looked at for `first` */
    int32_t unblocked; /* comm ops that can start */
    int32_t width;     /* leaves of the tree, a power of two */
    double *added;     /* (2 · width) to all leaves below a node */
    double *largest;   /* (2 · width) of the leaves below, with what is added there */
};

static int32_t points_of(const struct yk_memory_sweep *sweep, enum yk_lane lane)
{
    return 2 * ROUNDS * sweep->lanes.count[lane] + 1;
}

/* The number of an op among its lane's ops of all rounds. */
static int32_t number_of(const struct yk_memory_sweep *sweep, int32_t op, int32_t round)
{
    return round * sweep->lanes.count[sweep->list->ops[op].lane] + sweep->lanes.position[op];
}

/* For each op of one lane: the point of the other lane after the op that it waits for. */
static yk_status find_waits(struct yk_memory_sweep *sweep, enum yk_lane lane, enum yk_lane other,
                            int32_t **out)
{
    const struct yk_op_list *list = sweep->list;
    int32_t *points = NULL;
    YK_TRY_NEW(sweep->arena, points, ROUNDS * sweep->lanes.count[lane] + 1);
    for (int32_t round = 0; round < ROUNDS; round++) {
        for (int32_t p = 0; p < sweep->lanes.count[lane]; p++) {
            const struct yk_op *op = &list->ops[sweep->lanes.ops[lane][p]];
            int32_t *point = &points[round * sweep->lanes.count[lane] + p];
            for (int32_t w = 0; w < op->wait_count; w++) {
                const struct yk_op_wait *wait = &list->waits[op->first_wait + w];
                if (list->ops[wait->op].lane == other && round >= wait->lag) {
                    const int32_t past = 2 * (number_of(sweep, wait->op, round - wait->lag) + 1);
                    *point = past > *point ? past : *point;
                }
            }
        }
    }
    *out = points;
    return YK_OK;
}

/* Adds a change. Changes after the last point of the sweep are ignored. */
static void add_delta(struct yk_memory_sweep *sweep, int32_t point, int32_t first, int32_t last,
                      double bytes)
{
    if (point > yk_memory_sweep_middle_end_compute_point(sweep)) {
        return;
    }
    sweep->deltas[sweep->delta_count] = (struct delta){
        .next = sweep->deltas_at[point], .first = first, .last = last, .bytes = bytes};
    sweep->deltas_at[point] = sweep->delta_count++;
}

/* The point while an op runs; `none` where there is no op. */
static int32_t point_in(const struct yk_memory_sweep *sweep, int32_t op, int32_t round,
                        int32_t none)
{
    return op == YK_OP_NONE ? none : 2 * number_of(sweep, op, round) + 1;
}

/*
 * Before the begin op on the compute lane, a buffer is held at the comm points from its begin op
 * on; between begin and end op on the compute lane, at all comm points; after the end op, at the
 * comm points up to its end op there.
 */
static void add_lifetime(struct yk_memory_sweep *sweep, const struct yk_buffer_lifetime *lifetime,
                         int32_t round)
{
    const int32_t all = points_of(sweep, YK_LANE_COMM) - 1;
    const int32_t until = round + lifetime->lag_iterations;
    int32_t begin[YK_BUFFER_LIFETIME_LANES];
    int32_t end[YK_BUFFER_LIFETIME_LANES];
    for (int lane = 0; lane < YK_BUFFER_LIFETIME_LANES; lane++) {
        begin[lane] = point_in(sweep, lifetime->begin[lane], round, NEVER);
        begin[lane] = begin[lane] > 0 ? begin[lane] : 0;
        end[lane] = point_in(sweep, lifetime->end[lane], until, -1);
        end[lane] = until >= ROUNDS && end[lane] >= 0 ? NEVER : end[lane];
    }
    const int32_t compute_begin = begin[YK_LANE_COMPUTE];
    const int32_t compute_end = end[YK_LANE_COMPUTE];
    const int32_t comm_begin = begin[YK_LANE_COMM];
    const int32_t comm_end = (int32_t)yk_number_min(end[YK_LANE_COMM], all);
    const int32_t first = compute_end + 1 >= compute_begin ? 0 : comm_begin;
    if (comm_begin <= all) {
        add_delta(sweep, 0, comm_begin, compute_end >= 0 ? all : comm_end, lifetime->bytes);
    }
    if (compute_begin < NEVER && comm_begin > 0) {
        add_delta(
            sweep, compute_begin, 0,
            (int32_t)yk_number_min(comm_begin - 1, compute_begin <= compute_end ? all : comm_end),
            lifetime->bytes);
    }
    if (compute_end >= 0 && compute_end < NEVER) {
        add_delta(sweep, compute_end + 1, first > comm_end + 1 ? first : comm_end + 1, all,
                  -lifetime->bytes);
    }
}

static yk_status find_deltas(struct yk_memory_sweep *sweep)
{
    const struct yk_program_memory *memory = sweep->memory;
    YK_TRY_NEW(sweep->arena, sweep->deltas,
               (int64_t)DELTAS * (ROUNDS + 1) * memory->lifetime_count + 1);
    YK_TRY_NEW(sweep->arena, sweep->deltas_at, yk_memory_sweep_middle_end_compute_point(sweep) + 1);
    yk_number_fill_int32_array(sweep->deltas_at,
                               yk_memory_sweep_middle_end_compute_point(sweep) + 1, -1);
    for (int32_t i = 0; i < memory->lifetime_count; i++) {
        /* A buffer that ends in the first iteration may have begun in the one before. */
        for (int32_t round = -memory->lifetimes[i].lag_iterations;
             round < ROUNDS && memory->lifetimes[i].bytes > 0; round++) {
            add_lifetime(sweep, &memory->lifetimes[i], round);
        }
    }
    for (int32_t kind = 0; kind < YK_MEMORY_KIND_COUNT; kind++) {
        sweep->always_bytes += memory->permanent_bytes[kind];
    }
    return YK_OK;
}

static yk_status start(struct yk_memory_sweep *sweep)
{
    YK_TRY(yk_op_lane_lists_make(sweep->list, sweep->arena, &sweep->lanes));
    YK_TRY(find_waits(sweep, YK_LANE_COMPUTE, YK_LANE_COMM, &sweep->min_comm));
    YK_TRY(find_waits(sweep, YK_LANE_COMM, YK_LANE_COMPUTE, &sweep->min_compute));
    YK_TRY(find_deltas(sweep));
    sweep->width = 1;
    while (sweep->width < points_of(sweep, YK_LANE_COMM)) {
        sweep->width *= 2;
    }
    YK_TRY_NEW(sweep->arena, sweep->added, (int64_t)2 * sweep->width);
    YK_TRY_NEW(sweep->arena, sweep->largest, (int64_t)2 * sweep->width);
    return YK_OK;
}

yk_status yk_memory_sweep_create(const struct yk_op_list *list,
                                 const struct yk_program_memory *memory,
                                 struct yk_memory_sweep **out)
{
    struct yk_memory_sweep *sweep = NULL;
    YK_TRY_NEW_WITH_OWN_ARENA(sweep);
    sweep->list = list;
    sweep->memory = memory;
    sweep->point = -1;
    YK_TRY_OR_CLEAN_UP(start(sweep), yk_memory_sweep_destroy(sweep));
    *out = sweep;
    return YK_OK;
}

void yk_memory_sweep_destroy(struct yk_memory_sweep *sweep)
{
    if (sweep) {
        yk_arena_destroy(sweep->arena);
    }
}

int32_t yk_memory_sweep_middle_begin_compute_point(const struct yk_memory_sweep *sweep)
{
    return 2 * MIDDLE * sweep->lanes.count[YK_LANE_COMPUTE];
}

int32_t yk_memory_sweep_middle_end_compute_point(const struct yk_memory_sweep *sweep)
{
    return 2 * (MIDDLE + 1) * sweep->lanes.count[YK_LANE_COMPUTE];
}

/* Adds to the leaves of a range, below a node that covers `low` to `high`. */
static void add_range(struct yk_memory_sweep *sweep, int32_t node, int32_t low, int32_t high,
                      const struct delta *delta)
{
    if (delta->last < low || delta->first > high) {
        return;
    }
    if (delta->first <= low && high <= delta->last) {
        sweep->added[node] += delta->bytes;
        sweep->largest[node] += delta->bytes;
        return;
    }
    const int32_t half = low + (high - low) / 2;
    const int32_t left = 2 * node;
    add_range(sweep, left, low, half, delta);
    add_range(sweep, left + 1, half + 1, high, delta);
    sweep->largest[node] =
        fmax(sweep->largest[left], sweep->largest[left + 1]) + sweep->added[node];
}

void yk_memory_sweep_advance_compute(struct yk_memory_sweep *sweep, int32_t point)
{
    while (sweep->point < point) {
        int32_t number = sweep->deltas_at[++sweep->point];
        for (; number >= 0; number = sweep->deltas[number].next) {
            add_range(sweep, 1, 0, sweep->width - 1, &sweep->deltas[number]);
        }
    }
    const int32_t started = (point + 1) / 2; /* ops before this have started */
    const int32_t ended = point / 2;
    for (; sweep->started < started; sweep->started++) {
        const int32_t bound = sweep->min_comm[sweep->started];
        sweep->first = bound > sweep->first ? bound : sweep->first;
    }
    while (sweep->unblocked < ROUNDS * sweep->lanes.count[YK_LANE_COMM] &&
           sweep->min_compute[sweep->unblocked] <= 2 * ended) {
        sweep->unblocked++;
    }
    sweep->last = 2 * sweep->unblocked;
}

void yk_memory_sweep_possible_comm_range(const struct yk_memory_sweep *sweep, int32_t *first,
                                         int32_t *last)
{
    *first = sweep->first;
    /* If the list waits for itself, no point is possible. */
    *last = sweep->last > sweep->first ? sweep->last : sweep->first;
}

int32_t yk_memory_sweep_required_comm_point(const struct yk_memory_sweep *sweep)
{
    const int32_t next = sweep->point / 2;
    const bool any = next < ROUNDS * sweep->lanes.count[YK_LANE_COMPUTE];
    const int32_t bound = any ? sweep->min_comm[next] : 0;
    return bound > sweep->first ? bound : sweep->first;
}

/* The largest sum in a range below a node that has some of it. */
static double largest_below(const struct yk_memory_sweep *sweep, int32_t node, int32_t low,
                            int32_t high, int32_t first, int32_t last)
{
    if (first <= low && high <= last) {
        return sweep->largest[node];
    }
    const int32_t half = low + (high - low) / 2;
    double largest = -INFINITY;
    if (first <= half) {
        largest = largest_below(sweep, 2 * node, low, half, first, last);
    }
    if (last > half) {
        largest = fmax(largest, largest_below(sweep, 2 * node + 1, half + 1, high, first, last));
    }
    return largest + sweep->added[node];
}

double yk_memory_sweep_max_bytes_in_comm_range(const struct yk_memory_sweep *sweep, int32_t first,
                                               int32_t last)
{
    return sweep->always_bytes + largest_below(sweep, 1, 0, sweep->width - 1, first, last);
}

int32_t yk_memory_sweep_comm_point_of_max_bytes(const struct yk_memory_sweep *sweep, int32_t first,
                                                int32_t last)
{
    while (first < last) {
        const int32_t half = first + (last - first) / 2;
        if (yk_memory_sweep_max_bytes_in_comm_range(sweep, first, half) >=
            yk_memory_sweep_max_bytes_in_comm_range(sweep, half + 1, last)) {
            last = half;
        } else {
            first = half + 1;
        }
    }
    return first;
}

bool yk_memory_sweep_shrink_range_to_limit(const struct yk_memory_sweep *sweep, double limit,
                                           int32_t point, int32_t *first, int32_t *last)
{
    int32_t low = point;
    int32_t high = point;
    if (yk_memory_sweep_max_bytes_in_comm_range(sweep, point, point) > limit) {
        return false;
    }
    while (low > *first &&
           yk_memory_sweep_max_bytes_in_comm_range(sweep, low - 1, low - 1) <= limit) {
        low--;
    }
    while (high < *last &&
           yk_memory_sweep_max_bytes_in_comm_range(sweep, high + 1, high + 1) <= limit) {
        high++;
    }
    *first = low;
    *last = high;
    return true;
}

int32_t yk_memory_sweep_op_at_point(const struct yk_memory_sweep *sweep, enum yk_lane lane,
                                    int32_t point, int32_t *round)
{
    const int32_t number = point / 2;
    if (number >= ROUNDS * sweep->lanes.count[lane]) {
        *round = ROUNDS;
        return -1;
    }
    *round = number / sweep->lanes.count[lane];
    return sweep->lanes.ops[lane][number % sweep->lanes.count[lane]];
}

int32_t yk_memory_sweep_comm_point_after_op(const struct yk_memory_sweep *sweep, int32_t op)
{
    return 2 * (MIDDLE * sweep->lanes.count[YK_LANE_COMM] +
                yk_op_lane_lists_count_before(&sweep->lanes, YK_LANE_COMM, op));
}

/* Raises the bound of an op in all iterations. */
static void raise_all(int32_t *bounds, int32_t count, int32_t other_count, int32_t point,
                      int32_t other)
{
    for (int32_t round = 0; round < ROUNDS && count > 0; round++) {
        const int32_t shift = round - point / 2 / count;
        const int32_t moved = other + 2 * shift * other_count;
        int32_t *bound = &bounds[point / 2 + shift * count];
        *bound = moved > *bound ? moved : *bound;
    }
}

void yk_memory_sweep_add_compute_wait(struct yk_memory_sweep *sweep, int32_t point, int32_t other)
{
    raise_all(sweep->min_comm, sweep->lanes.count[YK_LANE_COMPUTE],
              sweep->lanes.count[YK_LANE_COMM], point, other);
    sweep->first = other > sweep->first ? other : sweep->first;
}

void yk_memory_sweep_add_comm_wait(struct yk_memory_sweep *sweep, int32_t point, int32_t other)
{
    raise_all(sweep->min_compute, sweep->lanes.count[YK_LANE_COMM],
              sweep->lanes.count[YK_LANE_COMPUTE], point, other);
    if (sweep->unblocked > point / 2) {
        sweep->unblocked = point / 2;
        sweep->last = 2 * sweep->unblocked;
    }
}

/* True if a lane has reached an op: `part` 0 is before it, 1 while it runs, 2 after it. */
static bool is_past(const struct yk_memory_sweep *sweep, int32_t op, int32_t round,
                    const int32_t *points, int32_t part)
{
    return points[sweep->list->ops[op].lane] >= 2 * number_of(sweep, op, round) + part;
}

static bool is_alive(const struct yk_memory_sweep *sweep, const struct yk_buffer_lifetime *lifetime,
                     int32_t round, const int32_t *points)
{
    const int32_t until = round + lifetime->lag_iterations;
    bool begun = false;
    bool over = until < ROUNDS;
    for (int lane = 0; lane < YK_BUFFER_LIFETIME_LANES; lane++) {
        const int32_t begin = lifetime->begin[lane];
        const int32_t end = lifetime->end[lane];
        begun = begun || (begin != YK_OP_NONE && is_past(sweep, begin, round, points, 1));
        over = over && (end == YK_OP_NONE || is_past(sweep, end, until, points, 2));
    }
    return begun && !over;
}

double yk_memory_sweep_bytes_of_kind(const struct yk_memory_sweep *sweep, enum yk_memory_kind kind,
                                     int32_t compute_point, int32_t comm_point)
{
    const int32_t points[YK_LANE_COUNT] = {
        [YK_LANE_COMPUTE] = compute_point,
        [YK_LANE_COMM] = comm_point,
    };
    double bytes = sweep->memory->permanent_bytes[kind];
    for (int32_t i = 0; i < sweep->memory->lifetime_count; i++) {
        const struct yk_buffer_lifetime *lifetime = &sweep->memory->lifetimes[i];
        for (int32_t round = -lifetime->lag_iterations; lifetime->memory == kind && round < ROUNDS;
             round++) {
            bytes += is_alive(sweep, lifetime, round, points) ? lifetime->bytes : 0;
        }
    }
    return bytes;
}
