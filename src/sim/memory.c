#include "sim/sim_full_result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* An allocation (bytes > 0) or a deallocation (bytes < 0). */
struct delta {
    double at_s;
    double bytes;
    enum yk_memory_kind kind;
    int32_t number; /* to sort equal times in the order of discovery */
};

struct deltas {
    struct delta *items;
    int32_t count;
    double resident[YK_MEMORY_KIND_COUNT]; /* at time 0 */
};

static int by_time(const void *left, const void *right)
{
    const struct delta *a = left;
    const struct delta *b = right;
    if (a->at_s != b->at_s) {
        return a->at_s < b->at_s ? -1 : 1;
    }
    return (a->number > b->number) - (a->number < b->number);
}

static void add_delta(struct deltas *deltas, enum yk_memory_kind kind, double at_s, double bytes)
{
    deltas->items[deltas->count] = (struct delta){at_s, bytes, kind, deltas->count};
    deltas->count++;
}

/* The start of the first begin op of a buffer. */
static double begin_s(const struct yk_sim_iteration *iteration, int32_t first_op,
                      const struct yk_buffer_lifetime *lifetime)
{
    double first_s = INFINITY;
    for (int lane = 0; lane < YK_BUFFER_LIFETIME_LANES; lane++) {
        const int32_t op = lifetime->begin[lane];
        first_s = op == YK_OP_NONE ? first_s : fmin(first_s, iteration->start_s[first_op + op]);
    }
    return first_s;
}

/* The end of the last end op of a buffer. */
static double end_s(const struct yk_sim_iteration *iteration, int32_t first_op,
                    const struct yk_buffer_lifetime *lifetime)
{
    double last_s = -INFINITY;
    for (int lane = 0; lane < YK_BUFFER_LIFETIME_LANES; lane++) {
        const int32_t op = lifetime->end[lane];
        last_s = op == YK_OP_NONE ? last_s : fmax(last_s, iteration->end_s[first_op + op]);
    }
    return last_s;
}

/* Adds a buffer that begins in iteration `number`, as far as it lives in the reported iteration. */
static void add_lifetime(const struct yk_sim_full_result *internal, int32_t first_op,
                         const struct yk_buffer_lifetime *lifetime, int32_t number,
                         struct deltas *deltas)
{
    const struct yk_sim_iterations *iterations = internal->iterations;
    const double step_s = internal->sim.step_s;
    const double from_s = begin_s(&iterations->iterations[number], first_op, lifetime);
    double until_s = step_s; /* if its end was not simulated */
    if (number + lifetime->lag_iterations < iterations->count) {
        until_s =
            end_s(&iterations->iterations[number + lifetime->lag_iterations], first_op, lifetime);
    }
    /* Ignores buffers that are held for no time or outside the reported iteration. */
    if (from_s >= step_s || until_s <= 0 || until_s <= from_s) {
        return;
    }
    if (from_s > 0) {
        add_delta(deltas, lifetime->memory, from_s, lifetime->bytes);
    } else {
        deltas->resident[lifetime->memory] += lifetime->bytes;
    }
    if (until_s < step_s) {
        add_delta(deltas, lifetime->memory, until_s, -lifetime->bytes);
    }
}

static yk_status find_deltas(const struct yk_sim_full_result *internal, int32_t rank_class,
                             struct yk_arena *arena, struct deltas *out)
{
    const struct yk_program_memory *memory = internal->memories[rank_class];
    const int32_t first_op = internal->iterations->first_op[rank_class];
    struct deltas deltas = {0};
    memcpy(deltas.resident, memory->permanent_bytes, sizeof deltas.resident);
    YK_TRY_NEW(arena, deltas.items,
               2 * (int64_t)memory->lifetime_count * internal->iterations->count);
    for (int32_t number = 0; number < internal->iterations->count; number++) {
        for (int32_t i = 0; i < memory->lifetime_count; i++) {
            if (memory->lifetimes[i].bytes <= 0) {
                continue;
            }
            add_lifetime(internal, first_op, &memory->lifetimes[i], number, &deltas);
        }
    }
    qsort(deltas.items, (size_t)deltas.count, sizeof *deltas.items, by_time);
    *out = deltas;
    return YK_OK;
}

yk_status yk_sim_compute_memory_over_time(const struct yk_sim_result *sim, int32_t rank,
                                          struct yk_arena *arena,
                                          struct yk_memory_timeline_point **out, int32_t *out_count)
{
    const struct yk_sim_full_result *internal = yk_sim_full_result_of(sim);
    struct deltas deltas;
    struct yk_memory_timeline_point *points = NULL;
    int32_t count = 1;
    YK_TRY(find_deltas(internal, internal->classes.of_rank[rank], arena, &deltas));
    YK_TRY_NEW(arena, points, deltas.count + 1);
    memcpy(points[0].bytes, deltas.resident, sizeof deltas.resident);
    for (int32_t i = 0; i < deltas.count; i++) {
        const struct delta *delta = &deltas.items[i];
        if (delta->at_s > points[count - 1].at_s) {
            points[count] = points[count - 1];
            points[count].at_s = delta->at_s;
            count++;
        }
        points[count - 1].bytes[delta->kind] += delta->bytes;
    }
    *out = points;
    *out_count = count;
    return YK_OK;
}
