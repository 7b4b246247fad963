#include "support/programs/broken_program.h"

#include "program/program.h"
#include "support/support.h"

const struct small_spec broken_sharded = {.ranks = 2, .strategy = YK_SHARDING_FULLY_SHARDED};
const struct small_spec broken_agreeing = {
    .ranks = 2, .strategy = YK_SHARDING_FULLY_SHARDED, .clip = true};
const struct small_spec broken_refreshed = {.ranks = 2, .strategy = YK_SHARDING_SHARDED_STATE};
const struct small_spec broken_replicated = {.ranks = 2, .strategy = YK_SHARDING_REPLICATED};
const struct small_spec broken_alone = {.ranks = 1, .clip = true};
const struct small_spec broken_shared = {
    .ranks = 2, .strategy = YK_SHARDING_KEPT_AFTER_FORWARD, .tied = true};
const struct small_spec broken_summed = {
    .ranks = 2, .strategy = YK_SHARDING_KEPT_AFTER_FORWARD, .micro_batches = 2, .no_sync = true};
const struct small_spec broken_summed_whole = {.ranks = 2, .micro_batches = 2, .no_sync = true};
const struct small_spec broken_reduced_each = {.ranks = 2, .micro_batches = 2};
const struct small_spec broken_recomputed = {.ranks = 2, .recompute = true};
const struct small_spec broken_adapted = {
    .ranks = 2, .strategy = YK_SHARDING_FULLY_SHARDED, .lora_rank = 2};
const struct small_spec broken_staged = {.ranks = 2, .groups = 2};
const struct small_spec broken_both = {.ranks = 4,
                                       .groups = 2,
                                       .micro_batches = 2,
                                       .strategy = YK_SHARDING_KEPT_AFTER_FORWARD,
                                       .tied = true};

void broken_refuse_all(const struct broken_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct small_program small = small_program_make(cases[i].spec);
        cases[i].edit(small.program);
        if (yk_program_check(small.program) != YK_ERROR_INPUT) {
            fail_msg("not refused: %s", cases[i].sentence);
        }
        assert_string_equal(yk_status_message(), cases[i].sentence);
        small_program_free(&small);
    }
}

int32_t broken_find(const struct yk_program *program, enum yk_op_kind kind, int32_t layer)
{
    return edit_find(program, 0, kind, layer, 0, 0);
}

struct yk_op *broken_get(const struct yk_program *program, enum yk_op_kind kind, int32_t layer)
{
    return &program->ranks[0].ops[broken_find(program, kind, layer)];
}

int32_t broken_find_second(const struct yk_program *program, enum yk_op_kind kind, int32_t layer)
{
    return edit_find(program, 0, kind, layer, 0, broken_find(program, kind, layer) + 1);
}

void broken_let_go(struct yk_program *program, enum yk_op_kind kind, int32_t layer)
{
    edit_drop_wait(program, 0, broken_find(program, kind, layer), -1);
}

void broken_remove_everywhere(struct yk_program *program, enum yk_op_kind kind, int32_t layer)
{
    for (int32_t r = 0; r < program->rank_count; r++) {
        edit_remove(program, r, edit_find(program, r, kind, layer, 0, 0));
    }
}
