#include "cli/commands/bleu_output.h"
#include "cli/options/command.h"
#include "cli/options/rows.h"

struct arguments {
    const char *reference;
    const char *hypotheses;
    bool lowercase;
    bool json;
};

static yk_status run(const void *given, struct yk_text *out)
{
    const struct arguments *arguments = given;
    const struct yk_bleu_options options = {.lowercase = arguments->lowercase};
    struct yk_lines *hypotheses = NULL;
    const char *source = NULL;
    YK_TRY(yk_lines_read_input(arguments->hypotheses, &source, &hypotheses));
    const yk_status status =
        yk_bleu_report(hypotheses, arguments->reference, &options, arguments->json, out);
    yk_lines_destroy(hypotheses);
    return status;
}

static const struct yk_operand operands[] = {
    {
        .placeholder = "REFERENCE",
        .help = "Translations by people, a sentence a line",
        .required = true,
        .offset = offsetof(struct arguments, reference),
    },
    {
        .placeholder = "TRANSLATIONS",
        .help = "What to score, in the same order; else standard input",
        .offset = offsetof(struct arguments, hypotheses),
    },
};

static const struct yk_option options[] = {
    {
        .name = "lowercase",
        .help = "Compare without regard to case",
        .group = "Scoring options",
        .kind = YK_OPTION_FLAG,
        .offset = offsetof(struct arguments, lowercase),
    },
    {
        .name = "json",
        .help = "Print JSON instead of text",
        .group = YK_OUTPUT_GROUP,
        .kind = YK_OPTION_FLAG,
        .offset = offsetof(struct arguments, json),
    },
};

static const struct yk_example examples[] = {
    {"yoke bleu test.de < translated.de", "The score of a translated test set"},
    {"yoke bleu test.de translated.de --json", "The same with every number, for a program"},
    {NULL, NULL},
};

static const struct yk_exit exits[] = {
    {YK_ERROR_INPUT, "a file is missing or no UTF-8, or the lines do not pair up"},
    {0, NULL},
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
    .examples = examples,
    .operands = operands,
    .operand_count = sizeof operands / sizeof operands[0],
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .exits = exits,
    .arguments_size = sizeof(struct arguments),
    .run = run,
};
