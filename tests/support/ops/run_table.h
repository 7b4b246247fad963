/*
 * Op try: the rows of the op table on a bench, each with a line that says how it went. One thread
 * at a time.
 */
#ifndef YK_TESTS_OP_TRY_H
#define YK_TESTS_OP_TRY_H

#include "support/ops/table.h"
#include "support/support.h"

#include <stdbool.h>

/* Runs all cases of the row; the bench's counts, errors and digest begin anew. Prints how many
 * there were, the worst errors and what was wrong, `where` saying on what: "3 threads". False where
 * anything was. */
bool op_try(struct op_bench *bench, const struct op_row *row, const char *where);

/* Runs `test` for every row, which is its state, as a program of tests; where the environment's
 * YOKE_OP_ROWS names some, "matmul,lose", only for those. */
int op_try_table(const char *name, CMUnitTestFunction test);

#endif
