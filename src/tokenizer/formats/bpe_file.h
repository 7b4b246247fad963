/*
 * BPE file: writes a trained byte-level BPE as a tokenizer.json for Hugging Face's tokenizers. A
 * preset selects the special tokens, the pre-tokenizer, and the tokens before and after a text.
 * Presets are constant. Any thread may call these functions.
 */
#ifndef YK_TOKENIZER_FORMATS_BPE_FILE_H
#define YK_TOKENIZER_FORMATS_BPE_FILE_H

#include "base/json.h"
#include "base/status.h"
#include "base/text.h"
#include "tokenizer/models/bpe_trainer.h"

#include <stddef.h>
#include <stdint.h>

struct yk_bpe_file_preset {
    const char *name;
    const char *summary;
    const char *const *specials;
    int32_t special_count;
    const char *word_pattern; /* NULL means: that of ByteLevel, which is GPT-2's */
    const char *prefix_token; /* special token before a text; may be NULL */
    const char *suffix_token; /* special token after a text; may be NULL */
};

/* Returns preset `number`, counted from 0, or NULL if there are fewer presets. Preset 0 splits a
 * text into words as GPT-2 does. */
const struct yk_bpe_file_preset *yk_bpe_file_preset_at(size_t number);
/* Returns the preset with this name, or NULL if there is none. */
const struct yk_bpe_file_preset *yk_bpe_file_find_preset(const char *name);

/* The pre-tokenizer as it is written to the file. Destroy it with yk_json_destroy(). */
yk_status yk_bpe_file_create_pre_tokenizer(const struct yk_bpe_file_preset *style,
                                           struct yk_json **out) YK_MUST_USE;

/* Appends the contents of the file to `out`. `style` is a preset; the BPE must have been trained
 * with the special tokens of this preset. */
void yk_bpe_file_append_contents(const struct yk_bpe_trainer_result *result,
                                 const struct yk_bpe_file_preset *style, struct yk_text *out);

#endif
