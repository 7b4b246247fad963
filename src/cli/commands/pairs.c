#include "job/models/sentence_pair_extraction.h"

#include "cli/options/command.h"
#include "cli/options/common_options.h"

struct arguments {
    struct yk_sentence_pair_extraction_request request;
    bool json;
    bool quiet;
};

static yk_status run(const void *given, struct yk_text *out)
{
    const struct arguments *arguments = given;
    struct yk_sentence_pair_extraction_result result = {0};
    if (!arguments->request.output) {
        return yk_fail(YK_ERROR_USAGE, "name what the files begin with: -o ui");
    }
    yk_status status = yk_sentence_pair_extraction_run(&arguments->request, &result);
    YK_IF_OK(arguments->json
                 ? yk_sentence_pair_extraction_write_json(&result, arguments->request.language, out)
                 : yk_sentence_pair_extraction_write_text(&result, out));
    yk_sentence_pair_extraction_result_free(&result);
    return status;
}

#define TO(member) YK_OPTION_OFFSET_OF(struct arguments, member)

static const struct yk_operand operands[] = {
    {
        .placeholder = "LANGUAGE",
        .help = "As folders of translations are called: de, ko, pt_BR",
        .required = true,
        TO(request.language),
    },
};

static const struct yk_option options[] = {
    {YK_OPTION_ROW("from", "FOLDER", YK_DATA_OPTION_HEADING,
                   "Look in FOLDER/LANGUAGE/LC_MESSAGES; else in /usr/share/locale and "
                   "/usr/share/locale-langpack"),
     YK_OPTION_INIT_INPUT_FILE, TO(request.locale_folder)},
    {YK_OPTION_ROW("longest", "N", YK_DATA_OPTION_HEADING,
                   "Leave out sentences of more characters"),
     YK_OPTION_INIT_INTEGER(1, INT64_MAX, "400"), TO(request.max_characters)},
    {YK_OPTION_ROW(
         "held-out", "N", YK_DATA_OPTION_HEADING,
         "Write so many pairs into PREFIX.held-out.en and .LANGUAGE instead, none of whose "
         "English sentences is among the others"),
     YK_OPTION_INIT_INTEGER(0, INT32_MAX, "0"), TO(request.held_out)},
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
    YK_COMMAND_INITIALIZERS(struct arguments),
};
