#include "job/training/request.h"

#include "base/option.h"
#include "job/training/option_sources.h"

#include <string.h>

enum {
    MAX_NAMES = 128
};

static yk_status fail_unknown(const char *name)
{
    const char *names[MAX_NAMES];
    size_t count = 0;
    while (count < MAX_NAMES && count < yk_train_option_table.count) {
        names[count] = yk_train_option_table.rows[count].name;
        count++;
    }
    const char *meant = yk_option_nearest(name, names, count);
    return meant ? yk_fail(YK_ERROR_USAGE, "there is no setting \"%s\"; did you mean \"%s\"?", name,
                           meant)
                 : yk_fail(YK_ERROR_USAGE, "there is no setting \"%s\"", name);
}

static yk_status store_flag(const struct yk_option *option, const char *value,
                            struct yk_arena *arena, struct yk_train_request *out)
{
    if (strcmp(value, "true") == 0) {
        return yk_option_store(option, NULL, arena, out);
    }
    if (strcmp(value, "false") != 0) {
        return yk_fail(YK_ERROR_USAGE, "--%s: true or false, not \"%s\"", option->name, value);
    }
    yk_option_clear(option, out);
    return YK_OK;
}

static yk_status store(const struct yk_train_option *setting, bool over_sources,
                       struct yk_arena *arena, struct yk_train_request *out)
{
    const struct yk_option *option = yk_option_find(&yk_train_option_table, setting->name);
    if (!option) {
        return fail_unknown(setting->name);
    }
    if (option->kind == YK_OPTION_FLAG) {
        return store_flag(option, setting->value, arena, out);
    }
    const char *kept = NULL;
    YK_TRY(yk_arena_strdup(arena, setting->value, &kept));
    return over_sources ? yk_option_sources_store(&yk_train_option_table, option, kept, arena, out)
                        : yk_option_store(option, kept, arena, out);
}

yk_status yk_train_request_check_option(const struct yk_train_option *setting)
{
    struct yk_arena *arena = NULL;
    struct yk_train_request scratch = {0};
    YK_TRY(yk_arena_create(&arena));
    const yk_status status = store(setting, false, arena, &scratch);
    yk_arena_destroy(arena);
    return status;
}

static yk_status store_all(const struct yk_train_option *options, size_t count, bool over_sources,
                           struct yk_arena *arena, struct yk_train_request *out)
{
    for (size_t i = 0; i < count; i++) {
        YK_TRY(store(&options[i], over_sources, arena, out));
    }
    return YK_OK;
}

yk_status yk_train_request_make(const struct yk_train_option *options, size_t count,
                                struct yk_arena *arena, struct yk_train_request *out)
{
    struct yk_train_request request = {0};
    struct yk_option_sources sources = {0};
    YK_TRY(yk_option_store_presets(&yk_train_option_table, arena, &request));
    YK_TRY(store_all(options, count, false, arena, &request));
    YK_TRY(yk_train_option_sources(&request, arena, &sources));
    if (sources.count > 0) {
        YK_TRY(yk_option_sources_apply(&yk_train_option_table, &sources, arena, &request));
        YK_TRY(store_all(options, count, true, arena, &request));
    }
    *out = request;
    return YK_OK;
}
