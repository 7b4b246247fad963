/* Evaluation: the mean loss over a sampler that goes through its data in order. */
#include "nn/forward.h"
#include "train/batches.h"
#include "train/run.h"

/* The first `samples` of a piece of equally long ones. */
static struct yk_piece cut(const struct yk_piece *piece, int64_t samples)
{
    struct yk_piece shorter = *piece;
    shorter.samples = samples;
    shorter.counted = 0;
    for (int64_t i = 0; i < samples * piece->sequence; i++) {
        shorter.counted += piece->targets[i] >= 0;
    }
    return shorter;
}

static yk_status evaluate(struct yk_forward *forward, struct yk_batches *batches, int64_t units,
                          int64_t at_once, double *out_loss, int64_t *out_tokens)
{
    double sum = 0;
    int64_t counted = 0;
    for (int64_t done = 0; done < units; done += at_once) {
        const struct yk_batch *taken = NULL;
        double loss = 0;
        YK_TRY(yk_batches_take(batches, done, &taken));
        const struct yk_piece piece =
            units - done < at_once ? cut(&taken->pieces[0], units - done) : taken->pieces[0];
        YK_TRY(yk_forward_lose(forward, &piece, &loss));
        sum += loss;
        counted += piece.counted;
    }
    *out_loss = sum / (double)counted;
    *out_tokens = counted;
    return YK_OK;
}

static struct yk_forward_shape shape_of(const struct yk_sampler *sampler, int64_t units)
{
    if (sampler->piece_rows > 0) {
        return (struct yk_forward_shape){1, sampler->piece_rows, sampler->piece_rows, false};
    }
    return (struct yk_forward_shape){units, sampler->sequence, sampler->target_sequence, false};
}

/* As many units at once as the loan holds, or −1 where it holds not even one. */
static int64_t fit(const struct yk_store *store, const struct yk_sampler *sampler, int64_t most,
                   const struct yk_run_loan *loan)
{
    for (int64_t units = most; units > 0; units /= 2) {
        const struct yk_forward_shape shape = shape_of(sampler, units);
        if (yk_forward_bytes(store, &shape) <= loan->bytes) {
            return units;
        }
    }
    return -1;
}

yk_status yk_run_evaluate(struct yk_store *store, const struct yk_sampler *sampler, int64_t batch,
                          int64_t samples, const struct yk_run_loan *loan, double *out_loss,
                          int64_t *out_tokens)
{
    const int64_t all = sampler->epoch_units;
    const int64_t wanted = samples > 0 && samples < all ? samples : all;
    const int64_t usual = sampler->piece_rows > 0 ? 1 : batch;
    const int64_t most = usual < wanted ? usual : wanted;
    const int64_t fitting = loan ? fit(store, sampler, most, loan) : -1;
    const int64_t at_once = fitting > 0 ? fitting : most;
    const struct yk_forward_shape shape = shape_of(sampler, at_once);
    struct yk_forward *forward = NULL;
    struct yk_batches *batches = NULL;
    yk_status status = fitting > 0 ? yk_forward_create_in(store, &shape, loan->memory, &forward)
                                   : yk_forward_create(store, &shape, &forward);
    if (status == YK_OK) {
        status = yk_batches_create(sampler, &store->engine, 1, &at_once, &batches);
    }
    if (status == YK_OK) {
        status = evaluate(forward, batches, wanted, at_once, out_loss, out_tokens);
    }
    yk_batches_destroy(batches);
    yk_forward_destroy(forward);
    return status;
}
