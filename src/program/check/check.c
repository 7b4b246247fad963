#include "program/check/check.h"

#include "program/check/precedence.h"
#include "program/check/rule.h"
#include "program/check/rules.h"

static bool is_known(const struct yk_program *program, int32_t rank)
{
    for (int32_t other = 0; other < rank; other++) {
        if (yk_rule_same(program, rank, other)) {
            return true;
        }
    }
    return false;
}

/* The rules about the order of one rank's ops: passes, resident, reduced, ordered. */
static yk_status check_rank(const struct yk_facts *facts, int32_t rank)
{
    struct yk_arena *arena = NULL;
    struct yk_rank_view *view = NULL;
    struct yk_precedences demands = {0};
    YK_TRY(yk_arena_create(&arena));
    yk_status status = yk_rank_view_make(facts, rank, arena, &view);
    if (status == YK_OK) {
        status = yk_precedences_find(view, arena, &demands);
    }
    if (status == YK_OK) {
        status = yk_precedences_check(view, &demands);
    }
    yk_precedences_free(&demands);
    yk_arena_destroy(arena);
    return status;
}

static yk_status check(const struct yk_program *program, struct yk_arena *arena)
{
    struct yk_facts *facts = NULL;
    YK_TRY(yk_facts_make(program, arena, &facts));
    for (int32_t r = 0; r < program->rank_count; r++) {
        YK_TRY(is_known(program, r) ? YK_OK : yk_rule_form(facts, r));
    }
    YK_TRY(yk_rule_match(program));
    YK_TRY(yk_rule_cycle(program));
    for (int32_t r = 0; r < program->rank_count; r++) {
        YK_TRY(is_known(program, r) ? YK_OK : check_rank(facts, r));
    }
    return yk_rule_memory(program);
}

yk_status yk_program_check(const struct yk_program *program)
{
    YK_TRY_IN_ARENA(arena, check(program, arena));
    return YK_OK;
}
