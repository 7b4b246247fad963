#include "cli/options/command.h"
#include "cli/options/rows.h"
#include "cli/terminal.h"
#include "data/gettext_pairs.h"
#include "job/outputs.h"

#include <inttypes.h>
#include <string.h>

struct arguments {
    const char *language;
    const char *output;
    const char *from;
    int64_t held_out;
    int64_t longest;
    bool json;
    bool quiet;
};

/* Where programs keep their catalogues; the second is Ubuntu's. */
static const char *const system_folders[] = {"/usr/share/locale", "/usr/share/locale-langpack"};

enum {
    ENGLISH,
    TRANSLATED,
    HELD_OUT_ENGLISH,
    HELD_OUT_TRANSLATED,
    FILES
};

struct names {
    struct yk_text paths[FILES];
    size_t count; /* without anything held out, the last two are not written */
};

static yk_status make_names(const struct arguments *arguments, struct names *out)
{
    const char *paths[FILES] = {NULL};
    out->count = arguments->held_out > 0 ? FILES : HELD_OUT_ENGLISH;
    yk_text_addf(&out->paths[ENGLISH], "%s.en", arguments->output);
    yk_text_addf(&out->paths[TRANSLATED], "%s.%s", arguments->output, arguments->language);
    yk_text_addf(&out->paths[HELD_OUT_ENGLISH], "%s.held-out.en", arguments->output);
    yk_text_addf(&out->paths[HELD_OUT_TRANSLATED], "%s.held-out.%s", arguments->output,
                 arguments->language);
    for (size_t i = 0; i < out->count; i++) {
        YK_TRY(yk_text_status(&out->paths[i]));
        paths[i] = yk_text_chars(&out->paths[i]);
    }
    return yk_outputs_check(paths, out->count, 0);
}

static void add_line(struct yk_text *out, const char *sentence)
{
    yk_text_add(out, sentence);
    yk_text_add(out, "\n");
}

static yk_status write_files(const struct yk_gettext_pairs *pairs, const struct names *names)
{
    struct yk_outputs outputs = {.together = true};
    struct yk_text *texts[FILES] = {NULL};
    for (size_t i = 0; i < names->count; i++) {
        texts[i] = yk_outputs_add(&outputs, yk_text_chars(&names->paths[i]));
    }
    for (int32_t i = 0; i < pairs->count; i++) {
        const struct yk_gettext_pair *pair = &pairs->items[i];
        add_line(texts[pair->held_out ? HELD_OUT_ENGLISH : ENGLISH], pair->source);
        add_line(texts[pair->held_out ? HELD_OUT_TRANSLATED : TRANSLATED], pair->translation);
    }
    return yk_outputs_write(&outputs);
}

static void add_text(const struct yk_gettext_pairs *pairs, const struct names *names,
                     struct yk_text *out)
{
    for (size_t i = 0; i < names->count; i++) {
        yk_text_addf(out, "%s%s", i == 0 ? "" : ", ", yk_text_chars(&names->paths[i]));
    }
    yk_text_addf(out, "\n\n  catalogues          %" PRId32 "\n", pairs->catalogues);
    yk_text_addf(out, "  messages            %" PRId64 "\n", pairs->entries);
    yk_text_addf(out, "  pairs               %" PRId32 "\n", pairs->count - pairs->held_out);
    yk_text_addf(out, "  held out            %" PRId32 "\n\nLeft out\n", pairs->held_out);
    yk_text_addf(out, "  catalogues          %" PRId32 "\n", pairs->broken);
    for (int i = YK_PAIR_GOOD + 1; i < YK_PAIR_FAULTS; i++) {
        yk_text_addf(out, "  %-18s  %" PRId64 "\n", yk_pair_fault_name((enum yk_pair_fault)i),
                     pairs->left_out[i]);
    }
}

/* "no letters" as a key: "no_letters". */
static void add_key(struct yk_text *out, const char *name)
{
    yk_text_add(out, "\"");
    for (const char *c = name; *c; c++) {
        yk_text_add_bytes(out, *c == ' ' ? "_" : c, 1);
    }
    yk_text_add(out, "\":");
}

static void add_json(const struct arguments *arguments, const struct yk_gettext_pairs *pairs,
                     const struct names *names, struct yk_text *out)
{
    yk_text_add(out, "{\"yoke\":1,\"kind\":\"pairs\",\"language\":");
    yk_text_add_json(out, arguments->language);
    yk_text_add(out, ",\"files\":[");
    for (size_t i = 0; i < names->count; i++) {
        yk_text_add(out, i == 0 ? "" : ",");
        yk_text_add_json(out, yk_text_chars(&names->paths[i]));
    }
    yk_text_addf(out, "],\"catalogues\":%" PRId32 ",\"messages\":%" PRId64, pairs->catalogues,
                 pairs->entries);
    yk_text_addf(out, ",\"pairs\":%" PRId32 ",\"held_out\":%" PRId32,
                 pairs->count - pairs->held_out, pairs->held_out);
    yk_text_addf(out, ",\"left_out\":{\"catalogues\":%" PRId32, pairs->broken);
    for (int i = YK_PAIR_GOOD + 1; i < YK_PAIR_FAULTS; i++) {
        yk_text_add(out, ",");
        add_key(out, yk_pair_fault_name((enum yk_pair_fault)i));
        yk_text_addf(out, "%" PRId64, pairs->left_out[i]);
    }
    yk_text_add(out, "}}\n");
}

static yk_status collect(const struct arguments *arguments, const struct names *names,
                         struct yk_text *out)
{
    struct yk_gettext_pairs *pairs = NULL;
    const size_t folder_count = sizeof system_folders / sizeof system_folders[0];
    const struct yk_gettext_request request = {
        .folders = arguments->from ? &arguments->from : system_folders,
        .folder_count = arguments->from ? 1 : (int32_t)folder_count,
        .language = arguments->language,
        .longest = arguments->longest,
        .held_out = arguments->held_out,
    };
    YK_TRY(yk_gettext_pairs_collect(&request, &pairs));
    const yk_status status = write_files(pairs, names);
    if (status == YK_OK && arguments->json) {
        add_json(arguments, pairs, names, out);
    } else if (status == YK_OK) {
        add_text(pairs, names, out);
    }
    yk_gettext_pairs_destroy(pairs);
    return status == YK_OK ? yk_text_status(out) : status;
}

static yk_status run(const void *given, struct yk_text *out)
{
    const struct arguments *arguments = given;
    struct names names = {0};
    if (arguments->quiet) {
        yk_terminal_be_quiet();
    }
    if (!arguments->output) {
        return yk_fail(YK_ERROR_USAGE, "name what the files begin with: -o ui");
    }
    YK_TRY(yk_gettext_check_language(arguments->language));
    yk_status status = make_names(arguments, &names);
    if (status == YK_OK) {
        status = collect(arguments, &names, out);
    }
    for (size_t i = 0; i < FILES; i++) {
        yk_text_free(&names.paths[i]);
    }
    return status;
}

static const struct yk_operand operands[] = {
    {
        .placeholder = "LANGUAGE",
        .help = "As folders of translations are called: de, ko, pt_BR",
        .required = true,
        .offset = offsetof(struct arguments, language),
    },
};

static const struct yk_option options[] = {
    {
        .name = "from",
        .placeholder = "FOLDER",
        .help = "Look in FOLDER/LANGUAGE/LC_MESSAGES; else in /usr/share/locale and "
                "/usr/share/locale-langpack",
        .group = "Data options",
        .kind = YK_OPTION_INPUT,
        .offset = offsetof(struct arguments, from),
    },
    {
        .name = "longest",
        .placeholder = "N",
        .help = "Leave out sentences of more characters",
        .group = "Data options",
        .preset = "400",
        .kind = YK_OPTION_INTEGER,
        .least = 1,
        .most = INT64_MAX,
        .offset = offsetof(struct arguments, longest),
    },
    {
        .name = "held-out",
        .placeholder = "N",
        .help = "Write so many pairs into PREFIX.held-out.en and .LANGUAGE instead, none of whose "
                "English sentences is among the others",
        .group = "Data options",
        .preset = "0",
        .kind = YK_OPTION_INTEGER,
        .most = INT32_MAX,
        .offset = offsetof(struct arguments, held_out),
    },
    {
        .name = "output",
        .letter = 'o',
        .placeholder = "PREFIX",
        .help = "Write PREFIX.en and PREFIX.LANGUAGE",
        .group = YK_OUTPUT_GROUP,
        .kind = YK_OPTION_FILE,
        .offset = offsetof(struct arguments, output),
    },
    {
        .name = "json",
        .help = "Print JSON instead of text",
        .group = YK_OUTPUT_GROUP,
        .kind = YK_OPTION_FLAG,
        .offset = offsetof(struct arguments, json),
    },
    {
        .name = "quiet",
        .help = "No notes on standard error",
        .group = YK_OUTPUT_GROUP,
        .kind = YK_OPTION_FLAG,
        .offset = offsetof(struct arguments, quiet),
    },
};

static const struct yk_example examples[] = {
    {"yoke pairs de -o ui --held-out 1000", "English and German from this machine's programs"},
    {"yoke pairs ko -o ui --from /opt/app/share/locale", "Korean from those of one program"},
    {NULL, NULL},
};

static const struct yk_exit exits[] = {
    {YK_ERROR_INPUT, "there are no catalogues of the language, or none to keep a pair of"},
    {0, NULL},
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
    .examples = examples,
    .operands = operands,
    .operand_count = sizeof operands / sizeof operands[0],
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .exits = exits,
    .arguments_size = sizeof(struct arguments),
    .run = run,
};
