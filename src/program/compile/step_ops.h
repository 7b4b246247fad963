/*
 * Step ops: all ops of one training step on all ranks, in one global order. The op list of a rank
 * consists of the ops in which the rank takes part. Because all ranks follow the same order, their
 * communication cannot deadlock.
 *
 * An entry is one op of this order. Entries are sorted by virtual time, which is the time of the
 * pipeline schedule or the number of the slot. Entries with the same time are sorted by phase, so
 * that ops that complete earlier work come first.
 */
#ifndef YK_PROGRAM_COMPILE_STEP_OPS_H
#define YK_PROGRAM_COMPILE_STEP_OPS_H

#include "program/program_facts.h"

enum yk_step_ops_phase {
    YK_STEP_PHASE_RELEASE,
    YK_STEP_PHASE_SEND,
    YK_STEP_PHASE_REDUCE, /* reduce_scatter and all_reduce */
    YK_STEP_PHASE_AGREE,
    YK_STEP_PHASE_UPDATE,
    YK_STEP_PHASE_ALL_GATHER,
    YK_STEP_PHASE_LOAD,
    YK_STEP_PHASE_COMPUTE,
    YK_STEP_PHASE_RELEASE_IN_SLOT, /* a release after the pass of its slot, in plans with
                                      transfers */
};

struct yk_step_ops_entry {
    int64_t time;
    enum yk_step_ops_phase phase;
    int32_t number; /* number of entries that were added before this one; the last sort key */
    /* The op without the fields that differ between ranks: waits, samples of passes, bytes of a
     * send. */
    struct yk_op op;
    int32_t group; /* the members of this group execute the op; −1 means: all ranks or, for a send,
                      `sender` and `receiver` */
    int32_t sender;   /* send: the rank that sends; otherwise −1 */
    int32_t receiver; /* send: the rank that receives; otherwise −1 */
};

struct yk_step_ops {
    struct yk_step_ops_entry *entries;
    int32_t count;
    int32_t capacity;
    int32_t match_count;
};

/* Adds an entry. A communication op gets a new match number. */
yk_status yk_step_ops_add(struct yk_step_ops *step_ops, struct yk_step_ops_entry entry) YK_MUST_USE;

void yk_step_ops_sort(struct yk_step_ops *step_ops);

void yk_step_ops_free(struct yk_step_ops *step_ops);

/* Returns an entry for an op that the members of the layer's group execute. If `layer` is
 * YK_LAYER_NONE, all ranks execute the op. The time of the entry is 0. */
struct yk_step_ops_entry yk_step_ops_make_entry(const struct yk_program *program,
                                                enum yk_op_kind kind, int32_t layer,
                                                int32_t micro_batch);

/* Returns an entry for an all_gather or reduce_scatter of blocks of a layer. */
struct yk_step_ops_entry yk_step_ops_make_block_entry(const struct yk_program *program,
                                                      enum yk_op_kind kind, int32_t layer,
                                                      int32_t first_block, int32_t block_count);

/* Returns an entry for the all_reduce of a bucket. */
struct yk_step_ops_entry yk_step_ops_make_bucket_entry(const struct yk_program *program,
                                                       int32_t bucket, int32_t micro_batch);

/* Adds the agree op at `time` if the plan needs one. */
yk_status yk_step_ops_add_agree_op(const struct yk_program *program, int64_t time,
                                   struct yk_step_ops *step_ops) YK_MUST_USE;

/* Adds the load ops: for each micro-batch, one load for each group that reads tokens or labels.
 * times[m] is the start time of micro-batch m. The load of a micro-batch is placed at the start of
 * the previous micro-batch. */
yk_status yk_step_ops_add_load_ops(const struct yk_program_facts *facts, const int64_t *times,
                                   struct yk_step_ops *step_ops) YK_MUST_USE;

/* Add all entries of a plan. The first function is for plans with transfers: the time of an entry
 * is its slot. The second function takes the times from the pipeline schedule. */
yk_status yk_step_ops_add_all_from_slots(const struct yk_program_facts *facts,
                                         struct yk_arena *arena,
                                         struct yk_step_ops *step_ops) YK_MUST_USE;
yk_status yk_step_ops_add_all_from_pipeline(const struct yk_program_facts *facts,
                                            struct yk_arena *arena,
                                            struct yk_step_ops *step_ops) YK_MUST_USE;

/* ---- waits (op_waits.c, memory_waits.c) ---- */

/*
 * The waits of an op are its dependencies on ops of other lanes. The ops of a lane run in order. So
 * an op has at most one wait for each other lane: for the last op of that lane that it needs.
 */

/* Creates the waits of a rank: each op waits for the data that it needs. */
yk_status yk_op_waits_add_data_waits(const struct yk_program_facts *facts,
                                     int32_t rank) YK_MUST_USE;

/* Makes `op` wait for the execution of `other` that is `lag` iterations earlier. Replaces a wait of
 * `op` for an earlier op of the same lane as `other`. Does nothing if `op` already waits for a
 * later op of this lane. */
void yk_op_waits_add(struct yk_op_list *rank, int32_t op, int32_t other, int32_t lag);

/* Adds waits between lanes where memory could overflow because one lane runs ahead of another. Adds
 * no wait where memory overflows in any case. All ranks get the same waits, so that ranks cannot
 * deadlock. Then reorders the lists, so that an op follows the ops of the same iteration for which
 * it waits. The plan must have one group. */
yk_status yk_memory_waits_add(struct yk_program *program) YK_MUST_USE;

#endif
