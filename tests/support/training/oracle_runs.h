/*
 * Oracle runs: every training case in every way that says something of a backend, each as a test of
 * its own: as recorded, with recomputation, and what was recorded in fp32 in 16 bits as well.
 *
 * In 16 bits how far a run may be off follows from how far PyTorch is off in the same case: see
 * "Training cases" in tests/oracle/README.md.
 */
#ifndef YK_TESTS_ORACLE_RUNS_H
#define YK_TESTS_ORACLE_RUNS_H

#include "support/support.h"
#include "support/training/model_oracle.h"

#include <stddef.h>

enum oracle_way {
    ORACLE_AS_RECORDED,
    ORACLE_RECOMPUTED,
    ORACLE_IN_BF16,
    ORACLE_IN_FP16,
    ORACLE_RECOMPUTED_IN_BF16,
    ORACLE_WAYS,
};

struct oracle_run {
    const char *name; /* of the case */
    enum oracle_way way;
    char title[96];
};

/* One test for each run, whose state it is. Whoever calls this does it once; both belong to the
 * program. */
struct CMUnitTest *oracle_runs_as_tests(CMUnitTestFunction test, size_t *count);

/* Trains a run by `request`, of which the run itself tells how to compute, and fails the test where
 * it is too far off. In fp32 that is beyond `max`, as the request measures; in 16 bits
 * model_oracle_apart_in_norm() does. */
void oracle_run_check(const struct oracle_run *run, const struct model_oracle_request *request,
                      const struct model_oracle_distance *max);

#endif
