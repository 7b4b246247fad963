/* The rules matched and collective: all ranks of a communication do the same, in one order. */
#include "base/number.h"
#include "program/check/rule.h"

#include <stdlib.h>

/* One rank's side of a communication. */
struct side {
    int32_t match;
    int32_t rank;
    int32_t number; /* among the comm ops of the rank */
    const struct yk_op *op;
};

struct matching {
    const struct yk_program *program;
    struct side *sides; /* by match, then rank */
    int32_t side_count;
};

static int by_match(const void *left, const void *right)
{
    const struct side *a = left;
    const struct side *b = right;
    int order = yk_number_compare(a->match, b->match);
    order = order != 0 ? order : yk_number_compare(a->rank, b->rank);
    return order != 0 ? order : yk_number_compare(a->number, b->number);
}

static yk_status find_sides(struct matching *matching, struct yk_arena *arena)
{
    const struct yk_program *program = matching->program;
    int64_t count = 0;
    for (int32_t r = 0; r < program->rank_count; r++) {
        count += program->ranks[r].op_count;
    }
    YK_TRY_NEW(arena, matching->sides, count);
    for (int32_t r = 0; r < program->rank_count; r++) {
        int32_t number = 0;
        for (int32_t i = 0; i < program->ranks[r].op_count; i++) {
            const struct yk_op *op = &program->ranks[r].ops[i];
            if (op->match != YK_OP_NO_MATCH) {
                matching->sides[matching->side_count++] = (struct side){op->match, r, number++, op};
            }
        }
    }
    if (matching->side_count > 0) {
        qsort(matching->sides, (size_t)matching->side_count, sizeof *matching->sides, by_match);
    }
    return YK_OK;
}

static yk_status refuse(const struct matching *matching, const struct side *side,
                        const struct side *other, const char *reason)
{
    char described[YK_RULE_TEXT_SIZE];
    yk_rule_describe_op(matching->program, other->op, described);
    return yk_rule_fail(matching->program, side->rank, "matched", side->op, "%s %s on %s", reason,
                        described, yk_rule_rank_device_name(matching->program, other->rank));
}

static bool is_same(const struct yk_op *a, const struct yk_op *b)
{
    return a->layer == b->layer && a->micro_batch == b->micro_batch && a->step == b->step &&
           a->backward == b->backward && a->first_block == b->first_block &&
           a->block_count == b->block_count && a->bucket == b->bucket && a->group == b->group &&
           a->crossing == b->crossing;
}

/* The ranks of a collective: a group's, or all. */
static int32_t count_ranks(const struct yk_program *program, const struct yk_op *op)
{
    return op->kind == YK_OP_AGREE ? program->rank_count
                                   : program->plan->groups[op->group].member_count;
}

/* Each rank is a member of the group (rule formed), so it suffices to count them. */
static yk_status check_collective(const struct matching *matching, const struct side *sides,
                                  int32_t count)
{
    for (int32_t i = 1; i < count; i++) {
        if (sides[i].rank == sides[i - 1].rank) {
            return refuse(matching, &sides[i], &sides[i - 1], "has the match of");
        }
        if (sides[i].op->kind != sides[0].op->kind || !is_same(sides[i].op, sides[0].op)) {
            return refuse(matching, &sides[i], &sides[0], "has the match of");
        }
        if (sides[i].op->bytes != sides[0].op->bytes) {
            return refuse(matching, &sides[i], &sides[0], "has other bytes than");
        }
    }
    const int32_t wanted = count_ranks(matching->program, sides[0].op);
    return count == wanted ? YK_OK
                           : yk_rule_fail(matching->program, sides[0].rank, "matched", sides[0].op,
                                          "is done by %d of %d ranks", count, wanted);
}

static yk_status check_pair(const struct matching *matching, const struct side *sides,
                            int32_t count)
{
    const struct side *a = &sides[0];
    if (count == 1) {
        return yk_rule_fail(matching->program, a->rank, "matched", a->op,
                            a->op->kind == YK_OP_SEND ? "has no recv on %s" : "has no send on %s",
                            yk_rule_rank_device_name(matching->program, a->op->peer));
    }
    const struct side *b = &sides[1];
    const bool kinds = (a->op->kind == YK_OP_SEND && b->op->kind == YK_OP_RECV) ||
                       (a->op->kind == YK_OP_RECV && b->op->kind == YK_OP_SEND);
    if (count > 2 || !kinds || !is_same(a->op, b->op) || a->op->peer != b->rank ||
        b->op->peer != a->rank) {
        return refuse(matching, a, count > 2 ? &sides[2] : b, "has the match of");
    }
    return a->op->bytes == b->op->bytes && a->op->samples == b->op->samples
               ? YK_OK
               : refuse(matching, a, b, "has other bytes than");
}

/* Checks that all ranks of a group (-1: all ranks) have the group's communication in the same order
 * as `rank`. `last` (ranks) is scratch memory. */
static yk_status check_order(const struct matching *matching, const int32_t *first_side,
                             int32_t rank, int32_t group, int32_t *last)
{
    const struct yk_program *program = matching->program;
    const struct yk_op_list *list = &program->ranks[rank];
    yk_number_fill_int32_array(last, program->rank_count, -1);
    for (int32_t i = 0; i < list->op_count; i++) {
        const struct yk_op *op = &list->ops[i];
        const bool concerns = group >= 0 ? op->match != YK_OP_NO_MATCH && op->group == group
                                         : op->kind == YK_OP_AGREE;
        for (int32_t s = concerns ? first_side[op->match] : matching->side_count;
             s < matching->side_count && matching->sides[s].match == op->match; s++) {
            const struct side *side = &matching->sides[s];
            if (side->number < last[side->rank]) {
                return yk_rule_fail(program, side->rank, "collective", side->op,
                                    "comes earlier than on %s",
                                    yk_rule_rank_device_name(program, rank));
            }
            last[side->rank] = side->number;
        }
    }
    return YK_OK;
}

static yk_status check_all(struct matching *matching, struct yk_arena *arena)
{
    const struct yk_program *program = matching->program;
    int32_t *first_side = NULL;
    int32_t *last = NULL;
    YK_TRY(find_sides(matching, arena));
    YK_TRY_NEW(arena, first_side, program->match_count + 1);
    YK_TRY_NEW(arena, last, program->rank_count);
    for (int32_t s = 0; s < matching->side_count;) {
        const struct side *sides = &matching->sides[s];
        int32_t count = 1;
        while (s + count < matching->side_count && sides[count].match == sides[0].match) {
            count++;
        }
        const bool pair = sides[0].op->kind == YK_OP_SEND || sides[0].op->kind == YK_OP_RECV;
        YK_TRY(pair ? check_pair(matching, sides, count)
                    : check_collective(matching, sides, count));
        first_side[sides[0].match] = s;
        s += count;
    }
    for (int32_t g = 0; g < program->plan->group_count; g++) {
        YK_TRY(
            check_order(matching, first_side, program->plan->groups[g].members[0].rank, g, last));
    }
    return check_order(matching, first_side, 0, -1, last);
}

yk_status yk_rule_check_op_match(const struct yk_program *program)
{
    struct matching matching = {.program = program};
    YK_TRY_WITH_TEMPORARY_ARENA(arena, check_all(&matching, arena));
    return YK_OK;
}
