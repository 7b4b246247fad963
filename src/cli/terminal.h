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

/* Opens descriptors 0 to 2 where they are closed, so that no file that we open becomes standard
 * output, and ignores SIGPIPE, so that writing to a closed pipe returns an error. */
void yk_terminal_prepare(void);

/* The environment variable in which the process that launches ranks, and passes on their output,
 * describes its terminal: the columns of standard output and of standard error, with a comma
 * between them; 0 where it is no terminal. */
#define YK_TERMINAL_VARIABLE "YOKE_TERMINAL"

/* The width, in columns, of the terminal behind the descriptor; 0: it is no terminal, or a dumb
 * one. */
int yk_terminal_columns(int descriptor);

/* This process is rank `rank` of several. Only rank 0 prints results, notes and progress. Warnings
 * and errors of the others begin with their rank; one that another rank of this machine has printed
 * in the same words is not printed again. */
void yk_terminal_set_rank(int32_t rank);

/* Whether this is rank 0, or the only one. */
bool yk_terminal_is_main_rank(void);

/* Whether messages about the command line have been printed before: by rank 0, or by the process
 * that launched this one. */
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

/* The same, after erasing a progress line, for a thread that is about to end the process because
 * other threads hang. One of them may hang in a write and hold the lock of a stream, so this takes
 * no lock and calls write() once. */
void yk_terminal_print_fatal(const char *sentence);

/* Writes all of `text` to standard output. Control characters, which names from files may hold,
 * become visible escapes, unless whoever made the text has escaped them (`coloured`). When the
 * reader has closed the pipe, returns YK_ERROR_SYSTEM with an empty sentence, as nobody reads one.
 */
yk_status yk_terminal_print(const struct yk_text *text) YK_MUST_USE;

/*
 * Prints the result of a job although writing its files failed; `status` is what writing them
 * returned. Does nothing for YK_OK and YK_ERROR_NO_FIT, after which the command prints its result
 * anyway. Otherwise prints and empties `result`, and returns `status` with its sentence; where
 * printing fails too, that sentence is appended.
 */
yk_status yk_terminal_print_despite(yk_status status, struct yk_text *result) YK_MUST_USE;

/* Prints text that is data, generated or decoded: escaped on a terminal only, unchanged in a file
 * or a pipe. It has the form of a job's callback. */
yk_status yk_terminal_print_data(void *user, const char *bytes, size_t length) YK_MUST_USE;

/* Ends a line of standard output that a failure has left unfinished; ignores errors. */
void yk_terminal_end_line(void);

#endif
