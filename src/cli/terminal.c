#include "cli/terminal.h"

#include "base/clock.h"
#include "base/hash.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static bool is_first(const char *sentence)
{
    /* mpirun and srun both set it; it may be the folder of several runs, which the namespace tells
     * apart. */
    const char *folder = getenv("PMIX_SERVER_TMPDIR");
    const char *run = getenv("PMIX_NAMESPACE");
    if (!folder || !run) {
        return true;
    }
    char path[4096];
    const int length =
        snprintf(path, sizeof path, "%s/yoke-%016" PRIx64 "-%016" PRIx64, folder,
                 yk_hash_bytes(run, strlen(run)), yk_hash_bytes(sentence, strlen(sentence)));
    if (length < 0 || length >= (int)sizeof path) {
        return true;
    }
    const int file = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    if (file < 0) {
        return errno != EEXIST;
    }
    (void)close(file);
    return true;
}

enum {
    PIPED_WIDTH = 80,
    MAX_WIDTH = 1 << 16,
    RANK_NAME_SIZE = 32,
    LAST_SIZE = 4096,
};

#define PROGRESS_AFTER_S 0.5
#define PROGRESS_EVERY_S 0.1
#define ERASE_LINE "\r\033[K"

static bool quiet;
static int32_t rank_shown = -1; /* the rank, where there are several */
static double progress_began_s;
static double progress_due_s;
static atomic_bool progress_shown;

void yk_terminal_protect_standard_streams(void)
{
    /* Writing then fails with an error, which says what could not be written. */
    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGXFSZ, SIG_IGN);
    for (int descriptor = 0; descriptor < 3; descriptor++) {
        if (fcntl(descriptor, F_GETFD) >= 0) {
            continue;
        }
        /* The wrong way round, so that using it still fails. */
        if (open("/dev/null", descriptor == 0 ? O_WRONLY : O_RDONLY) < 0) {
            return;
        }
    }
}

/* Columns of the descriptor as the launching process declares them; false: not declared. */
static bool find_declared(int descriptor, int *out)
{
    const char *declared = getenv(YK_TERMINAL_COLUMNS_ENVIRONMENT_VARIABLE);
    const char *comma = declared ? strchr(declared, ',') : NULL;
    if (comma) {
        const char *word = descriptor == STDERR_FILENO ? comma + 1 : declared;
        const long columns = strtol(word, NULL, 10);
        *out = columns > 0 && columns < MAX_WIDTH ? (int)columns : 0;
        return true;
    }
    /* A pseudo-terminal of mpirun's says nothing of what is behind it. */
    *out = 0;
    return getenv("OMPI_COMM_WORLD_RANK") != NULL;
}

int yk_terminal_descriptor_columns(int descriptor)
{
    int declared = 0;
    if (find_declared(descriptor, &declared)) {
        return declared;
    }
    const char *kind = getenv("TERM");
    struct winsize size = {0};
    if (!isatty(descriptor) || !kind || !*kind || strcmp(kind, "dumb") == 0) {
        return 0;
    }
    return ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : PIPED_WIDTH;
}

static bool is_capable(int descriptor)
{
    return yk_terminal_descriptor_columns(descriptor) > 0;
}

static int width_of(int descriptor)
{
    const int columns = yk_terminal_descriptor_columns(descriptor);
    return columns > 0 ? columns : PIPED_WIDTH;
}

int yk_terminal_output_columns(void)
{
    return width_of(STDOUT_FILENO);
}

bool yk_terminal_output_uses_colour(void)
{
    const char *refused = getenv("NO_COLOR");
    return is_capable(STDOUT_FILENO) && !(refused && *refused);
}

void yk_terminal_set_rank(int32_t rank)
{
    rank_shown = rank;
    quiet = quiet || rank > 0;
}

bool yk_terminal_is_main_rank(void)
{
    return rank_shown <= 0;
}

bool yk_terminal_other_process_printed_notes(void)
{
    return rank_shown > 0 || (rank_shown == 0 && getenv(YK_TERMINAL_COLUMNS_ENVIRONMENT_VARIABLE));
}

void yk_terminal_set_quiet(void)
{
    quiet = true;
}

/* "rank 2: ", or "" where nobody else speaks. */
static const char *rank_name(char out[RANK_NAME_SIZE])
{
    out[0] = '\0';
    if (rank_shown > 0) {
        snprintf(out, RANK_NAME_SIZE, "rank %" PRId32 ": ", rank_shown);
    }
    return out;
}

static void erase_progress(void)
{
    if (atomic_exchange(&progress_shown, false)) {
        (void)fputs(ERASE_LINE, stderr);
    }
}

void yk_terminal_print_log_line(void *user, enum yk_log_level level, const char *line)
{
    (void)user;
    static const char *const names[] = {
        [YK_LOG_WARNING] = "warning",
        [YK_LOG_NOTE] = "note",
    };
    if (level == YK_LOG_DETAIL || (level == YK_LOG_NOTE && quiet)) {
        return;
    }
    char name[RANK_NAME_SIZE];
    flockfile(stderr);
    erase_progress();
    (void)fprintf(stderr, "yoke: %s%s: %s\n", rank_name(name), names[level], line);
    funlockfile(stderr);
}

void yk_terminal_progress_begin(void)
{
    progress_began_s = yk_clock_now_s();
    progress_due_s = progress_began_s + PROGRESS_AFTER_S;
}

/* "layers  [######--------------]  31 %, 40 s left", once enough is done to tell. */
static void write_progress(const char *what, double done, double passed_s)
{
    static const char full[] = "####################";
    static const char empty[] = "--------------------";
    const int bars = (int)(fmin(fmax(done, 0), 1) * (sizeof full - 1));
    (void)fprintf(stderr, ERASE_LINE "%.40s  [%.*s%s] %3.0f %%", what, bars, full, empty + bars,
                  100 * done);
    if (done > 0.02 && done < 1) {
        const double left_s = passed_s * (1 - done) / done;
        const bool minutes = left_s >= 100;
        (void)fprintf(stderr, ", %.0f %s left", minutes ? left_s / 60 : left_s,
                      minutes ? "min" : "s");
    }
}

void yk_terminal_progress_update(void *user, const char *what, double done)
{
    (void)user;
    const double now_s = yk_clock_now_s();
    if (quiet || now_s < progress_due_s || !is_capable(STDERR_FILENO)) {
        return;
    }
    progress_due_s = now_s + PROGRESS_EVERY_S;
    flockfile(stderr);
    write_progress(what, done, now_s - progress_began_s);
    (void)fflush(stderr);
    progress_shown = true;
    funlockfile(stderr);
}

void yk_terminal_progress_end(void)
{
    flockfile(stderr);
    erase_progress();
    funlockfile(stderr);
}

void yk_terminal_print_status_line(const char *line, bool keep)
{
    const bool rewrites = is_capable(STDERR_FILENO);
    struct yk_text printable = {0};
    if (quiet || (!keep && !rewrites)) {
        return;
    }
    yk_text_add_escaped_controls(&printable, line, strlen(line));
    flockfile(stderr);
    erase_progress();
    if (keep) {
        (void)fprintf(stderr, "%s\n", yk_text_chars(&printable));
    } else {
        /* A line that wraps could not be erased. */
        const char *shown = yk_text_chars(&printable);
        const size_t length =
            yk_text_fitting_prefix_length(shown, (size_t)width_of(STDERR_FILENO) - 1);
        (void)fprintf(stderr, "%.*s", (int)length, shown);
        (void)fflush(stderr);
        progress_shown = true;
    }
    funlockfile(stderr);
    yk_text_free(&printable);
}

void yk_terminal_print_error(const char *sentence)
{
    char name[RANK_NAME_SIZE];
    if (rank_shown < 0 || is_first(sentence)) {
        (void)fprintf(stderr, "yoke: %s%s\n", rank_name(name), sentence);
    }
}

void yk_terminal_print_error_lock_free(const char *sentence)
{
    char name[RANK_NAME_SIZE];
    char line[LAST_SIZE];
    if (rank_shown >= 0 && !is_first(sentence)) {
        return;
    }
    const int length = snprintf(line, sizeof line, "%syoke: %s%s\n",
                                atomic_exchange(&progress_shown, false) ? ERASE_LINE : "",
                                rank_name(name), sentence);
    const size_t size = length < (int)sizeof line ? (size_t)length : sizeof line - 1;
    (void)!write(STDERR_FILENO, line, size);
}

static yk_status write_result(const char *bytes, size_t length)
{
    const bool written = fwrite(bytes, 1, length, stdout) == length;
    if (written && fflush(stdout) == 0) {
        return YK_OK;
    }
    if (errno == EPIPE) {
        return yk_fail(YK_ERROR_SYSTEM, "%s", "");
    }
    return yk_fail(YK_ERROR_SYSTEM, "cannot write standard output: %s", strerror(errno));
}

static yk_status print_escaped(const char *bytes, size_t length)
{
    struct yk_text printable = {0};
    yk_text_add_escaped_controls(&printable, bytes, length);
    yk_status status = yk_text_status(&printable);
    YK_IF_OK(write_result(yk_text_chars(&printable), printable.length));
    yk_text_free(&printable);
    return status;
}

yk_status yk_terminal_print_result(const struct yk_text *text)
{
    if (rank_shown > 0) {
        return YK_OK;
    }
    return text->coloured ? write_result(yk_text_chars(text), text->length)
                          : print_escaped(yk_text_chars(text), text->length);
}

yk_status yk_terminal_print_unsaved_result(yk_status status, struct yk_text *result)
{
    struct yk_text sentences = {0};
    if (status == YK_OK || status == YK_ERROR_NO_FIT) {
        return status;
    }
    yk_text_add(&sentences, yk_status_message());
    if (yk_terminal_print_result(result) != YK_OK && *yk_status_message()) {
        yk_text_addf(&sentences, "%s%s", sentences.length > 0 ? "; " : "", yk_status_message());
    }
    yk_text_free(result);
    status = sentences.failed ? yk_fail_out_of_memory()
                              : yk_fail(status, "%s", yk_text_chars(&sentences));
    yk_text_free(&sentences);
    return status;
}

yk_status yk_terminal_print_text_chunk(void *user, const char *bytes, size_t length)
{
    int columns = 0;
    (void)user;
    if (rank_shown > 0) {
        return YK_OK;
    }
    const bool is_terminal =
        find_declared(STDOUT_FILENO, &columns) ? columns > 0 : isatty(STDOUT_FILENO);
    return is_terminal ? print_escaped(bytes, length) : write_result(bytes, length);
}

void yk_terminal_print_newline(void)
{
    (void)fputs("\n", stdout);
    (void)fflush(stdout);
}
