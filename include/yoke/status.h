/*
 * Status: how every function that can fail reports it, and what the library as a whole offers.
 */
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
    YOKE_ERROR_SYSTEM = 1,  /* the machine refused memory, a file or a thread */
    YOKE_ERROR_USAGE = 2,   /* the call makes no sense */
    YOKE_ERROR_NO_FIT = 3,  /* nothing fits the devices' memory */
    YOKE_ERROR_INPUT = 4,   /* a file or a value is wrong */
    YOKE_ERROR_NUMBERS = 5, /* numbers went bad: infinity or not-a-number */
    YOKE_ERROR_LOST = 6,    /* a device or a peer is gone */
} yoke_status;

/*
 * The sentence of the calling thread's last failure: what is wrong, where, and what to do; ""
 * before the first one. It stays until that thread's next failure. Remedies are named as the
 * command line names them ("--lora 16" is a workload's lora_rank).
 */
YOKE_API const char *yoke_message(void);

/* The library's version, "1.2.3". */
YOKE_API const char *yoke_version(void);

/* Gives back a text that the library handed over; NULL is nothing. */
YOKE_API void yoke_free(char *text);

enum yoke_log_level {
    YOKE_LOG_WARNING, /* the result stands, but a person should know this */
    YOKE_LOG_NOTE,    /* what was chosen where the input left it open */
    YOKE_LOG_DETAIL,  /* for someone who wonders what happens inside */
};

typedef void (*yoke_log)(void *user, enum yoke_log_level level, const char *line);

/*
 * Says where remarks go that are no failures, a line at a time: nowhere before this was called, and
 * with NULL nowhere again. For the whole process, at any time, from any thread. `log` is called by
 * whichever threads use the library, by several at once, always with the `user` that was set with
 * it. When this returns, no call of the log before it is under way, and what its `user` points to
 * may be freed; so `log` itself must not call it.
 */
YOKE_API void yoke_set_log(yoke_log log, void *user);

#ifdef __cplusplus
}
#endif

#endif
