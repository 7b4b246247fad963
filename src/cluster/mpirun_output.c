#include "cluster/mpirun_output.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    FENCE = 60,          /* dashes that a line between banners has at least */
    MAX_BANNER = 1 << 16 /* bytes of one that are read */
};

/* How lines begin that mpirun writes outside banners. */
static const char *const own_lines[] = {
    "mpirun: Forwarding signal",
    "mpirun: killing job",
    "mpirun: abort is already in progress",
    "mpirun: forcibly",
};
/* What a line of the form "[host:pid] …" has if it is the runtime's about itself. */
static const char *const own_marks[] = {
    "ORTE_ERROR_LOG",           "PMIX ERROR",
    "have sent help message",   "has sent help message",
    "orte_base_help_aggregate", "Read -1, expected", /* of the memory of a rank that is gone */
};

/* How a rank's complaints begin, and what it says of another one. */
static const char yoke[] = "yoke: ";
static const char has_ended[] = " has ended;";
/* How a terminal's line is emptied for the next. */
static const char wipe[] = "\033[K";

static void empty(struct yk_text *text)
{
    text->length = 0;
    if (text->bytes) {
        text->bytes[0] = '\0';
    }
}

static bool is_fence(const char *line)
{
    const size_t dashes = strspn(line, "-");
    return dashes >= FENCE && line[dashes] == '\0';
}

static bool is_mpirun(const char *line)
{
    for (size_t i = 0; i < sizeof own_lines / sizeof own_lines[0]; i++) {
        if (strncmp(line, own_lines[i], strlen(own_lines[i])) == 0) {
            return true;
        }
    }
    for (size_t i = 0; line[0] == '[' && i < sizeof own_marks / sizeof own_marks[0]; i++) {
        if (strstr(line, own_marks[i])) {
            return true;
        }
    }
    return false;
}

static bool may_begin(const char *line, const char *text)
{
    const size_t length = strlen(line);
    const size_t whole = strlen(text);
    return strncmp(line, text, length < whole ? length : whole) == 0;
}

/* Whether what has come of a line may still turn out to be mpirun's. */
static bool may_be_mpirun(const char *line)
{
    return line[strspn(line, "-")] == '\0' || line[0] == '[' || may_begin(line, "mpirun:");
}

static bool is_from_yoke(const char *line)
{
    return strncmp(line, yoke, sizeof yoke - 1) == 0;
}

/* "yoke: rank 0: rank 2 has ended; …" is held back from the second "rank" on. */
static bool is_about_an_end(const char *line, const char **out)
{
    const char *end = is_from_yoke(line) ? strstr(line, has_ended) : NULL;
    const char *rank = NULL;
    for (const char *at = strstr(line, "rank "); at && end && at < end;
         at = strstr(at + 1, "rank ")) {
        rank = at;
    }
    /* Nothing but the number in between. */
    if (!rank || rank + 5 + strspn(rank + 5, "0123456789") != end) {
        return false;
    }
    *out = rank;
    return true;
}

/* What follows the first `label` in `text`; NULL if it is not there. */
static const char *find_after(const char *text, const char *label)
{
    const char *found = strstr(text, label);
    return found ? found + strlen(label) : NULL;
}

static int32_t read_number(const char *text)
{
    return (int32_t)strtol(text, NULL, 10);
}

/* "… process rank 2 with PID 71 on node vm exited on signal 9 (Killed)." or "… exiting improperly".
 */
static bool read_rank_line(const char *banner, struct yk_mpirun_failed_rank *out)
{
    const char *rank = find_after(banner, "process rank ");
    const char *signal_at = find_after(banner, "exited on signal ");
    const bool improper = strstr(banner, "exiting improperly") != NULL;
    if (!rank || (!signal_at && !improper)) {
        return false;
    }
    *out = (struct yk_mpirun_failed_rank){
        .known = true,
        .rank = read_number(rank),
        .signal = signal_at ? read_number(signal_at) : 0,
        .improper = improper && !signal_at,
    };
    const char *node = find_after(rank, "node ");
    if (node) {
        node += strspn(node, " \n");
        snprintf(out->node, sizeof out->node, "%.*s", (int)strcspn(node, " \n"), node);
    }
    return true;
}

/* "Process name: [[22066,1],2]" and "Exit code: 4", each on a line of its own. */
static bool read_exit_lines(const char *banner, struct yk_mpirun_failed_rank *out)
{
    const char *name = find_after(banner, "Process name:");
    const char *code = find_after(banner, "Exit code:");
    if (!name || !code || code < name) {
        return false;
    }
    const char *comma = NULL;
    for (const char *c = name; c < code && *c != '\n'; c++) {
        comma = *c == ',' ? c : comma;
    }
    if (!comma) {
        return false;
    }
    *out = (struct yk_mpirun_failed_rank){
        .known = true, .rank = read_number(comma + 1), .code = read_number(code)};
    return true;
}

/* "MPI_ABORT was invoked on rank 1 in communicator MPI_COMM_WORLD with errorcode 6." */
static bool read_abort(const char *banner, struct yk_mpirun_failed_rank *out)
{
    const char *rank = find_after(banner, "invoked on rank ");
    const char *code = find_after(banner, "errorcode ");
    if (!strstr(banner, "MPI_ABORT") || !rank || !code) {
        return false;
    }
    *out = (struct yk_mpirun_failed_rank){
        .known = true, .rank = read_number(rank), .code = read_number(code)};
    return true;
}

static void end_banner(struct yk_mpirun_output_parser *output)
{
    const char *banner = yk_text_chars(&output->banner);
    struct yk_mpirun_failed_rank loss = {0};
    /* Says only that the job is over, for a reason that another one gives. */
    const bool says_nothing = strstr(banner, "Primary job") != NULL;
    if (read_rank_line(banner, &loss) || read_exit_lines(banner, &loss) ||
        read_abort(banner, &loss)) {
        output->loss = output->loss.known ? output->loss : loss;
    } else if (!says_nothing && output->first.length == 0) {
        yk_text_add(&output->first, banner);
    }
    empty(&output->banner);
    output->inside = false;
}

static void read_line(struct yk_mpirun_output_parser *output, struct yk_text *out)
{
    const char *line = yk_text_chars(&output->line);
    const char *about = NULL;
    if (is_about_an_end(line, &about)) {
        if (output->ended.length == 0) {
            yk_text_add(&output->ended, about);
        }
    } else if (is_fence(line)) {
        if (output->inside) {
            end_banner(output);
        } else {
            output->inside = true;
        }
    } else if (output->inside && !is_from_yoke(line)) {
        if (output->banner.length < MAX_BANNER) {
            yk_text_addf(&output->banner, "%s\n", line);
        }
    } else if (!is_mpirun(line)) {
        yk_text_addf(out, "%s\n", line);
        output->advised = output->advised || (is_from_yoke(line) && strstr(line, "--resume"));
    }
    empty(&output->line);
}

/* A character of a rank's line: progress is wiped, and then anything may begin. */
static void pass(struct yk_mpirun_output_parser *output, char character, struct yk_text *out)
{
    const size_t length = sizeof wipe - 1;
    yk_text_add_bytes(out, &character, 1);
    if (character != '\n' && output->line.length < MAX_BANNER) {
        yk_text_add_bytes(&output->line, &character, 1);
    }
    const bool wiped = output->line.length >= length &&
                       memcmp(output->line.bytes + output->line.length - length, wipe, length) == 0;
    if (character == '\n' || wiped) {
        empty(&output->line);
        output->passing = false;
    }
}

void yk_mpirun_output_parse(struct yk_mpirun_output_parser *output, const char *bytes,
                            size_t length, struct yk_text *out)
{
    for (size_t i = 0; i < length; i++) {
        if (output->passing) {
            pass(output, bytes[i], out);
        } else if (bytes[i] == '\n') {
            read_line(output, out);
        } else {
            yk_text_add_bytes(&output->line, &bytes[i], 1);
            /* A line of progress has no end and must not wait for one. */
            const char *line = yk_text_chars(&output->line);
            if (!output->inside && !may_be_mpirun(line) && !may_begin(line, yoke)) {
                yk_text_add_bytes(out, output->line.bytes, output->line.length);
                output->passing = true;
            }
        }
    }
}

void yk_mpirun_output_finish(struct yk_mpirun_output_parser *output, struct yk_text *out)
{
    if (output->line.length > 0 && !output->passing) {
        read_line(output, out);
    }
    if (output->inside) {
        end_banner(output);
    }
}

void yk_mpirun_output_free(struct yk_mpirun_output_parser *output)
{
    yk_text_free(&output->line);
    yk_text_free(&output->banner);
    yk_text_free(&output->first);
    yk_text_free(&output->ended);
}

static bool is_ours(int32_t code)
{
    return (code >= YK_ERROR_SYSTEM && code <= YK_ERROR_LOST) || code == YK_ERROR_STOPPED;
}

static yk_status fail_silently(int32_t code)
{
    return yk_fail((yk_status)code, "%s", "");
}

static yk_status fail_unready(void)
{
    return yk_fail(YK_ERROR_STOPPED, "stopped before all ranks had begun; nothing new was saved");
}

/* What the others have seen of a rank is said where nothing else says why the run is over. */
static yk_status fail_as_reported(const struct yk_mpirun_output_parser *output, int32_t code)
{
    return code == YK_ERROR_LOST && !output->advised
               ? yk_fail(YK_ERROR_LOST, "%s", yk_text_chars(&output->ended))
               : fail_silently(code);
}

/* How to go on, after what the rank was last seen in if that is known. */
static const char *rest_of(const struct yk_mpirun_output_parser *output)
{
    const char *reported = yk_text_chars(&output->ended);
    const char *end = strstr(reported, has_ended);
    return end && strtol(reported + 5, NULL, 10) == output->loss.rank
               ? end + sizeof has_ended - 2
               : ", so the others were ended; --resume goes on from the last checkpoint";
}

static yk_status fail_lost(const struct yk_mpirun_output_parser *output,
                           const struct yk_mpirun_exit_state *end)
{
    const struct yk_mpirun_failed_rank *loss = &output->loss;
    if (end->stopped && loss->signal == SIGUSR1) {
        return fail_unready();
    }
    if (loss->signal == 0 && !loss->improper && is_ours(loss->code)) {
        return fail_as_reported(output, loss->code);
    }
    if (output->advised) {
        return fail_silently(YK_ERROR_LOST);
    }
    struct yk_text how = {0};
    if (loss->signal > 0) {
        const char *text = strsignal(loss->signal);
        yk_text_addf(&how, "was ended by signal %" PRId32 " (%s)", loss->signal,
                     text ? text : "unknown");
    } else if (loss->improper) {
        yk_text_add(&how, "ended without a word to the others");
    } else {
        yk_text_addf(&how, "ended with exit code %" PRId32, loss->code);
    }
    const yk_status status =
        yk_fail(YK_ERROR_LOST, "rank %" PRId32 "%s%s %s%s", loss->rank, loss->node[0] ? " on " : "",
                loss->node, yk_text_chars(&how), rest_of(output));
    yk_text_free(&how);
    return status;
}

/* The first sentence of a banner, on one line: up to its full stop, colon or empty line. */
static void add_sentence(struct yk_text *out, const char *banner)
{
    for (const char *c = banner + strspn(banner, " \n"); *c; c++) {
        const bool ends = (*c == '.' || *c == ':') && (c[1] == '\n' || c[1] == '\0');
        if (ends || strncmp(c, "\n\n", 2) == 0) {
            break;
        }
        yk_text_add_bytes(out, *c == '\n' ? " " : c, 1);
    }
    yk_text_trim_end(out);
}

static yk_status fail_to_start(const struct yk_mpirun_output_parser *output,
                               const struct yk_mpirun_exit_state *end)
{
    if (output->first.length == 0) {
        return yk_fail(YK_ERROR_SYSTEM,
                       "mpirun ended with exit code %" PRId32
                       " and did not say why; try: mpirun -n 2 hostname",
                       end->code);
    }
    struct yk_text said = {0};
    add_sentence(&said, yk_text_chars(&output->first));
    const yk_status status =
        yk_fail(YK_ERROR_SYSTEM, "mpirun cannot start the ranks: %s", yk_text_chars(&said));
    yk_text_free(&said);
    return status;
}

yk_status yk_mpirun_output_status_of_run(const struct yk_mpirun_output_parser *output,
                                         const struct yk_mpirun_exit_state *end)
{
    if (end->signal == 0 && end->code == 0) {
        return YK_OK;
    }
    if (output->loss.known) {
        return fail_lost(output, end);
    }
    if (end->signal > 0) {
        return end->stopped && end->signal == SIGUSR1
                   ? fail_unready()
                   : yk_fail(YK_ERROR_LOST,
                             "mpirun was ended by signal %" PRId32
                             ", and the ranks with it; --resume goes on from the last checkpoint",
                             end->signal);
    }
    /* A rank that gave up for all of them, of which mpirun passes on the code alone. */
    if (is_ours(end->code) && end->code > YK_ERROR_USAGE) {
        return fail_as_reported(output, end->code);
    }
    return fail_to_start(output, end);
}
