#include "job/models/pair_extraction.h"

#include "base/json_write.h"
#include "cli/options/command.h"
#include "cli/options/common_options.h"

#include <inttypes.h>
#include <stdio.h>

enum {
    KEY_SIZE = 32
};

struct arguments {
    struct yk_pair_extraction_request request;
    bool json;
    bool quiet;
};

static void write_text(const struct yk_pair_extraction_result *result, struct yk_text *out)
{
    for (size_t i = 0; i < result->path_count; i++) {
        yk_text_addf(out, "%s%s", i == 0 ? "" : ", ", yk_text_chars(&result->paths[i]));
    }
    yk_text_addf(out, "\n\n  catalogues          %" PRId32 "\n", result->catalogues);
    yk_text_addf(out, "  messages            %" PRId64 "\n", result->messages);
    yk_text_addf(out, "  pairs               %" PRId32 "\n", result->pairs);
    yk_text_addf(out, "  held out            %" PRId32 "\n\nLeft out\n", result->held_out);
    yk_text_addf(out, "  catalogues          %" PRId32 "\n", result->broken);
    for (size_t i = 0; i < result->left_out_count; i++) {
        yk_text_addf(out, "  %-18s  %" PRId64 "\n", result->left_out[i].reason,
                     result->left_out[i].count);
    }
}

/* "no letters" has the key "no_letters". */
static void add_left_out(struct yk_json_writer *json,
                         const struct yk_pair_extraction_rejections *left_out)
{
    char key[KEY_SIZE];
    (void)snprintf(key, sizeof key, "%s", left_out->reason);
    for (char *c = key; *c; c++) {
        *c = *c == ' ' ? '_' : *c;
    }
    yk_json_write_integer(json, key, left_out->count);
}

static void write_json(const char *language, const struct yk_pair_extraction_result *result,
                       struct yk_text *out)
{
    struct yk_json_writer json = {.text = out};
    yk_json_write_begin_document(&json, "pairs");
    yk_json_write_string(&json, "language", language);
    yk_json_write_begin_array(&json, "files");
    for (size_t i = 0; i < result->path_count; i++) {
        yk_json_write_string(&json, NULL, yk_text_chars(&result->paths[i]));
    }
    yk_json_write_end_array(&json);
    yk_json_write_integer(&json, "catalogues", result->catalogues);
    yk_json_write_integer(&json, "messages", result->messages);
    yk_json_write_integer(&json, "pairs", result->pairs);
    yk_json_write_integer(&json, "held_out", result->held_out);
    yk_json_write_begin_object(&json, "left_out");
    yk_json_write_integer(&json, "catalogues", result->broken);
    for (size_t i = 0; i < result->left_out_count; i++) {
        add_left_out(&json, &result->left_out[i]);
    }
    yk_json_write_end_object(&json);
    yk_json_write_end_object(&json);
    yk_text_add(out, "\n");
}

static yk_status run(const void *given, struct yk_text *out)
{
    const struct arguments *arguments = given;
    struct yk_pair_extraction_result result = {0};
    if (!arguments->request.output) {
        return yk_fail(YK_ERROR_USAGE, "name what the files begin with: -o ui");
    }
    const yk_status status = yk_pair_extraction_run(&arguments->request, &result);
    if (status == YK_OK && arguments->json) {
        write_json(arguments->request.language, &result, out);
    } else if (status == YK_OK) {
        write_text(&result, out);
    }
    yk_pair_extraction_result_free(&result);
    return status == YK_OK ? yk_text_status(out) : status;
}

#define TO(member) YK_OPTION_FIELD(struct arguments, member)

static const struct yk_operand operands[] = {
    {
        .placeholder = "LANGUAGE",
        .help = "As folders of translations are called: de, ko, pt_BR",
        .required = true,
        TO(request.language),
    },
};

static const struct yk_option options[] = {
    {YK_OPTION_ROW("from", "FOLDER", YK_DATA_OPTION_GROUP,
                   "Look in FOLDER/LANGUAGE/LC_MESSAGES; else in /usr/share/locale and "
                   "/usr/share/locale-langpack"),
     YK_INPUT_FILE_OPTION, TO(request.locale_folder)},
    {YK_OPTION_ROW("longest", "N", YK_DATA_OPTION_GROUP, "Leave out sentences of more characters"),
     YK_INTEGER_OPTION(1, INT64_MAX, "400"), TO(request.max_characters)},
    {YK_OPTION_ROW(
         "held-out", "N", YK_DATA_OPTION_GROUP,
         "Write so many pairs into PREFIX.held-out.en and .LANGUAGE instead, none of whose "
         "English sentences is among the others"),
     YK_INTEGER_OPTION(0, INT32_MAX, "0"), TO(request.held_out)},
    YK_OUTPUT_OPTION(struct arguments, request.output, "PREFIX",
                     "Write PREFIX.en and PREFIX.LANGUAGE"),
    YK_JSON_OPTION(struct arguments, json),
    YK_QUIET_OPTION(struct arguments, quiet, "notes"),
};

static const struct yk_command_example examples[] = {
    {"yoke pairs de -o ui --held-out 1000", "English and German from this machine's programs"},
    {"yoke pairs ko -o ui --from /opt/app/share/locale", "Korean from those of one program"},
};

static const struct yk_command_exit_code exits[] = {
    {YK_ERROR_INPUT, "there are no catalogues of the language, or none to keep a pair of"},
};

const struct yk_command yk_command_pairs = {
    .name = "pairs",
    .summary = "collect sentence pairs from the translations that programs bring along",
    .description =
        "Most programs carry their messages in many languages, in catalogues that GNU gettext "
        "compiles (.mo). This makes two files of them, English and translated, with a sentence a "
        "line and the same number of lines: something to learn translating from on a machine "
        "without a network. Equal catalogues give equal files.\n\n"
        "White space becomes single spaces, and the marks of mnemonics go (_File, &File). Left out "
        "are messages that are not translated, not text, without letters or the same on both "
        "sides; columns and lists; those whose placeholders differ (%s, {name}); those that are "
        "too "
        "long, or several times as long on one side; messages with plurals, where the language has "
        "more than two forms; and pairs that were there before.",
    YK_COMMAND_MEMBERS(struct arguments),
};
