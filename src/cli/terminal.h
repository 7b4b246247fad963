/*
 * Terminal: what is printed, and how. Standard output carries results, standard error everything
 * else. A terminal gets colour and a progress line; a file or a pipe gets neither. The main thread
 * uses this; yk_terminal_log and yk_terminal_print_fatal may be called from any thread.
 */
#ifndef YK_CLI_TERMINAL_H
#define YK_CLI_TERMINAL_H

#include "base/log.h"
#include "base/status.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Makes sure that descriptors 0 to 2 are taken, so that no file of ours becomes standard output,
 * and that a closed pipe is an error of write and no signal. */
void yk_terminal_prepare(void);

/* Who stands between the ranks and a person tells them here what standard output and error are:
 * the columns of each, 0 where it is no terminal, with a comma between them. */
#define YK_TERMINAL_VARIABLE "YOKE_TERMINAL"

/* The columns of the terminal that the descriptor is; 0: it is none, or a dumb one. */
int yk_terminal_columns(int descriptor);

/* This process is rank `rank` of several: rank 0 speaks for all. The others print no results, notes
 * or progress; their warnings and complaints carry their number, and what another rank of this
 * machine has complained of in the same words is not said again. */
void yk_terminal_set_rank(int32_t rank);

/* Whether this is rank 0, or the only one. */
bool yk_terminal_is_main_rank(void);

/* What the command line leads to has been said before: by rank 0, or by whoever launched it. */
bool yk_terminal_is_repeat(void);

/* The columns of standard output; 80 when it is no terminal. */
int yk_terminal_width(void);

/* Whether standard output is to be coloured: a terminal, not a dumb one, and no NO_COLOR. */
bool yk_terminal_colour(void);

/* No notes and no progress line from now on. */
void yk_terminal_set_quiet(void);

/* A log sink: "yoke: note: …" and "yoke: warning: …" on standard error. */
void yk_terminal_log(void *user, enum yk_log_level level, const char *line);

/*
 * A progress line on standard error, rewritten in place, for work that takes longer than half a
 * second; nothing where standard error is no terminal. yk_terminal_progress has the form of a
 * scheduler's callback.
 */
void yk_terminal_progress_begin(void);
void yk_terminal_progress(void *user, const char *what, double done);
void yk_terminal_progress_end(void);

/*
 * A line about work that is under way, on standard error, in place of the one before unless that
 * was to be kept. Where standard error is no terminal, only lines to be kept are printed.
 */
void yk_terminal_line(const char *line, bool keep);

/* "yoke: sentence" on standard error. */
void yk_terminal_print_error(const char *sentence);

/* The same, with a progress line erased before it, for a thread that is about to end the process
 * because others hang, perhaps in a write, with the lock of a stream: it takes none, and writes
 * once. */
void yk_terminal_print_fatal(const char *sentence);

/* Writes all of `text` to standard output, with control characters, which names from files may
 * hold, as visible escapes unless its writer did that (`coloured`). A reader that has gone away is
 * YK_ERROR_SYSTEM with an empty sentence: nobody is left to read one. */
yk_status yk_terminal_print(const struct yk_text *text) YK_MUST_USE;

/*
 * Prints the result of a job whose files came to `status`: what was found is shown though a file of
 * it is not written. Does nothing where that is YK_OK, or YK_ERROR_NO_FIT, with which a command's
 * result is printed anyway; else it prints and empties `result`, and returns `status` with its
 * sentence, joined by that of a print that failed.
 */
yk_status yk_terminal_print_despite(yk_status status, struct yk_text *result) YK_MUST_USE;

/* The same for text that is data, generated or decoded: escaped on a terminal alone, and as it is
 * in a file or a pipe. It has the form of a job's callback. */
yk_status yk_terminal_print_data(void *user, const char *bytes, size_t length) YK_MUST_USE;

/* Ends a line that was begun on standard output before a failure, as far as that can be done. */
void yk_terminal_end_line(void);

#endif
