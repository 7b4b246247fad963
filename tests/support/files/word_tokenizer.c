#include "support/files/word_tokenizer.h"

#include "support/support.h"

#include "base/text.h"

#include <string.h>

static void add_names(struct yk_text *file, const char *const *names)
{
    yk_text_add(file, "\"added_tokens\": [{\"id\": 0, \"content\": \"[UNK]\", \"special\": true}");
    for (int i = 0; names[i]; i++) {
        yk_text_addf(file, ", {\"id\": %d, \"content\": \"%s\", \"special\": true}", i + 1,
                     names[i]);
    }
    yk_text_add(file, "], ");
}

static void add_vocabulary(struct yk_text *file, const char *const *names, int words)
{
    int id = 1;
    yk_text_add(file, "\"model\": {\"type\": \"WordPiece\", \"unk_token\": \"[UNK]\", "
                      "\"continuing_subword_prefix\": \"##\", \"max_input_chars_per_word\": 100, "
                      "\"vocab\": {\"[UNK]\": 0");
    for (int i = 0; names[i]; i++, id++) {
        yk_text_addf(file, ", \"%s\": %d", names[i], id);
    }
    for (int i = 0; i < words; i++, id++) {
        yk_text_addf(file, ", \"w%d\": %d", i, id);
    }
    yk_text_add(file, "}}");
}

static void add_frame(struct yk_text *file, const char *const *names, const char *begin)
{
    for (int i = 0; begin && names[i]; i++) {
        if (strcmp(names[i], begin) == 0) {
            yk_text_addf(file,
                         "\"post_processor\": {\"type\": \"TemplateProcessing\", \"single\": "
                         "[{\"SpecialToken\": {\"id\": \"%s\", \"type_id\": 0}}, {\"Sequence\": "
                         "{\"id\": \"A\", \"type_id\": 0}}], \"pair\": [], \"special_tokens\": "
                         "{\"%s\": {\"id\": \"%s\", \"ids\": [%d], \"tokens\": [\"%s\"]}}}, ",
                         begin, begin, begin, i + 1, begin);
        }
    }
}

struct yk_tokenizer *support_word_tokenizer(const char *const *names, int words, const char *begin)
{
    struct yk_tokenizer *tokenizer = NULL;
    struct yk_text file = {0};
    yk_text_add(&file, "{\"version\": \"1.0\", \"normalizer\": null, ");
    yk_text_add(&file, "\"pre_tokenizer\": {\"type\": \"BertPreTokenizer\"}, ");
    yk_text_add(&file, "\"decoder\": {\"type\": \"WordPiece\", \"prefix\": \"##\", "
                       "\"cleanup\": true}, ");
    add_names(&file, names);
    add_frame(&file, names, begin);
    add_vocabulary(&file, names, words);
    yk_text_add(&file, "}");
    assert_ok(yk_text_status(&file));
    assert_ok(yk_tokenizer_parse(yk_text_chars(&file), file.length, "words", &tokenizer));
    yk_text_free(&file);
    return tokenizer;
}
