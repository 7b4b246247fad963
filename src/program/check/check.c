#include "base/units.h"
#include "program/check/precedence.h"
#include "program/check/rule.h"
#include "program/memory/memory.h"

/* Returns true if two ranks have the same op list and equal shares in all groups. All rules about
 * ops then have the same result for both ranks. With `memory`, returns true only if `rank` also
 * needs the same memory as `other`, which has at most the same limit. */
static bool is_same(const struct yk_program *program, int32_t rank, int32_t other, bool memory)
{
    const struct yk_plan *plan = program->plan;
    const struct yk_plan_rank *one = &plan->ranks[rank];
    const struct yk_plan_rank *two = &plan->ranks[other];
    bool same = program->ranks[rank].ops == program->ranks[other].ops &&
                program->ranks[rank].waits == program->ranks[other].waits &&
                (!memory || (two->limit_bytes <= one->limit_bytes &&
                             program->cluster->devices[one->device].is_cpu ==
                                 program->cluster->devices[two->device].is_cpu));
    for (int32_t g = 0; same && g < plan->group_count; g++) {
        const struct yk_plan_group_member *members = plan->groups[g].members;
        const int32_t a = yk_program_facts_group_member_index(plan, g, rank);
        const int32_t b = yk_program_facts_group_member_index(plan, g, other);
        same = (a < 0) == (b < 0) &&
               (a < 0 || (members[a].share == members[b].share &&
                          (!memory || members[a].shard_fraction == members[b].shard_fraction)));
    }
    return same;
}

/* Returns true if an earlier rank is the same. */
static bool is_repeated(const struct yk_program *program, int32_t rank, bool memory)
{
    int32_t other = 0;
    while (other < rank && !is_same(program, rank, other, memory)) {
        other++;
    }
    return other < rank;
}

/* The rules about the order of one rank's ops: passes, resident, reduced, ordered. */
static yk_status check_order(const struct yk_program_facts *facts, int32_t rank)
{
    struct yk_arena *arena = NULL;
    struct yk_op_index *index = NULL;
    struct yk_precedences precedences = {0};
    YK_TRY(yk_arena_create(&arena));
    yk_status status = yk_op_index_make_with_order(facts, rank, arena, &index);
    YK_IF_OK(yk_precedences_find_all(index, arena, &precedences));
    YK_IF_OK(yk_precedences_check(&precedences));
    yk_precedences_free(&precedences);
    yk_arena_destroy(arena);
    return status;
}

static enum yk_memory_kind largest_kind(const struct yk_memory_peak *peak)
{
    int32_t largest = 0;
    for (int32_t kind = 1; kind < YK_MEMORY_KIND_COUNT; kind++) {
        largest = peak->by_kind[kind] > peak->by_kind[largest] ? kind : largest;
    }
    return (enum yk_memory_kind)largest;
}

static yk_status check_memory(const struct yk_program *program, int32_t rank,
                              struct yk_arena *arena)
{
    const double limit = program->plan->ranks[rank].limit_bytes;
    struct yk_program_memory *memory = NULL;
    struct yk_memory_peak peak;
    YK_TRY(yk_program_memory_count_for_rank(program, rank, arena, &memory));
    YK_TRY(yk_program_memory_find_peak(program, rank, memory, &peak));
    if (peak.bytes <= limit) {
        return YK_OK;
    }
    const enum yk_memory_kind kind = largest_kind(&peak);
    const struct yk_op *ops = program->ranks[rank].ops;
    const int32_t number = peak.compute_op >= 0 ? peak.compute_op : peak.comm_op;
    char op[YK_RULE_TEXT_SIZE] = "the end of the round";
    char allowed[YK_UNITS_BUFFER_SIZE];
    char missing[YK_UNITS_BUFFER_SIZE];
    char largest[YK_UNITS_BUFFER_SIZE];
    if (number >= 0) {
        yk_rule_describe_op(program, &ops[number], op);
    }
    yk_units_format(limit, YK_UNIT_BYTES, allowed);
    yk_units_format(peak.bytes - limit, YK_UNIT_BYTES, missing);
    yk_units_format(peak.by_kind[kind], YK_UNIT_BYTES, largest);
    return yk_fail(YK_ERROR_NO_FIT,
                   "memory: %s has a limit of %s and lacks %s at %s, where %s (%s) take the most",
                   yk_rule_rank_device_name(program, rank), allowed, missing, op,
                   yk_memory_kind_name(kind), largest);
}

static yk_status check(const struct yk_program *program, struct yk_arena *arena)
{
    struct yk_program_facts *facts = NULL;
    YK_TRY(yk_program_facts_make(program, arena, &facts));
    for (int32_t r = 0; r < program->rank_count; r++) {
        YK_TRY(is_repeated(program, r, false) ? YK_OK : yk_rule_check_op_form(facts, r));
    }
    YK_TRY(yk_rule_check_op_match(program));
    YK_TRY(yk_rule_check_ops_are_acyclic(program));
    for (int32_t r = 0; r < program->rank_count; r++) {
        YK_TRY(is_repeated(program, r, false) ? YK_OK : check_order(facts, r));
    }
    for (int32_t r = 0; r < program->rank_count; r++) {
        if (!is_repeated(program, r, true)) {
            YK_TRY_WITH_TEMPORARY_ARENA(scratch, check_memory(program, r, scratch));
        }
    }
    return YK_OK;
}

yk_status yk_program_check(const struct yk_program *program)
{
    YK_TRY_WITH_TEMPORARY_ARENA(arena, check(program, arena));
    return YK_OK;
}
