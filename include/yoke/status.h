/* Status: the return value of every function that can fail, the message of a failure, and the log
 * of the library. */
#ifndef YOKE_STATUS_H
#define YOKE_STATUS_H

#if defined(__GNUC__)
#define YOKE_API __attribute__((visibility("default")))
#define YOKE_MUST_USE __attribute__((warn_unused_result))
#else
#define YOKE_API
#define YOKE_MUST_USE
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef enum yoke_status {
    YOKE_OK = 0,
    YOKE_ERROR_SYSTEM = 1,  /* the operating system refused memory, a file or a thread */
    YOKE_ERROR_USAGE = 2,   /* the call is invalid */
    YOKE_ERROR_NO_FIT = 3,  /* no result fits in the memory of the devices */
    YOKE_ERROR_INPUT = 4,   /* a file or a value is invalid */
    YOKE_ERROR_NUMBERS = 5, /* a computed value is infinite or not a number */
    YOKE_ERROR_LOST = 6,    /* a device or another rank has failed */
} yoke_status;

/*
 * Returns the message of the last failure in the calling thread: what is wrong, where, and what to
 * do. The message is "" before the first failure and is valid until the next failure in the same
 * thread. Messages use the names of the command line ("--lora 16" is the member lora_rank of a
 * workload).
 */
YOKE_API const char *yoke_message(void);

/* Returns the version of the library, such as "1.2.3". */
YOKE_API const char *yoke_version(void);

/* Frees a string that a function of the library returned. NULL is allowed. */
YOKE_API void yoke_free(char *text);

enum yoke_log_level {
    YOKE_LOG_WARNING, /* the result is valid, but the user should know about this */
    YOKE_LOG_NOTE,    /* a choice that was made because the input left it open */
    YOKE_LOG_DETAIL,  /* for debugging */
};

typedef void (*yoke_log)(void *user, enum yoke_log_level level, const char *line);

/*
 * Sets the log callback of the process, which receives warnings, notes and details, one line per
 * call. NULL, the initial value, means: no log. Any thread may call this function at any time.
 * Several threads of the library may call `log` at the same time, always with the `user` that was
 * set together with it. When yoke_set_log() returns, no call of the previous callback is running,
 * and the previous `user` may be freed. Therefore `log` must not call yoke_set_log().
 */
YOKE_API void yoke_set_log(yoke_log log, void *user);

#ifdef __cplusplus
}
#endif

#endif
