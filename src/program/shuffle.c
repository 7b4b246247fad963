#include "program/shuffle.h"

#include "program/check/check.h"
#include "program/draw.h"

#include <stdlib.h>
#include <string.h>

/* Wild ones first: where memory is short only tame ones may fit. The last one is the program as it
 * was, but for what ranks do side by side. */
static const struct yk_draw_mood moods[] = {
    {.spread = 1, .kept_waits = 0, .steps = true},
    {.spread = 0.2, .kept_waits = 0.5, .steps = true},
    {.spread = 0.05, .kept_waits = 1, .steps = true},
    {.spread = 0.02, .kept_waits = 1, .steps = false},
    {.spread = 0, .kept_waits = 1, .steps = false},
};

static yk_status copy_frame(const struct yk_program *program, struct yk_program *copy)
{
    const int32_t L = program->plan->layer_count;
    YK_TRY(yk_arena_create(&copy->arena));
    YK_TRY_NEW(copy->arena, copy->layers, L);
    YK_TRY_NEW(copy->arena, copy->buckets, program->bucket_count);
    memcpy(copy->layers, program->layers, (size_t)L * sizeof *copy->layers);
    for (int32_t b = 0; b < program->bucket_count; b++) {
        struct yk_bucket *bucket = &copy->buckets[b];
        *bucket = program->buckets[b];
        YK_TRY_NEW(copy->arena, bucket->layers, bucket->layer_count);
        memcpy(bucket->layers, program->buckets[b].layers,
               (size_t)bucket->layer_count * sizeof *bucket->layers);
    }
    return YK_OK;
}

/* The same, without lists. */
static yk_status make_frame(const struct yk_program *program, struct yk_program **out)
{
    struct yk_program *copy = calloc(1, sizeof *copy);
    if (!copy) {
        return yk_fail_out_of_memory();
    }
    *copy = *program;
    copy->arena = NULL;
    copy->ranks = NULL;
    const yk_status status = copy_frame(program, copy);
    if (status != YK_OK) {
        yk_program_destroy(copy);
        return status;
    }
    *out = copy;
    return YK_OK;
}

static yk_status copy_lists(const struct yk_program *program, struct yk_program *copy)
{
    YK_TRY_NEW(copy->arena, copy->ranks, copy->rank_count);
    for (int32_t r = 0; r < program->rank_count; r++) {
        const struct yk_program_rank *from = &program->ranks[r];
        struct yk_program_rank *list = &copy->ranks[r];
        *list = *from;
        YK_TRY_NEW(copy->arena, list->ops, from->op_count);
        YK_TRY_NEW(copy->arena, list->waits, from->wait_count);
        memcpy(list->ops, from->ops, (size_t)from->op_count * sizeof *list->ops);
        memcpy(list->waits, from->waits, (size_t)from->wait_count * sizeof *list->waits);
    }
    return YK_OK;
}

static yk_status attempt(struct yk_draw *draw, const struct yk_draw_mood *mood,
                         struct yk_program *program)
{
    yk_draw_steps(draw, mood);
    YK_TRY(yk_draw_order(draw));
    return yk_draw_lists(draw, mood, program);
}

/* `*out` stays NULL when what was drawn does not fit. */
static yk_status try_mood(struct yk_draw *draw, const struct yk_draw_mood *mood,
                          struct yk_program **out)
{
    struct yk_program *program = NULL;
    YK_TRY(make_frame(draw->program, &program));
    yk_status status = attempt(draw, mood, program);
    if (status == YK_OK && yk_program_check(program) == YK_OK) {
        *out = program;
        return YK_OK;
    }
    yk_program_destroy(program);
    return status;
}

static yk_status shuffle(struct yk_draw *draw, struct yk_program **out)
{
    for (size_t i = 0; i < sizeof moods / sizeof moods[0]; i++) {
        struct yk_program *program = NULL;
        YK_TRY(try_mood(draw, &moods[i], &program));
        if (program) {
            *out = program;
            return YK_OK;
        }
    }
    struct yk_program *same = NULL;
    YK_TRY(make_frame(draw->program, &same));
    const yk_status status = copy_lists(draw->program, same);
    if (status != YK_OK) {
        yk_program_destroy(same);
        return status;
    }
    *out = same;
    return YK_OK;
}

yk_status yk_program_shuffle(const struct yk_program *program, uint64_t seed,
                             struct yk_program **out)
{
    struct yk_arena *arena = NULL;
    struct yk_draw draw = {0};
    YK_TRY(yk_program_check(program));
    YK_TRY(yk_arena_create(&arena));
    yk_status status = yk_draw_make(program, seed, arena, &draw);
    if (status == YK_OK) {
        status = shuffle(&draw, out);
    }
    yk_draw_free(&draw);
    yk_arena_destroy(arena);
    return status;
}
