/* Expected values are those of tests/kat_vectors of Random123 1.14.0 (D. E. Shaw Research), rows
 * "philox4x32 10". */
#include "support/support.h"

#include "backend/cpu/math/philox.h"

struct known_answer {
    uint64_t seed;
    uint32_t counter[4];
    uint32_t expected[4];
};

static void philox_gives_the_published_answers(void **state)
{
    (void)state;
    static const struct known_answer answers[] = {
        {0x0000000000000000U,
         {0x00000000U, 0x00000000U, 0x00000000U, 0x00000000U},
         {0x6627e8d5U, 0xe169c58dU, 0xbc57ac4cU, 0x9b00dbd8U}},
        {0xffffffffffffffffU,
         {0xffffffffU, 0xffffffffU, 0xffffffffU, 0xffffffffU},
         {0x408f276dU, 0x41c83b0eU, 0xa20bc7c6U, 0x6d5451fdU}},
        /* The key is a4093822 299f31d0, first word first: the low half of the seed. */
        {0x299f31d0a4093822U,
         {0x243f6a88U, 0x85a308d3U, 0x13198a2eU, 0x03707344U},
         {0xd16cfe09U, 0x94fdccebU, 0x5001e420U, 0x24126ea1U}},
    };
    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
        uint32_t out[4] = {0};
        yk_cpu_philox_random_words(answers[i].seed, answers[i].counter, out);
        for (int word = 0; word < 4; word++) {
            assert_true(out[word] == answers[i].expected[word]);
        }
    }
}

static void the_result_may_lie_where_the_counter_does(void **state)
{
    (void)state;
    uint32_t both[4] = {0x243f6a88U, 0x85a308d3U, 0x13198a2eU, 0x03707344U};
    yk_cpu_philox_random_words(0x299f31d0a4093822U, both, both);
    assert_true(both[0] == 0xd16cfe09U);
    assert_true(both[1] == 0x94fdccebU);
    assert_true(both[2] == 0x5001e420U);
    assert_true(both[3] == 0x24126ea1U);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(philox_gives_the_published_answers),
        cmocka_unit_test(the_result_may_lie_where_the_counter_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
