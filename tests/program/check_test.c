#include "program/program.h"

#include "base/units.h"
#include "program/memory/memory.h"
#include "support/programs/broken_program.h"
#include "support/support.h"

#include <stdio.h>

static const struct small_spec *const specs[] = {
    &broken_sharded,    &broken_agreeing, &broken_refreshed, &broken_replicated,
    &broken_alone,      &broken_shared,   &broken_summed,    &broken_summed_whole,
    &broken_recomputed, &broken_adapted,  &broken_staged,    &broken_both};

static void compiled_programs_pass(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++) {
        struct small_program small = small_program_make(specs[i]);
        assert_ok(yk_program_check(small.program));
        small_program_free(&small);
    }
}

static void give_it_another_lane(struct yk_program *program)
{
    broken_get(program, YK_OP_FORWARD, SMALL_LAYER_0)->lane = YK_LANE_COMM;
}

static void give_it_another_kind(struct yk_program *program)
{
    program->ranks[1].ops[3].kind = YK_OP_KIND_COUNT;
}

static void give_it_another_layer(struct yk_program *program)
{
    program->ranks[1].ops[3].layer = SMALL_LAYERS;
}

static void give_it_another_micro_batch(struct yk_program *program)
{
    program->ranks[1].ops[3].micro_batch = 1;
}

static void give_it_waits_past_the_end(struct yk_program *program)
{
    program->ranks[1].ops[3].wait_count = program->ranks[1].wait_count + 1;
}

static void give_it_another_step(struct yk_program *program)
{
    broken_get(program, YK_OP_BACKWARD, SMALL_HEAD)->step = -1;
}

static void give_it_more_samples(struct yk_program *program)
{
    broken_get(program, YK_OP_FORWARD, SMALL_LAYER_0)->samples++;
}

static void give_it_another_block(struct yk_program *program)
{
    broken_get(program, YK_OP_ALL_GATHER, SMALL_LAYER_0)->first_block = 1;
}

static void give_it_a_match(struct yk_program *program)
{
    broken_get(program, YK_OP_RELEASE, SMALL_LAYER_0)->match = 0;
}

static void give_it_bytes(struct yk_program *program)
{
    broken_get(program, YK_OP_UPDATE, SMALL_LAYER_0)->bytes = 8;
}

static void give_it_a_wait_for_nothing(struct yk_program *program)
{
    edit_add_wait(program, 0, 3, program->ranks[0].op_count, 0);
}

static void give_it_itself_as_a_peer(struct yk_program *program)
{
    broken_get(program, YK_OP_SEND, SMALL_LAYER_1)->peer = 0;
}

static void give_it_a_layer_of_others(struct yk_program *program)
{
    broken_get(program, YK_OP_UPDATE, SMALL_LAYER_1)->layer = SMALL_HEAD;
}

static void numbers_must_exist(void **state)
{
    (void)state;
    static const struct broken_case cases[] = {
        {&broken_sharded, give_it_another_lane,
         "formed: forward layer 0 on gpu0 is on another lane than ops of its kind"},
        {&broken_sharded, give_it_another_kind, "formed: op 3 on gpu1 has no valid kind"},
        {&broken_sharded, give_it_another_layer, "formed: op 3 on gpu1 has no valid layer"},
        {&broken_sharded, give_it_another_micro_batch,
         "formed: op 3 on gpu1 has no valid micro-batch"},
        {&broken_sharded, give_it_waits_past_the_end, "formed: op 3 on gpu1 has no valid waits"},
        {&broken_sharded, give_it_another_step,
         "formed: backward head on gpu0 is for a step that it cannot be for"},
        {&broken_sharded, give_it_more_samples,
         "formed: forward layer 0 on gpu0 has 3 samples, not the 2 that are planned"},
        {&broken_sharded, give_it_another_block,
         "formed: all_gather layer 0 on gpu0 has blocks that do not exist"},
        {&broken_sharded, give_it_a_match,
         "formed: release layer 0 on gpu0 has a match that does not exist"},
        {&broken_sharded, give_it_bytes,
         "formed: update layer 0 on gpu0 carries a number of bytes that cannot be"},
        {&broken_sharded, give_it_a_wait_for_nothing,
         "formed: forward embed on gpu0 waits for an op that does not exist"},
        {&broken_staged, give_it_itself_as_a_peer,
         "formed: send layer 1 on gpu0 has a peer that does not exist"},
        {&broken_staged, give_it_a_layer_of_others,
         "formed: update head on gpu0 belongs to a layer that the rank does not hold"},
    };
    assert_all_refused(cases);
}

static void memory_is_enough_up_to_the_limit(void **state)
{
    (void)state;
    struct small_program small = small_program_make(&broken_sharded);
    struct yk_program_memory *memory = NULL;
    struct yk_memory_peak peak;
    assert_ok(yk_program_memory_count_for_rank(small.program, 1, small.arena, &memory));
    assert_ok(yk_program_memory_find_peak(small.program, 1, memory, &peak));
    small.plan->ranks[1].limit_bytes = peak.bytes;
    assert_ok(yk_program_check(small.program));
    small.plan->ranks[1].limit_bytes = peak.bytes - 1;
    assert_int_equal(yk_program_check(small.program), YK_ERROR_NO_FIT);
    small_program_free(&small);
}

/* Almost all of what such a small model needs is the driver's own. */
static void what_does_not_fit_is_named(void **state)
{
    (void)state;
    struct small_program small = small_program_make(&broken_sharded);
    struct yk_program_memory *memory = NULL;
    struct yk_memory_peak peak;
    char context[YK_UNITS_BUFFER_SIZE];
    char missing[YK_UNITS_BUFFER_SIZE];
    char sentence[256];
    assert_ok(yk_program_memory_count_for_rank(small.program, 1, small.arena, &memory));
    assert_ok(yk_program_memory_find_peak(small.program, 1, memory, &peak));
    small.plan->ranks[1].limit_bytes = 1048576;
    yk_units_format(peak.by_kind[YK_MEMORY_CONTEXT], YK_UNIT_BYTES, context);
    yk_units_format(peak.bytes - 1048576, YK_UNIT_BYTES, missing);
    snprintf(sentence, sizeof sentence,
             "memory: gpu1 has a limit of 1MiB and lacks %s at backward layer 1, where context "
             "(%s) take the most",
             missing, context);
    assert_fails(yk_program_check(small.program), YK_ERROR_NO_FIT, sentence);
    small_program_free(&small);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compiled_programs_pass),
        cmocka_unit_test(numbers_must_exist),
        cmocka_unit_test(memory_is_enough_up_to_the_limit),
        cmocka_unit_test(what_does_not_fit_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
