#include "train/executor/device_batches.h"

#include "train/batches.h"

#include <inttypes.h>

static bool decodes(const struct yk_device_batches *intake)
{
    return intake->net->config->encoder_layers > 0;
}

/* Micro-batches lie behind each other. */
yk_status yk_device_batches_init(const struct yk_plan *plan, int32_t rank, int64_t spare,
                                 const struct yk_net *net, struct yk_arena *arena,
                                 struct yk_device_batches *out)
{
    const struct yk_workload *workload = &plan->workload;
    const int64_t positions = net->config->positions;
    struct yk_batch_share *cuts = NULL;
    *out = (struct yk_device_batches){.net = net, .sequence = workload->sequence};
    out->target_sequence =
        workload->target_sequence > 0 ? workload->target_sequence : workload->sequence;
    out->longest = decodes(out) && positions > out->sequence ? positions : out->sequence;
    YK_TRY_NEW(arena, out->first, plan->micro_batches + 1);
    YK_TRY_NEW(arena, cuts, plan->micro_batches);
    yk_batches_find_shares(plan, rank, cuts);
    for (int32_t m = 0; m < plan->micro_batches; m++) {
        out->first[m + 1] = out->first[m] + cuts[m].count + (cuts[m].count > 0 ? spare : 0);
    }
    out->samples = out->first[plan->micro_batches];
    return YK_OK;
}

void yk_device_batches_carve(struct yk_device_batches *intake, struct yk_carver *carver)
{
    const int64_t rows = intake->samples * intake->sequence;
    const int64_t target_rows = intake->samples * intake->target_sequence;
    for (int i = 0; i < YK_DEVICE_BATCHES_STEPS; i++) {
        intake->steps[i].tokens = yk_carve(carver, rows, sizeof(int32_t));
        intake->steps[i].lengths = yk_carve(carver, rows, sizeof(int32_t));
        intake->steps[i].targets = yk_carve(carver, target_rows, sizeof(int32_t));
        intake->steps[i].target_tokens =
            decodes(intake) ? yk_carve(carver, target_rows, sizeof(int32_t)) : NULL;
    }
    yk_position_tables_carve(intake->net, intake->longest, carver, &intake->constants);
}

yk_status yk_device_batches_check(const struct yk_device_batches *intake,
                                  const struct yk_batch *batch)
{
    for (int32_t m = 0; m < batch->piece_count; m++) {
        const struct yk_slice *piece = &batch->pieces[m].own;
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

void yk_device_batches_load(const struct yk_device_batches *intake,
                            const struct yk_backend *backend, struct yk_backend_lane *lane,
                            int32_t slot, int32_t micro_batch, const struct yk_slice *piece)
{
    const int64_t row = intake->first[micro_batch] * intake->sequence;
    const int64_t target = intake->first[micro_batch] * intake->target_sequence;
    const size_t rows = (size_t)(piece->samples * piece->sequence);
    const size_t target_rows = (size_t)(piece->samples * piece->target_sequence);
    const bool decoded = piece->target_sequence > 0;
    if (piece->samples == 0) {
        return;
    }
    backend->copy(lane, intake->steps[slot].tokens + row, piece->tokens, rows * sizeof(int32_t));
    backend->copy(lane, intake->steps[slot].targets + target, piece->targets,
                  (decoded ? target_rows : rows) * sizeof(int32_t));
    if (decoded) {
        backend->copy(lane, intake->steps[slot].target_tokens + target, piece->target_tokens,
                      target_rows * sizeof(int32_t));
    }
}

void yk_device_batches_load_lengths(const struct yk_device_batches *intake,
                                    const struct yk_backend *backend, struct yk_backend_lane *lane,
                                    int32_t slot, int32_t micro_batch, const struct yk_slice *piece)
{
    const int64_t row = intake->first[micro_batch] * intake->sequence;
    if (piece->samples > 0) {
        backend->copy(lane, intake->steps[slot].lengths + row, piece->lengths,
                      (size_t)piece->samples * sizeof(int32_t));
    }
}

void yk_device_batches_fill_pass(const struct yk_device_batches *intake, int32_t slot,
                                 int32_t micro_batch, const struct yk_slice *piece, int64_t begin,
                                 int64_t samples, struct yk_pass *pass)
{
    const struct yk_net_layer *layer = &intake->net->layers[pass->layer];
    const int64_t target_sequence =
        piece->target_sequence > 0 ? piece->target_sequence : piece->sequence;
    const int64_t row = intake->first[micro_batch] * intake->sequence + begin * piece->sequence;
    const int64_t target =
        intake->first[micro_batch] * intake->target_sequence + begin * target_sequence;
    pass->extent = (struct yk_batch_shape){
        .samples = samples,
        .sequence = layer->decodes ? piece->target_sequence : piece->sequence,
        .memory = layer->memory >= 0 ? piece->sequence : 0,
    };
    pass->first_sample = piece->first_sample + begin;
    pass->tokens = layer->decodes ? intake->steps[slot].target_tokens + target
                                  : intake->steps[slot].tokens + row;
    pass->lengths =
        intake->steps[slot].lengths + intake->first[micro_batch] * intake->sequence + begin;
    pass->targets = intake->steps[slot].targets + target;
    pass->constants = intake->constants;
}
