/*
 * Terminal: prints results to standard output, and messages and progress to standard error. Colour
 * and a progress line are printed to a terminal, but not to a file or a pipe. Only the main thread
 * may call these functions, except yk_terminal_print_log_line() and
 * yk_terminal_print_error_lock_free(), which any thread may call.
 */
#ifndef YK_CLI_TERMINAL_H
#define YK_CLI_TERMINAL_H

#include "base/log.h"
#include "base/status.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Opens file descriptors 0 to 2 if they are closed. Otherwise a file that is opened later could
 * become standard output. Ignores SIGPIPE and SIGXFSZ, so that a failed write returns an error. */
void yk_terminal_protect_standard_streams(void);

/* Environment variable in which the process that launches ranks describes its own terminal to them.
 * The value is "COLUMNS_OF_STDOUT,COLUMNS_OF_STDERR"; 0 means: not a terminal. */
#define YK_TERMINAL_COLUMNS_ENVIRONMENT_VARIABLE "YOKE_TERMINAL"

/* Returns the width, in columns, of the terminal that a file descriptor refers to. 0 means: the
 * descriptor is not a terminal, or TERM is either not set or "dumb". */
int yk_terminal_descriptor_columns(int descriptor);

/* Declares that this process is rank `rank` of several ranks. Only rank 0 prints results, notes and
 * progress. Warnings and errors of the other ranks start with the number of the rank. An error that
 * another rank of this machine has already printed is not printed again. */
void yk_terminal_set_rank(int32_t rank);

/* Returns whether this process is rank 0 or the only rank. */
bool yk_terminal_is_main_rank(void);

/* Returns whether another process (rank 0, or the process that launched the ranks) has already
 * printed the messages about the command line. */
bool yk_terminal_other_process_printed_notes(void);

/* Returns the width of standard output in columns; 80 if standard output is not a terminal. */
int yk_terminal_output_columns(void);

/* Returns whether to use colour on standard output: true if standard output is a terminal, TERM is
 * set and not "dumb", and NO_COLOR is not set. */
bool yk_terminal_output_uses_colour(void);

/* Disables notes and progress. */
void yk_terminal_set_quiet(void);

/* A log sink (base/log.h). Prints "yoke: note: …" or "yoke: warning: …" to standard error. */
void yk_terminal_print_log_line(void *user, enum yk_log_level level, const char *line);

/*
 * Show a progress line on standard error and update it in place. The line appears after half a
 * second, and only if standard error is a terminal. yk_terminal_progress_update() can be used as a
 * callback of a scheduler or a job. `done` is a fraction from 0 to 1.
 */
void yk_terminal_progress_begin(void);
void yk_terminal_progress_update(void *user, const char *what, double done);
void yk_terminal_progress_end(void);

/*
 * Prints a status line to standard error. If `keep` is false, the next status line will replace
 * this line. If standard error is not a terminal, lines are printed only if `keep` is true.
 */
void yk_terminal_print_status_line(const char *line, bool keep);

/* Prints "yoke: SENTENCE" to standard error. */
void yk_terminal_print_error(const char *sentence);

/* Prints an error message from a thread that will end the process because other threads are
 * blocked. A blocked thread may hold the lock of a stdio stream, so this function acquires no lock
 * and calls write() only once. */
void yk_terminal_print_error_lock_free(const char *sentence);

/* Writes `text` to standard output. Control characters are printed as visible escapes, unless
 * text->coloured says that the text is already escaped. If standard output is a pipe that its
 * reader has closed, returns YK_ERROR_SYSTEM with an empty message. */
yk_status yk_terminal_print_result(const struct yk_text *text) YK_MUST_USE;

/*
 * Prints the result of a job whose output files could not be written. `status` is the status of
 * writing the files. If it is YK_OK or YK_ERROR_NO_FIT, only returns it, because main() will print
 * the result. Otherwise prints `result`, makes it empty, and returns `status` with its message. If
 * printing also fails, the message about printing is appended.
 */
yk_status yk_terminal_print_unsaved_result(yk_status status, struct yk_text *result) YK_MUST_USE;

/* Prints generated or decoded text. Control characters are escaped on a terminal; a file or a pipe
 * gets the text unchanged. Can be used as a callback of a job. */
yk_status yk_terminal_print_text_chunk(void *user, const char *bytes, size_t length) YK_MUST_USE;

/* Ends the current line of standard output after a failure. Ignores errors of writing. */
void yk_terminal_print_newline(void);

#endif
