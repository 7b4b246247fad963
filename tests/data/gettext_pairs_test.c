#include "support/files/scratch.h"
#include "support/support.h"

#include "base/text.h"
#include "data/gettext_pairs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One message of a catalogue, its plural forms with zeros between them. */
struct message {
    const char *source;
    size_t source_length;
    const char *translation;
    size_t translation_length;
};

#define MESSAGE(source, translation)                                                               \
    {                                                                                              \
        source, sizeof(source) - 1, translation, sizeof(translation) - 1                           \
    }

#define HEADER MESSAGE("", "Content-Type: text/plain; charset=UTF-8\n")

static void add_number(struct yk_text *out, size_t value)
{
    for (int i = 0; i < 4; i++) {
        const char byte = (char)(value >> (8 * i) & 0xff);
        yk_text_add_bytes(out, &byte, 1);
    }
}

/* Writes a catalogue of the language `de` into the scratch folder. */
static void write_catalogue(const char *name, const struct message *messages, size_t count)
{
    const size_t header[] = {0x950412de, 0, count, 28, 28 + 8 * count, 0, 0};
    struct yk_text bytes = {0};
    struct yk_text strings = {0};
    char path[64];
    for (size_t i = 0; i < sizeof header / sizeof *header; i++) {
        add_number(&bytes, header[i]);
    }
    for (int side = 0; side < 2; side++) {
        for (size_t i = 0; i < count; i++) {
            const struct message *m = &messages[i];
            const size_t length = side == 0 ? m->source_length : m->translation_length;
            add_number(&bytes, length);
            add_number(&bytes, 28 + 16 * count + strings.length);
            yk_text_add_bytes(&strings, side == 0 ? m->source : m->translation, length + 1);
        }
    }
    yk_text_add_bytes(&bytes, yk_text_chars(&strings), strings.length);
    snprintf(path, sizeof path, "de/LC_MESSAGES/%s", name);
    support_scratch_write(path, bytes.bytes, bytes.length);
    yk_text_free(&bytes);
    yk_text_free(&strings);
}

static yk_status collect(int64_t held_out, struct yk_gettext_pairs **out)
{
    const char *const folders[] = {"/no/such/folder", support_scratch_folder()};
    const struct yk_gettext_pairs_request request = {
        .folders = folders,
        .folder_count = 2,
        .language = "de",
        .longest = 400,
        .held_out = held_out,
    };
    return yk_gettext_pairs_collect(&request, out);
}

static void pairs_of_all_catalogues_are_sorted_and_single(void **state)
{
    (void)state;
    static const struct message first[] = {
        HEADER,
        MESSAGE("menu\004Open", "Öffnen"),
        MESSAGE("state\004Open", "Offen"),
        MESSAGE("%d file\0%d files", "%d Datei\0%d Dateien"),
        MESSAGE("Gone", ""),
    };
    static const struct message second[] = {HEADER, MESSAGE("_Open", "Ö_ffnen"),
                                            MESSAGE("Close", "Schließen")};
    struct yk_gettext_pairs *pairs = NULL;
    write_catalogue("b.mo", first, 5);
    write_catalogue("a.mo", second, 3);
    support_scratch_write_text("de/LC_MESSAGES/notes.txt", "no catalogue");
    assert_ok(collect(0, &pairs));
    assert_int_equal(pairs->catalogues, 2);
    assert_int_equal(pairs->broken, 0);
    assert_int_equal(pairs->entries, 7);
    assert_int_equal(pairs->rejected[YK_SENTENCE_PAIR_UNTRANSLATED], 1);
    assert_int_equal(pairs->rejected[YK_SENTENCE_PAIR_DUPLICATE], 1);
    static const char *const expected[][2] = {
        {"%d file", "%d Datei"}, {"%d files", "%d Dateien"}, {"Close", "Schließen"},
        {"Open", "Offen"},       {"Open", "Öffnen"},
    };
    assert_int_equal(pairs->count, 5);
    for (int32_t i = 0; i < pairs->count; i++) {
        assert_string_equal(pairs->items[i].source, expected[i][0]);
        assert_string_equal(pairs->items[i].translation, expected[i][1]);
        assert_false(pairs->items[i].held_out);
    }
    yk_gettext_pairs_destroy(pairs);
}

/* One form says what English's plural says; of three, which is which is not known. */
static void plurals_of_one_form_give_the_plural_and_of_three_nothing(void **state)
{
    (void)state;
    static const struct message messages[] = {HEADER, MESSAGE("%d cat\0%d cats", "%d neko"),
                                              MESSAGE("%d dog\0%d dogs", "%d a\0%d b\0%d c")};
    struct yk_gettext_pairs *pairs = NULL;
    write_catalogue("a.mo", messages, 3);
    assert_ok(collect(0, &pairs));
    assert_int_equal(pairs->count, 1);
    assert_string_equal(pairs->items[0].source, "%d cats");
    assert_string_equal(pairs->items[0].translation, "%d neko");
    assert_int_equal(pairs->rejected[YK_SENTENCE_PAIR_UNMATCHED_PLURALS], 1);
    yk_gettext_pairs_destroy(pairs);
}

/* Sentences that differ in case and punctuation, or in their translation, stay together. */
static void no_sentence_is_both_held_out_and_not(void **state)
{
    (void)state;
    enum {
        SENTENCES = 40,
        VARIANTS = 3
    };
    static char sources[SENTENCES][VARIANTS][48];
    static char translations[SENTENCES][VARIANTS][48];
    static struct message messages[SENTENCES * VARIANTS + 1] = {HEADER};
    for (int i = 0; i < SENTENCES; i++) {
        for (int j = 0; j < VARIANTS; j++) {
            static const char *const forms[VARIANTS] = {"Open file %d", "open File %d...",
                                                        "Open file %d"};
            snprintf(sources[i][j], sizeof sources[i][j], forms[j], i);
            snprintf(translations[i][j], sizeof translations[i][j], "Datei %d auf %d", i, j);
            messages[1 + VARIANTS * i + j] =
                (struct message){sources[i][j], strlen(sources[i][j]), translations[i][j],
                                 strlen(translations[i][j])};
        }
    }
    struct yk_gettext_pairs *pairs = NULL;
    write_catalogue("a.mo", messages, SENTENCES * VARIANTS + 1);
    assert_ok(collect(12, &pairs));
    int32_t held_out = 0;
    int32_t of_sentence[SENTENCES] = {0};
    for (int32_t i = 0; i < pairs->count; i++) {
        static const char before[] = "Datei ";
        const char *translation = pairs->items[i].translation;
        assert_memory_equal(translation, before, sizeof before - 1);
        const long number = strtol(translation + sizeof before - 1, NULL, 10);
        assert_in_range(number, 0, SENTENCES - 1);
        of_sentence[number] += pairs->items[i].held_out;
        held_out += pairs->items[i].held_out;
    }
    assert_int_equal(pairs->count, SENTENCES * VARIANTS);
    assert_int_equal(held_out, 12);
    assert_int_equal(pairs->held_out, 12);
    for (int i = 0; i < SENTENCES; i++) {
        assert_true(of_sentence[i] == 0 || of_sentence[i] == VARIANTS);
    }
    yk_gettext_pairs_destroy(pairs);
}

static void too_many_to_hold_out_are_refused(void **state)
{
    (void)state;
    static const struct message messages[] = {HEADER, MESSAGE("Open", "Auf"),
                                              MESSAGE("Shut", "Zu")};
    static const struct message variants[] = {HEADER, MESSAGE("Go", "Los"), MESSAGE("Go!", "Los!"),
                                              MESSAGE("Stop", "Halt"), MESSAGE("Stop!", "Halt!")};
    struct yk_gettext_pairs *pairs = NULL;
    write_catalogue("a.mo", messages, 3);
    assert_fails(collect(2, &pairs), YK_ERROR_INPUT, "2 pairs to hold out of 2; hold out fewer");
    write_catalogue("a.mo", variants, 5);
    assert_fails(collect(3, &pairs), YK_ERROR_INPUT,
                 "3 pairs cannot be held out without some of their sentences being among the "
                 "others; hold out 2");
    assert_null(pairs);
}

static void broken_catalogues_are_passed_over(void **state)
{
    (void)state;
    static const struct message good[] = {HEADER, MESSAGE("Open", "Auf")};
    static const struct message latin[] = {
        MESSAGE("", "Content-Type: text/plain; charset=ISO-8859-1\n"), MESSAGE("Shut", "Zu")};
    struct yk_gettext_pairs *pairs = NULL;
    write_catalogue("good.mo", good, 2);
    write_catalogue("latin.mo", latin, 2);
    support_scratch_write_text("de/LC_MESSAGES/broken.mo", "this is no catalogue of messages");
    assert_ok(collect(0, &pairs));
    assert_int_equal(pairs->catalogues, 1);
    assert_int_equal(pairs->broken, 2);
    assert_int_equal(pairs->count, 1);
    yk_gettext_pairs_destroy(pairs);
}

static void a_language_with_no_catalogues_is_refused(void **state)
{
    (void)state;
    static const char *const languages[] = {"", "..", "a/b"};
    static const char *const folder = "/no/such/folder";
    struct yk_gettext_pairs_request request = {
        .folders = &folder, .folder_count = 1, .language = "de"};
    struct yk_gettext_pairs *pairs = NULL;
    assert_fails(yk_gettext_pairs_collect(&request, &pairs), YK_ERROR_INPUT,
                 "there are no catalogues of de in /no/such/folder (de/LC_MESSAGES/*.mo); install "
                 "programs with their translations, or name another folder by --from");
    for (size_t i = 0; i < sizeof languages / sizeof *languages; i++) {
        request.language = languages[i];
        assert_int_equal(yk_gettext_pairs_collect(&request, &pairs), YK_ERROR_INPUT);
        assert_non_null(strstr(yk_status_message(), "is no language"));
    }
    static const struct message nothing[] = {HEADER, MESSAGE("Editor", "Editor")};
    write_catalogue("a.mo", nothing, 2);
    assert_fails(collect(0, &pairs), YK_ERROR_INPUT,
                 "of 1 catalogues of de, none has a pair of sentences to keep");
    yk_gettext_pairs_destroy(NULL);
}

#define IN_SCRATCH(test)                                                                           \
    cmocka_unit_test_setup_teardown(test, support_scratch_make, support_scratch_drop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SCRATCH(pairs_of_all_catalogues_are_sorted_and_single),
        IN_SCRATCH(plurals_of_one_form_give_the_plural_and_of_three_nothing),
        IN_SCRATCH(no_sentence_is_both_held_out_and_not),
        IN_SCRATCH(too_many_to_hold_out_are_refused),
        IN_SCRATCH(broken_catalogues_are_passed_over),
        IN_SCRATCH(a_language_with_no_catalogues_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
