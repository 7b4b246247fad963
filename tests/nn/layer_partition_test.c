/* Where layers are cut among those who hold them. */
#include "nn/store/layer_partition.h"

#include "support/support.h"

enum {
    MAX_MEMBERS = 10,
};

static int64_t part_of(int64_t count, int32_t blocks, int32_t block, int32_t member, int32_t n)
{
    return yk_layer_partition_fraction_to_element(count, blocks, block, (double)(member + 1) / n) -
           yk_layer_partition_fraction_to_element(count, blocks, block, (double)member / n);
}

/* What libraries exchange fastest: not one number more or less, but for the last. */
static void equal_parts_of_many_are_equal(void **state)
{
    (void)state;
    static const int64_t counts[] = {10080, 2621440, 7087872, 38597376, 9999991, 123456789};
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        for (int32_t n = 2; n <= MAX_MEMBERS; n++) {
            const int64_t first = part_of(counts[c], 1, 0, 0, n);
            const int64_t last = part_of(counts[c], 1, 0, n - 1, n);
            for (int32_t i = 1; i < n - 1; i++) {
                assert_int_equal(part_of(counts[c], 1, 0, i, n), first);
            }
            assert_in_range(last - first, 0, YK_LAYER_PARTITION_CUT_DENOMINATOR - 1);
            assert_int_equal((n - 1) * first + last, counts[c]);
        }
    }
}

/* Whoever asks: parts follow each other, none is below nothing, and all is held. */
static void parts_cover_every_block(void **state)
{
    (void)state;
    static const double cuts[] = {0, 0.000001, 0.1, 1.0 / 3, 0.5, 0.7, 0.99999, 1};
    static const int64_t counts[] = {0, 1, 7, 10079, 10080, 10081, 250000, 2621440};
    enum {
        CUTS = sizeof cuts / sizeof cuts[0],
    };
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        for (int32_t blocks = 1; blocks <= 3; blocks++) {
            for (int32_t b = 0; b < blocks; b++) {
                int64_t before = yk_layer_partition_block_start(counts[c], blocks, b);
                assert_int_equal(yk_layer_partition_fraction_to_element(counts[c], blocks, b, 0),
                                 before);
                for (int i = 0; i < CUTS; i++) {
                    const int64_t cut =
                        yk_layer_partition_fraction_to_element(counts[c], blocks, b, cuts[i]);
                    assert_true(cut >= before);
                    before = cut;
                }
                assert_int_equal(before, yk_layer_partition_block_start(counts[c], blocks, b + 1));
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_parts_of_many_are_equal),
        cmocka_unit_test(parts_cover_every_block),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
