#include "program/memory/memory.h"
#include "base/units.h"
#include "program/check/rule.h"
#include "program/check/rules.h"

static enum yk_memory_kind largest_kind(const struct yk_memory_peak *peak)
{
    int32_t largest = 0;
    for (int32_t kind = 1; kind < YK_MEMORY_KIND_COUNT; kind++) {
        largest = peak->by_kind[kind] > peak->by_kind[largest] ? kind : largest;
    }
    return (enum yk_memory_kind)largest;
}

static yk_status check_rank(const struct yk_program *program, int32_t rank, struct yk_arena *arena)
{
    const double limit = program->plan->ranks[rank].limit_bytes;
    struct yk_program_memory *memory = NULL;
    struct yk_memory_peak peak;
    YK_TRY(yk_program_memory_count(program, rank, arena, &memory));
    YK_TRY(yk_program_memory_peak(program, rank, memory, &peak));
    if (peak.bytes <= limit) {
        return YK_OK;
    }
    const enum yk_memory_kind kind = largest_kind(&peak);
    const struct yk_op *ops = program->ranks[rank].ops;
    const int32_t number = peak.compute_op >= 0 ? peak.compute_op : peak.comm_op;
    char op[YK_RULE_TEXT_SIZE] = "the end of the round";
    char limit_words[YK_UNITS_SIZE];
    char missing_words[YK_UNITS_SIZE];
    char kind_words[YK_UNITS_SIZE];
    if (number >= 0) {
        yk_rule_describe(program, &ops[number], op);
    }
    yk_units_format(limit, YK_UNIT_BYTES, limit_words);
    yk_units_format(peak.bytes - limit, YK_UNIT_BYTES, missing_words);
    yk_units_format(peak.by_kind[kind], YK_UNIT_BYTES, kind_words);
    return yk_fail(YK_ERROR_NO_FIT,
                   "memory: %s has a limit of %s and lacks %s at %s, where %s (%s) take the most",
                   yk_rule_device(program, rank), limit_words, missing_words, op,
                   yk_memory_kind_name(kind), kind_words);
}

/* Ranks that do the same on the same kind of device need the same. */
static bool is_known(const struct yk_program *program, int32_t rank)
{
    const struct yk_plan *plan = program->plan;
    for (int32_t other = 0; other < rank; other++) {
        bool same = yk_rule_same(program, rank, other) &&
                    plan->ranks[other].limit_bytes <= plan->ranks[rank].limit_bytes &&
                    program->cluster->devices[plan->ranks[other].device].is_cpu ==
                        program->cluster->devices[plan->ranks[rank].device].is_cpu;
        for (int32_t g = 0; same && g < plan->group_count; g++) {
            const int32_t a = yk_facts_member(plan, g, rank);
            const int32_t b = yk_facts_member(plan, g, other);
            same = a < 0 || plan->groups[g].members[a].part == plan->groups[g].members[b].part;
        }
        if (same) {
            return true;
        }
    }
    return false;
}

yk_status yk_rule_memory(const struct yk_program *program)
{
    for (int32_t r = 0; r < program->rank_count; r++) {
        struct yk_arena *arena = NULL;
        if (is_known(program, r)) {
            continue;
        }
        YK_TRY(yk_arena_create(&arena));
        const yk_status status = check_rank(program, r, arena);
        yk_arena_destroy(arena);
        YK_TRY(status);
    }
    return YK_OK;
}
