#include "job/models/eval_outputs.h"

#include "nn/inference/forward.h"
#include "tensors/safetensors_writer.h"

#include <stdlib.h>

struct outputs {
    struct yk_forward *forward;
    struct yk_safetensors_writer *writer;
    struct yk_slice piece;
    float *row; /* (V) */
};

static void free_outputs(struct outputs *outputs)
{
    yk_forward_destroy(outputs->forward);
    yk_safetensors_writer_destroy(outputs->writer);
    free(outputs->piece.tokens);
    free(outputs->piece.lengths);
    free(outputs->piece.targets);
    free(outputs->row);
}

static yk_status take_samples(const struct yk_sampler *sampler, int64_t samples, int64_t V,
                              struct outputs *out)
{
    const size_t rows = (size_t)yk_sampler_rows(sampler, samples);
    struct yk_slice *piece = &out->piece;
    piece->tokens = calloc(rows, sizeof *piece->tokens);
    piece->targets = calloc(rows, sizeof *piece->targets);
    piece->lengths = calloc((size_t)samples, sizeof *piece->lengths);
    out->row = calloc((size_t)V, sizeof *out->row);
    return piece->tokens && piece->targets && piece->lengths && out->row
               ? yk_sampler_fetch(sampler, 0, samples, piece)
               : yk_fail_out_of_memory();
}

static yk_status declare(struct outputs *outputs, int64_t V)
{
    const struct yk_slice *piece = &outputs->piece;
    const int64_t dimensions[] = {piece->samples, piece->sequence, V};
    YK_TRY(yk_safetensors_writer_declare(outputs->writer, "tokens", YK_TENSOR_I32, 2, dimensions));
    YK_TRY(yk_safetensors_writer_declare(outputs->writer, "lengths", YK_TENSOR_I32, 1, dimensions));
    YK_TRY(yk_safetensors_writer_declare(outputs->writer, "logits", YK_TENSOR_F32, 3, dimensions));
    return yk_safetensors_writer_begin(outputs->writer);
}

static yk_status write_rows(struct outputs *outputs, int64_t V)
{
    const struct yk_slice *piece = &outputs->piece;
    const size_t samples = (size_t)piece->samples;
    YK_TRY(yk_safetensors_writer_add(outputs->writer, piece->tokens,
                                     samples * (size_t)piece->sequence * sizeof *piece->tokens));
    YK_TRY(yk_safetensors_writer_add(outputs->writer, piece->lengths,
                                     samples * sizeof *piece->lengths));
    for (int64_t sample = 0; sample < piece->samples; sample++) {
        for (int64_t position = 0; position < piece->sequence; position++) {
            YK_TRY(yk_forward_logits(outputs->forward, sample, position, outputs->row));
            YK_TRY(yk_safetensors_writer_add(outputs->writer, outputs->row,
                                             (size_t)V * sizeof *outputs->row));
        }
    }
    return yk_safetensors_writer_finish(outputs->writer, NULL);
}

static yk_status write_outputs(const struct yk_store *store, const struct yk_sampler *sampler,
                               int64_t samples, const char *path, struct outputs *outputs)
{
    const int64_t V = yk_model_config_target_vocabulary(store->net->config);
    const struct yk_slice *piece = &outputs->piece;
    YK_TRY(take_samples(sampler, samples, V, outputs));
    const struct yk_forward_shape shape = {.samples = piece->samples, .sequence = piece->sequence};
    YK_TRY(yk_forward_create(store, &shape, &outputs->forward));
    /* Without a decoder, the encoder is all there is. */
    YK_TRY(yk_forward_encode(outputs->forward, piece->tokens, piece->lengths, piece->samples,
                             piece->sequence));
    YK_TRY(yk_safetensors_writer_create(path, &outputs->writer));
    YK_TRY(declare(outputs, V));
    return write_rows(outputs, V);
}

yk_status yk_eval_write_outputs(const struct yk_store *store, const struct yk_dataset *dataset,
                                int64_t samples, const char *path)
{
    const struct yk_sampler_options cut = {.sequence = store->net->workload.sequence};
    struct outputs outputs = {0};
    struct yk_sampler *sampler = NULL;
    if (store->net->config->encoder_layers > 0) {
        return yk_fail(YK_ERROR_USAGE, "--outputs: what a model says that translates depends on "
                                       "what it has said before; see yoke translate");
    }
    YK_TRY(yk_dataset_create_sequential_sampler(dataset, &cut, true, &sampler));
    const int64_t there = samples < sampler->epoch_units ? samples : sampler->epoch_units;
    const yk_status status = write_outputs(store, sampler, there, path, &outputs);
    free_outputs(&outputs);
    yk_sampler_destroy(sampler);
    return status;
}
