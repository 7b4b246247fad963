
#include "program/memory/memory.h"
#include "program/program.h"
#include "support/programs/broken_program.h"
#include "support/programs/dry_run.h"
#include "support/support.h"

#include <stdlib.h>
#include <string.h>

static const struct small_spec *const specs[] = {
    &broken_sharded,    &broken_agreeing, &broken_refreshed, &broken_replicated,
    &broken_alone,      &broken_shared,   &broken_summed,    &broken_summed_whole,
    &broken_recomputed, &broken_adapted,  &broken_staged,    &broken_both,
};

enum {
    SPECS = sizeof specs / sizeof specs[0],
    SEEDS = 40,
};

static struct yk_program *shuffle(const struct yk_program *program, uint64_t seed)
{
    struct yk_program *shuffled = NULL;
    assert_ok(yk_program_shuffle(program, seed, &shuffled));
    return shuffled;
}

static char *text_of(const struct yk_program *program)
{
    struct yk_text text = {0};
    assert_ok(yk_program_text_write(program, &text));
    return text.bytes;
}

static void shuffled_programs_are_valid(void **state)
{
    (void)state;
    for (size_t i = 0; i < SPECS; i++) {
        struct small_program small = small_program_make(specs[i]);
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            struct yk_program *shuffled = shuffle(small.program, seed);
            assert_ok(yk_program_check(shuffled));
            const char *wrong = pretend_run(shuffled, seed);
            if (wrong) {
                fail_msg("program %d, seed %d: %s", (int)i, (int)seed, wrong);
            }
            yk_program_destroy(shuffled);
        }
        small_program_free(&small);
    }
}

static void many_different_programs_come_out_of_one(void **state)
{
    (void)state;
    struct small_program small = small_program_make(&broken_sharded);
    char *texts[SEEDS + 1];
    int different = 0;
    texts[0] = text_of(small.program);
    for (int seed = 1; seed <= SEEDS; seed++) {
        struct yk_program *shuffled = shuffle(small.program, (uint64_t)seed);
        bool known = false;
        texts[seed] = text_of(shuffled);
        for (int other = 0; other < seed; other++) {
            known = known || strcmp(texts[seed], texts[other]) == 0;
        }
        different += known ? 0 : 1;
        yk_program_destroy(shuffled);
    }
    assert_int_equal(different, SEEDS);
    for (int seed = 0; seed <= SEEDS; seed++) {
        free(texts[seed]);
    }
    small_program_free(&small);
}

/* The place of an op among those of its lane. */
static int32_t place(const struct yk_program *program, int32_t rank, enum yk_op_kind kind,
                     int32_t layer)
{
    const struct yk_op *ops = program->ranks[rank].ops;
    const int32_t op = edit_find(program, rank, kind, layer, 0, 0);
    int32_t count = 0;
    for (int32_t i = 0; i < op; i++) {
        count += ops[i].lane == ops[op].lane ? 1 : 0;
    }
    return count;
}

static bool has_step(const struct yk_program *program, enum yk_op_kind kind, int32_t step)
{
    for (int32_t i = 0; i < program->ranks[0].op_count; i++) {
        if (program->ranks[0].ops[i].kind == kind && program->ranks[0].ops[i].step == step) {
            return true;
        }
    }
    return false;
}

/* Each of the ways in which one program can differ from another comes up. */
static void all_that_is_free_changes(void **state)
{
    (void)state;
    struct small_program small = small_program_make(&broken_sharded);
    bool updates_swapped = false;
    bool gathered_ahead = false;
    bool scattered_late = false;
    bool updated_late = false;
    bool scatters_swapped = false;
    bool apart = false;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct yk_program *shuffled = shuffle(small.program, seed);
        updates_swapped = updates_swapped || place(shuffled, 0, YK_OP_UPDATE, SMALL_NORM) <
                                                 place(shuffled, 0, YK_OP_UPDATE, SMALL_HEAD);
        apart = apart || place(shuffled, 0, YK_OP_UPDATE, SMALL_NORM) !=
                             place(shuffled, 1, YK_OP_UPDATE, SMALL_NORM);
        gathered_ahead = gathered_ahead || has_step(shuffled, YK_OP_ALL_GATHER, 1);
        scattered_late = scattered_late || has_step(shuffled, YK_OP_REDUCE_SCATTER, -1);
        updated_late = updated_late || has_step(shuffled, YK_OP_UPDATE, -1);
        scatters_swapped =
            scatters_swapped || place(shuffled, 0, YK_OP_REDUCE_SCATTER, SMALL_NORM) >
                                    place(shuffled, 0, YK_OP_REDUCE_SCATTER, SMALL_LAYER_1);
        yk_program_destroy(shuffled);
    }
    assert_true(updates_swapped);
    assert_true(apart);
    assert_true(gathered_ahead);
    assert_true(scattered_late);
    assert_true(updated_late);
    assert_true(scatters_swapped);
    small_program_free(&small);
}

static bool is_same(const struct yk_op *a, const struct yk_op *b)
{
    return a->kind == b->kind && a->lane == b->lane && a->layer == b->layer &&
           a->micro_batch == b->micro_batch && a->backward == b->backward &&
           a->first_block == b->first_block && a->block_count == b->block_count &&
           a->bucket == b->bucket && a->group == b->group && a->peer == b->peer &&
           a->match == b->match && a->samples == b->samples && a->bytes == b->bytes;
}

/* The same ops in another order; only steps and waits may differ. */
static void no_op_is_lost(void **state)
{
    (void)state;
    for (size_t i = 0; i < SPECS; i++) {
        struct small_program small = small_program_make(specs[i]);
        struct yk_program *shuffled = shuffle(small.program, i);
        for (int32_t r = 0; r < shuffled->rank_count; r++) {
            const struct yk_op_list *before = &small.program->ranks[r];
            const struct yk_op_list *after = &shuffled->ranks[r];
            assert_int_equal(before->op_count, after->op_count);
            for (int32_t a = 0; a < before->op_count; a++) {
                int found = 0;
                for (int32_t b = 0; b < after->op_count; b++) {
                    found += is_same(&before->ops[a], &after->ops[b]) ? 1 : 0;
                }
                assert_int_equal(found, 1);
            }
        }
        yk_program_destroy(shuffled);
        small_program_free(&small);
    }
}

static void one_seed_gives_one_program(void **state)
{
    (void)state;
    struct small_program small = small_program_make(&broken_both);
    struct yk_program *first = shuffle(small.program, 7);
    struct yk_program *again = shuffle(small.program, 7);
    char *first_text = text_of(first);
    char *again_text = text_of(again);
    assert_string_equal(first_text, again_text);
    free(first_text);
    free(again_text);
    yk_program_destroy(first);
    yk_program_destroy(again);
    small_program_free(&small);
}

/* With no byte to spare the gathers cannot run ahead as they like, but something is still free. */
static void memory_is_kept_to(void **state)
{
    (void)state;
    struct small_program small = small_program_make(&broken_sharded);
    char *text = text_of(small.program);
    int different = 0;
    for (int32_t r = 0; r < 2; r++) {
        struct yk_program_memory *memory = NULL;
        struct yk_memory_peak peak;
        assert_ok(yk_program_memory_count_for_rank(small.program, r, small.arena, &memory));
        assert_ok(yk_program_memory_find_peak(small.program, r, memory, &peak));
        small.plan->ranks[r].limit_bytes = peak.bytes;
    }
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct yk_program *shuffled = shuffle(small.program, seed);
        char *other = text_of(shuffled);
        assert_ok(yk_program_check(shuffled));
        different += strcmp(text, other) != 0 ? 1 : 0;
        free(other);
        yk_program_destroy(shuffled);
    }
    assert_true(different > SEEDS / 2);
    free(text);
    small_program_free(&small);
}

static void what_is_not_valid_is_refused(void **state)
{
    (void)state;
    struct small_program small = small_program_make(&broken_sharded);
    struct yk_program *shuffled = NULL;
    broken_let_go(small.program, YK_OP_REDUCE_SCATTER, SMALL_HEAD);
    assert_int_equal(yk_program_shuffle(small.program, 1, &shuffled), YK_ERROR_INPUT);
    assert_null(shuffled);
    small_program_free(&small);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shuffled_programs_are_valid),
        cmocka_unit_test(many_different_programs_come_out_of_one),
        cmocka_unit_test(all_that_is_free_changes),
        cmocka_unit_test(no_op_is_lost),
        cmocka_unit_test(one_seed_gives_one_program),
        cmocka_unit_test(memory_is_kept_to),
        cmocka_unit_test(what_is_not_valid_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
