#include "support/programs/broken_program.h"
#include "support/support.h"

static void leave_out_backward(struct yk_program *program)
{
    edit_remove(program, 0, broken_find(program, YK_OP_BACKWARD, SMALL_NORM));
}

static void do_forward_twice(struct yk_program *program)
{
    broken_get(program, YK_OP_BACKWARD, SMALL_NORM)->kind = YK_OP_FORWARD;
}

static void recompute_unasked(struct yk_program *program)
{
    broken_get(program, YK_OP_UPDATE, SMALL_NORM)->kind = YK_OP_RECOMPUTE;
    broken_get(program, YK_OP_RECOMPUTE, SMALL_NORM)->samples = 2;
}

static void do_not_wait_for_the_load(struct yk_program *program)
{
    for (int32_t l = SMALL_EMBED; l < SMALL_LAYERS; l++) {
        broken_let_go(program, YK_OP_FORWARD, l);
    }
}

static void load_other_samples(struct yk_program *program)
{
    broken_get(program, YK_OP_LOAD, YK_LAYER_NONE)->samples = 1;
}

static void go_forward_too_late(struct yk_program *program)
{
    edit_move(program, 0, broken_find(program, YK_OP_FORWARD, SMALL_EMBED),
              broken_find(program, YK_OP_FORWARD, SMALL_LAYER_0));
}

static void go_backward_too_early(struct yk_program *program)
{
    edit_move(program, 0, broken_find(program, YK_OP_BACKWARD, SMALL_NORM),
              broken_find(program, YK_OP_BACKWARD, SMALL_HEAD));
}

static void recompute_too_late(struct yk_program *program)
{
    edit_move(program, 0, broken_find(program, YK_OP_RECOMPUTE, SMALL_NORM),
              broken_find(program, YK_OP_BACKWARD, SMALL_NORM));
}

static void do_not_wait_for_the_output(struct yk_program *program)
{
    edit_drop_wait(program, 1, edit_find(program, 1, YK_OP_FORWARD, SMALL_NORM, 0, 0), 0);
}

static void do_not_wait_for_the_gradient(struct yk_program *program)
{
    broken_let_go(program, YK_OP_BACKWARD, SMALL_LAYER_1);
}

static void send_too_early(struct yk_program *program)
{
    broken_let_go(program, YK_OP_SEND, SMALL_LAYER_1);
}

static void send_the_gradient_too_early(struct yk_program *program)
{
    edit_drop_wait(program, 1, edit_find(program, 1, YK_OP_SEND, SMALL_LAYER_1, 0, 0), -1);
}

static void leave_out_the_message(struct yk_program *program)
{
    edit_remove(program, 0, broken_find(program, YK_OP_SEND, SMALL_LAYER_1));
    edit_remove(program, 1, edit_find(program, 1, YK_OP_RECV, SMALL_LAYER_1, 0, 0));
}

static void send_another_layer(struct yk_program *program)
{
    program->ranks[0].ops[broken_find(program, YK_OP_SEND, SMALL_LAYER_1)].layer = SMALL_LAYER_0;
    program->ranks[1].ops[edit_find(program, 1, YK_OP_RECV, SMALL_LAYER_1, 0, 0)].layer =
        SMALL_LAYER_0;
}

static void passes_come_after_what_they_need(void **state)
{
    (void)state;
    static const struct broken_case cases[] = {
        {&broken_sharded, leave_out_backward, "passes: backward norm on gpu0 is missing"},
        {&broken_sharded, do_forward_twice, "passes: forward norm on gpu0 is there twice"},
        {&broken_sharded, recompute_unasked, "passes: recompute norm on gpu0 is not asked for"},
        {&broken_replicated, do_not_wait_for_the_load,
         "passes: forward embed on gpu0 could start before load has ended, but a layer goes "
         "forward after all that it takes is there"},
        {&broken_replicated, load_other_samples,
         "passes: forward embed on gpu0 takes 2 samples that no load brings"},
        {&broken_replicated, go_forward_too_late,
         "passes: forward layer 0 on gpu0 could start before forward embed has ended, but a layer "
         "goes forward after all that it takes is there"},
        {&broken_replicated, go_backward_too_early,
         "passes: backward norm on gpu0 could start before backward head has ended, but a layer "
         "goes backward after all that took its output"},
        {&broken_recomputed, recompute_too_late,
         "passes: backward norm on gpu0 could start before recompute norm has ended, but forward "
         "comes first, then recompute, then backward"},
        {&broken_staged, do_not_wait_for_the_output,
         "passes: forward norm on gpu1 could start before recv layer 1 has ended, but a layer goes "
         "forward after all that it takes is there"},
        {&broken_staged, do_not_wait_for_the_gradient,
         "passes: backward layer 1 on gpu0 could start before recv layer 1 gradient has ended, but "
         "a layer goes backward after all that took its output"},
        {&broken_staged, send_too_early,
         "passes: send layer 1 on gpu0 could start before forward layer 1 has ended, but what is "
         "sent is computed first"},
        {&broken_staged, send_the_gradient_too_early,
         "passes: send layer 1 gradient on gpu1 could start before backward norm has ended, but "
         "what is sent is computed first"},
        {&broken_staged, leave_out_the_message,
         "passes: send layer 1 on gpu0 is missing for 2 samples to gpu1"},
        {&broken_staged, send_another_layer,
         "passes: send layer 1 on gpu0 is missing for 2 samples to gpu1"},
    };
    assert_all_refused(cases);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(passes_come_after_what_they_need),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
