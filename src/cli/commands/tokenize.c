#include "job/models/tokenize.h"

#include "cli/options/command.h"
#include "cli/options/rows.h"
#include "cli/terminal.h"
#include "data/token_map.h"

static yk_status check_decode(const struct yk_tokenize_words *words)
{
    if (words->files.count > 0 || words->output || words->append_end || words->json) {
        return yk_fail(YK_ERROR_USAGE, "--decode takes one shard and a tokenizer alone: yoke "
                                       "tokenize --tokenizer tokenizer.json --decode tokens.bin");
    }
    return YK_OK;
}

/* What is for learning alone, and what is for tokens alone. */
static yk_status check_kind(const struct yk_tokenize_words *words)
{
    if (words->learn == 0 && (words->special || words->least >= 0)) {
        return yk_fail(YK_ERROR_USAGE,
                       "%s is for learning a tokenizer: --learn 8000 -o tokenizer.json",
                       words->special ? "--special" : "--min-count");
    }
    if (words->learn > 0 && words->append_end) {
        return yk_fail(YK_ERROR_USAGE, "--append-end is for tokens that are shown or written: "
                                       "--tokenizer tokenizer.json");
    }
    return YK_OK;
}

static yk_status check(const struct yk_tokenize_words *words)
{
    if (words->learn > 0 && words->tokenizer) {
        return yk_fail(YK_ERROR_USAGE,
                       "--learn makes a tokenizer and --tokenizer names one; give one of them");
    }
    if (words->learn == 0 && !words->tokenizer) {
        return yk_fail(YK_ERROR_USAGE, "name a tokenizer (--tokenizer tokenizer.json), or learn "
                                       "one (--learn 8000 -o tokenizer.json)");
    }
    if (words->learn > 0 && (!words->output || words->decode)) {
        return yk_fail(YK_ERROR_USAGE, words->decode
                                           ? "--learn and --decode do not go together"
                                           : "say where the tokenizer goes: -o tokenizer.json");
    }
    YK_TRY(check_kind(words));
    if (words->decode) {
        return check_decode(words);
    }
    if (words->shard_tokens > 0 && (words->learn > 0 || !words->output)) {
        return yk_fail(YK_ERROR_USAGE, "--shard-tokens is for tokens that are written: --tokenizer "
                                       "tokenizer.json -o tokens.bin");
    }
    return YK_OK;
}

static yk_status run(const void *given, struct yk_text *out)
{
    const struct yk_tokenize_words *words = given;
    if (words->quiet) {
        yk_terminal_be_quiet();
    }
    YK_TRY(check(words));
    if (words->learn > 0) {
        return yk_tokenize_learn(words, out);
    }
    if (words->decode) {
        return yk_tokenize_decode(words, out);
    }
    return words->output ? yk_tokenize_encode(words, out) : yk_tokenize_show(words, out);
}

static const struct yk_operand operands[] = {
    {
        .placeholder = "FILE",
        .help = "Texts and folders of texts, one after the other; else standard input",
        .many = true,
        .offset = offsetof(struct yk_tokenize_words, files),
    },
};

static const struct yk_option options[] = {
    {
        .name = "tokenizer",
        .placeholder = "PATH",
        .help = "A tokenizer.json as Hugging Face's tokenizers write it, a vocabulary of "
                "characters, or the folder of a model with either",
        .group = "Token options",
        .kind = YK_OPTION_INPUT,
        .offset = offsetof(struct yk_tokenize_words, tokenizer),
    },
    {
        .name = "append-end",
        .help = "Put the token that ends a text behind each file",
        .group = "Token options",
        .kind = YK_OPTION_FLAG,
        .offset = offsetof(struct yk_tokenize_words, append_end),
    },
    {
        .name = "shard-tokens",
        .placeholder = "N",
        .help = "Put so many in each file of a series: NAME_000000.bin, NAME_000001.bin and so on",
        .group = "Token options",
        .kind = YK_OPTION_INTEGER,
        .least = 1,
        .most = INT32_MAX,
        .offset = offsetof(struct yk_tokenize_words, shard_tokens),
    },
    {
        .name = "decode",
        .placeholder = "FILE",
        .help = "Print the text of the tokens in this shard (.bin)",
        .group = "Token options",
        .kind = YK_OPTION_INPUT,
        .offset = offsetof(struct yk_tokenize_words, decode),
    },
    {
        .name = "learn",
        .placeholder = "N",
        .help = "Learn a byte-level BPE of N tokens in all, as vocab_size says to Hugging Face's "
                "BpeTrainer: the special ones, 256 bytes, and the most frequent pairs, joined",
        .group = "Options for learning",
        .kind = YK_OPTION_INTEGER,
        .least = 256,
        .most = YK_TOKEN_MAP_MOST,
        .offset = offsetof(struct yk_tokenize_words, learn),
    },
    {
        .name = "special",
        .placeholder = "TOKENS",
        .help =
            "Its special tokens: pairs (<pad>, <s> before a text, </s> behind it), llama3 (with "
            "Llama 3's words), bert ([CLS] before, [SEP] behind), none, or names with commas "
            "between them; else pairs",
        .group = "Options for learning",
        .kind = YK_OPTION_TEXT,
        .offset = offsetof(struct yk_tokenize_words, special),
    },
    {
        .name = "min-count",
        .placeholder = "N",
        .help = "Join only pairs that stand at least N times in the text; else 2",
        .group = "Options for learning",
        .kind = YK_OPTION_INTEGER,
        .most = INT64_MAX,
        .missing = -1,
        .offset = offsetof(struct yk_tokenize_words, least),
    },
    {
        .name = "output",
        .letter = 'o',
        .placeholder = "FILE",
        .help = "The tokenizer.json, or the shard of tokens (.bin); without it, tokens are printed",
        .group = YK_OUTPUT_GROUP,
        .kind = YK_OPTION_FILE,
        .offset = offsetof(struct yk_tokenize_words, output),
    },
    {
        .name = "json",
        .help = "Print JSON instead of text",
        .group = YK_OUTPUT_GROUP,
        .kind = YK_OPTION_FLAG,
        .offset = offsetof(struct yk_tokenize_words, json),
    },
    {
        .name = "quiet",
        .help = "No notes and no progress on standard error",
        .group = YK_OUTPUT_GROUP,
        .kind = YK_OPTION_FLAG,
        .offset = offsetof(struct yk_tokenize_words, quiet),
    },
};

static const struct yk_example examples[] = {
    {"yoke tokenize --learn 8000 -o tokenizer.json books/", "Learn a tokenizer from texts"},
    {"yoke tokenize --tokenizer tokenizer.json -o tokens.bin books/",
     "Write their tokens, for yoke train --data tokens.bin"},
    {"echo \"Hello, world\" | yoke tokenize --tokenizer tokenizer.json", "Look at the tokens"},
    {"yoke tokenize --tokenizer tokenizer.json --decode tokens.bin", "Read what was written"},
    {NULL, NULL},
};

static const struct yk_exit exits[] = {
    {YK_ERROR_INPUT, "the tokenizer, a text or a shard makes no sense"},
    {YK_ERROR_STOPPED, "stopped by a signal; nothing was written"},
    {0, NULL},
};

const struct yk_command yk_command_tokenize = {
    .name = "tokenize",
    .summary = "learn a tokenizer, or turn texts into tokens and back",
    .description =
        "With --tokenizer, the tokens of the texts are printed, one line of ids for each file, or "
        "with -o written to a shard as llm.c has them: two bytes a token, or four where the "
        "tokenizer has more than 65,536. Files of any size are encoded in pieces, whose tokens are "
        "those of the whole; 1 GiB of text without a place to cut, such as a space between two "
        "words, is refused, and so is a file of more than 1 GiB where the words of its tokenizer "
        "are of no known kind. Long lists of ids are printed as they come.\n\n"
        "With --learn, a byte-level BPE tokenizer is learned from the texts. Its merges are those "
        "that Hugging Face's BpeTrainer finds when each file is one text of train_from_iterator() "
        "(train() cuts files into lines), and its file can be read by their tokenizers.",
    .examples = examples,
    .operands = operands,
    .operand_count = sizeof operands / sizeof operands[0],
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .exits = exits,
    .arguments_size = sizeof(struct yk_tokenize_words),
    .run = run,
};
