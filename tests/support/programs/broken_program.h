/* Broken program: small programs (small_program.h) that are changed in one place, and what
 * program/check says about them. */
#ifndef YK_TESTS_BROKEN_PROGRAM_H
#define YK_TESTS_BROKEN_PROGRAM_H

#include "program/program.h"
#include "support/programs/edit_program.h"
#include "support/programs/small_program.h"

extern const struct small_spec broken_sharded;
extern const struct small_spec broken_agreeing;
extern const struct small_spec broken_refreshed;
extern const struct small_spec broken_replicated;
extern const struct small_spec broken_alone;
extern const struct small_spec broken_shared;
extern const struct small_spec broken_summed;
extern const struct small_spec broken_summed_whole;
extern const struct small_spec broken_reduced_each;
extern const struct small_spec broken_recomputed;
extern const struct small_spec broken_adapted;
extern const struct small_spec broken_staged;
extern const struct small_spec broken_both;

struct broken_case {
    const struct small_spec *spec;
    void (*edit)(struct yk_program *program);
    const char *sentence;
};

/* Fails the test unless every case is refused as bad input with its sentence. */
#define assert_all_refused(cases) broken_refuse_all((cases), sizeof(cases) / sizeof(cases)[0])
void broken_refuse_all(const struct broken_case *cases, size_t count);

/* The first op of a kind about a layer in micro-batch 0, on rank 0. */
int32_t broken_find(const struct yk_program *program, enum yk_op_kind kind, int32_t layer);
struct yk_op *broken_get(const struct yk_program *program, enum yk_op_kind kind, int32_t layer);

/* The second one. */
int32_t broken_find_second(const struct yk_program *program, enum yk_op_kind kind, int32_t layer);

/* Makes the first one wait for nothing. */
void broken_let_go(struct yk_program *program, enum yk_op_kind kind, int32_t layer);

/* Takes the first one out, on all ranks. */
void broken_remove_everywhere(struct yk_program *program, enum yk_op_kind kind, int32_t layer);

#endif
