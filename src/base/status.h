/*
 * Status: the return value of every function that can fail. It is the class of the failure, and
 * also the exit code of the program. The function that detects a failure describes it in one
 * sentence with yk_fail(): what is wrong, where, and what to do. This sentence is the error
 * message. Each thread has its own error message, which is kept until the next failure of this
 * thread.
 *
 * Files of this folder:
 *   memory, errors   arena, array, priority_queue, status, plugin_file (with plugin/status.c)
 *   text             text, text_table, utf8, number, units, nearest_name, name_index
 *   files            file, input_stream, folder, hash, sha256, json (reading), json_write,
 *                    json_node
 *   options          option
 *   machine          system, clock, deadline, log, random, precision
 */
#ifndef YK_BASE_STATUS_H
#define YK_BASE_STATUS_H

typedef enum yk_status {
    YK_OK = 0,
    YK_ERROR_SYSTEM = 1,   /* the operating system refused memory, a file or a thread */
    YK_ERROR_USAGE = 2,    /* the command line or the call is invalid */
    YK_ERROR_NO_FIT = 3,   /* no plan fits in the memory of the devices */
    YK_ERROR_INPUT = 4,    /* a file or a value is invalid */
    YK_ERROR_NUMBERS = 5,  /* a computed value is infinite or not a number */
    YK_ERROR_LOST = 6,     /* a device or another rank has failed */
    YK_ERROR_STOPPED = 75, /* a signal or a deadline stopped the work; the state was saved */
} yk_status;

#define YK_MUST_USE __attribute__((warn_unused_result))
#define YK_PRINTF_LIKE(format_index, first_argument)                                               \
    __attribute__((format(printf, format_index, first_argument)))

/* Stores the error message and returns `status`. So a function can fail in one line: return
 * yk_fail(…). */
yk_status yk_fail(yk_status status, const char *format, ...) YK_MUST_USE YK_PRINTF_LIKE(2, 3);

/* Returns `status`. If it is a failure, inserts `prefix` and ": " before the error message. The
 * prefix is usually a place that the function which failed did not know, such as a file name. */
yk_status yk_status_prefix_message(yk_status status, const char *prefix) YK_MUST_USE;

yk_status yk_fail_out_of_memory(void) YK_MUST_USE;

#ifdef __clang_analyzer__
/* clang's analyzer reads one source file at a time. These functions tell it that yk_fail() never
 * returns YK_OK and that yk_status_prefix_message() returns its argument. */
static inline yk_status yk_status_assume_failed_(yk_status status)
{
    if (status == YK_OK) {
        __builtin_unreachable();
    }
    return status;
}
static inline yk_status yk_status_prefix_message_(yk_status status, const char *prefix)
{
    (void)(yk_status_prefix_message)(status, prefix);
    return status;
}
#define yk_status_prefix_message(...) yk_status_prefix_message_(__VA_ARGS__)
#define yk_fail(...) yk_status_assume_failed_((yk_fail)(__VA_ARGS__))
#define yk_fail_out_of_memory() yk_status_assume_failed_((yk_fail_out_of_memory)())
#endif

/* Returns the error message of the most recent failure of the calling thread, or "" if there was
 * none. */
const char *yk_status_message(void);

/* If `expression` is a failure, the calling function returns it. */
#define YK_TRY(expression)                                                                         \
    do {                                                                                           \
        yk_status yk_try_status_ = (expression);                                                   \
        if (yk_try_status_ != YK_OK) {                                                             \
            return yk_try_status_;                                                                 \
        }                                                                                          \
    } while (0)

/* Does the same as YK_TRY(), but runs `cleanup` before the calling function returns. */
#define YK_TRY_OR_CLEAN_UP(expression, cleanup)                                                    \
    do {                                                                                           \
        yk_status yk_try_status_ = (expression);                                                   \
        if (yk_try_status_ != YK_OK) {                                                             \
            cleanup;                                                                               \
            return yk_try_status_;                                                                 \
        }                                                                                          \
    } while (0)

/* If `allocated` is false, the calling function returns an out-of-memory failure. `allocated`
 * checks new pointers: YK_TRY_ALLOCATED(first && second). */
#define YK_TRY_ALLOCATED(allocated)                                                                \
    do {                                                                                           \
        if (!(allocated)) {                                                                        \
            return yk_fail_out_of_memory();                                                        \
        }                                                                                          \
    } while (0)

/* For functions with a variable `yk_status status`: if `status` is YK_OK, evaluates `expression`
 * and stores the result in `status`. */
#define YK_IF_OK(expression)                                                                       \
    do {                                                                                           \
        if (status == YK_OK) {                                                                     \
            status = (expression);                                                                 \
        }                                                                                          \
    } while (0)

/* For functions with a variable `yk_status status` and a label where they clean up: stores the
 * result of `expression` in `status`. If the result is a failure, goes to the label. */
#define YK_TRY_GOTO(expression, label)                                                             \
    do {                                                                                           \
        status = (expression);                                                                     \
        if (status != YK_OK) {                                                                     \
            goto label;                                                                            \
        }                                                                                          \
    } while (0)

#endif
