#include "train/executor/device_batches.h"

#include "train/batch_prefetcher.h"

#include <inttypes.h>

static bool decodes(const struct yk_device_batches *batches)
{
    return batches->net->config->encoder_layers > 0;
}

yk_status yk_device_batches_compute_sizes(const struct yk_plan *plan, int32_t rank, int64_t spare,
                                          const struct yk_net *net, struct yk_arena *arena,
                                          struct yk_device_batches *out)
{
    const struct yk_workload *workload = &plan->workload;
    const int64_t positions = net->config->positions;
    struct yk_micro_batch_share *shares = NULL;
    const bool images = yk_model_config_reads_images(net->config);
    *out = (struct yk_device_batches){
        .net = net,
        .images = images,
        .sequence = images ? 1 : workload->sequence,
        .image_bytes = yk_program_memory_image_bytes(plan, net->config, rank),
    };
    out->target_sequence =
        workload->target_sequence > 0 ? workload->target_sequence : out->sequence;
    out->longest = decodes(out) && positions > out->sequence ? positions : out->sequence;
    YK_TRY_NEW(arena, out->first, plan->micro_batches + 1);
    YK_TRY_NEW(arena, shares, plan->micro_batches);
    yk_batch_prefetcher_compute_shares(plan, rank, shares);
    for (int32_t m = 0; m < plan->micro_batches; m++) {
        out->first[m + 1] = out->first[m] + shares[m].count + (shares[m].count > 0 ? spare : 0);
    }
    out->samples = out->first[plan->micro_batches];
    return YK_OK;
}

void yk_device_batches_allocate(struct yk_device_batches *batches,
                                struct yk_bump_allocator *allocator)
{
    const int64_t rows = batches->samples * batches->sequence;
    const int64_t target_rows = batches->samples * batches->target_sequence;
    for (int i = 0; i < YK_DEVICE_BATCHES_STEP_SLOTS; i++) {
        batches->steps[i].tokens = yk_bump_allocate(allocator, rows, sizeof(int32_t));
        batches->steps[i].lengths = yk_bump_allocate(allocator, rows, sizeof(int32_t));
        batches->steps[i].targets = yk_bump_allocate(allocator, target_rows, sizeof(int32_t));
        batches->steps[i].target_tokens =
            decodes(batches) ? yk_bump_allocate(allocator, target_rows, sizeof(int32_t)) : NULL;
        batches->steps[i].pixels =
            batches->image_bytes > 0
                ? yk_bump_allocate(allocator, batches->samples * batches->image_bytes, 1)
                : NULL;
    }
    yk_position_tables_allocate(batches->net, batches->longest, allocator,
                                &batches->position_tables);
}

yk_status yk_device_batches_check_batch_fits(const struct yk_device_batches *batches,
                                             const struct yk_rank_batch *batch)
{
    for (int32_t m = 0; m < batch->slice_count; m++) {
        const struct yk_sample_slice *slice = &batch->slices[m].own;
        const int64_t samples = batches->first[m + 1] - batches->first[m];
        if (slice->samples * slice->sequence > samples * batches->sequence ||
            slice->samples * slice->target_sequence > samples * batches->target_sequence ||
            slice->sequence > batches->longest || slice->target_sequence > batches->longest) {
            return yk_fail(YK_ERROR_INPUT,
                           "%" PRId64 " samples of %" PRId64 " and %" PRId64
                           " tokens do not fit into a micro-batch that is planned for %" PRId64
                           " of %" PRId64 " and %" PRId64,
                           slice->samples, slice->sequence, slice->target_sequence, samples,
                           batches->sequence, batches->target_sequence);
        }
    }
    return YK_OK;
}

void yk_device_batches_enqueue_token_copy(const struct yk_device_batches *batches,
                                          const struct yk_backend *backend,
                                          struct yk_backend_lane *lane, int32_t slot,
                                          int32_t micro_batch, const struct yk_sample_slice *slice)
{
    const int64_t row = batches->first[micro_batch] * batches->sequence;
    const int64_t target = batches->first[micro_batch] * batches->target_sequence;
    const size_t rows = (size_t)(slice->samples * slice->sequence);
    const size_t target_rows = (size_t)(slice->samples * slice->target_sequence);
    const bool decoded = slice->target_sequence > 0;
    if (slice->samples == 0) {
        return;
    }
    if (batches->image_bytes > 0) {
        backend->copy(
            lane, batches->steps[slot].pixels + batches->first[micro_batch] * batches->image_bytes,
            slice->pixels, (size_t)(slice->samples * batches->image_bytes));
    }
    if (!batches->images) {
        backend->copy(lane, batches->steps[slot].tokens + row, slice->tokens,
                      rows * sizeof(int32_t));
    }
    backend->copy(lane, batches->steps[slot].targets + target, slice->targets,
                  (decoded ? target_rows : rows) * sizeof(int32_t));
    if (decoded) {
        backend->copy(lane, batches->steps[slot].target_tokens + target, slice->target_tokens,
                      target_rows * sizeof(int32_t));
    }
}

void yk_device_batches_enqueue_length_copy(const struct yk_device_batches *batches,
                                           const struct yk_backend *backend,
                                           struct yk_backend_lane *lane, int32_t slot,
                                           int32_t micro_batch, const struct yk_sample_slice *slice)
{
    const int64_t row = batches->first[micro_batch] * batches->sequence;
    if (slice->samples > 0) {
        backend->copy(lane, batches->steps[slot].lengths + row, slice->lengths,
                      (size_t)slice->samples * sizeof(int32_t));
    }
}

void yk_device_batches_set_pass_inputs(const struct yk_device_batches *batches, int32_t slot,
                                       int32_t micro_batch, const struct yk_sample_slice *slice,
                                       int64_t begin, int64_t samples, struct yk_layer_pass *pass)
{
    const struct yk_net_layer *layer = &batches->net->layers[pass->layer];
    const int64_t target_sequence =
        slice->target_sequence > 0 ? slice->target_sequence : slice->sequence;
    const int64_t row = batches->first[micro_batch] * batches->sequence + begin * slice->sequence;
    const int64_t target =
        batches->first[micro_batch] * batches->target_sequence + begin * target_sequence;
    pass->batch = (struct yk_batch_shape){
        .samples = samples,
        .sequence = yk_net_layer_input_rows(
            layer, layer->decodes ? slice->target_sequence
                                  : yk_net_sample_tokens(batches->net, slice->sequence)),
        .memory = layer->memory >= 0 ? slice->sequence : 0,
    };
    pass->first_sample = slice->first_sample + begin;
    pass->tokens = layer->decodes ? batches->steps[slot].target_tokens + target
                                  : batches->steps[slot].tokens + row;
    pass->lengths =
        batches->steps[slot].lengths + batches->first[micro_batch] * batches->sequence + begin;
    pass->targets = batches->steps[slot].targets + target;
    if (batches->image_bytes > 0) {
        pass->pixels = batches->steps[slot].pixels +
                       (batches->first[micro_batch] + begin) * batches->image_bytes;
    }
    pass->position_tables = batches->position_tables;
}
