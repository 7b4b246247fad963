#include "cli/options/command.h"
#include "cli/options/common_options.h"
#include "job/models/bleu_score.h"

struct arguments {
    struct yk_bleu_score_request request;
    bool json;
};

static yk_status run(const void *given, struct yk_text *out)
{
    const struct arguments *arguments = given;
    struct yk_bleu_score score = {0};
    YK_TRY(yk_bleu_score_run(&arguments->request, &score));
    return arguments->json ? yk_bleu_score_write_json(&score, out)
                           : yk_bleu_score_write_text(&score, out);
}

#define TO(member) YK_OPTION_OFFSET_OF(struct arguments, member)

static const struct yk_operand operands[] = {
    {
        .placeholder = "REFERENCE",
        .help = "Translations by people, a sentence a line",
        .required = true,
        TO(request.reference),
    },
    {
        .placeholder = "TRANSLATIONS",
        .help = "What to score, in the same order; else standard input",
        TO(request.translations),
    },
};

static const struct yk_option options[] = {
    {YK_OPTION_ROW("lowercase", NULL, "Scoring options", "Compare without regard to case"),
     YK_OPTION_INIT_FLAG, TO(request.lowercase)},
    YK_JSON_OPTION(struct arguments, json),
};

static const struct yk_command_example examples[] = {
    {"yoke bleu test.de < translated.de", "The score of a translated test set"},
    {"yoke bleu test.de translated.de --json", "The same with every number, for a program"},
};

static const struct yk_command_exit_code exits[] = {
    {YK_ERROR_INPUT, "a file is missing or no UTF-8, or the lines do not pair up"},
};

const struct yk_command yk_command_bleu = {
    .name = "bleu",
    .summary = "score translations against those of people",
    .description =
        "Prints the BLEU score of a whole set of translations, from 0 to 100, with the precisions "
        "of runs of one to four words, the penalty for being short, and the signature of the "
        "rules: "
        "those of sacreBLEU by default, so that scores can be held against published ones. Texts "
        "are given as people write them; words are cut here (13a). Of languages that put no spaces "
        "between words, as Chinese and Japanese, scores so made say little.",
    YK_COMMAND_INITIALIZERS(struct arguments),
};
