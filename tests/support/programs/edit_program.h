/* Edit program: a copy of a program whose lists can be changed in single places, to see what is
 * made of it. All ranks of the copy have lists of their own. */
#ifndef YK_TESTS_EDIT_PROGRAM_H
#define YK_TESTS_EDIT_PROGRAM_H

#include "program/program.h"

/* Free with yk_program_destroy(). */
struct yk_program *edit_copy(const struct yk_program *program);

/* The first op of a rank's list of that kind, layer and micro-batch, from op `from` on; fails the
 * test when there is none. */
int32_t edit_find(const struct yk_program *program, int32_t rank, enum yk_op_kind kind,
                  int32_t layer, int32_t micro_batch, int32_t from);

/* Puts a copy of op `op` to place `to` of the list, waiting for nothing, to be changed. */
struct yk_op *edit_double(struct yk_program *program, int32_t rank, int32_t op, int32_t to);

/* Takes an op out, and all waits for it. */
void edit_remove(struct yk_program *program, int32_t rank, int32_t op);

/* Moves an op to place `to` of the list. Waits go with the ops. */
void edit_move(struct yk_program *program, int32_t rank, int32_t op, int32_t to);

/* Takes out what `op` waits for: wait number `wait`, or all of them if that is −1. */
void edit_drop_wait(struct yk_program *program, int32_t rank, int32_t op, int32_t wait);

/* Makes `op` wait for `other`, besides. */
void edit_add_wait(struct yk_program *program, int32_t rank, int32_t op, int32_t other,
                   int32_t lag);

#endif
