#include "support/support.h"

#include "comm/comm.h"

#include <string.h>

static void a_missing_file_says_what_brings_it(void **state)
{
    const struct yk_comm_backend *comm = NULL;
    (void)state;
    assert_fails(yk_comm_load_plugin("/no/such/yoke-mpi.so", &comm), YK_ERROR_SYSTEM,
                 "/no/such/yoke-mpi.so is not there: it is built with yoke where Open MPI is "
                 "installed (Debian and Ubuntu: libopenmpi-dev and openmpi-bin)");
    assert_null(comm);
    assert_fails(
        yk_comm_load_plugin("/no/such/yoke-nccl.so", &comm), YK_ERROR_SYSTEM,
        "/no/such/yoke-nccl.so is not there: it is built with yoke where CUDA and NCCL are "
        "installed (libnccl-dev, of NVIDIA)");
    assert_null(comm);
}

static void a_file_that_is_no_library_is_refused(void **state)
{
    const struct yk_comm_backend *comm = NULL;
    (void)state;
    assert_int_equal(yk_comm_load_plugin("/proc/self/maps", &comm), YK_ERROR_SYSTEM);
    assert_non_null(strstr(yk_status_message(), "/proc/self/maps cannot be loaded: "));
}

static void a_library_with_no_table_is_refused(void **state)
{
    const struct yk_comm_backend *comm = NULL;
    (void)state;
    assert_fails(yk_comm_load_plugin("libm.so.6", &comm), YK_ERROR_INPUT,
                 "libm.so.6 is no plug-in of yoke for exchanges between ranks");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_missing_file_says_what_brings_it),
        cmocka_unit_test(a_file_that_is_no_library_is_refused),
        cmocka_unit_test(a_library_with_no_table_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
