#include "program/program.h"

#include "program/compile/lists.h"
#include "program/compile/memory_waits.h"
#include "program/compile/sequence.h"
#include "program/layout.h"

#include <stdlib.h>

static yk_status make(struct yk_program *program, struct yk_arena *scratch,
                      struct yk_sequence *script)
{
    YK_TRY(yk_arena_create(&program->arena));
    YK_TRY(yk_layout_make(program));
    YK_TRY(program->plan->transfer_count > 0 ? yk_sequence_by_slots(program, scratch, script)
                                             : yk_sequence_by_pipeline(program, scratch, script));
    yk_sequence_sort(script);
    YK_TRY(yk_lists_make(program, script));
    return program->plan->group_count == 1 ? yk_memory_waits_add(program) : YK_OK;
}

yk_status yk_program_compile(const struct yk_plan *plan, const struct yk_cluster *cluster,
                             struct yk_model_sizes *sizes, struct yk_program **out)
{
    return yk_program_compile_by(plan, cluster, NULL, sizes, NULL, out);
}

yk_status yk_program_compile_by(const struct yk_plan *plan, const struct yk_cluster *cluster,
                                const struct yk_device_facts *facts, struct yk_model_sizes *sizes,
                                const struct yk_deadline *deadline, struct yk_program **out)
{
    struct yk_arena *scratch = NULL;
    struct yk_sequence script = {0};
    struct yk_program *program = calloc(1, sizeof *program);
    if (!program) {
        return yk_fail_out_of_memory();
    }
    program->plan = plan;
    program->cluster = cluster;
    program->facts = facts;
    program->sizes = sizes;
    program->deadline = deadline;
    program->rank_count = plan->rank_count;
    yk_status status = yk_arena_create(&scratch);
    if (status == YK_OK) {
        status = make(program, scratch, &script);
    }
    yk_sequence_free(&script);
    yk_arena_destroy(scratch);
    if (status != YK_OK) {
        yk_program_destroy(program);
        return status;
    }
    *out = program;
    return YK_OK;
}

void yk_program_destroy(struct yk_program *program)
{
    if (program) {
        yk_arena_destroy(program->arena);
        free(program);
    }
}
