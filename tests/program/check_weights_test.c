#include "support/programs/broken_program.h"
#include "support/support.h"

static void leave_out_the_gather(struct yk_program *program)
{
    broken_remove_everywhere(program, YK_OP_ALL_GATHER, SMALL_NORM);
}

static void leave_out_all_gathers(struct yk_program *program)
{
    for (int i = 0; i < 2; i++) {
        broken_remove_everywhere(program, YK_OP_ALL_GATHER, SMALL_NORM);
        broken_remove_everywhere(program, YK_OP_RELEASE, SMALL_NORM);
    }
}

static void do_not_wait_for_the_gather(struct yk_program *program)
{
    broken_let_go(program, YK_OP_FORWARD, SMALL_HEAD);
}

static void leave_out_the_releases(struct yk_program *program)
{
    for (int i = 0; i < 2; i++) {
        edit_remove(program, 0, broken_find(program, YK_OP_RELEASE, SMALL_NORM));
    }
}

static void release_too_early(struct yk_program *program)
{
    edit_move(program, 0, broken_find_second(program, YK_OP_RELEASE, SMALL_NORM),
              broken_find(program, YK_OP_BACKWARD, SMALL_NORM));
}

static void release_before_any_use(struct yk_program *program)
{
    edit_move(program, 0, broken_find(program, YK_OP_RELEASE, SMALL_NORM),
              broken_find(program, YK_OP_FORWARD, SMALL_NORM));
}

static void release_what_stays(struct yk_program *program)
{
    const int32_t update = broken_find(program, YK_OP_UPDATE, SMALL_NORM);
    edit_double(program, 0, update, update)->kind = YK_OP_RELEASE;
}

static void gather_what_stays(struct yk_program *program)
{
    for (int32_t r = 0; r < 2; r++) {
        const int32_t reduce = edit_find(program, r, YK_OP_ALL_REDUCE, SMALL_NORM, 0, 0);
        struct yk_op *op = edit_double(program, r, reduce, reduce);
        op->kind = YK_OP_ALL_GATHER;
        op->block_count = 1;
        op->match = program->match_count;
    }
    program->match_count++;
}

static void do_not_wait_for_the_release(struct yk_program *program)
{
    edit_drop_wait(program, 0, broken_find_second(program, YK_OP_ALL_GATHER, SMALL_HEAD), -1);
}

static void gather_for_the_next_step(struct yk_program *program)
{
    for (int32_t r = 0; r < 2; r++) {
        program->ranks[r].ops[edit_find(program, r, YK_OP_ALL_GATHER, SMALL_NORM, 0, 0)].step = 1;
    }
}

static void release_for_the_step_before(struct yk_program *program)
{
    broken_get(program, YK_OP_RELEASE, SMALL_NORM)->step = -1;
}

static void keep_from_step_to_step(struct yk_program *program)
{
    for (int32_t r = 0; r < 2; r++) {
        edit_move(program, r, edit_find(program, r, YK_OP_RELEASE, SMALL_NORM, 0, 0),
                  edit_find(program, r, YK_OP_BACKWARD, SMALL_NORM, 0, 0) - 1);
        edit_remove(program, r,
                    edit_find(program, r, YK_OP_RELEASE, SMALL_NORM, 0,
                              edit_find(program, r, YK_OP_BACKWARD, SMALL_NORM, 0, 0)));
        edit_remove(program, r, edit_find(program, r, YK_OP_ALL_GATHER, SMALL_NORM, 0, 0));
    }
}

static void weights_are_there_when_they_are_used(void **state)
{
    (void)state;
    static const struct broken_case cases[] = {
        {&broken_sharded, leave_out_the_gather,
         "resident: forward norm on gpu0 uses norm, but no gather brings block 0"},
        {&broken_sharded, leave_out_all_gathers,
         "resident: forward norm on gpu0 uses parameters that are not gathered"},
        {&broken_sharded, do_not_wait_for_the_gather,
         "resident: forward head on gpu0 could start before all_gather head has ended, but "
         "parameters "
         "are gathered before they are used"},
        {&broken_sharded, leave_out_the_releases,
         "resident: all_gather norm on gpu0 is never followed by a release"},
        {&broken_sharded, release_too_early,
         "resident: forward norm on gpu0 uses parameters that were gathered before their update"},
        {&broken_sharded, release_before_any_use,
         "resident: release norm on gpu0 drops parameters that nothing has used"},
        {&broken_sharded, do_not_wait_for_the_release,
         "resident: all_gather head on gpu0 brings block 0 again after all_gather head, with no "
         "release "
         "known in between"},
        {&broken_sharded, gather_for_the_next_step,
         "resident: all_gather norm on gpu0 is for another step than what uses it"},
        {&broken_sharded, release_for_the_step_before,
         "resident: release norm on gpu0 is for another step than what it drops"},
        {&broken_replicated, release_what_stays,
         "resident: release norm on gpu0 drops parameters that stay"},
        {&broken_replicated, gather_what_stays,
         "resident: all_gather norm on gpu0 brings parameters that are there"},
        {&broken_sharded, keep_from_step_to_step,
         "resident: forward norm on gpu0 uses parameters that were gathered before their update"},
    };
    assert_all_refused(cases);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_are_there_when_they_are_used),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
