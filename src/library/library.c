#include "library/library.h"

#include "base/log.h"
#include "base/nearest_name.h"

#include <math.h>
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

/* The log callback of the process. A callback runs under the read lock. */
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

static void forward_log(void *user, enum yk_log_level level, const char *line)
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
    yk_log_set_sink(forward_log, NULL);
}

yk_status yk_library_check_not_null(const char *function, const char *names,
                                    const void *const *pointers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const size_t length = strcspn(names, ",");
        if (!pointers[i]) {
            return yk_fail(YK_ERROR_USAGE, "%s: %.*s must not be NULL", function, (int)length,
                           names);
        }
        names += length + strspn(names + length, ", ");
    }
    return YK_OK;
}

yoke_status yk_library_return_text_or_free(yk_status status, struct yk_text *text, char **out)
{
    if (status == YK_OK) {
        yk_text_add(text, ""); /* allocates an empty string */
        status = yk_text_status(text);
    }
    YK_LIBRARY_TRY_OR_CLEANUP(status, yk_text_free(text));
    *out = text->bytes;
    return YOKE_OK;
}

enum {
    MAX_NAMES = 64
};

yk_status yk_library_find_index_of_name(const char *what, const char *word,
                                        yk_library_name_function name_of, int32_t *out)
{
    const char *names[MAX_NAMES];
    struct yk_text all = {0};
    size_t count = 0;
    while (count < MAX_NAMES && (names[count] = name_of((int32_t)count)) != NULL) {
        if (strcmp(names[count], word) == 0) {
            yk_text_free(&all);
            *out = (int32_t)count;
            return YK_OK;
        }
        yk_text_addf(&all, "%s%s", count > 0 ? ", " : "", names[count]);
        count++;
    }
    const char *nearest = yk_nearest_name(word, names, count);
    const yk_status status =
        nearest ? yk_fail(YK_ERROR_USAGE, "there is no %s \"%s\"; did you mean \"%s\"?", what, word,
                          nearest)
                : yk_fail(YK_ERROR_USAGE, "there is no %s \"%s\"; there are: %s", what, word,
                          yk_text_chars(&all));
    yk_text_free(&all);
    return status;
}

yoke_status yoke_stop_create(yoke_stop **out)
{
    YK_LIBRARY_REQUIRE_NOT_NULL(out);
    yoke_stop *stop = malloc(sizeof *stop);
    YK_LIBRARY_TRY(stop ? YK_OK : yk_fail_out_of_memory());
    atomic_init(&stop->raised, false);
    *out = stop;
    return YOKE_OK;
}

void yoke_stop_destroy(yoke_stop *stop)
{
    free(stop);
}

void yoke_stop_raise(yoke_stop *stop)
{
    atomic_store(&stop->raised, true);
}

void yoke_stop_lower(yoke_stop *stop)
{
    atomic_store(&stop->raised, false);
}

yk_status yk_library_convert_search_options(const struct yoke_search *search, double usual_s,
                                            struct yk_scheduler_options *out)
{
    const struct yoke_search given = search ? *search : (struct yoke_search){0};
    if (!isfinite(given.budget_s) || given.budget_s < 0) {
        return yk_fail(YK_ERROR_USAGE, "a search takes 0 seconds or more, not %g", given.budget_s);
    }
    if (given.moves < 0) {
        return yk_fail(YK_ERROR_USAGE, "a search takes 0 moves or more, not %lld",
                       (long long)given.moves);
    }
    *out = (struct yk_scheduler_options){
        .budget_s = given.budget_s > 0 ? given.budget_s : usual_s,
        .moves = given.moves,
        .seed = given.seed > 0 ? given.seed : 1,
        .progress = given.progress,
        .progress_user = given.progress_user,
        .stop = given.stop ? &given.stop->raised : NULL,
    };
    return YK_OK;
}
