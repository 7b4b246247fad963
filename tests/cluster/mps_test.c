#include "support/support.h"

#include "cluster/mps.h"

#include <math.h>

static const double gib = 1024.0 * 1024 * 1024;

/* ---- a driver that counts ---- */

static int counts_first;  /* multiprocessors before there is a context, */
static int counts_later;  /* and with one */
static int asked_of;      /* the device asked for last */
static int contexts;      /* held now */
static int contexts_made; /* so far */

static int begin(unsigned flags)
{
    return flags == 0 ? 0 : 1;
}

static int find_device(int *out, int number)
{
    *out = 40 + number; /* a handle, which is no number */
    return number < 2 ? 0 : 101;
}

static int count(int *out, int attribute, int device)
{
    asked_of = device - 40;
    *out = contexts > 0 ? counts_later : counts_first;
    return attribute == 16 ? 0 : 1;
}

static int retain(void **out, int device)
{
    (void)device;
    *out = &contexts;
    contexts++;
    contexts_made++;
    return 0;
}

static int release(int device)
{
    (void)device;
    contexts--;
    return 0;
}

static const struct yk_mps_cuda_driver driver = {begin, find_device, count, retain, release};

static double part_of(const char *percent, int before, int with_context)
{
    const struct yk_mps_environment words = {.percent = percent};
    counts_first = before;
    counts_later = with_context;
    contexts_made = 0;
    const double part = yk_mps_sm_fraction(&driver, &words, 0, 132);
    assert_int_equal(contexts, 0);
    return part;
}

/* An H200 has 132: CUDA shows 92 of them where 70 % are asked for, and 18 where 14. */
static void the_driver_counts_the_part(void **state)
{
    (void)state;
    assert_true(fabs(part_of("70", 92, 92) - 92.0 / 132) < 1e-12);
    assert_true(fabs(part_of("14", 18, 18) - 18.0 / 132) < 1e-12);
    assert_int_equal(contexts_made, 0);
    assert_true(part_of(NULL, 132, 132) == 1);
    /* One that the service sets for everybody. */
    assert_true(part_of(NULL, 66, 66) == 0.5);
}

static void a_context_is_made_where_one_is_needed_to_know(void **state)
{
    (void)state;
    assert_true(part_of("50", 132, 66) == 0.5);
    assert_int_equal(contexts_made, 1);
    /* Without the service the percentage means nothing. */
    assert_true(part_of("50", 132, 132) == 1);
    assert_true(part_of("100", 132, 132) == 1);
    assert_int_equal(contexts_made, 0);
}

static void where_there_is_no_answer_the_percentage_counts(void **state)
{
    (void)state;
    const struct yk_mps_environment asked = {.percent = "14"};
    const struct yk_mps_environment nonsense = {.percent = "some"};
    const struct yk_mps_environment nothing = {NULL, NULL};
    assert_true(yk_mps_sm_fraction(NULL, &asked, 0, 132) == 0.14);
    assert_true(yk_mps_sm_fraction(&driver, &asked, 0, 0) == 0.14);   /* of how many is not known */
    assert_true(yk_mps_sm_fraction(&driver, &asked, 7, 132) == 0.14); /* there is no such device */
    assert_true(yk_mps_sm_fraction(NULL, &nonsense, 0, 132) == 1);
    assert_true(yk_mps_sm_fraction(NULL, &nothing, 0, 132) == 1);
}

static void each_device_is_asked_by_its_own_number(void **state)
{
    (void)state;
    const struct yk_mps_environment words = {.percent = "50"};
    counts_first = 66;
    assert_true(yk_mps_sm_fraction(&driver, &words, 1, 132) == 0.5);
    assert_int_equal(asked_of, 1);
}

static void the_limit_of_the_device_counts(void **state)
{
    (void)state;
    const struct yk_mps_environment words = {.limits = "0=48G,1=512M, 2=1.5GB,3=oops,4=300G"};
    const double whole = 141 * gib;
    assert_true(yk_mps_memory_limit_bytes(&words, 0, whole) == 48 * gib);
    assert_true(yk_mps_memory_limit_bytes(&words, 1, whole) == 0.5 * gib);
    assert_true(yk_mps_memory_limit_bytes(&words, 2, whole) == 1.5 * gib);
    assert_true(yk_mps_memory_limit_bytes(&words, 3, whole) == whole);
    assert_true(yk_mps_memory_limit_bytes(&words, 4, whole) == whole); /* there is no more */
    assert_true(yk_mps_memory_limit_bytes(&words, 5, whole) == whole);
    assert_true(yk_mps_memory_limit_bytes(&(struct yk_mps_environment){NULL, NULL}, 0, whole) ==
                whole);
    assert_true(yk_mps_memory_limit_bytes(&(struct yk_mps_environment){NULL, ""}, 0, whole) ==
                whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_driver_counts_the_part),
        cmocka_unit_test(a_context_is_made_where_one_is_needed_to_know),
        cmocka_unit_test(where_there_is_no_answer_the_percentage_counts),
        cmocka_unit_test(each_device_is_asked_by_its_own_number),
        cmocka_unit_test(the_limit_of_the_device_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
