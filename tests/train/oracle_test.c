/* Whole models against PyTorch: logits, every gradient, 20 steps of training. */
#include "support/support.h"
#include "support/training/oracle_runs.h"

static void trains_as_pytorch_does(void **state)
{
    /* Relative to the largest number expected. */
    const struct model_oracle_distance max = {.logits = 1e-5,
                                              .gradients = 1e-5,
                                              .gradients_together = 1e-5,
                                              .losses = 1e-5,
                                              .norms = 1e-5,
                                              .final = 1e-4};
    oracle_run_check(*state, &(struct model_oracle_request){.apart = training_case_apart}, &max);
}

int main(void)
{
    size_t count = 0;
    struct CMUnitTest *tests = oracle_runs_as_tests(trains_as_pytorch_does, &count);
    return _cmocka_run_group_tests("training against PyTorch", tests, count, NULL, NULL);
}
