#include "base/log.h"
#include "library/library.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

_Static_assert((int)YOKE_OK == (int)YK_OK && (int)YOKE_ERROR_SYSTEM == (int)YK_ERROR_SYSTEM &&
                   (int)YOKE_ERROR_USAGE == (int)YK_ERROR_USAGE &&
                   (int)YOKE_ERROR_NO_FIT == (int)YK_ERROR_NO_FIT &&
                   (int)YOKE_ERROR_INPUT == (int)YK_ERROR_INPUT &&
                   (int)YOKE_ERROR_NUMBERS == (int)YK_ERROR_NUMBERS &&
                   (int)YOKE_ERROR_LOST == (int)YK_ERROR_LOST,
               "yoke_status is yk_status");
_Static_assert((int)YOKE_LOG_WARNING == (int)YK_LOG_WARNING &&
                   (int)YOKE_LOG_NOTE == (int)YK_LOG_NOTE &&
                   (int)YOKE_LOG_DETAIL == (int)YK_LOG_DETAIL,
               "yoke_log_level is yk_log_level");

/* The one log of the process; locked as in base/log.c. */
static pthread_rwlock_t log_lock = PTHREAD_RWLOCK_INITIALIZER;
static yoke_log current_log;
static void *current_user;

const char *yoke_message(void)
{
    return yk_status_message();
}

const char *yoke_version(void)
{
    return YOKE_VERSION;
}

void yoke_free(char *text)
{
    free(text);
}

static void pass_on(void *user, enum yk_log_level level, const char *line)
{
    (void)user;
    (void)pthread_rwlock_rdlock(&log_lock);
    if (current_log) {
        current_log(current_user, (enum yoke_log_level)level, line);
    }
    (void)pthread_rwlock_unlock(&log_lock);
}

void yoke_set_log(yoke_log log, void *user)
{
    (void)pthread_rwlock_wrlock(&log_lock);
    current_log = log;
    current_user = user;
    (void)pthread_rwlock_unlock(&log_lock);
    yk_log_set_sink(pass_on, NULL);
}

yoke_status yk_library_return_text(yk_status status, struct yk_text *text, char **out)
{
    if (status == YK_OK) {
        yk_text_add(text, ""); /* an empty text is a string, too */
        status = yk_text_status(text);
    }
    if (status != YK_OK) {
        yk_text_free(text);
        return yk_library_status(status);
    }
    *out = text->bytes;
    return YOKE_OK;
}

yk_status yk_library_copy_text(struct yk_arena *arena, const char *words, const char **out)
{
    const char *copy = words ? yk_arena_copy_text(arena, words, strlen(words)) : NULL;
    if (words && !copy) {
        return yk_fail_out_of_memory();
    }
    *out = copy;
    return YK_OK;
}
