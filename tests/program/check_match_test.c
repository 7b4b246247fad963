#include "support/programs/broken_program.h"
#include "support/support.h"

static void swap_gathers(struct yk_program *program)
{
    edit_move(program, 1, 0, 1);
}

static void change_bytes(struct yk_program *program)
{
    broken_get(program, YK_OP_REDUCE_SCATTER, SMALL_LAYER_1)->bytes++;
}

static void change_the_message(struct yk_program *program)
{
    broken_get(program, YK_OP_SEND, SMALL_LAYER_1)->bytes++;
}

static void leave_out_one_side(struct yk_program *program)
{
    edit_remove(program, 1, edit_find(program, 1, YK_OP_ALL_GATHER, SMALL_NORM, 0, 0));
}

static void leave_out_the_send(struct yk_program *program)
{
    edit_remove(program, 0, broken_find(program, YK_OP_SEND, SMALL_LAYER_1));
}

static void leave_out_the_receive(struct yk_program *program)
{
    edit_remove(program, 1, edit_find(program, 1, YK_OP_RECV, SMALL_LAYER_1, 0, 0));
}

static void match_another(struct yk_program *program)
{
    broken_get(program, YK_OP_ALL_GATHER, SMALL_NORM)->match =
        broken_get(program, YK_OP_REDUCE_SCATTER, SMALL_NORM)->match;
}

static void match_another_layer(struct yk_program *program)
{
    const int32_t norm = broken_get(program, YK_OP_ALL_GATHER, SMALL_NORM)->match;
    broken_get(program, YK_OP_ALL_GATHER, SMALL_NORM)->match =
        broken_get(program, YK_OP_ALL_GATHER, SMALL_HEAD)->match;
    broken_get(program, YK_OP_ALL_GATHER, SMALL_HEAD)->match = norm;
}

static void match_the_wrong_way(struct yk_program *program)
{
    broken_get(program, YK_OP_SEND, SMALL_LAYER_1)->kind = YK_OP_RECV;
}

static void ranks_communicate_with_each_other(void **state)
{
    (void)state;
    static const struct broken_case cases[] = {
        {&broken_sharded, swap_gathers,
         "collective: all_gather layer 0 on gpu1 comes earlier than on gpu0"},
        {&broken_sharded, change_bytes,
         "matched: reduce_scatter layer 1 on gpu1 has other bytes than reduce_scatter layer 1 on "
         "gpu0"},
        {&broken_staged, change_the_message,
         "matched: send layer 1 on gpu0 has other bytes than recv layer 1 on gpu1"},
        {&broken_sharded, leave_out_one_side,
         "matched: all_gather norm on gpu0 is done by 1 of 2 ranks"},
        {&broken_staged, leave_out_the_send, "matched: recv layer 1 on gpu1 has no send on gpu0"},
        {&broken_staged, leave_out_the_receive,
         "matched: send layer 1 on gpu0 has no recv on gpu1"},
        {&broken_sharded, match_another,
         "matched: all_gather norm on gpu1 is done by 1 of 2 ranks"},
        {&broken_sharded, match_another_layer,
         "matched: all_gather norm on gpu1 has the match of all_gather head on gpu0"},
        {&broken_staged, match_the_wrong_way,
         "matched: recv layer 1 on gpu0 has the match of recv layer 1 on gpu1"},
    };
    assert_all_refused(cases);
}

static void wait_for_itself(struct yk_program *program)
{
    edit_add_wait(program, 0, 3, 3, 0);
}

static void wait_for_a_later_one(struct yk_program *program)
{
    edit_add_wait(program, 0, 3, broken_find(program, YK_OP_FORWARD, SMALL_HEAD), 0);
}

/* The first rank wants the gradient before it sends the output that the gradient is of. */
static void receive_before_sending(struct yk_program *program)
{
    const int32_t recv = broken_find(program, YK_OP_RECV, SMALL_LAYER_1);
    edit_drop_wait(program, 0, recv, -1);
    edit_move(program, 0, recv, broken_find(program, YK_OP_SEND, SMALL_LAYER_1));
}

/* Each rank has the two messages in another order: the agreement belongs to no group. */
static void agree_before_a_message(struct yk_program *program)
{
    const int32_t agree = edit_find(program, 0, YK_OP_AGREE, YK_LAYER_NONE, 0, 0);
    edit_drop_wait(program, 0, agree, -1);
    edit_move(program, 0, agree, broken_find(program, YK_OP_REDUCE_SCATTER, SMALL_EMBED));
}

static void nothing_waits_on_itself(void **state)
{
    (void)state;
    static const struct broken_case cases[] = {
        {&broken_sharded, wait_for_itself, "acyclic: forward embed on gpu0 waits for itself"},
        {&broken_sharded, wait_for_a_later_one,
         "acyclic: forward embed on gpu0 waits for forward head, which comes after it in the list"},
        {&broken_staged, receive_before_sending,
         "acyclic: recv layer 1 on gpu1 waits for recv layer 1 gradient on gpu0, which waits for "
         "it in turn"},
        {&broken_agreeing, agree_before_a_message,
         "acyclic: reduce_scatter embed on gpu1 waits for agree on gpu0, which waits for it in "
         "turn"},
    };
    assert_all_refused(cases);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_communicate_with_each_other),
        cmocka_unit_test(nothing_waits_on_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
