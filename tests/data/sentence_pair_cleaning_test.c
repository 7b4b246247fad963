#include "support/support.h"

#include "data/sentence_pair_cleaning.h"

#include <string.h>

enum {
    LONGEST = 60
};

struct row {
    const char *source;
    const char *translation;
    enum yk_sentence_pair_reject_reason fault;
    const char *source_out; /* NULL: as it was */
    const char *translation_out;
};

static void assert_rows(const struct row *rows, size_t count)
{
    struct yk_sentence_pair_cleaning_sides sides = {0};
    for (size_t i = 0; i < count; i++) {
        enum yk_sentence_pair_reject_reason fault = YK_SENTENCE_PAIR_REJECT_REASON_COUNT;
        sides.source = rows[i].source;
        sides.source_length = strlen(rows[i].source);
        sides.translation = rows[i].translation;
        sides.translation_length = strlen(rows[i].translation);
        assert_ok(yk_sentence_pair_clean(&sides, LONGEST, &fault));
        if (fault != rows[i].fault) {
            fail_msg("\"%s\" is %s", rows[i].source, yk_sentence_pair_cleaning_reason_name(fault));
        }
        if (fault == YK_SENTENCE_PAIR_ACCEPTED) {
            assert_string_equal(yk_text_chars(&sides.source_out),
                                rows[i].source_out ? rows[i].source_out : rows[i].source);
            assert_string_equal(yk_text_chars(&sides.translation_out), rows[i].translation_out
                                                                           ? rows[i].translation_out
                                                                           : rows[i].translation);
        }
    }
    yk_text_free(&sides.source_out);
    yk_text_free(&sides.translation_out);
}

#define ASSERT_ROWS(rows) assert_rows((rows), sizeof(rows) / sizeof *(rows))

static void white_space_becomes_single_spaces(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"  It  is \nso.\n", "Es ist\nso.\n", YK_SENTENCE_PAIR_ACCEPTED, "It is so.", "Es ist so."},
        {"Is it?", "Est-ce\xc2\xa0vrai\xc2\xa0?", YK_SENTENCE_PAIR_ACCEPTED, NULL, "Est-ce vrai ?"},
    };
    ASSERT_ROWS(rows);
}

static void marks_of_mnemonics_go(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"_File", "_Datei", YK_SENTENCE_PAIR_ACCEPTED, "File", "Datei"},
        {"E_xit", "Be_enden", YK_SENTENCE_PAIR_ACCEPTED, "Exit", "Beenden"},
        {"Save &As", "Speichern &unter", YK_SENTENCE_PAIR_ACCEPTED, "Save As", "Speichern unter"},
        {"_File", "파일(_F)", YK_SENTENCE_PAIR_ACCEPTED, "File", "파일"},
        {"_Quit", "終了 (_Q)", YK_SENTENCE_PAIR_ACCEPTED, "Quit", "終了"},
        {"Go to _URL", "Zur _URL", YK_SENTENCE_PAIR_ACCEPTED, "Go to URL", "Zur URL"},
        {"_Open", "_Öffnen", YK_SENTENCE_PAIR_ACCEPTED, "Open", "Öffnen"},
    };
    ASSERT_ROWS(rows);
}

static void signs_that_are_no_mnemonics_stay(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"Set file_name now", "Setze »file_name« jetzt", YK_SENTENCE_PAIR_ACCEPTED, NULL, NULL},
        {"AT&T is here", "AT&T ist da", YK_SENTENCE_PAIR_ACCEPTED, NULL, NULL},
        {"Cut & paste", "Schneiden & kleben", YK_SENTENCE_PAIR_ACCEPTED, NULL, NULL},
        {"Use &lt; here", "Nimm &lt; hier", YK_SENTENCE_PAIR_ACCEPTED, NULL, NULL},
        {"the __init__ file", "die Datei __init__", YK_SENTENCE_PAIR_ACCEPTED, NULL, NULL},
    };
    ASSERT_ROWS(rows);
}

static void messages_that_are_no_sentences_are_left_out(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"Open", "", YK_SENTENCE_PAIR_UNTRANSLATED, NULL, NULL},
        {"Open", " \n", YK_SENTENCE_PAIR_UNTRANSLATED, NULL, NULL},
        {"Open", "\xff", YK_SENTENCE_PAIR_NOT_TEXT, NULL, NULL},
        {"a\x1b[1mb", "c", YK_SENTENCE_PAIR_NOT_TEXT, NULL, NULL},
        {"-h   help", "-h   Hilfe", YK_SENTENCE_PAIR_TABLE_LAYOUT, NULL, NULL},
        {"Usage:\n  yoke", "Aufruf:\n  yoke", YK_SENTENCE_PAIR_TABLE_LAYOUT, NULL, NULL},
        {"One:\n- two", "Eins:\n- zwei", YK_SENTENCE_PAIR_TABLE_LAYOUT, NULL, NULL},
        {"One.\n\nTwo.", "Eins.\n\nZwei.", YK_SENTENCE_PAIR_TABLE_LAYOUT, NULL, NULL},
        {"a\tb", "c\td", YK_SENTENCE_PAIR_TABLE_LAYOUT, NULL, NULL},
        {"100%", "100 %", YK_SENTENCE_PAIR_NO_LETTERS, NULL, NULL},
        {"right", "\xe2\x86\x92", YK_SENTENCE_PAIR_NO_LETTERS, NULL, NULL},
        {"Editor", "Editor", YK_SENTENCE_PAIR_IDENTICAL_SIDES, NULL, NULL},
        {"_Editor", "Edi_tor", YK_SENTENCE_PAIR_IDENTICAL_SIDES, NULL, NULL},
    };
    ASSERT_ROWS(rows);
}

static void placeholders_must_be_on_both_sides(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"%d of %s", "%2$s: %1$d", YK_SENTENCE_PAIR_ACCEPTED, NULL, NULL},
        {"%-10s ok", "%s gut", YK_SENTENCE_PAIR_ACCEPTED, NULL, NULL},
        {"%d of %s", "%s: eins", YK_SENTENCE_PAIR_DIFFERENT_PLACEHOLDERS, NULL, NULL},
        {"%d file", "%ld Datei", YK_SENTENCE_PAIR_DIFFERENT_PLACEHOLDERS, NULL, NULL},
        {"%(name)s is", "%(name)s ist", YK_SENTENCE_PAIR_ACCEPTED, NULL, NULL},
        {"%(name)s is", "%(Name)s ist", YK_SENTENCE_PAIR_DIFFERENT_PLACEHOLDERS, NULL, NULL},
        {"{count} files", "{count} Dateien", YK_SENTENCE_PAIR_ACCEPTED, NULL, NULL},
        {"{count} files", "{zahl} Dateien", YK_SENTENCE_PAIR_DIFFERENT_PLACEHOLDERS, NULL, NULL},
        {"%1 in %2", "%2 hat %1", YK_SENTENCE_PAIR_ACCEPTED, NULL, NULL},
        {"%1 in %2", "%2 hat %2", YK_SENTENCE_PAIR_DIFFERENT_PLACEHOLDERS, NULL, NULL},
        {"50% of all", "50% von allen", YK_SENTENCE_PAIR_ACCEPTED, NULL, NULL},
        {"100% sure", "ganz sicher", YK_SENTENCE_PAIR_ACCEPTED, NULL, NULL},
        {"Your names", "Jo <jo@example.org>", YK_SENTENCE_PAIR_DIFFERENT_PLACEHOLDERS, NULL, NULL},
        {"{ brace", "Klammer {", YK_SENTENCE_PAIR_ACCEPTED, NULL, NULL},
    };
    ASSERT_ROWS(rows);
}

static void lengths_are_in_characters(void **state)
{
    (void)state;
    static const struct row rows[] = {
        /* 60 characters of two bytes each, then 61. */
        {"A sentence that is long enough",
         "éééééééééééééééééééééééééééééééééééééééééééééééééééééééééééé", YK_SENTENCE_PAIR_ACCEPTED,
         NULL, NULL},
        {"A sentence that is long enough",
         "ééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééé", YK_SENTENCE_PAIR_TOO_LONG,
         NULL, NULL},
        /* Four times five and sixteen more are 36. */
        {"abcde", "123456789 123456789 123456789 123456", YK_SENTENCE_PAIR_NO_LETTERS, NULL, NULL},
        {"abcde", "a23456789 123456789 123456789 123456", YK_SENTENCE_PAIR_ACCEPTED, NULL, NULL},
        {"abcde", "a23456789 123456789 123456789 1234567", YK_SENTENCE_PAIR_LENGTH_RATIO, NULL,
         NULL},
    };
    ASSERT_ROWS(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(white_space_becomes_single_spaces),
        cmocka_unit_test(marks_of_mnemonics_go),
        cmocka_unit_test(signs_that_are_no_mnemonics_stay),
        cmocka_unit_test(messages_that_are_no_sentences_are_left_out),
        cmocka_unit_test(placeholders_must_be_on_both_sides),
        cmocka_unit_test(lengths_are_in_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
