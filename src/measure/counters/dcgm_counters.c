#include "measure/counters/dcgm_counters.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

/* How long a child may take to end before it is made to. */
enum {
    MAX_WAITS = 500,
    WAIT_NS = 1000000,
};

/* DCGM's fields 1002 to 1005, in its words. */
static const struct {
    const char *title;
    enum yk_counter counter;
} titles[] = {
    {"SMACT", YK_COUNTER_SM},
    {"SMOCC", YK_COUNTER_OCCUPANCY},
    {"TENSO", YK_COUNTER_TENSOR},
    {"DRAMA", YK_COUNTER_DRAM},
};

static const char *const fields = "1002,1003,1004,1005";

static enum yk_counter counter_of(const char *title)
{
    for (size_t i = 0; i < sizeof titles / sizeof titles[0]; i++) {
        if (strcmp(title, titles[i].title) == 0) {
            return titles[i].counter;
        }
    }
    return YK_COUNTER_COUNT;
}

/* "#Entity  SMACT  SMOCC …", older ones "# Entity  SMACT …". */
static void parse_titles(struct yk_dcgm_counters *dcgm, char *text)
{
    char *rest = NULL;
    char *word = strtok_r(text, "# \t", &rest); /* Entity */
    dcgm->column_count = 0;
    while (word && dcgm->column_count < YK_DCGM_COUNTERS_MAX_COLUMNS) {
        word = strtok_r(NULL, " \t", &rest);
        if (word) {
            dcgm->columns[dcgm->column_count++] = counter_of(word);
        }
    }
}

static void add_value(struct yk_dcgm_counters *dcgm, enum yk_counter counter, const char *word)
{
    char *end = NULL;
    const double value = strtod(word, &end);
    if (counter != YK_COUNTER_COUNT && end != word && *end == '\0' && isfinite(value)) {
        dcgm->sums[counter] += value;
        dcgm->counts[counter]++;
    }
}

/* "GPU 0  0.981  0.412  N/A  0.233". */
static void parse_values(struct yk_dcgm_counters *dcgm, char *text)
{
    char *rest = NULL;
    const char *entity = strtok_r(text, " \t", &rest);
    const char *number = strtok_r(NULL, " \t", &rest);
    char expected[16];
    (void)snprintf(expected, sizeof expected, "%d", dcgm->gpu);
    if (!entity || strcmp(entity, "GPU") != 0 || !number || strcmp(number, expected) != 0) {
        return;
    }
    for (int i = 0; i < dcgm->column_count; i++) {
        const char *word = strtok_r(NULL, " \t", &rest);
        if (!word) {
            return;
        }
        add_value(dcgm, dcgm->columns[i], word);
    }
    dcgm->lines++;
}

static void parse_line(struct yk_dcgm_counters *dcgm)
{
    dcgm->line[dcgm->length] = '\0';
    if (dcgm->line[0] == '#') {
        parse_titles(dcgm, dcgm->line);
    } else {
        parse_values(dcgm, dcgm->line);
    }
    dcgm->length = 0;
}

void yk_dcgm_counters_parse_output(struct yk_dcgm_counters *dcgm, const char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (bytes[i] == '\n' || bytes[i] == '\r') {
            parse_line(dcgm);
        } else if (dcgm->length + 1 < sizeof dcgm->line) { /* what is longer is no line of values */
            dcgm->line[dcgm->length++] = bytes[i];
        }
    }
}

/* The child's side of the pipe is its output; it obeys signals, whatever this process does. */
static int spawn(struct yk_dcgm_counters *dcgm, int output)
{
    char gpu[16];
    char period[16];
    (void)snprintf(gpu, sizeof gpu, "%d", dcgm->gpu);
    (void)snprintf(period, sizeof period, "%d", YK_DCGM_COUNTERS_PERIOD_MS);
    const char *const text[] = {"dcgmi", "dmon", "-e", fields, "-d", period, "-i", gpu, NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t all;
    sigset_t none;
    int error = posix_spawn_file_actions_init(&files);
    if (error != 0) {
        return error;
    }
    error = posix_spawnattr_init(&attributes);
    if (error != 0) {
        (void)posix_spawn_file_actions_destroy(&files);
        return error;
    }
    (void)sigfillset(&all);
    (void)sigemptyset(&none);
    (void)posix_spawnattr_setsigdefault(&attributes, &all);
    (void)posix_spawnattr_setsigmask(&attributes, &none);
    (void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    (void)posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    (void)posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
    (void)posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    /* The words are not changed: posix_spawn() only lacks the const. */
    error = posix_spawnp(&dcgm->child, text[0], &files, &attributes, (char *const *)text, environ);
    (void)posix_spawnattr_destroy(&attributes);
    (void)posix_spawn_file_actions_destroy(&files);
    return error;
}

void yk_dcgm_counters_start(struct yk_dcgm_counters *dcgm, int32_t gpu)
{
    int ends[2];
    memset(dcgm, 0, sizeof *dcgm);
    dcgm->gpu = gpu;
    if (pipe2(ends, O_CLOEXEC) != 0) {
        dcgm->error = errno;
        return;
    }
    dcgm->error = spawn(dcgm, ends[1]);
    (void)close(ends[1]);
    if (dcgm->error != 0) {
        dcgm->child = 0;
        (void)close(ends[0]);
        return;
    }
    dcgm->pipe = ends[0];
    (void)fcntl(dcgm->pipe, F_SETFL, O_NONBLOCK); /* which a pipe does not refuse */
}

/* It is asked to end, and made to if it does not: nothing of it outlives this. */
static void end_child(pid_t child)
{
    const struct timespec interval = {.tv_nsec = WAIT_NS};
    (void)kill(child, SIGTERM);
    for (int i = 0; i < MAX_WAITS; i++) {
        const pid_t ended = waitpid(child, NULL, WNOHANG);
        if (ended == child || (ended < 0 && errno != EINTR)) {
            return;
        }
        (void)nanosleep(&interval, NULL);
    }
    (void)kill(child, SIGKILL);
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {
    }
}

void yk_dcgm_counters_stop(struct yk_dcgm_counters *dcgm)
{
    if (dcgm->child > 0) {
        (void)close(dcgm->pipe);
        end_child(dcgm->child);
        dcgm->child = 0;
    }
}

static void drain(struct yk_dcgm_counters *dcgm)
{
    char bytes[1024];
    while (dcgm->child > 0 && !dcgm->ended) {
        const ssize_t count = read(dcgm->pipe, bytes, sizeof bytes);
        if (count > 0) {
            yk_dcgm_counters_parse_output(dcgm, bytes, (size_t)count);
        } else if (count == 0) {
            dcgm->ended = true;
        } else if (errno != EINTR) {
            return;
        }
    }
}

void yk_dcgm_counters_read(struct yk_dcgm_counters *dcgm, double *values)
{
    drain(dcgm);
    for (int i = 0; i < YK_COUNTER_COUNT; i++) {
        if (dcgm->counts[i] > 0) {
            values[i] = dcgm->sums[i] / dcgm->counts[i];
        }
        dcgm->sums[i] = 0;
        dcgm->counts[i] = 0;
    }
}

void yk_dcgm_counters_describe(const struct yk_dcgm_counters *dcgm, struct yk_text *text)
{
    if (dcgm->error == ENOENT) {
        yk_text_add(text, "DCGM: dcgmi is not installed");
    } else if (dcgm->error != 0) {
        yk_text_addf(text, "DCGM: dcgmi cannot be started (%s)", strerror(dcgm->error));
    } else if (dcgm->lines > 0) {
        yk_text_addf(text, "DCGM every %d ms", YK_DCGM_COUNTERS_PERIOD_MS);
    } else {
        yk_text_add(text, "DCGM: dcgmi gave no values (does nv-hostengine run?)");
    }
}
