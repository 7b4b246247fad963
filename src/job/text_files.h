/*
 * Text files: the files and folders that a command was given, read one after the other in pieces,
 * with a progress line. Of folders, what is no text is left out; a file named outright must be
 * text. The list belongs to its arena. Main thread.
 */
#ifndef YK_JOB_TEXT_FILES_H
#define YK_JOB_TEXT_FILES_H

#include "base/arena.h"
#include "base/option.h"
#include "base/status.h"
#include "base/text.h"
#include "data/text_cut.h"

#include <stddef.h>
#include <stdint.h>

struct yk_text_files {
    const char **paths; /* "-": standard input */
    int32_t count;
    double bytes; /* as far as it is known beforehand */
};

/* Without words, standard input alone. */
yk_status yk_text_files_list(const struct yk_option_words *words, struct yk_arena *arena,
                             struct yk_text_files *out) YK_MUST_USE;

/* Takes the next piece of a file; one of no bytes says that the file ends. */
struct yk_text_taker {
    yk_status (*take)(void *user, const char *path, const char *text, size_t length);
    void *user;
};

/* Hands over all pieces. `*bytes` is how many there were; without any it fails. A signal that asks
 * the program to end ends it between two pieces, or when the taker does: YK_ERROR_STOPPED. */
yk_status yk_text_files_walk(const struct yk_text_files *files, const struct yk_text_cut *cut,
                             const char *what, const struct yk_text_taker *taker,
                             int64_t *bytes) YK_MUST_USE;

/* YK_ERROR_STOPPED, in the words for who has written nothing. */
yk_status yk_text_files_fail_stopped(void);

/* "3 files, 1.2MB". */
void yk_text_files_describe(const struct yk_text_files *files, int64_t bytes, struct yk_text *out);

#endif
