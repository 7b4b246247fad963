#include "program/program.h"

#include "program/compile/step_ops.h"
#include "program/message_layout.h"
#include "program/program_facts.h"

/* True if two ranks have the same op list: with one group, and equal shares, parts, memory limits
 * and kinds of device. */
static bool do_the_same(const struct yk_program *program, int32_t a, int32_t b)
{
    const struct yk_plan *plan = program->plan;
    if (plan->group_count > 1) {
        return false;
    }
    const int32_t i = yk_program_facts_group_member_index(plan, 0, a);
    const int32_t j = yk_program_facts_group_member_index(plan, 0, b);
    if (i < 0 || j < 0) {
        return i == j;
    }
    const struct yk_plan_group_member *one = &plan->groups[0].members[i];
    const struct yk_plan_group_member *other = &plan->groups[0].members[j];
    return one->share == other->share && one->shard_fraction == other->shard_fraction &&
           one->micro_batch_number == other->micro_batch_number &&
           plan->ranks[a].limit_bytes == plan->ranks[b].limit_bytes &&
           program->cluster->devices[plan->ranks[a].device].is_cpu ==
               program->cluster->devices[plan->ranks[b].device].is_cpu;
}

/* Makes the op of `rank` for an entry. Sets `*concerns` to false if the rank is not involved.
 * `members` (groups) are the member indices of the rank. */
static yk_status make_op(const struct yk_program_facts *facts,
                         const struct yk_step_ops_entry *entry, int32_t rank,
                         const int32_t *members, struct yk_op *out, bool *concerns)
{
    const struct yk_model *model = NULL;
    *out = entry->op;
    *concerns = true;
    if (entry->sender >= 0) {
        *concerns = rank == entry->sender || rank == entry->receiver;
        if (*concerns) {
            const bool sends = rank == entry->sender;
            out->kind = sends ? YK_OP_SEND : YK_OP_RECV;
            out->peer = sends ? entry->receiver : entry->sender;
            YK_TRY(yk_model_cache_get(facts->program->cache, out->samples, false, &model));
            out->bytes = yk_program_facts_layer_output_bytes(facts, model, out->layer);
        }
    } else if (entry->group >= 0) {
        *concerns = members[entry->group] >= 0;
        if (*concerns && (out->lane == YK_LANE_COPY || yk_op_kind_is_pass(out->kind))) {
            int64_t first = 0;
            out->samples = yk_plan_member_sample_range(
                facts->plan, entry->group, members[entry->group], out->micro_batch, &first);
        }
    }
    return YK_OK;
}

static yk_status fill_list(struct yk_program *program, const struct yk_program_facts *facts,
                           const struct yk_step_ops *step_ops, int32_t rank, int32_t *members)
{
    struct yk_op_list *list = &program->ranks[rank];
    YK_TRY_NEW(program->arena, list->ops, step_ops->count);
    for (int32_t g = 0; g < program->plan->group_count; g++) {
        members[g] = yk_program_facts_group_member_index(program->plan, g, rank);
    }
    for (int32_t i = 0; i < step_ops->count; i++) {
        bool concerns = false;
        struct yk_op op;
        YK_TRY(make_op(facts, &step_ops->entries[i], rank, members, &op, &concerns));
        if (concerns) {
            list->ops[list->op_count++] = op;
        }
    }
    return yk_op_waits_add_data_waits(facts, rank);
}

/* Ranks with identical ops share one list. */
static yk_status make_lists(struct yk_program *program, const struct yk_program_facts *facts,
                            const struct yk_step_ops *step_ops)
{
    int32_t *members = NULL;
    program->match_count = step_ops->match_count;
    YK_TRY_NEW(program->arena, program->ranks, program->rank_count);
    YK_TRY_NEW(program->arena, members, program->plan->group_count);
    for (int32_t r = 0; r < program->rank_count; r++) {
        int32_t same = 0;
        YK_TRY(yk_deadline_check(program->deadline));
        while (same < r && !do_the_same(program, same, r)) {
            same++;
        }
        if (same < r) {
            program->ranks[r] = program->ranks[same];
        } else {
            YK_TRY(fill_list(program, facts, step_ops, r, members));
        }
    }
    return YK_OK;
}

static yk_status compile(struct yk_program *program, struct yk_arena *scratch,
                         struct yk_step_ops *step_ops)
{
    struct yk_program_facts *facts = NULL;
    YK_TRY(yk_message_layout_compute_for_program(program));
    YK_TRY(yk_program_facts_make(program, scratch, &facts));
    YK_TRY(program->plan->transfer_count > 0
               ? yk_step_ops_add_all_from_slots(facts, scratch, step_ops)
               : yk_step_ops_add_all_from_pipeline(facts, scratch, step_ops));
    yk_step_ops_sort(step_ops);
    YK_TRY(make_lists(program, facts, step_ops));
    return program->plan->group_count == 1 ? yk_memory_waits_add(program) : YK_OK;
}

yk_status yk_program_compile(const struct yk_plan *plan, const struct yk_cluster *cluster,
                             struct yk_model_cache *cache, struct yk_program **out)
{
    return yk_program_compile_with_deadline(plan, cluster, NULL, cache, NULL, out);
}

yk_status yk_program_compile_with_deadline(const struct yk_plan *plan,
                                           const struct yk_cluster *cluster,
                                           const struct yk_device_measurements *measurements,
                                           struct yk_model_cache *cache,
                                           const struct yk_deadline *deadline,
                                           struct yk_program **out)
{
    struct yk_arena *scratch = NULL;
    struct yk_step_ops step_ops = {0};
    struct yk_program *program = NULL;
    YK_TRY_NEW_WITH_OWN_ARENA(program);
    program->plan = plan;
    program->cluster = cluster;
    program->measurements = measurements;
    program->cache = cache;
    program->deadline = deadline;
    program->rank_count = plan->rank_count;
    yk_status status = yk_arena_create(&scratch);
    YK_IF_OK(compile(program, scratch, &step_ops));
    yk_step_ops_free(&step_ops);
    yk_arena_destroy(scratch);
    YK_TRY_OR_CLEAN_UP(status, yk_program_destroy(program));
    *out = program;
    return YK_OK;
}

void yk_program_destroy(struct yk_program *program)
{
    if (program) {
        yk_arena_destroy(program->arena);
    }
}
