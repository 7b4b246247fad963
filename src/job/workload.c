#include "job/workload.h"

enum {
    USUAL_SEQUENCE = 1024
};

bool yk_workload_precision_choice_at(size_t number, struct yk_option_choice *out)
{
    if (number >= YK_PRECISION_COUNT) {
        return false;
    }
    *out = (struct yk_option_choice){yk_precision_name((enum yk_precision)number), NULL};
    return true;
}

yk_status yk_workload_from_request(const struct yk_workload_request *request,
                                   const struct yk_model_config *config, struct yk_workload *out)
{
    if (request->nf4 && request->lora_rank == 0) {
        return yk_fail(YK_ERROR_USAGE, "--nf4 freezes the weights, so that nothing is left to "
                                       "train; add adapters with --lora 32");
    }
    const bool images = yk_model_config_reads_images(config);
    const int64_t usual =
        images || config->positions < USUAL_SEQUENCE ? config->positions : USUAL_SEQUENCE;
    if (images && request->sequence > 0 && request->sequence != config->positions) {
        return yk_fail(YK_ERROR_USAGE, "%s reads images, and each is %lld tokens; leave out --seq",
                       config->name, (long long)config->positions);
    }
    struct yk_workload workload = {
        .batch = request->batch,
        .sequence = request->sequence > 0 ? request->sequence : usual,
        .target_sequence = request->target_sequence,
        .lora_rank = request->lora_rank,
        .nf4 = request->nf4,
        .recompute = request->recompute,
    };
    if (!yk_precision_find(request->precision, &workload.precision)) {
        return yk_fail(YK_ERROR_USAGE, "there is no precision \"%s\"", request->precision);
    }
    *out = workload;
    return YK_OK;
}

yk_status yk_workload_check_micro_batches(const struct yk_workload_request *request,
                                          int64_t micro_batches)
{
    return micro_batches <= request->batch
               ? YK_OK
               : yk_fail(YK_ERROR_USAGE,
                         "--micro-batches %lld needs a --batch of at least %lld, not %lld",
                         (long long)micro_batches, (long long)micro_batches,
                         (long long)request->batch);
}

void yk_workload_write_batch(const struct yk_model_config *config,
                             const struct yk_workload *workload, struct yk_text *out)
{
    yk_model_append_batch(config, workload, out);
}

void yk_workload_write_title(const struct yk_model_config *config, const struct yk_cluster *cluster,
                             const struct yk_workload *workload, struct yk_text *out)
{
    yk_text_addf(out, "%s on %s: ", config->name, cluster->source);
    yk_model_append_batch(config, workload, out);
    yk_text_addf(out, ", %s", yk_precision_name(workload->precision));
    if (workload->lora_rank > 0) {
        yk_text_addf(out, ", LoRA of rank %lld", (long long)workload->lora_rank);
    }
    yk_text_add(out, workload->nf4 ? ", NF4" : "");
    yk_text_add(out, workload->recompute ? ", recomputation" : "");
}
