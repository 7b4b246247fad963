/*
 * Mpirun: what Open MPI's mpirun prints on standard error, separated from what the ranks print,
 * and what it means for the run. mpirun puts its messages between two lines of dashes, or begins
 * them with its name. They are parsed for which rank ended first and how. Everything else is passed
 * on unchanged, except what a rank prints about another that has ended: this becomes part of the
 * one sentence about the lost rank. A plain struct that starts as {0}; one thread at a time.
 */
#ifndef YK_CLUSTER_MPIRUN_H
#define YK_CLUSTER_MPIRUN_H

#include "base/status.h"
#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    YK_MPIRUN_NODE_SIZE = 64
};

/* The first rank that failed, and how it ended. */
struct yk_mpirun_lost_rank {
    bool known;
    int32_t rank;
    char node[YK_MPIRUN_NODE_SIZE]; /* "": unknown */
    int32_t signal;                 /* 0: none */
    int32_t code;
    bool improper; /* it left MPI without MPI_Finalize(), as mpirun reports it */
};

struct yk_mpirun_output {
    struct yk_text line;   /* the line so far */
    struct yk_text banner; /* between two lines of dashes */
    struct yk_text first;  /* the first banner that is about no rank */
    struct yk_text ended;  /* "rank 2 has ended; …", as the others have seen it */
    bool inside;
    bool passing; /* the line is a rank's */
    bool advised; /* a rank has said what is wrong and how to go on */
    struct yk_mpirun_lost_rank loss;
};

/* Reads the next bytes and adds to `out` what is to be passed on. */
void yk_mpirun_output_add(struct yk_mpirun_output *output, const char *bytes, size_t length,
                          struct yk_text *out);

/* At the end of the output: adds what was held back. */
void yk_mpirun_output_finish(struct yk_mpirun_output *output, struct yk_text *out);

void yk_mpirun_output_free(struct yk_mpirun_output *output);

/* How mpirun itself ended. */
struct yk_mpirun_exit {
    int32_t code;
    int32_t signal; /* 0: none */
    bool stopped;   /* the ranks were asked to save and stop, by the signal USR1 */
};

/*
 * The status of the run. Where a rank exited with one of yoke's own codes it has printed why, and
 * the sentence is empty. A rank that was lost is YK_ERROR_LOST, with its number, how it ended and
 * which op it was in.
 */
yk_status yk_mpirun_status(const struct yk_mpirun_output *output,
                           const struct yk_mpirun_exit *end) YK_MUST_USE;

#endif
