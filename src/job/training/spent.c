#include "job/training/spent.h"

#include "base/folder.h"
#include "comm/exchange.h"
#include "train/round_durations.h"

#include <stdio.h>
#include <string.h>

/* What a rank sends: its versions, a zero, its rounds. */
static yk_status pack(const struct yk_training *training, struct yk_text *out)
{
    const struct yk_train_team *team = &training->team;
    struct yk_exchange_clock clock = {0};
    training->engine.backend->versions(training->engine.device, out);
    if (!yk_train_team_is_alone(team)) {
        yk_text_add(out, ", ");
        team->ranks.comm->describe(team->ranks.world, out);
        YK_TRY(yk_exchange_compare_clocks(&team->ranks, &clock));
    }
    yk_text_add_bytes(out, "", 1);
    return yk_round_log_pack(training->run.log, clock.offset_s, out);
}

static yk_status unpack(const struct yk_exchange_bytes *handed, int32_t rank,
                        struct yk_arena *arena, struct yk_rank_rounds *out)
{
    const size_t words = strlen(handed->bytes) + 1;
    char source[32];
    (void)snprintf(source, sizeof source, "the times of rank %d", (int)rank);
    return yk_round_log_unpack(handed->bytes + words,
                               handed->size >= words ? handed->size - words : 0, source, arena,
                               out);
}

/* By the program that the run ended with. */
static yk_status unite(struct yk_training *training, const struct yk_exchange_bytes *handed,
                       struct yk_arena *scratch)
{
    const struct yk_program *program = training->run.program;
    struct yk_rank_rounds *pieces = NULL;
    YK_TRY_NEW(scratch, pieces, program->rank_count);
    for (int32_t r = 0; r < program->rank_count; r++) {
        YK_TRY(unpack(&handed[r], r, scratch, &pieces[r]));
    }
    struct yk_op_times *spent = NULL;
    YK_TRY_NEW(training->arena, spent, 1);
    YK_TRY(yk_round_durations(program, pieces, training->arena, spent));
    for (int32_t r = 0; r < spent->rank_count; r++) {
        spent->ranks[r].versions =
            yk_arena_copy_text(training->arena, handed[r].bytes, strlen(handed[r].bytes));
        if (!spent->ranks[r].versions) {
            return yk_fail_out_of_memory();
        }
    }
    training->spent = spent->steps > 0 ? spent : NULL;
    return YK_OK;
}

static yk_status collect(struct yk_training *training, struct yk_arena *scratch)
{
    const struct yk_train_team *team = &training->team;
    struct yk_text own = {0};
    struct yk_exchange_bytes *handed = NULL;
    yk_status status = yk_train_team_agree(team, pack(training, &own));
    if (status == YK_OK && !yk_train_team_is_alone(team)) {
        status = yk_exchange_gather(&team->ranks, own.bytes, own.length, scratch, &handed);
    } else if (status == YK_OK) {
        handed = yk_arena_allocate(scratch, 1, sizeof *handed);
        status = handed ? YK_OK : yk_fail_out_of_memory();
        if (status == YK_OK) {
            handed[0] = (struct yk_exchange_bytes){own.bytes, own.length};
        }
    }
    if (status == YK_OK && handed) {
        status = unite(training, handed, scratch);
    }
    yk_text_free(&own);
    return status;
}

yk_status yk_train_measurements_collect_op_times(struct yk_training *training)
{
    struct yk_arena *scratch = NULL;
    YK_TRY(yk_train_team_agree(&training->team, yk_arena_create(&scratch)));
    const yk_status status = collect(training, scratch);
    yk_arena_destroy(scratch);
    return status;
}

yk_status yk_train_measurements_write_op_times(const struct yk_training *training,
                                               struct yk_outputs *outputs)
{
    const char *path = NULL;
    if (!training->spent) {
        return YK_OK;
    }
    YK_TRY(yk_folder_path(training->folder, "op-times.json", training->arena, &path));
    return yk_op_times_write(training->spent, yk_outputs_add_nofollow(outputs, path));
}
