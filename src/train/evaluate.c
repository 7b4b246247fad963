/* Evaluation: the mean loss over a sequential sampler. */
#include "nn/forward.h"
#include "train/batches.h"
#include "train/run.h"

static yk_status evaluate(struct yk_forward *forward, struct yk_batches *batches, int64_t samples,
                          int64_t batch, double *out_loss, int64_t *out_tokens)
{
    double sum = 0;
    int64_t counted = 0;
    for (int64_t done = 0; done < samples; done += batch) {
        const struct yk_batch *taken = NULL;
        double loss = 0;
        const int64_t left = samples - done < batch ? samples - done : batch;
        YK_TRY(yk_batches_take(batches, done, &taken));
        int64_t targets = 0;
        for (int64_t i = 0; i < left * taken->sequence; i++) {
            targets += taken->targets[i] >= 0;
        }
        YK_TRY(
            yk_forward_lose(forward, taken->tokens, taken->targets, left, taken->sequence, &loss));
        sum += loss;
        counted += targets;
    }
    *out_loss = sum / (double)counted;
    *out_tokens = counted;
    return YK_OK;
}

/* As many samples at once as the loan holds, or −1 where it holds not even one. */
static int64_t fit(const struct yk_store *store, int64_t batch, int64_t sequence,
                   const struct yk_run_loan *loan)
{
    int64_t fitting = batch;
    while (fitting > 0 && yk_forward_bytes(store, fitting, sequence) > loan->bytes) {
        fitting /= 2;
    }
    return fitting > 0 ? fitting : -1;
}

yk_status yk_run_evaluate(struct yk_store *store, const struct yk_sampler *sampler, int64_t batch,
                          int64_t samples, const struct yk_run_loan *loan, double *out_loss,
                          int64_t *out_tokens)
{
    const int64_t all = yk_sampler_epoch_samples(sampler);
    const int64_t sequence = yk_sampler_sequence(sampler);
    const int64_t wanted = samples > 0 && samples < all ? samples : all;
    const int64_t most = batch < wanted ? batch : wanted;
    const int64_t fitting = loan ? fit(store, most, sequence, loan) : -1;
    const int64_t at_once = fitting > 0 ? fitting : most;
    struct yk_forward *forward = NULL;
    struct yk_batches *batches = NULL;
    yk_status status = fitting > 0
                           ? yk_forward_create_in(store, at_once, sequence, loan->memory, &forward)
                           : yk_forward_create(store, at_once, sequence, &forward);
    if (status == YK_OK) {
        status = yk_batches_create(sampler, &store->engine, at_once, &batches);
    }
    if (status == YK_OK) {
        status = evaluate(forward, batches, wanted, at_once, out_loss, out_tokens);
    }
    yk_batches_destroy(batches);
    yk_forward_destroy(forward);
    return status;
}
