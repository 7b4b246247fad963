#include "support/programs/edit_program.h"

#include "support/support.h"

#include <stdlib.h>
#include <string.h>

enum {
    SPARE_WAITS = 256,
    SPARE_OPS = 16,
};

static void *copy_of(struct yk_arena *arena, const void *from, int64_t count, int64_t spare,
                     size_t size)
{
    void *copy = yk_arena_allocate(arena, (size_t)(count + spare), size);
    assert_non_null(copy);
    if (count > 0) {
        memcpy(copy, from, (size_t)count * size);
    }
    return copy;
}

struct yk_program *edit_copy(const struct yk_program *program)
{
    struct yk_arena *arena = NULL;
    assert_ok(yk_arena_create(&arena));
    struct yk_program *copy = copy_of(arena, program, 1, 0, sizeof *copy);
    copy->arena = arena;
    copy->ranks = copy_of(copy->arena, program->ranks, program->rank_count, 0, sizeof *copy->ranks);
    copy->layers =
        copy_of(copy->arena, program->layers, program->plan->layer_count, 0, sizeof *copy->layers);
    copy->buckets =
        copy_of(copy->arena, program->buckets, program->bucket_count, 0, sizeof *copy->buckets);
    for (int32_t b = 0; b < program->bucket_count; b++) {
        struct yk_gradient_bucket *bucket = &copy->buckets[b];
        bucket->layers =
            copy_of(copy->arena, bucket->layers, bucket->layer_count, 0, sizeof *bucket->layers);
    }
    for (int32_t r = 0; r < program->rank_count; r++) {
        const struct yk_op_list *from = &program->ranks[r];
        struct yk_op_list *list = &copy->ranks[r];
        list->ops = copy_of(copy->arena, from->ops, from->op_count, SPARE_OPS, sizeof *list->ops);
        list->waits =
            copy_of(copy->arena, from->waits, from->wait_count, SPARE_WAITS, sizeof *list->waits);
    }
    return copy;
}

int32_t edit_find(const struct yk_program *program, int32_t rank, enum yk_op_kind kind,
                  int32_t layer, int32_t micro_batch, int32_t from)
{
    const struct yk_op_list *list = &program->ranks[rank];
    int32_t i = from;
    while (i < list->op_count && (list->ops[i].kind != kind || list->ops[i].layer != layer ||
                                  list->ops[i].micro_batch != micro_batch)) {
        i++;
    }
    assert_true(i < list->op_count);
    return i;
}

/* Gives all waits for an op the number it has now; −1 takes them out. */
static void renumber(struct yk_op_list *list, const int32_t *numbers)
{
    for (int32_t i = 0; i < list->op_count; i++) {
        struct yk_op *op = &list->ops[i];
        int32_t kept = 0;
        for (int32_t w = 0; w < op->wait_count; w++) {
            struct yk_op_wait wait = list->waits[op->first_wait + w];
            wait.op = numbers[wait.op];
            if (wait.op >= 0) {
                list->waits[op->first_wait + kept++] = wait;
            }
        }
        op->wait_count = kept;
    }
}

void edit_move(struct yk_program *program, int32_t rank, int32_t op, int32_t to)
{
    struct yk_op_list *list = &program->ranks[rank];
    int32_t *numbers = calloc((size_t)list->op_count, sizeof *numbers);
    assert_non_null(numbers);
    for (int32_t i = 0; i < list->op_count; i++) {
        numbers[i] = i == op ? to : op < i && i <= to ? i - 1 : to <= i && i < op ? i + 1 : i;
    }
    const struct yk_op moved = list->ops[op];
    if (op < to) {
        memmove(&list->ops[op], &list->ops[op + 1], (size_t)(to - op) * sizeof moved);
    } else {
        memmove(&list->ops[to + 1], &list->ops[to], (size_t)(op - to) * sizeof moved);
    }
    list->ops[to] = moved;
    renumber(list, numbers);
    free(numbers);
}

struct yk_op *edit_double(struct yk_program *program, int32_t rank, int32_t op, int32_t to)
{
    struct yk_op_list *list = &program->ranks[rank];
    const int32_t last = list->op_count++;
    list->ops[last] = list->ops[op];
    list->ops[last].wait_count = 0;
    edit_move(program, rank, last, to);
    return &list->ops[to];
}

void edit_remove(struct yk_program *program, int32_t rank, int32_t op)
{
    struct yk_op_list *list = &program->ranks[rank];
    const int32_t last = list->op_count - 1;
    edit_move(program, rank, op, last);
    int32_t *numbers = calloc((size_t)list->op_count, sizeof *numbers);
    assert_non_null(numbers);
    for (int32_t i = 0; i < last; i++) {
        numbers[i] = i;
    }
    numbers[last] = -1;
    renumber(list, numbers);
    list->op_count--;
    free(numbers);
}

void edit_drop_wait(struct yk_program *program, int32_t rank, int32_t op, int32_t wait)
{
    struct yk_op_list *list = &program->ranks[rank];
    struct yk_op *waiting = &list->ops[op];
    if (wait < 0) {
        waiting->wait_count = 0;
        return;
    }
    waiting->wait_count--;
    list->waits[waiting->first_wait + wait] =
        list->waits[waiting->first_wait + waiting->wait_count];
}

void edit_add_wait(struct yk_program *program, int32_t rank, int32_t op, int32_t other, int32_t lag)
{
    struct yk_op_list *list = &program->ranks[rank];
    struct yk_op *waiting = &list->ops[op];
    const int32_t first = list->wait_count;
    for (int32_t w = 0; w < waiting->wait_count; w++) {
        list->waits[list->wait_count++] = list->waits[waiting->first_wait + w];
    }
    list->waits[list->wait_count++] = (struct yk_op_wait){other, lag};
    waiting->first_wait = first;
    waiting->wait_count++;
}
