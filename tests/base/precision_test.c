#include "base/precision.h"
#include "support/support.h"

static void every_name_finds_its_precision(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int64_t bytes;
    } formats[YK_PRECISION_COUNT] = {{"fp32", 4}, {"tf32", 4}, {"fp16", 2}, {"bf16", 2}};
    for (int i = 0; i < YK_PRECISION_COUNT; i++) {
        enum yk_precision found = YK_PRECISION_COUNT;
        assert_true(yk_precision_find(formats[i].name, &found));
        assert_string_equal(yk_precision_name(found), formats[i].name);
        assert_int_equal(yk_precision_bytes(found), formats[i].bytes);
    }
}

static void an_unknown_name_leaves_the_output_alone(void **state)
{
    (void)state;
    enum yk_precision found = YK_PRECISION_BF16;
    assert_false(yk_precision_find("fp8", &found));
    assert_false(yk_precision_find("", &found));
    assert_int_equal(found, YK_PRECISION_BF16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_name_finds_its_precision),
        cmocka_unit_test(an_unknown_name_leaves_the_output_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
