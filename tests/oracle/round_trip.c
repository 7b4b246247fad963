/*
 * Round trip: reads a model in Hugging Face format, trains it for a few steps and writes it again,
 * for tests/oracle/round_trip.py to read with transformers and PEFT.
 *
 *   oracle-round_trip FOLDER OUT
 *
 * FOLDER is one that check_family.py --make wrote: config.json and model.safetensors, or
 * adapter_config.json and adapter_model.safetensors with the base model in `base`; the tokens are
 * in outputs.safetensors. Of a model, OUT gets the folders `model` and `sharded`, of an adapter
 * `adapter` and `merged`, each with the logits after the training in outputs.safetensors.
 */
#include "base/folder.h"
#include "nn/inference/inference.h"
#include "nn/weights/adapter_config.h"
#include "nn/weights/weights.h"
#include "support/support.h"
#include "support/training/trainer.h"
#include "tensors/safetensors_writer.h"
#include "tensors/tensor_set.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
    STEPS = 3,
    SHARD_BYTES = 3000, /* small models have several files, too */
};

/* (B, T) tokens of a file. */
struct tokens {
    int64_t rows;
    int64_t columns;
    int32_t *ids; /* NULL: there are none */
};

struct round_trip {
    struct yk_arena *arena;
    const char *folder;
    const char *base; /* folder of the model itself */
    const char *out;
    struct yk_adapter_config adapter; /* rank 0: none */
    const struct yk_model_config *config;
    struct tokens tokens;
    struct tokens target;
    uint8_t *pixels; /* NULL: the model reads tokens */
    struct trainer *trainer;
    float *logits;
};

static const char *join(const struct round_trip *trip, const char *folder, const char *name)
{
    const char *path = NULL;
    assert_ok(yk_folder_join_path(folder, name, trip->arena, &path));
    return path;
}

/* Without padding, which each framework numbers in its own way. */
static struct tokens read_tokens(const struct round_trip *trip, const struct yk_tensor_set *set,
                                 const char *name)
{
    const struct yk_tensor_location *place = yk_tensor_set_find_tensor(set, name);
    struct tokens tokens = {0};
    if (!place) {
        return tokens;
    }
    tokens.rows = place->entry->shape[0];
    tokens.columns = place->entry->shape[1];
    const size_t count = (size_t)(tokens.rows * tokens.columns);
    tokens.ids = yk_arena_allocate(trip->arena, count, sizeof *tokens.ids);
    assert_non_null(tokens.ids);
    assert_int_equal(place->entry->type, YK_TENSOR_I32);
    assert_ok(yk_safetensors_read_tensor_range(place->file, place->entry, 0,
                                               count * sizeof *tokens.ids, tokens.ids));
    for (size_t i = 0; i < count; i++) {
        const bool pad = tokens.ids[i] == trip->config->ids.pad;
        tokens.ids[i] =
            pad ? (int32_t)((tokens.ids[i] + 1) % trip->config->vocabulary) : tokens.ids[i];
    }
    return tokens;
}

/* Images, of which each is one token; its class is what the token says. */
static void read_images(struct round_trip *trip, const struct yk_tensor_set *set)
{
    const struct yk_tensor_location *place = yk_tensor_set_find_tensor(set, "pixels");
    assert_true(place && place->entry->type == YK_TENSOR_U8);
    trip->tokens.rows = place->entry->shape[0];
    trip->tokens.columns = 1;
    trip->tokens.ids =
        yk_arena_allocate(trip->arena, (size_t)trip->tokens.rows, sizeof *trip->tokens.ids);
    trip->pixels = yk_arena_allocate(trip->arena, (size_t)place->entry->bytes, 1);
    assert_true(trip->tokens.ids && trip->pixels);
    assert_ok(yk_safetensors_read_tensor_range(place->file, place->entry, 0, place->entry->bytes,
                                               trip->pixels));
    for (int64_t i = 0; i < trip->tokens.rows; i++) {
        trip->tokens.ids[i] = (int32_t)(i % trip->config->vocabulary);
    }
}

static void read_inputs(struct round_trip *trip)
{
    struct yk_tensor_set *set = NULL;
    struct stat found;
    trip->base = trip->folder;
    if (stat(join(trip, trip->folder, "adapter_config.json"), &found) == 0) {
        trip->base = join(trip, trip->folder, "base");
        assert_ok(yk_adapter_config_read(trip->folder, trip->arena, &trip->adapter));
    }
    assert_ok(
        yk_model_config_open(join(trip, trip->base, "config.json"), trip->arena, &trip->config));
    assert_ok(yk_tensor_set_open(join(trip, trip->folder, "outputs.safetensors"), &set));
    if (yk_model_config_reads_images(trip->config)) {
        read_images(trip, set);
    } else {
        trip->tokens = read_tokens(trip, set, "tokens");
    }
    trip->target = read_tokens(trip, set, "target_tokens");
    yk_tensor_set_close(set);
}

static struct yk_sample_slice slice_of(const struct round_trip *trip)
{
    const struct tokens *predicted = trip->target.ids ? &trip->target : &trip->tokens;
    struct yk_sample_slice slice = {
        .samples = trip->tokens.rows,
        .sequence = trip->tokens.columns,
        .target_sequence = trip->target.columns,
        .loss_targets = predicted->rows * predicted->columns,
        .token_count = trip->tokens.rows * trip->tokens.columns,
        .tokens = trip->tokens.ids,
        .target_tokens = trip->target.ids,
        .targets = predicted->ids, /* any will do */
        .pixels = trip->pixels,
    };
    slice.lengths = yk_arena_allocate(trip->arena, (size_t)slice.samples, sizeof *slice.lengths);
    assert_non_null(slice.lengths);
    for (int64_t i = 0; i < slice.samples; i++) {
        slice.lengths[i] = (int32_t)slice.sequence;
    }
    return slice;
}

static void train(struct round_trip *trip)
{
    const struct yk_sample_slice slice = slice_of(trip);
    trip->trainer = trainer_open(&(struct trainer_request){
        .config = trip->config,
        .batch = slice.samples,
        .sequence = trip->pixels ? trip->config->positions : slice.sequence,
        .target_sequence = slice.target_sequence,
        .lora_rank = trip->adapter.rank,
        .options = {.lora_alpha = trip->adapter.rank > 0 ? trip->adapter.alpha : 0},
        .optimizer = {.kind = YK_OPTIMIZER_ADAMW, .beta1 = 0.9, .beta2 = 0.95, .epsilon = 1e-8},
    });
    assert_ok(yk_weights_load(trip->trainer->store, trip->base));
    if (trip->adapter.rank > 0) {
        assert_ok(yk_adapter_load(trip->trainer->store, trip->folder));
    }
    for (int64_t step = 0; step < STEPS; step++) {
        (void)trainer_step_on(trip->trainer, &slice,
                              (struct yk_step_options){.lr = 1e-2, .updates = step});
    }
}

static void compute_logits(struct round_trip *trip)
{
    const struct yk_sample_slice slice = slice_of(trip);
    const struct yk_inference_shape shape = {
        .samples = slice.samples,
        .sequence = slice.sequence,
        .target_sequence = slice.target_sequence,
    };
    const int64_t V = yk_model_config_target_vocabulary_size(trip->config);
    const int64_t columns = trip->target.ids ? trip->target.columns : trip->tokens.columns;
    const int64_t rows = slice.samples * columns;
    struct yk_inference *inference = NULL;
    struct yk_loss_sums sums = {0};
    trip->logits = yk_arena_allocate(trip->arena, (size_t)(rows * V), sizeof *trip->logits);
    assert_non_null(trip->logits);
    assert_ok(yk_inference_create(trip->trainer->store, &shape, &inference));
    assert_ok(yk_inference_sum_losses(inference, &slice, &sums));
    for (int64_t row = 0; row < rows; row++) {
        assert_ok(yk_inference_get_logits(inference, row / columns, row % columns,
                                          trip->logits + row * V));
    }
    yk_inference_destroy(inference);
}

static void declare_tokens(struct yk_safetensors_writer *writer, const char *name,
                           const struct tokens *tokens)
{
    const int64_t shape[] = {tokens->rows, tokens->columns};
    if (tokens->ids) {
        assert_ok(yk_safetensors_writer_declare_tensor(writer, name, YK_TENSOR_I32, 2, shape));
    }
}

static void append_tokens(struct yk_safetensors_writer *writer, const struct tokens *tokens)
{
    if (tokens->ids) {
        assert_ok(yk_safetensors_writer_append_bytes(
            writer, tokens->ids, (size_t)(tokens->rows * tokens->columns) * sizeof *tokens->ids));
    }
}

static void write_outputs(const struct round_trip *trip, const char *folder)
{
    const int64_t V = yk_model_config_target_vocabulary_size(trip->config);
    const int64_t columns = trip->target.ids ? trip->target.columns : trip->tokens.columns;
    const int64_t shape[] = {trip->tokens.rows, columns, V};
    struct yk_safetensors_writer *writer = NULL;
    assert_ok(yk_safetensors_writer_create(join(trip, folder, "outputs.safetensors"), &writer));
    if (trip->pixels) {
        const struct yk_image_shape *image = &trip->config->image;
        const int64_t images[] = {shape[0], image->channels, image->height, image->width};
        assert_ok(yk_safetensors_writer_declare_tensor(writer, "pixels", YK_TENSOR_U8, 4, images));
    } else {
        declare_tokens(writer, "tokens", &trip->tokens);
    }
    declare_tokens(writer, "target_tokens", &trip->target);
    assert_ok(
        yk_safetensors_writer_declare_tensor(writer, "logits", YK_TENSOR_F32, trip->pixels ? 2 : 3,
                                             trip->pixels ? (int64_t[]){shape[0], V} : shape));
    assert_ok(yk_safetensors_writer_write_header(writer));
    if (trip->pixels) {
        assert_ok(yk_safetensors_writer_append_bytes(
            writer, trip->pixels, (size_t)(shape[0] * yk_model_config_image_bytes(trip->config))));
    } else {
        append_tokens(writer, &trip->tokens);
    }
    append_tokens(writer, &trip->target);
    assert_ok(yk_safetensors_writer_append_bytes(
        writer, trip->logits, (size_t)(shape[0] * columns * V) * sizeof *trip->logits));
    assert_ok(yk_safetensors_writer_finish(writer, NULL));
    yk_safetensors_writer_destroy(writer);
}

/* A new folder of OUT, with the logits in it. */
static const char *make_folder(const struct round_trip *trip, const char *name)
{
    const char *folder = join(trip, trip->out, name);
    assert_int_equal(mkdir(folder, 0777), 0);
    write_outputs(trip, folder);
    return folder;
}

static void write_results(const struct round_trip *trip)
{
    const struct yk_parameter_store *store = trip->trainer->store;
    assert_int_equal(mkdir(trip->out, 0777), 0);
    if (trip->adapter.rank > 0) {
        assert_ok(yk_adapter_save(store, make_folder(trip, "adapter"), trip->base));
        assert_ok(yk_weights_save(store, make_folder(trip, "merged"), 0, true));
    } else {
        assert_ok(yk_weights_save(store, make_folder(trip, "model"), 0, false));
        assert_ok(yk_weights_save(store, make_folder(trip, "sharded"), SHARD_BYTES, false));
    }
}

int main(int argc, char **argv)
{
    struct round_trip trip = {0};
    if (argc != 3) {
        (void)fprintf(stderr, "usage: oracle-round_trip FOLDER OUT\n");
        return 2;
    }
    trip.folder = argv[1];
    trip.out = argv[2];
    assert_ok(yk_arena_create(&trip.arena));
    read_inputs(&trip);
    train(&trip);
    compute_logits(&trip);
    write_results(&trip);
    trainer_close(trip.trainer);
    yk_arena_destroy(trip.arena);
    return 0;
}
