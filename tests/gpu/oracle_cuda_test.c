/*
 * Whole models on a GPU against what PyTorch recorded: logits, every gradient, 20 steps of
 * training; as recorded, with recomputation, and what was recorded in fp32 in 16 bits as well.
 */
#include "gpu/gpu.h"

#include "support/files/scratch.h"
#include "support/support.h"
#include "support/training/oracle_runs.h"

static const struct yk_backend *backend;

static void trains_as_pytorch_does(void **state)
{
    const struct yk_backend_device_options options = {.matmul_cache_path =
                                                          support_scratch_path("products.txt")};
    const struct model_oracle_request request = {
        .backend = backend, .options = &options, .apart = model_oracle_apart_in_norm};
    /* Twice as far and more as a CPU is, which is 1e-6, of parameters at the end 6e-5. */
    const struct model_oracle_distance max = {.logits = 1e-4,
                                              .gradients = 1e-4,
                                              .gradients_together = 1e-4,
                                              .losses = 1e-4,
                                              .norms = 1e-4,
                                              .final = 5e-4};
    oracle_run_check(*state, &request, &max);
}

int main(void)
{
    const int missing = gpu_find(&backend);
    if (missing != 0) {
        return missing;
    }
    size_t count = 0;
    struct CMUnitTest *tests = oracle_runs_as_tests(trains_as_pytorch_does, &count);
    return _cmocka_run_group_tests("training on a GPU against PyTorch", tests, count,
                                   support_scratch_make, support_scratch_drop);
}
