#include "support/programs/broken_program.h"
#include "support/support.h"

static void leave_out_the_scatter(struct yk_program *program)
{
    broken_remove_everywhere(program, YK_OP_REDUCE_SCATTER, SMALL_NORM);
}

/* All of the layer's messages are of both of its two blocks. */
static void cut_in_two(struct yk_program *program, int32_t layer)
{
    program->layers[layer].block_count = 2;
    for (int32_t r = 0; r < program->rank_count; r++) {
        for (int32_t i = 0; i < program->ranks[r].op_count; i++) {
            struct yk_op *op = &program->ranks[r].ops[i];
            if (op->layer == layer && op->block_count == 1) {
                op->block_count = 2;
            }
        }
    }
}

static void scatter_half(struct yk_program *program)
{
    cut_in_two(program, SMALL_LAYER_0);
    for (int32_t r = 0; r < 2; r++) {
        program->ranks[r]
            .ops[edit_find(program, r, YK_OP_REDUCE_SCATTER, SMALL_LAYER_0, 0, 0)]
            .block_count = 1;
    }
}

static void scatter_twice(struct yk_program *program)
{
    cut_in_two(program, SMALL_LAYER_0);
    for (int32_t r = 0; r < 2; r++) {
        const int32_t scatter = edit_find(program, r, YK_OP_REDUCE_SCATTER, SMALL_LAYER_0, 0, 0);
        struct yk_op *op = edit_double(program, r, scatter, scatter + 1);
        op->first_block = 1;
        op->block_count = 1;
        op->match = program->match_count;
    }
    program->match_count++;
}

static void scatter_in_the_first_micro_batch(struct yk_program *program)
{
    for (int32_t r = 0; r < 2; r++) {
        program->ranks[r]
            .ops[edit_find(program, r, YK_OP_REDUCE_SCATTER, SMALL_NORM, 1, 0)]
            .micro_batch = 0;
    }
}

static void reduce_in_the_first_micro_batch(struct yk_program *program)
{
    for (int32_t r = 0; r < 2; r++) {
        program->ranks[r]
            .ops[edit_find(program, r, YK_OP_ALL_REDUCE, SMALL_NORM, 1, 0)]
            .micro_batch = 0;
    }
}

static void leave_out_the_reduction(struct yk_program *program)
{
    broken_remove_everywhere(program, YK_OP_ALL_REDUCE, SMALL_NORM);
}

static void reduce_twice(struct yk_program *program)
{
    for (int32_t r = 0; r < 2; r++) {
        const int32_t reduce = edit_find(program, r, YK_OP_ALL_REDUCE, SMALL_HEAD, 0, 0);
        edit_double(program, r, reduce, reduce + 1)->match = program->match_count;
    }
    program->match_count++;
}

static void scatter_what_is_frozen(struct yk_program *program)
{
    for (int32_t r = 0; r < 2; r++) {
        const int32_t scatter = edit_find(program, r, YK_OP_REDUCE_SCATTER, SMALL_LAYER_0, 0, 0);
        struct yk_op *op = edit_double(program, r, scatter, scatter);
        op->layer = SMALL_NORM;
        op->block_count = 1;
        op->match = program->match_count;
    }
    program->match_count++;
}

static void every_gradient_is_reduced_once(void **state)
{
    (void)state;
    static const struct broken_case cases[] = {
        {&broken_sharded, leave_out_the_scatter, "reduced: reduce_scatter norm on gpu0 is missing"},
        {&broken_sharded, scatter_half,
         "reduced: reduce_scatter layer 0 block 1 of 2 on gpu0 is missing"},
        {&broken_sharded, scatter_twice,
         "reduced: reduce_scatter layer 0 block 1 of 2 on gpu0 reduces block 1 again after "
         "reduce_scatter layer "
         "0"},
        {&broken_summed, scatter_in_the_first_micro_batch,
         "reduced: reduce_scatter norm #0 on gpu0 is not in the last micro-batch, under no_sync"},
        {&broken_summed_whole, reduce_in_the_first_micro_batch,
         "reduced: all_reduce norm #0 on gpu0 is not in the last micro-batch, under no_sync"},
        {&broken_replicated, leave_out_the_reduction,
         "reduced: all_reduce norm on gpu0 is missing"},
        {&broken_reduced_each, leave_out_the_reduction,
         "reduced: all_reduce norm #0 on gpu0 is missing"},
        {&broken_reduced_each, reduce_twice,
         "reduced: all_reduce head #0 on gpu0 reduces the bucket for the second time"},
        {&broken_replicated, reduce_twice,
         "reduced: all_reduce head on gpu0 reduces the bucket for the second time"},
        {&broken_adapted, scatter_what_is_frozen,
         "reduced: reduce_scatter norm on gpu0 has nothing to scatter"},
    };
    assert_all_refused(cases);
}

static void scatter_too_early(struct yk_program *program)
{
    broken_let_go(program, YK_OP_REDUCE_SCATTER, SMALL_HEAD);
}

static void reduce_too_early(struct yk_program *program)
{
    broken_let_go(program, YK_OP_ALL_REDUCE, SMALL_HEAD);
}

/* The embedding's gradient is complete when the head and the embedding itself have gone backward:
 * right after the head's backward it is not. */
static void scatter_what_others_add_to(struct yk_program *program)
{
    const int32_t scatter = broken_find(program, YK_OP_REDUCE_SCATTER, SMALL_EMBED);
    edit_drop_wait(program, 0, scatter, -1);
    edit_add_wait(program, 0, scatter, broken_find(program, YK_OP_BACKWARD, SMALL_HEAD), 0);
}

/* Under no_sync, of all micro-batches. */
static void scatter_before_the_last_micro_batch(struct yk_program *program)
{
    const int32_t scatter = edit_find(program, 0, YK_OP_REDUCE_SCATTER, SMALL_HEAD, 1, 0);
    edit_drop_wait(program, 0, scatter, -1);
    edit_add_wait(program, 0, scatter, broken_find(program, YK_OP_BACKWARD, SMALL_HEAD), 0);
}

static void update_too_early(struct yk_program *program)
{
    broken_let_go(program, YK_OP_UPDATE, SMALL_EMBED);
}

static void update_before_backward(struct yk_program *program)
{
    const int32_t update = broken_find(program, YK_OP_UPDATE, SMALL_EMBED);
    edit_drop_wait(program, 0, update, -1);
    edit_move(program, 0, update, broken_find(program, YK_OP_BACKWARD, SMALL_EMBED));
}

static void update_before_they_agree(struct yk_program *program)
{
    broken_let_go(program, YK_OP_UPDATE, SMALL_HEAD);
    edit_add_wait(program, 0, broken_find(program, YK_OP_UPDATE, SMALL_HEAD),
                  broken_find(program, YK_OP_REDUCE_SCATTER, SMALL_HEAD), 0);
}

static void agree_too_early(struct yk_program *program)
{
    for (int32_t r = 0; r < 2; r++) {
        edit_move(program, r, edit_find(program, r, YK_OP_AGREE, YK_LAYER_NONE, 0, 0),
                  edit_find(program, r, YK_OP_REDUCE_SCATTER, SMALL_EMBED, 0, 0));
        edit_add_wait(program, r, edit_find(program, r, YK_OP_UPDATE, SMALL_EMBED, 0, 0),
                      edit_find(program, r, YK_OP_REDUCE_SCATTER, SMALL_EMBED, 0, 0), 0);
    }
}

static void agree_before_backward(struct yk_program *program)
{
    broken_let_go(program, YK_OP_AGREE, YK_LAYER_NONE);
}

static void leave_out_the_agreement(struct yk_program *program)
{
    broken_remove_everywhere(program, YK_OP_AGREE, YK_LAYER_NONE);
}

static void leave_out_the_update(struct yk_program *program)
{
    edit_remove(program, 0, broken_find(program, YK_OP_UPDATE, SMALL_NORM));
}

static void update_what_is_frozen(struct yk_program *program)
{
    const int32_t update = broken_find(program, YK_OP_UPDATE, SMALL_LAYER_0);
    edit_double(program, 0, update, update)->layer = SMALL_NORM;
}

static void gather_before_the_update(struct yk_program *program)
{
    broken_let_go(program, YK_OP_ALL_GATHER, SMALL_NORM);
}

static void gather_of_the_round_before(struct yk_program *program)
{
    const int32_t gather = broken_find(program, YK_OP_ALL_GATHER, SMALL_EMBED);
    edit_drop_wait(program, 0, gather, -1);
    edit_add_wait(program, 0, gather, broken_find_second(program, YK_OP_RELEASE, SMALL_EMBED), 1);
}

static void use_before_the_refresh(struct yk_program *program)
{
    edit_drop_wait(program, 0, broken_find(program, YK_OP_FORWARD, SMALL_EMBED), 0);
}

static void update_after_the_next_use(struct yk_program *program)
{
    const int32_t update = broken_find(program, YK_OP_UPDATE, SMALL_EMBED);
    program->ranks[0].ops[update].step = -1;
    edit_drop_wait(program, 0, update, -1);
    edit_move(program, 0, update, broken_find(program, YK_OP_FORWARD, SMALL_EMBED) + 1);
    edit_add_wait(program, 0, broken_find(program, YK_OP_UPDATE, SMALL_EMBED),
                  broken_find(program, YK_OP_ALL_REDUCE, SMALL_EMBED), 1);
}

static void gradients_updates_and_uses_are_in_order(void **state)
{
    (void)state;
    static const struct broken_case cases[] = {
        {&broken_sharded, scatter_too_early,
         "ordered: reduce_scatter head on gpu0 could start before backward head has ended, but a "
         "gradient "
         "is reduced after its backward"},
        {&broken_replicated, reduce_too_early,
         "ordered: all_reduce head on gpu0 could start before backward head has ended, but a "
         "gradient "
         "is reduced after its backward"},
        {&broken_shared, scatter_what_others_add_to,
         "ordered: reduce_scatter embed on gpu0 could start before backward embed has ended, but a "
         "gradient is reduced after its backward"},
        {&broken_summed, scatter_before_the_last_micro_batch,
         "ordered: reduce_scatter head #1 on gpu0 could start before backward head #1 has ended, "
         "but a "
         "gradient is reduced after its backward"},
        {&broken_sharded, update_too_early,
         "ordered: update embed on gpu0 could start before reduce_scatter embed has ended, but "
         "parameters "
         "are updated after their gradient is complete"},
        {&broken_staged, update_before_backward,
         "ordered: update embed on gpu0 could start before backward embed has ended, but "
         "parameters are updated after their gradient is complete"},
        {&broken_agreeing, update_before_they_agree,
         "ordered: update head on gpu0 could start before agree has ended, but parameters are "
         "updated after the ranks agreed"},
        {&broken_agreeing, agree_too_early,
         "ordered: agree on gpu0 could start before reduce_scatter embed has ended, but ranks "
         "agree after "
         "all gradients are complete"},
        {&broken_alone, agree_before_backward,
         "ordered: agree on gpu0 could start before backward embed has ended, but ranks agree "
         "after all gradients are complete"},
        {&broken_agreeing, leave_out_the_agreement, "ordered: agree on gpu0 is missing"},
        {&broken_sharded, leave_out_the_update, "ordered: update norm on gpu0 is missing"},
        {&broken_adapted, update_what_is_frozen,
         "ordered: update norm on gpu0 has nothing to train"},
        {&broken_refreshed, gather_before_the_update,
         "ordered: all_gather norm on gpu0 could start before update norm has ended, but "
         "parameters "
         "are gathered after their update"},
        {&broken_sharded, gather_of_the_round_before,
         "ordered: all_gather embed on gpu0 could start before update embed of the round before "
         "has "
         "ended, but parameters are gathered after their update"},
        {&broken_refreshed, use_before_the_refresh,
         "resident: forward embed on gpu0 could start before all_gather embed of the round before "
         "has "
         "ended, but parameters are gathered before they are used"},
        {&broken_replicated, update_after_the_next_use,
         "ordered: forward embed on gpu0 could start before update embed has ended, but parameters "
         "are used after their update"},
    };
    assert_all_refused(cases);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_gradient_is_reduced_once),
        cmocka_unit_test(gradients_updates_and_uses_are_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
