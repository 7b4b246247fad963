#include "job/reporting/run_report.h"

#include "base/json.h"

#include <string.h>

/* Any value as a word: what one would write behind the option. */
static yk_status keep_value(const struct yk_json *value, struct yk_arena *arena, const char **out)
{
    struct yk_text text = {0};
    double number = 0;
    bool flag = false;
    if (yk_json_string_value(value)) {
        yk_text_add(&text, yk_json_string_value(value));
    } else if (yk_json_number_value(value, &number)) {
        yk_text_add_number(&text, number);
    } else if (yk_json_boolean_value(value, &flag)) {
        yk_text_add(&text, flag ? "yes" : "no");
    } else {
        yk_text_add(&text, yk_json_type_name(value));
    }
    return yk_text_move_to_arena(&text, arena, out);
}

static yk_status list_options(const struct yk_json *root, struct yk_arena *arena,
                              const struct yk_run_report_option **out, int32_t *out_count)
{
    struct yk_run_report_option *options = NULL;
    struct yk_json_member_iterator member = {0};
    int32_t kept = 0;
    YK_TRY_NEW(arena, options, yk_json_member_count(root) + 1);
    while (yk_json_next_member(root, &member)) {
        if (strcmp(member.name, "yoke") == 0 || strcmp(member.name, "kind") == 0 ||
            yk_json_is_null(member.value)) {
            continue;
        }
        YK_TRY(yk_arena_strdup(arena, member.name, &options[kept].name));
        YK_TRY(keep_value(member.value, arena, &options[kept].value));
        kept++;
    }
    *out = options;
    *out_count = kept;
    return YK_OK;
}

yk_status yk_run_options_parse_json(const char *text, size_t length, const char *source,
                                    struct yk_arena *arena, const struct yk_run_report_option **out,
                                    int32_t *out_count)
{
    struct yk_json *root = NULL;
    yk_status status = yk_json_parse(text, length, &root);
    if (status == YK_OK && !yk_json_is_object(root)) {
        status = yk_fail(YK_ERROR_INPUT, "this must be an object, not %s", yk_json_type_name(root));
    }
    YK_IF_OK(list_options(root, arena, out, out_count));
    yk_json_destroy(root);
    return status == YK_OK ? YK_OK : yk_status_prefix_message(status, source);
}
