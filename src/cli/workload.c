#include "cli/workload.h"

enum {
    USUAL_SEQUENCE = 1024
};

bool yk_workload_precisions(size_t number, struct yk_choice *out)
{
    if (number >= YK_PRECISION_COUNT) {
        return false;
    }
    *out = (struct yk_choice){yk_precision_name((enum yk_precision)number), NULL};
    return true;
}

yk_status yk_workload_read(const struct yk_workload_words *words,
                           const struct yk_model_config *config, struct yk_workload *out)
{
    if (words->nf4 && words->lora_rank == 0) {
        return yk_fail(YK_ERROR_USAGE, "--nf4 freezes the weights, so that nothing is left to "
                                       "train; add adapters with --lora 32");
    }
    const int64_t usual = config->positions < USUAL_SEQUENCE ? config->positions : USUAL_SEQUENCE;
    struct yk_workload workload = {
        .batch = words->batch,
        .sequence = words->sequence > 0 ? words->sequence : usual,
        .target_sequence = words->target_sequence,
        .lora_rank = words->lora_rank,
        .nf4 = words->nf4,
        .recompute = words->recompute,
    };
    if (!yk_precision_find(words->precision, &workload.precision)) {
        return yk_fail(YK_ERROR_USAGE, "there is no precision \"%s\"", words->precision);
    }
    *out = workload;
    return YK_OK;
}
