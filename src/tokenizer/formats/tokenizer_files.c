#include "tokenizer/formats/tokenizer_files.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/folder.h"
#include "tokenizer/formats/sentencepiece_json.h"
#include "tokenizer/formats/sentencepiece_model.h"
#include "tokenizer/formats/tokenizer_config.h"
#include "tokenizer/formats/vocabulary_files.h"

#include <ctype.h>
#include <string.h>
#include <sys/stat.h>

#define MERGES_FILE "merges.txt"

/* A file that is converted, and where. */
struct source {
    const char *path;
    const char *folder;
    struct yk_arena *arena;
    struct yk_tokenizer_config config;
    struct yk_text bytes;
};

typedef yk_status (*converter)(struct source *source, struct yk_text *out);

/* A line of tiktoken's is base64, a space and a number. */
static bool is_tiktoken(const struct yk_text *bytes)
{
    const char *text = yk_text_chars(bytes);
    size_t at = 0;
    while (isalnum((unsigned char)text[at]) || (text[at] && strchr("+/=", text[at]))) {
        at++;
    }
    return at > 0 && text[at] == ' ' && isdigit((unsigned char)text[at + 1]);
}

static yk_status convert_sentencepiece(struct source *source, struct yk_text *out)
{
    struct yk_sentencepiece_model model;
    if (is_tiktoken(&source->bytes)) {
        return yk_fail(YK_ERROR_INPUT,
                       "this is a vocabulary of tiktoken, not a SentencePiece model; give the "
                       "tokenizer.json of the model");
    }
    YK_TRY(yk_status_prefix_message(yk_sentencepiece_model_parse(yk_text_chars(&source->bytes),
                                                                 source->bytes.length,
                                                                 source->arena, &model),
                                    "not a SentencePiece model"));
    return yk_sentencepiece_json_write(&model, &source->config, source->arena, out);
}

static yk_status convert_bpe(struct source *source, struct yk_text *out)
{
    struct yk_text merges = {0};
    const char *path = NULL;
    YK_TRY(yk_folder_join_path(source->folder, MERGES_FILE, source->arena, &path));
    yk_status status = yk_file_read_with_limit(path, YK_FILE_MAX_TOKENIZER_BYTES, &merges);
    YK_IF_OK(yk_vocabulary_files_bpe_to_json(&source->bytes, &merges, &source->config,
                                             source->arena, out));
    yk_text_free(&merges);
    return status;
}

static yk_status convert_wordpiece(struct source *source, struct yk_text *out)
{
    return yk_vocabulary_files_wordpiece_to_json(&source->bytes, &source->config, source->arena,
                                                 out);
}

/* The files by rank. Those without a converter are read as they are. */
static const struct tokenizer_file {
    const char *name;
    const char *companion; /* a second file that must exist, or NULL */
    converter convert;
} files[] = {
    {"tokenizer.json", NULL, NULL},
    {"tokenizer.model", NULL, convert_sentencepiece},
    {"spiece.model", NULL, convert_sentencepiece},
    {"sentencepiece.bpe.model", NULL, convert_sentencepiece},
    {"sentencepiece.model", NULL, convert_sentencepiece},
    {"spm.model", NULL, convert_sentencepiece},
    {"vocab.json", MERGES_FILE, convert_bpe},
    {"vocab.txt", NULL, convert_wordpiece},
    {"vocabulary.json", NULL, NULL},
};

enum {
    FILE_COUNT = sizeof files / sizeof *files
};

static const struct tokenizer_file *find_in_folder(const char *folder)
{
    for (size_t i = 0; i < FILE_COUNT; i++) {
        if (yk_folder_contains(folder, files[i].name) &&
            (!files[i].companion || yk_folder_contains(folder, files[i].companion))) {
            return &files[i];
        }
    }
    return NULL;
}

const char *yk_tokenizer_files_find(const char *folder)
{
    const struct tokenizer_file *file = find_in_folder(folder);
    return file ? file->name : NULL;
}

/* The format of a file that is named itself: any .model or .spm is one of SentencePiece. */
static converter find_converter(const char *name, const char *folder)
{
    for (size_t i = 0; i < FILE_COUNT; i++) {
        if (strcmp(name, files[i].name) == 0 &&
            (!files[i].companion || yk_folder_contains(folder, files[i].companion))) {
            return files[i].convert;
        }
    }
    return yk_text_ends_with(name, ".model") || yk_text_ends_with(name, ".spm")
               ? convert_sentencepiece
               : NULL;
}

static yk_status convert(struct source *source, converter convert_file, struct yk_text *out)
{
    YK_TRY(yk_tokenizer_config_read(source->folder, source->arena, &source->config));
    YK_TRY(yk_file_read_with_limit(source->path, YK_FILE_MAX_TOKENIZER_BYTES, &source->bytes));
    return yk_status_prefix_message(convert_file(source, out), source->path);
}

/* `path` is a file in `folder`. */
static yk_status read_file(const char *path, const char *folder, converter convert_file,
                           struct yk_arena *arena, struct yk_text *out)
{
    if (!convert_file) {
        return yk_file_read_with_limit(path, YK_FILE_MAX_TOKENIZER_BYTES, out);
    }
    struct source source = {.path = path, .folder = folder, .arena = arena};
    const yk_status status = convert(&source, convert_file, out);
    yk_text_free(&source.bytes);
    return status;
}

static yk_status read_from_folder(const char *folder, struct yk_arena *arena, struct yk_text *out,
                                  struct yk_text *source)
{
    const struct tokenizer_file *file = find_in_folder(folder);
    const char *path = NULL;
    if (!file) {
        return yk_fail(
            YK_ERROR_INPUT,
            "%s: there is no tokenizer in it (tokenizer.json, tokenizer.model, vocab.json "
            "with merges.txt, vocab.txt, vocabulary.json)",
            folder);
    }
    YK_TRY(yk_folder_join_path(folder, file->name, arena, &path));
    yk_text_add(source, path);
    YK_TRY(yk_text_status(source));
    return read_file(path, folder, file->convert, arena, out);
}

static yk_status read_path(const char *path, struct yk_arena *arena, struct yk_text *out,
                           struct yk_text *source)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    const char *folder = "."; /* of the file */
    if (strcmp(path, "-") != 0 && yk_folder_exists(path)) {
        return read_from_folder(path, arena, out, source);
    }
    if (slash) {
        folder = yk_arena_copy_text(arena, path, (size_t)(name - path));
        YK_TRY_ALLOCATED(folder);
    }
    yk_text_add(source, path);
    YK_TRY(yk_text_status(source));
    return read_file(path, folder, find_converter(name, folder), arena, out);
}

yk_status yk_tokenizer_files_read(const char *path, struct yk_text *out, struct yk_text *source)
{
    YK_TRY_WITH_TEMPORARY_ARENA(arena, read_path(path, arena, out, source));
    return YK_OK;
}
