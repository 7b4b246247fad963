/*
 * SentencePiece model: the contents of a tokenizer.model, which is the message ModelProto of
 * SentencePiece. Everything is allocated in the arena of the caller and is immutable.
 */
#ifndef YK_TOKENIZER_FORMATS_SENTENCEPIECE_MODEL_H
#define YK_TOKENIZER_FORMATS_SENTENCEPIECE_MODEL_H

#include "base/arena.h"
#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The values of both enumerations are those in the file. */
enum yk_sentencepiece_kind {
    YK_SENTENCEPIECE_UNIGRAM = 1,
    YK_SENTENCEPIECE_BPE = 2,
    YK_SENTENCEPIECE_WORD = 3,
    YK_SENTENCEPIECE_CHARACTER = 4,
};

enum yk_sentencepiece_type {
    YK_SENTENCEPIECE_NORMAL = 1,
    YK_SENTENCEPIECE_UNKNOWN = 2,
    YK_SENTENCEPIECE_CONTROL = 3,
    YK_SENTENCEPIECE_USER_DEFINED = 4,
    YK_SENTENCEPIECE_UNUSED = 5,
    YK_SENTENCEPIECE_BYTE = 6,
};

struct yk_sentencepiece {
    const char *text; /* UTF-8 without zeros */
    size_t length;
    float score; /* finite */
    enum yk_sentencepiece_type type;
};

struct yk_sentencepiece_model {
    enum yk_sentencepiece_kind kind;
    struct yk_sentencepiece *tokens; /* by id, none twice */
    int32_t count;
    int32_t unknown_id;
    /* Pieces of these names, if they exist, begin and end a text. */
    const char *begin;
    const char *end;
    bool byte_fallback; /* the bytes of unknown characters become pieces; all 256 exist */

    /* Normalization */
    const char *character_map; /* compiled, as in the file */
    size_t character_map_length;
    bool add_prefix; /* add a space before a text */
    bool remove_extra_spaces;
};

/* Reads the bytes of a tokenizer.model. Messages of errors do not contain the name of the file. */
yk_status yk_sentencepiece_model_parse(const char *bytes, size_t length, struct yk_arena *arena,
                                       struct yk_sentencepiece_model *out) YK_MUST_USE;

#endif
