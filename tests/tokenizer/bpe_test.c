#include "support/support.h"

#include "base/random.h"
#include "base/text.h"
#include "base/utf8.h"
#include "tokenizer/byte_level.h"
#include "tokenizer/models/bpe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A model of all 256 bytes, with the ids of their values, and merges of "a" to "d" from 256 on. */
struct model {
    struct yk_token_map *map;
    struct yk_json *json;
    struct yk_bpe *bpe;
    struct yk_word_cache *cache;
    struct yk_bpe_word word;
};

/* A map of all bytes but one (-1: all), and of those that are not in UTF-8 if `invalid`. */
static struct yk_token_map *make_map_missing(int missing, bool invalid)
{
    struct yk_token_map *map = NULL;
    assert_ok(yk_token_map_create(&map));
    for (int byte = 0; byte < 256; byte++) {
        char letter[YK_UTF8_MAX_BYTES];
        const size_t length =
            yk_utf8_encode(yk_byte_level_character_of_byte((unsigned char)byte), letter);
        if (byte != missing && (invalid || (byte != 0xc0 && byte != 0xc1 && byte < 0xf5))) {
            assert_ok(yk_token_map_add(map, letter, length, byte));
        }
    }
    return map;
}

/* UTF-8 has no bytes 0xC0, 0xC1 and 0xF5 to 0xFF (RFC 3629, section 1). */
static void words_are_bytes_if_all_bytes_of_utf8_have_tokens(void **state)
{
    (void)state;
    struct yk_json *json = NULL;
    assert_ok(yk_json_parse("{}", 2, &json));
    for (int missing = -1; missing < 256; missing++) {
        const bool occurs = missing >= 0 && missing != 0xc0 && missing != 0xc1 && missing < 0xf5;
        for (int invalid = 0; invalid < 2; invalid++) {
            struct yk_token_map *map = make_map_missing(missing, invalid);
            assert_int_equal(yk_bpe_reads_bytes(json, map), !occurs);
            yk_token_map_destroy(map);
        }
    }
    yk_json_destroy(json);
}

static struct yk_token_map *make_map(const char *const *merged, int count)
{
    struct yk_token_map *map = make_map_missing(-1, true);
    for (int i = 0; i < count; i++) {
        assert_ok(yk_token_map_add(map, merged[i], strlen(merged[i]), 256 + i));
    }
    return map;
}

static void open_model(const char *const *merged, int count, const char *json, struct model *out)
{
    *out = (struct model){.map = make_map(merged, count)};
    assert_ok(yk_json_parse(json, strlen(json), &out->json));
    assert_ok(yk_bpe_from_json(out->json, out->map, true, &out->bpe));
    assert_ok(yk_word_cache_create(&out->cache));
}

static void close_model(struct model *model)
{
    yk_word_cache_destroy(model->cache);
    yk_bpe_merge_word_free(&model->word);
    yk_bpe_destroy(model->bpe);
    yk_json_destroy(model->json);
    yk_token_map_destroy(model->map);
}

static void check(struct model *model, const char *word, const int32_t *expected, int64_t count)
{
    struct yk_token_ids ids = {0};
    /* The second time from memory. */
    for (int time = 0; time < 2; time++) {
        ids.count = 0;
        assert_ok(yk_bpe_encode(model->bpe, model->cache, &model->word, word, strlen(word), &ids));
        assert_int_equal(ids.count, count);
        assert_memory_equal(ids.items, expected, (size_t)count * sizeof *expected);
    }
    yk_token_ids_free(&ids);
}

static void the_first_rule_and_the_leftmost_place_come_first(void **state)
{
    (void)state;
    static const char *const merged[] = {"aa", "ab", "aab"};
    struct model model;
    open_model(merged, 3, "{\"merges\": [[\"a\", \"a\"], \"a b\", \"aa b\"]}", &model);
    check(&model, "aaa", (int32_t[]){256, 'a'}, 2);
    check(&model, "aaab", (int32_t[]){256, 257}, 2);
    check(&model, "aab", (int32_t[]){258}, 1);
    check(&model, "cab", (int32_t[]){'c', 257}, 2);
    close_model(&model);
}

static void a_token_with_no_merges_is_used_only_where_merges_are_ignored(void **state)
{
    (void)state;
    static const char *const merged[] = {"ab", "\xc4\xa0xyz"};
    struct model model;
    open_model(merged, 2, "{\"merges\": [\"a b\"]}", &model);
    check(&model, " xyz", (int32_t[]){' ', 'x', 'y', 'z'}, 4);
    close_model(&model);
    open_model(merged, 2, "{\"merges\": [\"a b\"], \"ignore_merges\": true}", &model);
    check(&model, " xyz", (int32_t[]){257}, 1);
    check(&model, " xyzab", (int32_t[]){' ', 'x', 'y', 'z', 256}, 5);
    close_model(&model);
}

enum {
    MAX_RULES = 24,
    MAX_LETTERS = 200
};

struct rules {
    int left[MAX_RULES];
    int right[MAX_RULES];
    int count;
};

/* Straight from the definition: the best pair of all, leftmost of the best, is joined. */
static int merge_by_definition(const struct rules *rules, int32_t *ids, int count)
{
    for (;;) {
        int best = rules->count;
        int place = -1;
        for (int i = 0; i + 1 < count; i++) {
            for (int rule = 0; rule < best; rule++) {
                if (ids[i] == rules->left[rule] && ids[i + 1] == rules->right[rule]) {
                    best = rule;
                    place = i;
                }
            }
        }
        if (place < 0) {
            return count;
        }
        ids[place] = 256 + best;
        for (int i = place + 1; i + 1 < count; i++) {
            ids[i] = ids[i + 1];
        }
        count--;
    }
}

/* Rules that join any two tokens that are there already, of "a" to "c" and what became of them. */
static void make_rules(struct yk_random *random, struct rules *rules, char names[][64],
                       struct yk_text *json)
{
    int known[3 + MAX_RULES] = {'a', 'b', 'c'};
    rules->count = 0;
    yk_text_add(json, "{\"merges\": [");
    while (rules->count < MAX_RULES) {
        const int left = known[yk_random_below(random, 3 + rules->count)];
        const int right = known[yk_random_below(random, 3 + rules->count)];
        const char letters[2][2] = {{(char)left, '\0'}, {(char)right, '\0'}};
        const char *const parts[2] = {left < 256 ? letters[0] : names[left - 256],
                                      right < 256 ? letters[1] : names[right - 256]};
        char name[128];
        (void)snprintf(name, sizeof name, "%s%s", parts[0], parts[1]);
        bool fresh = strlen(name) < sizeof names[0];
        for (int i = 0; i < rules->count; i++) {
            fresh = fresh && strcmp(names[i], name) != 0;
        }
        if (!fresh) {
            continue;
        }
        memcpy(names[rules->count], name, sizeof names[0]);
        yk_text_addf(json, "%s[\"%s\", \"%s\"]", rules->count > 0 ? ", " : "", parts[0], parts[1]);
        rules->left[rules->count] = left;
        rules->right[rules->count] = right;
        known[3 + rules->count] = 256 + rules->count;
        rules->count++;
    }
    yk_text_add(json, "]}");
}

static void words_of_all_lengths_become_what_the_definition_says(void **state)
{
    (void)state;
    struct yk_random random = yk_random_from_seed(11);
    for (int round = 0; round < 20; round++) {
        struct rules rules;
        char names[MAX_RULES][64];
        const char *pointers[MAX_RULES];
        struct yk_text json = {0};
        struct model model;
        make_rules(&random, &rules, names, &json);
        for (int i = 0; i < rules.count; i++) {
            pointers[i] = names[i];
        }
        open_model(pointers, rules.count, json.bytes, &model);
        for (int trial = 0; trial < 40; trial++) {
            char word[MAX_LETTERS + 1] = {0};
            int32_t expected[MAX_LETTERS];
            const int length = 1 + (int)yk_random_below(&random, MAX_LETTERS);
            for (int i = 0; i < length; i++) {
                expected[i] = 'a' + (int32_t)yk_random_below(&random, 3);
                word[i] = (char)expected[i];
            }
            check(&model, word, expected, merge_by_definition(&rules, expected, length));
        }
        close_model(&model);
        yk_text_free(&json);
    }
}

/* By the heap's rules alone this takes a fraction of a second; a quadratic way would take minutes.
 */
static void a_million_equal_letters_are_one_word(void **state)
{
    (void)state;
    enum {
        LETTERS = 1000 * 1000
    };
    static const char *const merged[] = {"aa", "aaaa"};
    struct model model;
    struct yk_token_ids ids = {0};
    char *word = malloc(LETTERS);
    assert_non_null(word);
    memset(word, 'a', LETTERS);
    open_model(merged, 2, "{\"merges\": [\"a a\", \"aa aa\"]}", &model);
    assert_ok(yk_bpe_encode(model.bpe, model.cache, &model.word, word, LETTERS, &ids));
    assert_int_equal(ids.count, LETTERS / 4);
    int64_t others = 0;
    for (int64_t i = 0; i < ids.count; i++) {
        others += ids.items[i] != 257;
    }
    assert_int_equal(others, 0);
    yk_token_ids_free(&ids);
    close_model(&model);
    free(word);
}

static void a_word_that_is_too_long_is_refused(void **state)
{
    (void)state;
    struct model model;
    struct yk_token_ids ids = {0};
    const size_t length = ((size_t)1 << 24) + 1;
    char *word = malloc(length);
    assert_non_null(word);
    memset(word, 'a', length);
    open_model(NULL, 0, "{\"merges\": []}", &model);
    assert_ok(yk_bpe_encode(model.bpe, model.cache, &model.word, word, length - 1, &ids));
    assert_int_equal(ids.count, length - 1);
    assert_fails(yk_bpe_encode(model.bpe, model.cache, &model.word, word, length, &ids),
                 YK_ERROR_INPUT, "a word of 16777217 bytes, where at most 16777216 are supported");
    yk_token_ids_free(&ids);
    free(word);
    close_model(&model);
}

static void encoding_ends_within_a_word_when_it_is_to_stop(void **state)
{
    (void)state;
    static const char *const merged[] = {"aa"};
    struct model model;
    struct yk_token_ids ids = {0};
    atomic_bool stop = true;
    char word[1000];
    memset(word, 'a', sizeof word);
    open_model(merged, 1, "{\"merges\": [\"a a\"]}", &model);
    model.word.stop = &stop;
    assert_int_equal(yk_bpe_encode(model.bpe, model.cache, &model.word, word, sizeof word, &ids),
                     YK_ERROR_STOPPED);
    atomic_store(&stop, false);
    assert_ok(yk_bpe_encode(model.bpe, model.cache, &model.word, word, sizeof word, &ids));
    assert_int_equal(ids.count, sizeof word / 2);
    yk_token_ids_free(&ids);
    close_model(&model);
}

static void characters_with_no_token_are_left_out_or_unknown(void **state)
{
    (void)state;
    struct yk_token_map *map = NULL;
    struct yk_bpe *bpe = NULL;
    struct yk_word_cache *cache = NULL;
    struct yk_bpe_word word = {0};
    struct yk_json *json = NULL;
    static const char *const models[] = {"{\"merges\": []}",
                                         "{\"merges\": [], \"unk_token\": \"?\"}"};
    static const int32_t expected[2][3] = {{5, 5}, {5, 9, 5}};
    assert_ok(yk_token_map_create(&map));
    assert_ok(yk_token_map_add(map, "a", 1, 5));
    assert_ok(yk_token_map_add(map, "?", 1, 9));
    for (int i = 0; i < 2; i++) {
        struct yk_token_ids ids = {0};
        assert_ok(yk_json_parse(models[i], strlen(models[i]), &json));
        assert_ok(yk_bpe_from_json(json, map, false, &bpe));
        assert_ok(yk_word_cache_create(&cache));
        assert_ok(yk_bpe_encode(bpe, cache, &word, "axa", 3, &ids));
        assert_int_equal(ids.count, 2 + i);
        assert_memory_equal(ids.items, expected[i], (size_t)(2 + i) * sizeof(int32_t));
        yk_token_ids_free(&ids);
        yk_word_cache_destroy(cache);
        yk_bpe_destroy(bpe);
        yk_json_destroy(json);
    }
    yk_bpe_merge_word_free(&word);
    yk_token_map_destroy(map);
}

/* A model of random rules of "▁", "a", "b" and ".", some of which cross the places where a word may
 * be cut. */
enum {
    LETTERS = 4,
    RULES = 5,
    MAX_WORD = 40
};

static const char *const letters[LETTERS] = {"\xe2\x96\x81", "a", "b", "."};

struct random_model {
    struct yk_text names[LETTERS + RULES]; /* by id */
    struct rules rules;
    struct yk_token_map *map;
    struct yk_bpe *bpe;
    struct yk_word_cache *cache;
    struct yk_bpe_word word;
};

/* The rules number tokens as bytes are numbered: letters first, merged tokens from 256 on. */
static int rule_id(int id)
{
    return id < LETTERS ? id : id - LETTERS + 256;
}

static void add_random_rules(struct random_model *model, struct yk_random *random,
                             struct yk_text *json)
{
    int known = LETTERS;
    while (model->rules.count < RULES) {
        const int left = (int)yk_random_below(random, known);
        const int right = (int)yk_random_below(random, known);
        struct yk_text *name = &model->names[known];
        name->length = 0;
        yk_text_addf(name, "%s%s", model->names[left].bytes, model->names[right].bytes);
        if (yk_token_map_find_id(model->map, name->bytes, name->length) >= 0) {
            continue;
        }
        assert_ok(yk_token_map_add(model->map, name->bytes, name->length, known));
        yk_text_addf(json, "%s[\"%s\", \"%s\"]", model->rules.count > 0 ? ", " : "",
                     model->names[left].bytes, model->names[right].bytes);
        model->rules.left[model->rules.count] = rule_id(left);
        model->rules.right[model->rules.count++] = rule_id(right);
        known++;
    }
}

static void open_random_model(struct yk_random *random, struct random_model *model)
{
    struct yk_text json = {0};
    struct yk_json *root = NULL;
    *model = (struct random_model){0};
    assert_ok(yk_token_map_create(&model->map));
    for (int i = 0; i < LETTERS; i++) {
        yk_text_add(&model->names[i], letters[i]);
        assert_ok(yk_token_map_add(model->map, letters[i], strlen(letters[i]), i));
    }
    yk_text_add(&json, "{\"merges\": [");
    add_random_rules(model, random, &json);
    yk_text_add(&json, "]}");
    assert_ok(yk_json_parse(json.bytes, json.length, &root));
    assert_ok(yk_bpe_from_json(root, model->map, false, &model->bpe));
    assert_ok(yk_word_cache_create(&model->cache));
    yk_json_destroy(root);
    yk_text_free(&json);
}

static void close_random_model(struct random_model *model)
{
    for (int i = 0; i < LETTERS + RULES; i++) {
        yk_text_free(&model->names[i]);
    }
    yk_bpe_merge_word_free(&model->word);
    yk_word_cache_destroy(model->cache);
    yk_bpe_destroy(model->bpe);
    yk_token_map_destroy(model->map);
}

/* The word of spans is never cut from the cache: tokens and spans must agree with the definition.
 */
static void check_random_word(struct random_model *model, struct yk_random *random)
{
    int32_t expected[MAX_WORD];
    struct yk_text text = {0};
    struct yk_token_ids ids = {0};
    struct yk_token_ids again = {0};
    struct yk_token_spans spans = {0};
    for (int k = 0; k < MAX_WORD; k++) {
        expected[k] = (int32_t)yk_random_below(random, LETTERS);
        yk_text_add(&text, letters[expected[k]]);
    }
    const int count = merge_by_definition(&model->rules, expected, MAX_WORD);
    assert_ok(yk_bpe_encode(model->bpe, model->cache, &model->word, text.bytes, text.length, &ids));
    assert_ok(yk_bpe_encode_with_spans(model->bpe, &model->word, text.bytes, text.length, &again,
                                       &spans));
    assert_int_equal(ids.count, count);
    assert_int_equal(again.count, count);
    size_t at = 0;
    for (int k = 0; k < count; k++) {
        const int id = expected[k] < LETTERS ? expected[k] : expected[k] - 256 + LETTERS;
        assert_int_equal(ids.items[k], id);
        assert_int_equal(again.items[k], id);
        assert_int_equal(spans.items[k].begin, at);
        at += model->names[id].length;
        assert_int_equal(spans.items[k].end, at);
    }
    yk_text_free(&text);
    yk_token_ids_free(&ids);
    yk_token_ids_free(&again);
    yk_token_spans_free(&spans);
}

static void words_that_are_cut_have_the_tokens_of_the_whole(void **state)
{
    (void)state;
    struct yk_random random = yk_random_from_seed(3);
    for (int round = 0; round < 400; round++) {
        struct random_model model;
        open_random_model(&random, &model);
        for (int i = 0; i < 10; i++) {
            check_random_word(&model, &random);
        }
        close_random_model(&model);
    }
}

static void refuse(const char *json, const char *message)
{
    static const char *const merged[] = {"ab", "\xc4\xa0"
                                               "a"};
    struct yk_token_map *map = make_map(merged, 2);
    struct yk_json *root = NULL;
    struct yk_bpe *bpe = NULL;
    assert_ok(yk_json_parse(json, strlen(json), &root));
    assert_fails(yk_bpe_from_json(root, map, true, &bpe), YK_ERROR_INPUT, message);
    assert_null(bpe);
    yk_json_destroy(root);
    yk_token_map_destroy(map);
}

static void broken_models_are_refused(void **state)
{
    (void)state;
    refuse("{}", "\"merges\" must be a list, not nothing");
    refuse("{\"merges\": [\"a b\", \"a zz\"]}", "merges[1]: \"zz\" is not in \"vocab\"");
    refuse("{\"merges\": [\"b a\"]}", "merges[0]: \"ba\" is not in \"vocab\"");
    refuse("{\"merges\": [\"a b c\"]}",
           "merges[0]: this must be two tokens, \"a b\" or [\"a\", \"b\"]");
    refuse("{\"merges\": [[\"a\"]]}",
           "merges[0]: this must be two tokens, \"a b\" or [\"a\", \"b\"]");
    refuse("{\"merges\": [7]}", "merges[0]: this must be two tokens, \"a b\" or [\"a\", \"b\"]");
    refuse("{\"merges\": [], \"dropout\": 0.1}",
           "\"dropout\" of a BPE model is not supported; set it to null in the file");
}

static void bytes_are_written_by_the_letters_of_gpt2(void **state)
{
    (void)state;
    /* openai/gpt-2, encoder.py, bytes_to_unicode(): these and their neighbours. */
    static const struct {
        int byte;
        uint32_t letter;
    } known[] = {{0, 0x100},    {0x20, 0x120}, {0x21, 0x21},  {0x7e, 0x7e}, {0x7f, 0x121},
                 {0x80, 0x122}, {0xa0, 0x142}, {0xa1, 0xa1},  {0xac, 0xac}, {0xad, 0x143},
                 {0xae, 0xae},  {0xff, 0xff},  {'\n', 0x10a}, {'\t', 0x109}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        assert_int_equal(yk_byte_level_character_of_byte((unsigned char)known[i].byte),
                         known[i].letter);
    }
    for (int byte = 0; byte < 256; byte++) {
        assert_int_equal(
            yk_byte_level_byte_of_character(yk_byte_level_character_of_byte((unsigned char)byte)),
            byte);
    }
    assert_int_equal(yk_byte_level_byte_of_character(' '), -1);
    assert_int_equal(yk_byte_level_byte_of_character(0xad), -1);
    assert_int_equal(yk_byte_level_byte_of_character(0x144), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_bytes_if_all_bytes_of_utf8_have_tokens),
        cmocka_unit_test(the_first_rule_and_the_leftmost_place_come_first),
        cmocka_unit_test(a_token_with_no_merges_is_used_only_where_merges_are_ignored),
        cmocka_unit_test(words_of_all_lengths_become_what_the_definition_says),
        cmocka_unit_test(a_million_equal_letters_are_one_word),
        cmocka_unit_test(a_word_that_is_too_long_is_refused),
        cmocka_unit_test(encoding_ends_within_a_word_when_it_is_to_stop),
        cmocka_unit_test(characters_with_no_token_are_left_out_or_unknown),
        cmocka_unit_test(words_that_are_cut_have_the_tokens_of_the_whole),
        cmocka_unit_test(broken_models_are_refused),
        cmocka_unit_test(bytes_are_written_by_the_letters_of_gpt2),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
