#include "train/intake.h"

#include <inttypes.h>

static bool decodes(const struct yk_intake *intake)
{
    return intake->net->config->encoder_layers > 0;
}

/* Micro-batches are consecutive pieces of the batch. */
yk_status yk_intake_plan(const struct yk_plan *plan, int32_t rank, const struct yk_net *net,
                         struct yk_arena *arena, struct yk_intake *out)
{
    const struct yk_workload *workload = &plan->workload;
    const int64_t positions = net->config->positions;
    *out = (struct yk_intake){.net = net, .sequence = workload->sequence};
    out->target_sequence =
        workload->target_sequence > 0 ? workload->target_sequence : workload->sequence;
    out->longest = decodes(out) && positions > out->sequence ? positions : out->sequence;
    YK_TRY_NEW(arena, out->first, plan->micro_batches + 1);
    out->first[0] = 0;
    for (int32_t m = 0; m < plan->micro_batches; m++) {
        int64_t first = 0;
        out->first[m + 1] = out->first[m] + yk_plan_samples(plan, 0, rank, m, &first);
    }
    out->samples = out->first[plan->micro_batches];
    return YK_OK;
}

void yk_intake_carve(struct yk_intake *intake, struct yk_carver *carver)
{
    const int64_t rows = intake->samples * intake->sequence;
    const int64_t target_rows = intake->samples * intake->target_sequence;
    intake->tokens = yk_carve(carver, rows, sizeof(int32_t));
    intake->lengths = yk_carve(carver, rows, sizeof(int32_t));
    intake->targets = yk_carve(carver, target_rows, sizeof(int32_t));
    intake->target_tokens = decodes(intake) ? yk_carve(carver, target_rows, sizeof(int32_t)) : NULL;
    yk_constants_carve(intake->net, intake->longest, carver, &intake->constants);
}

yk_status yk_intake_check(const struct yk_intake *intake, const struct yk_piece *pieces,
                          int32_t count)
{
    for (int32_t m = 0; m < count; m++) {
        const struct yk_piece *piece = &pieces[m];
        const int64_t samples = intake->first[m + 1] - intake->first[m];
        if (piece->samples * piece->sequence > samples * intake->sequence ||
            piece->samples * piece->target_sequence > samples * intake->target_sequence ||
            piece->sequence > intake->longest || piece->target_sequence > intake->longest) {
            return yk_fail(YK_ERROR_INPUT,
                           "%" PRId64 " samples of %" PRId64 " and %" PRId64
                           " tokens do not fit into a micro-batch that is planned for %" PRId64
                           " of %" PRId64 " and %" PRId64,
                           piece->samples, piece->sequence, piece->target_sequence, samples,
                           intake->sequence, intake->target_sequence);
        }
    }
    return YK_OK;
}

void yk_intake_load(const struct yk_intake *intake, const struct yk_backend *backend,
                    struct yk_backend_lane *lane, int32_t micro_batch, const struct yk_piece *piece)
{
    const int64_t row = intake->first[micro_batch] * intake->sequence;
    const int64_t target = intake->first[micro_batch] * intake->target_sequence;
    const size_t rows = (size_t)(piece->samples * piece->sequence);
    const size_t target_rows = (size_t)(piece->samples * piece->target_sequence);
    const bool decoded = piece->target_sequence > 0;
    backend->copy(lane, intake->tokens + row, piece->tokens, rows * sizeof(int32_t));
    backend->copy(lane, intake->lengths + row, piece->lengths,
                  (size_t)piece->samples * sizeof(int32_t));
    backend->copy(lane, intake->targets + target, piece->targets,
                  (decoded ? target_rows : rows) * sizeof(int32_t));
    if (decoded) {
        backend->copy(lane, intake->target_tokens + target, piece->target_tokens,
                      target_rows * sizeof(int32_t));
    }
}

void yk_intake_fill(const struct yk_intake *intake, int32_t micro_batch,
                    const struct yk_piece *piece, struct yk_pass *pass)
{
    const struct yk_net_layer *layer = &intake->net->layers[pass->layer];
    const int64_t row = intake->first[micro_batch] * intake->sequence;
    const int64_t target = intake->first[micro_batch] * intake->target_sequence;
    pass->extent = (struct yk_extent){
        .samples = piece->samples,
        .sequence = layer->decodes ? piece->target_sequence : piece->sequence,
        .memory = layer->memory >= 0 ? piece->sequence : 0,
    };
    pass->first_sample = piece->first_sample;
    pass->tokens = layer->decodes ? intake->target_tokens + target : intake->tokens + row;
    pass->lengths = intake->lengths + row;
    pass->targets = intake->targets + target;
    pass->constants = intake->constants;
}
