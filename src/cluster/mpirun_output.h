/*
 * Mpirun output: parses the standard error of Open MPI's mpirun. Messages of mpirun are between two
 * lines of dashes, or are known single lines that begin with "mpirun:" or "[HOST:PID]". They are
 * not passed on, but some of them say which rank failed and how. All other lines come from the
 * ranks and are passed on unchanged. There is one exception: a line in which a rank reports that
 * another rank has ended is not passed on, but becomes part of the final error message about the
 * failed rank. Initialise struct yk_mpirun_output_parser to {0}. Not thread-safe.
 */
#ifndef YK_CLUSTER_MPIRUN_OUTPUT_H
#define YK_CLUSTER_MPIRUN_OUTPUT_H

#include "base/status.h"
#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    YK_MPIRUN_NODE_SIZE = 64
};

/* The first rank that failed, and how its process ended. */
struct yk_mpirun_failed_rank {
    bool known; /* mpirun has named a failed rank; if false, the other members are unused */
    int32_t rank;
    char node[YK_MPIRUN_NODE_SIZE]; /* host name; "" means: unknown */
    int32_t signal;                 /* signal that killed the process; 0 means: none */
    int32_t code;                   /* exit code */
    bool improper;                  /* mpirun reports that the rank exited without MPI_Finalize() */
};

struct yk_mpirun_output_parser {
    struct yk_text line;   /* the current, incomplete line */
    struct yk_text banner; /* the current message between two lines of dashes */
    struct yk_text first;  /* the first message between two lines of dashes that names no rank */
    struct yk_text ended;  /* "rank 2 has ended; …", as reported by another rank */
    bool inside;           /* the current line is between two lines of dashes */
    bool passing;          /* the current line comes from a rank */
    bool advised;          /* a rank has printed an error message that recommends --resume */
    struct yk_mpirun_failed_rank loss;
};

/* Parses the next bytes of the output, and appends to `out` the bytes that are passed on. */
void yk_mpirun_output_parse(struct yk_mpirun_output_parser *output, const char *bytes,
                            size_t length, struct yk_text *out);

/* Must be called at the end of the output. Parses the last line if it has no line ending. */
void yk_mpirun_output_finish(struct yk_mpirun_output_parser *output, struct yk_text *out);

void yk_mpirun_output_free(struct yk_mpirun_output_parser *output);

/* How mpirun itself ended. */
struct yk_mpirun_exit_state {
    int32_t code;
    int32_t signal; /* signal that killed mpirun; 0 means: none */
    bool stopped;   /* the ranks were asked to save and stop (with SIGUSR1) */
};

/*
 * Returns the status of the run. If a rank was killed or crashed, the status is YK_ERROR_LOST, and
 * the message says which rank it was, how it ended and, if known, which op it was in. If the exit
 * code of the failed rank is a yk_status, the run has this status, too. The status is
 * YK_ERROR_STOPPED if SIGUSR1 ended a rank or mpirun before all ranks had begun. The message is
 * empty if a rank has already printed a message that explains the failure.
 */
yk_status yk_mpirun_output_status_of_run(const struct yk_mpirun_output_parser *output,
                                         const struct yk_mpirun_exit_state *end) YK_MUST_USE;

#endif
