/*
 * Status: how every function that can fail reports it. The value says what kind of failure it is,
 * and is also the exit code of the command line. Whoever first knows what is wrong writes one
 * sentence with yk_fail(): what, where, what to do. It belongs to the calling thread until its next
 * failure.
 *
 * The room: memory and errors: arena, array, priority_queue, status, plugin_file (plugin/status.c
 * is linked into plug-ins); text: text, table, utf8, control, number, units, nearest, names; files:
 * file, folder, hash, sha256, json (reading), json_write; requests: option, option_sources; the
 * machine: system, clock, deadline, log, random, precision.
 */
#ifndef YK_BASE_STATUS_H
#define YK_BASE_STATUS_H

typedef enum yk_status {
    YK_OK = 0,
    YK_ERROR_SYSTEM = 1,   /* the machine refused memory, a file or a thread */
    YK_ERROR_USAGE = 2,    /* the command line makes no sense */
    YK_ERROR_NO_FIT = 3,   /* nothing fits the devices */
    YK_ERROR_INPUT = 4,    /* a file or a value is wrong */
    YK_ERROR_NUMBERS = 5,  /* numbers went bad: infinity or not-a-number */
    YK_ERROR_LOST = 6,     /* a device or a peer is gone */
    YK_ERROR_STOPPED = 75, /* stopped by a signal, state saved */
} yk_status;

#define YK_MUST_USE __attribute__((warn_unused_result))
#define YK_PRINTF(format_index, first_argument)                                                    \
    __attribute__((format(printf, format_index, first_argument)))

/* Records the sentence and returns `status`, so that a failure is one line: return yk_fail(…). */
yk_status yk_fail(yk_status status, const char *format, ...) YK_MUST_USE YK_PRINTF(2, 3);

/* Puts "prefix: " in front of the current sentence: the place the caller knows and the callee did
 * not. Returns `status` unchanged. */
yk_status yk_status_prefix(yk_status status, const char *prefix) YK_MUST_USE;

yk_status yk_fail_out_of_memory(void) YK_MUST_USE;

#ifdef __clang_analyzer__
/* clang's analyzer sees one source at a time and cannot know that a failure is never YK_OK. */
static inline yk_status yk_status_failed_(yk_status status)
{
    if (status == YK_OK) {
        __builtin_unreachable();
    }
    return status;
}
#define yk_fail(...) yk_status_failed_((yk_fail)(__VA_ARGS__))
#define yk_fail_out_of_memory() yk_status_failed_((yk_fail_out_of_memory)())
#endif

/* The sentence of this thread's last failure; "" before the first one. */
const char *yk_status_message(void);

#define YK_TRY(expression)                                                                         \
    do {                                                                                           \
        yk_status yk_try_status_ = (expression);                                                   \
        if (yk_try_status_ != YK_OK) {                                                             \
            return yk_try_status_;                                                                 \
        }                                                                                          \
    } while (0)

/* For functions with a `yk_status status`: the next step, unless one before has failed. */
#define YK_THEN(expression)                                                                        \
    do {                                                                                           \
        if (status == YK_OK) {                                                                     \
            status = (expression);                                                                 \
        }                                                                                          \
    } while (0)

/* For functions with a `yk_status status` and a label that undoes what was done so far. */
#define YK_TRY_GOTO(expression, label)                                                             \
    do {                                                                                           \
        status = (expression);                                                                     \
        if (status != YK_OK) {                                                                     \
            goto label;                                                                            \
        }                                                                                          \
    } while (0)

#endif
