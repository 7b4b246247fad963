/*
 * Fuzz target of catalogues of messages: the bytes are opened as one, every string it gives is read
 * to its end, and each pair is cleaned as yoke pairs does.
 */
#include "fuzz/fuzz.h"

#include "base/utf8.h"
#include "data/mo_catalogue.h"
#include "data/sentence_pair_cleaning.h"

#include <string.h>

static void check_text(struct yk_mo_string text, const uint8_t *data, size_t size)
{
    const char *const begin = (const char *)data;
    if (text.bytes) {
        fuzz_expect(text.bytes >= begin && text.bytes + text.length < begin + size,
                    "strings lie in the file");
        fuzz_expect(!memchr(text.bytes, '\0', text.length), "strings hold no zeros");
    }
}

static void clean(struct yk_sentence_pair_cleaning_sides *sides, struct yk_mo_string source,
                  struct yk_mo_string other)
{
    enum yk_sentence_pair_reject_reason fault = YK_SENTENCE_PAIR_ACCEPTED;
    sides->source = source.bytes;
    sides->source_length = source.length;
    sides->translation = other.bytes;
    sides->translation_length = other.length;
    fuzz_expect(yk_sentence_pair_clean(sides, 400, &fault) == YK_OK, "there is memory");
    if (fault == YK_SENTENCE_PAIR_ACCEPTED) {
        const struct yk_text *out = &sides->source_out;
        fuzz_expect(out->length > 0 &&
                        yk_utf8_valid_prefix_length(out->bytes, out->length) == out->length &&
                        !memchr(out->bytes, '\n', out->length),
                    "a good sentence is one line of text");
    }
}

static void check_entry(const struct yk_mo_message *message, const uint8_t *data, size_t size,
                        struct yk_sentence_pair_cleaning_sides *sides)
{
    check_text(message->context, data, size);
    check_text(message->source, data, size);
    fuzz_expect(message->form_count >= 1, "there is a translation, if an empty one");
    for (int32_t i = 0; i < message->form_count; i++) {
        const struct yk_mo_string form = yk_mo_catalogue_translation_form(message, i);
        check_text(form, data, size);
        clean(sides, message->source, form);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct yk_mo_catalogue catalogue = {0};
    struct yk_sentence_pair_cleaning_sides sides = {0};
    if (yk_mo_catalogue_parse((const char *)data, size, "fuzz", &catalogue) == YK_OK) {
        fuzz_accept();
        check_text(yk_mo_catalogue_declared_charset(&catalogue), data, size);
        if (yk_mo_catalogue_check_charset(&catalogue, "fuzz") != YK_OK) {
            fuzz_expect(yk_status_message()[0] != '\0', "a refusal says why");
        }
        for (uint32_t i = 0; i < catalogue.count; i++) {
            const struct yk_mo_message message = yk_mo_catalogue_message_at(&catalogue, i);
            check_entry(&message, data, size, &sides);
        }
    }
    yk_text_free(&sides.source_out);
    yk_text_free(&sides.translation_out);
    return 0;
}
