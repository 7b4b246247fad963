#include "support/training/model_oracle.h"

#include "nn/inference/inference.h"
#include "support/support.h"
#include "support/training/trainer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_STEPS = 64,
};

/* Gradients of 16 bits that would be too small to tell from 0 in fp16. */
static const double fp16_loss_scale = 1024;

static double loss_scale_of(const struct model_oracle_request *request)
{
    return request->precision == YK_PRECISION_FP16 ? fp16_loss_scale : 1;
}

static struct trainer *open_trainer(const struct training_case *c,
                                    const struct model_oracle_request *request)
{
    const struct training_case_options *options = &c->options;
    return trainer_open(&(struct trainer_request){
        .backend = request->backend,
        .backend_options = request->options,
        .config = c->config,
        .batch = options->batch,
        .sequence = options->sequence,
        .target_sequence = options->target_sequence,
        .micro_batches = (int32_t)options->accumulation,
        .precision = request->precision,
        .lora_rank = options->lora_rank,
        .nf4 = options->nf4,
        .recompute = request->recompute,
        .clip = options->clip > 0 || loss_scale_of(request) > 1,
        .optimizer = options->optimizer,
        .options = {.label_smoothing = options->smoothing, .lora_alpha = options->lora_alpha},
    });
}

static void fill(const struct training_case *c, struct trainer *trainer)
{
    for (int32_t l = 0; l < trainer->net->layer_count; l++) {
        const struct yk_net_layer *layer = &trainer->net->layers[l];
        for (int32_t i = 0; i < layer->parameter_count; i++) {
            const struct yk_parameter *parameter = &layer->parameters[i];
            const float *start = training_case_start(c, parameter->name, parameter->count);
            assert_ok(yk_parameter_store_write_values(trainer->store, l, parameter, start));
        }
    }
}

/* What a run is held against. */
struct expectation {
    const float *logits;
    const float *losses;
    const float *norms;
    const char *gradients; /* the kind of its tensors */
};

static struct expectation expectation_of(const struct training_case *c)
{
    const int64_t steps = c->options.steps;
    if (c->options.precision == YK_PRECISION_FP32) {
        return (struct expectation){
            .logits = c->logits, .losses = c->losses, .norms = c->norms, .gradients = "gradients"};
    }
    const int64_t V = yk_model_config_target_vocabulary_size(c->config);
    return (struct expectation){
        .logits = training_case_floats(c, "exact.logits", NULL, training_case_rows(c) * V),
        .losses = training_case_floats(c, "exact.losses", NULL, steps),
        .norms = training_case_floats(c, "exact.norms", NULL, steps),
        .gradients = "exact.gradients",
    };
}

/* RoBERTa has no positions for padding, and nothing depends on the logits there. */
static bool is_padding(const struct training_case *c, int64_t row)
{
    const struct yk_sample_slice slice = training_case_slice(c, 0);
    return c->config->first_position > 0 &&
           row % slice.sequence >= slice.lengths[row / slice.sequence];
}

static double compare_logits(const struct training_case *c,
                             const struct model_oracle_request *request,
                             const struct trainer *trainer, const float *expected)
{
    const struct yk_sample_slice slice = training_case_slice(c, 0);
    const struct yk_inference_shape shape = {
        .samples = slice.samples,
        .sequence = slice.sequence,
        .target_sequence = slice.target_sequence,
    };
    const int64_t V = yk_model_config_target_vocabulary_size(c->config);
    const int64_t rows = training_case_rows(c);
    struct yk_inference *inference = NULL;
    float *logits = calloc((size_t)(rows * V), sizeof *logits);
    struct yk_loss_sums sums = {0};
    assert_non_null(logits);
    assert_ok(yk_inference_create(trainer->store, &shape, &inference));
    assert_ok(yk_inference_sum_losses(inference, &slice, &sums));
    for (int64_t row = 0; row < rows; row++) {
        const int64_t sequence = rows / slice.samples;
        if (is_padding(c, row)) {
            memcpy(logits + row * V, expected + row * V, (size_t)V * sizeof *logits);
            continue;
        }
        assert_ok(
            yk_inference_get_logits(inference, row / sequence, row % sequence, logits + row * V));
    }
    const double apart = request->apart(logits, expected, rows * V);
    yk_inference_destroy(inference);
    free(logits);
    return apart;
}

/* A gradient that is 0 but for rounding, beside the norm of all gradients. */
static double size_of_still(const struct training_case *c, const float *given, int64_t count)
{
    double max = 0;
    for (int64_t i = 0; i < count; i++) {
        max = isfinite(given[i]) ? fmax(max, fabs((double)given[i])) : (double)INFINITY;
    }
    return max / (double)c->norms[0];
}

/* Squares over all gradients. */
struct gradient_squares {
    double difference;
    double size;
};

static void compare_gradient(const struct training_case *c, const char *name, const float *given,
                             double (*apart)(const float *, const float *, int64_t),
                             struct gradient_squares *squares, struct model_oracle_distance *out)
{
    const char *const kind = expectation_of(c).gradients;
    const int64_t count = training_case_find(c, kind, name)->count;
    const float *expected = training_case_floats(c, kind, name, count);
    const double found = training_case_is_still(c, name) ? size_of_still(c, given, count)
                                                         : apart(given, expected, count);
    if (!(found <= out->gradients)) {
        out->gradients = found;
        out->gradient_name = name;
    }
    for (int64_t i = 0; i < count; i++) {
        const double difference = (double)given[i] - (double)expected[i];
        squares->difference += difference * difference;
        squares->size += (double)expected[i] * (double)expected[i];
    }
    out->gradients_together = sqrt(squares->difference / squares->size);
}

static void compare_gradients(const struct training_case *c,
                              const struct model_oracle_request *request, struct trainer *trainer,
                              struct model_oracle_distance *out)
{
    struct gradient_squares squares = {0};
    for (int32_t i = 0; training_case_name(c, "gradients", i); i++) {
        const char *name = training_case_name(c, "gradients", i);
        int64_t count = 0;
        float *given = trainer_gradient(trainer, name, &count);
        assert_int_equal(count, training_case_find(c, "gradients", name)->count);
        for (int64_t k = 0; k < count; k++) {
            given[k] /= (float)loss_scale_of(request);
        }
        compare_gradient(c, name, given, request->apart, &squares, out);
    }
}

static void compare_final(const struct training_case *c, const struct model_oracle_request *request,
                          struct trainer *trainer, struct model_oracle_distance *out)
{
    for (int32_t i = 0; training_case_name(c, "final", i); i++) {
        const char *name = training_case_name(c, "final", i);
        int32_t layer = 0;
        const struct yk_parameter *parameter = yk_net_find_parameter(trainer->net, name, &layer);
        assert_non_null(parameter);
        float *given = calloc((size_t)parameter->count, sizeof *given);
        assert_non_null(given);
        assert_ok(yk_parameter_store_read_values(trainer->store, layer, parameter, given));
        const double apart = request->apart(
            given, training_case_floats(c, "final", name, parameter->count), parameter->count);
        if (!(apart <= out->final)) {
            out->final = apart;
            out->final_name = name;
        }
        free(given);
    }
}

struct model_oracle_distance model_oracle_run(const struct training_case *c,
                                              const struct model_oracle_request *request)
{
    const struct training_case_options *options = &c->options;
    struct model_oracle_distance found = {0};
    const struct expectation expected = expectation_of(c);
    struct trainer *trainer = open_trainer(c, request);
    float losses[MAX_STEPS];
    float norms[MAX_STEPS];
    fill(c, trainer);
    found.logits = compare_logits(c, request, trainer, expected.logits);
    assert_true(options->steps <= MAX_STEPS);
    for (int64_t s = 0; s < options->steps; s++) {
        const double rate = yk_lr_schedule_lr_at_step(&options->rate, s);
        const struct yk_sample_slice slice = training_case_slice(c, s);
        const struct yk_step_result result =
            trainer_step_on(trainer, &slice,
                            (struct yk_step_options){.lr = rate,
                                                     .updates = s,
                                                     .clip = options->clip,
                                                     .loss_scale = loss_scale_of(request)});
        losses[s] = (float)result.loss;
        norms[s] = (float)result.norm;
        assert_false(result.skipped);
        assert_true(fabs(rate - (double)c->rates[s]) <= 1e-6 * (double)c->rates[s]);
        if (s == 0) {
            compare_gradients(c, request, trainer, &found);
        }
    }
    found.losses = request->apart(losses, expected.losses, options->steps);
    found.norms = request->apart(norms, expected.norms, options->steps);
    compare_final(c, request, trainer, &found);
    trainer_close(trainer);
    return found;
}

static double recorded_logits_apart(const struct training_case *c, const float *expected,
                                    double (*apart)(const float *, const float *, int64_t))
{
    const int64_t V = yk_model_config_target_vocabulary_size(c->config);
    const int64_t rows = training_case_rows(c);
    float *logits = calloc((size_t)(rows * V), sizeof *logits);
    assert_non_null(logits);
    for (int64_t row = 0; row < rows; row++) {
        const float *from = is_padding(c, row) ? expected : c->logits;
        memcpy(logits + row * V, from + row * V, (size_t)V * sizeof *logits);
    }
    const double found = apart(logits, expected, rows * V);
    free(logits);
    return found;
}

struct model_oracle_distance
model_oracle_recorded(const struct training_case *c,
                      double (*apart)(const float *given, const float *expected, int64_t count))
{
    const struct expectation expected = expectation_of(c);
    const int64_t steps = c->options.steps;
    struct gradient_squares squares = {0};
    struct model_oracle_distance found = {
        .logits = recorded_logits_apart(c, expected.logits, apart),
        .losses = apart(c->losses, expected.losses, steps),
        .norms = apart(c->norms, expected.norms, steps),
    };
    for (int32_t i = 0; training_case_name(c, "gradients", i); i++) {
        const char *name = training_case_name(c, "gradients", i);
        const struct training_tensor *tensor = training_case_find(c, "gradients", name);
        compare_gradient(c, name, tensor->floats, apart, &squares, &found);
    }
    return found;
}

static void expect_near(const struct training_case *c, const char *what, double apart, double max)
{
    if (!(apart <= max)) {
        fail_msg("%s: %s is %.3g apart, more than %.3g", c->name, what, apart, max);
    }
}

void model_oracle_expect(const struct training_case *c, const struct model_oracle_distance *found,
                         const struct model_oracle_distance *max)
{
    expect_near(c, "logits", found->logits, max->logits);
    expect_near(c, found->gradient_name ? found->gradient_name : "gradients", found->gradients,
                max->gradients);
    expect_near(c, "all gradients", found->gradients_together, max->gradients_together);
    expect_near(c, "losses", found->losses, max->losses);
    expect_near(c, "norms", found->norms, max->norms);
    expect_near(c, found->final_name ? found->final_name : "final", found->final, max->final);
}

double model_oracle_apart_in_norm(const float *given, const float *expected, int64_t count)
{
    const double floor = 1e-6; /* as training_case_apart() has it, of each number */
    double difference = 0;
    double size = 0;
    for (int64_t i = 0; i < count; i++) {
        const double apart = (double)given[i] - (double)expected[i];
        difference += apart * apart;
        size += (double)expected[i] * (double)expected[i];
    }
    const double norm = sqrt(difference / fmax(size, floor * floor * (double)count));
    const double worst = training_case_apart(given, expected, count) / 4;
    return norm > worst ? norm : worst;
}
