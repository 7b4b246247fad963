/*
 * Sequence: all that is done in a round, by whomever, in one order. Each rank's list is what of it
 * concerns that rank; since all lists are in one order, no two ranks ever wait for each other.
 *
 * Entries are sorted by the virtual time of the pipeline schedule and, at one time, by phase: what
 * ends before what begins.
 */
#ifndef YK_PROGRAM_COMPILE_SEQUENCE_H
#define YK_PROGRAM_COMPILE_SEQUENCE_H

#include "program/program.h"

enum yk_sequence_phase {
    YK_PHASE_RELEASE,
    YK_PHASE_SEND,   /* which a pass elsewhere waits for */
    YK_PHASE_REDUCE, /* scatter, reduce: an update waits for them */
    YK_PHASE_AGREE,
    YK_PHASE_UPDATE,
    YK_PHASE_ALL_GATHER,
    YK_PHASE_LOAD,
    YK_PHASE_COMPUTE,
    YK_PHASE_AFTER, /* releases, where time is slots: after the pass of the slot */
};

struct yk_sequence_entry {
    int64_t time;
    enum yk_sequence_phase phase;
    int32_t sequence;
    struct yk_op op; /* without samples, bytes of a send, and waits, which differ by rank */
    int32_t group;   /* whose ranks do it; −1: all ranks, or see below */
    int32_t sender;  /* of a send: the ranks; −1 otherwise */
    int32_t receiver;
};

struct yk_sequence {
    struct yk_sequence_entry *entries;
    int32_t count;
    int32_t capacity;
    int32_t match_count;
};

/* Adds an entry, and a match number if it communicates. */
yk_status yk_sequence_add(struct yk_sequence *sequence, struct yk_sequence_entry entry) YK_MUST_USE;

void yk_sequence_sort(struct yk_sequence *sequence);

void yk_sequence_free(struct yk_sequence *sequence);

/* An entry of `kind` for a layer, which all ranks of its group do. */
struct yk_sequence_entry yk_sequence_entry(const struct yk_program *program, enum yk_op_kind kind,
                                           int32_t layer, int32_t micro_batch);

/* A gather or scatter of some blocks of a layer. */
struct yk_sequence_entry yk_sequence_blocks(const struct yk_program *program, enum yk_op_kind kind,
                                            int32_t layer, int32_t first_block,
                                            int32_t block_count);

/* True when the layer has a backward pass at all. */
bool yk_sequence_goes_backward(const struct yk_program *program, int32_t layer);

/* True when gradients travel in that micro-batch. */
bool yk_sequence_reduces(const struct yk_program *program, int32_t micro_batch);

/* A load for each micro-batch where tokens or labels are wanted. `times` (M)
 * is when each micro-batch begins. */
yk_status yk_sequence_add_loads(const struct yk_program *program, const int64_t *times,
                                struct yk_sequence *sequence) YK_MUST_USE;

/* The sequence of a plan: by its transfers, or by its pipeline schedule. */
yk_status yk_sequence_by_slots(const struct yk_program *program, struct yk_arena *arena,
                               struct yk_sequence *sequence) YK_MUST_USE;
yk_status yk_sequence_by_pipeline(const struct yk_program *program, struct yk_arena *arena,
                                  struct yk_sequence *sequence) YK_MUST_USE;

#endif
