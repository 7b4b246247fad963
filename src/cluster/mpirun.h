/*
 * Mpirun: parses the standard error of Open MPI's mpirun. Messages of mpirun stand between two
 * lines of dashes, or begin with its name; they say which rank failed first and how. All other
 * lines come from the ranks and are passed on unchanged. The exception is a line in which a rank
 * reports that another rank has ended: it becomes part of the final message about the failed rank.
 * struct yk_mpirun_output_parser starts as {0}. Not thread-safe.
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
struct yk_mpirun_failed_rank {
    bool known; /* false: no rank has failed so far */
    int32_t rank;
    char node[YK_MPIRUN_NODE_SIZE]; /* host name; "": unknown */
    int32_t signal;                 /* signal that killed it; 0: none */
    int32_t code;                   /* exit code */
    bool improper;                  /* mpirun reports an exit without MPI_Finalize() */
};

struct yk_mpirun_output_parser {
    struct yk_text line;   /* the current, incomplete line */
    struct yk_text banner; /* the current message between two lines of dashes */
    struct yk_text first;  /* the first such message that names no rank */
    struct yk_text ended;  /* "rank 2 has ended; …", as reported by another rank */
    bool inside;           /* between two lines of dashes */
    bool passing;          /* the current line comes from a rank */
    bool advised;          /* a rank has printed an error message with advice */
    struct yk_mpirun_failed_rank loss;
};

/* Parses the next bytes, and appends to `out` those that are passed on. */
void yk_mpirun_output_parse(struct yk_mpirun_output_parser *output, const char *bytes,
                            size_t length, struct yk_text *out);

/* Call it at the end of the output. Appends the incomplete last line. */
void yk_mpirun_output_finish(struct yk_mpirun_output_parser *output, struct yk_text *out);

void yk_mpirun_output_free(struct yk_mpirun_output_parser *output);

/* How mpirun itself ended. */
struct yk_mpirun_exit_state {
    int32_t code;
    int32_t signal; /* signal that killed it; 0: none */
    bool stopped;   /* the ranks were asked by SIGUSR1 to save and stop */
};

/*
 * Returns the status of the run. If a rank exited with a status of yoke, that rank has printed the
 * message, and the message here is empty. If a rank was killed or crashed, the status is
 * YK_ERROR_LOST, and the message has its number, how it ended and which op it was in.
 */
yk_status yk_mpirun_status_of_run(const struct yk_mpirun_output_parser *output,
                                  const struct yk_mpirun_exit_state *end) YK_MUST_USE;

#endif
