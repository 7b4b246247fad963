/* Evaluation: computes loss and accuracy over a sequential sampler. */
#include "base/clock.h"
#include "base/number.h"
#include "nn/inference/inference.h"
#include "train/batch_prefetcher.h"
#include "train/training_run.h"

#include <math.h>

/* What computes the loss of a batch: a forward pass on this rank, or all ranks together. */
struct evaluator {
    const struct yk_model_config *config;
    struct yk_inference *inference; /* NULL: `executor` */
    const struct yk_evaluation_options *evaluation;
    struct yk_executor *executor;
};

static yk_status evaluate_batch(const struct evaluator *evaluator,
                                const struct yk_rank_batch *batch, struct yk_loss_sums *out)
{
    if (!evaluator->inference) {
        return yk_executor_evaluate_batch_step(evaluator->executor, batch, out);
    }
    const double began_s = yk_clock_now_s();
    YK_TRY(yk_inference_sum_losses(evaluator->inference, &batch->slices[0].own, out));
    if (evaluator->evaluation->ran) {
        evaluator->evaluation->ran(evaluator->evaluation->user, began_s, yk_clock_now_s());
    }
    return YK_OK;
}

static yk_status evaluate(const struct evaluator *evaluator, struct yk_batch_prefetcher *prefetcher,
                          int64_t units, struct yk_evaluation_result *out)
{
    struct yk_loss_sums all = {0};
    int64_t counted = 0;
    for (int64_t done = 0; done < units;) {
        const struct yk_rank_batch *batch = NULL;
        struct yk_loss_sums sums = {0};
        YK_TRY(yk_batch_prefetcher_read_batch(prefetcher, done, units, &batch));
        YK_TRY(evaluate_batch(evaluator, batch, &sums));
        all.loss += sums.loss;
        all.hits[0] += sums.hits[0];
        all.hits[1] += sums.hits[1];
        counted += batch->loss_targets;
        done += batch->units;
    }
    *out = (struct yk_evaluation_result){
        .loss = all.loss / (double)counted,
        .tokens = counted,
        .accuracy = evaluator->config->classifier ? all.hits[0] / (double)counted : NAN,
        .top5_accuracy = evaluator->config->classifier ? all.hits[1] / (double)counted : NAN,
    };
    return YK_OK;
}

static int64_t wanted_units(const struct yk_sampler *sampler, int64_t max)
{
    return max > 0 ? yk_number_min(max, sampler->epoch_units) : sampler->epoch_units;
}

static struct yk_inference_shape shape_of(const struct yk_sampler *sampler, int64_t units)
{
    if (sampler->max_slice_tokens > 0) {
        return (struct yk_inference_shape){1, sampler->max_slice_tokens, sampler->max_slice_tokens,
                                           false};
    }
    return (struct yk_inference_shape){units, sampler->sequence, sampler->target_sequence, false};
}

/* How many units fit into the borrowed memory at once, or −1 if none fits. */
static int64_t fit_units(const struct yk_parameter_store *store, const struct yk_sampler *sampler,
                         int64_t max, const struct yk_evaluation_borrowed_memory *loan)
{
    for (int64_t units = max; units > 0; units /= 2) {
        const struct yk_inference_shape shape = shape_of(sampler, units);
        if (yk_inference_memory_bytes(store, &shape) <= loan->bytes) {
            return units;
        }
    }
    return -1;
}

yk_status yk_evaluate_on_this_rank(struct yk_parameter_store *store,
                                   const struct yk_sampler *sampler,
                                   const struct yk_evaluation_options *evaluation,
                                   struct yk_evaluation_result *out)
{
    const struct yk_evaluation_borrowed_memory *loan = evaluation->borrowed;
    const int64_t wanted = wanted_units(sampler, evaluation->samples);
    const int64_t usual = sampler->max_slice_tokens > 0 ? 1 : evaluation->batch;
    const int64_t max = yk_number_min(usual, wanted);
    const int64_t fitting = loan ? fit_units(store, sampler, max, loan) : -1;
    const int64_t at_once = fitting > 0 ? fitting : max;
    const struct yk_inference_shape shape = shape_of(sampler, at_once);
    struct yk_inference *inference = NULL;
    struct yk_batch_prefetcher *prefetcher = NULL;
    yk_status status = fitting > 0
                           ? yk_inference_create_in_memory(store, &shape, loan->memory, &inference)
                           : yk_inference_create(store, &shape, &inference);
    if (status == YK_OK) {
        const struct yk_micro_batch_share share = {
            .all = at_once, .count = at_once, .embeds = true};
        status = yk_batch_prefetcher_create(sampler, &store->context, 1, &share, &prefetcher);
    }
    const struct evaluator evaluator = {
        .config = store->net->config, .inference = inference, .evaluation = evaluation};
    YK_IF_OK(evaluate(&evaluator, prefetcher, wanted, out));
    yk_batch_prefetcher_destroy(prefetcher);
    yk_inference_destroy(inference);
    return status;
}

yk_status yk_evaluate_on_all_ranks(struct yk_executor *executor, const struct yk_training_run *run,
                                   struct yk_evaluation_result *out)
{
    const struct yk_sampler *sampler = run->evaluation;
    const int64_t units = wanted_units(sampler, run->options.evaluate_samples);
    struct yk_batch_prefetcher *prefetcher = NULL;
    yk_status status = yk_batch_prefetcher_create_for_plan(
        run->program->plan, yk_communicator_rank(run->executor.ranks), sampler,
        &run->store->context, &prefetcher);
    const struct evaluator evaluator = {.config = run->store->net->config, .executor = executor};
    YK_IF_OK(evaluate(&evaluator, prefetcher, units, out));
    yk_batch_prefetcher_destroy(prefetcher);
    return status;
}
