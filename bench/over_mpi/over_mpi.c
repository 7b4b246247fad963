#include "over_mpi/over_mpi.h"

#include "comm/comm.h"
#include "device_line.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    PATH_SIZE = 4096,
    WORDS_MOST = 32,
};

static const char plugin_file[] = "/../yoke-mpi.so"; /* beside the folder of benchmarks */

/* Comes back only where there is no mpirun. */
static void start_ranks(const struct over_mpi *bench, char *path, int argc, char **argv)
{
    char *words[WORDS_MOST + 1] = {"mpirun",    "--oversubscribe",
                                   "--bind-to", (char *)(uintptr_t)bench->bound_to,
                                   "-n",        (char *)(uintptr_t)bench->ranks};
    int count = 6;
    if (getuid() == 0) {
        words[count++] = "--allow-run-as-root";
    }
    words[count++] = path;
    for (int i = 1; i < argc && count < WORDS_MOST; i++) {
        words[count++] = argv[i];
    }
    (void)execvp(words[0], words);
    printf("%s: left out, there is no mpirun here\n", bench->name);
}

static yk_status run(const struct over_mpi *bench, const char *plugin)
{
    yk_status status;
    const struct yk_comm_backend *comm = NULL;
    const struct yk_backend *backend = &yk_backend_cpu;
    const struct yk_backend_device_options options = {.threads = 1};
    struct yk_comm_options comm_options = {.backend = backend, .block_bytes = bench->block_bytes};
    struct yk_communicator ranks = {0};
    YK_TRY_GOTO(yk_comm_load_plugin(plugin, &comm), undo);
    YK_TRY_GOTO(backend->open(&options, &comm_options.device), undo);
    YK_TRY_GOTO(backend->lane_create(comm_options.device, "comm", &comm_options.lane), undo);
    YK_TRY_GOTO(yk_communicator_open(comm, &comm_options, &ranks), undo);
    status = bench->measure(&ranks, &comm_options);
undo:
    yk_communicator_close(&ranks);
    backend->lane_destroy(comm_options.lane);
    backend->close(comm_options.device);
    return status;
}

int over_mpi_run(const struct over_mpi *bench, int argc, char **argv)
{
    char path[PATH_SIZE];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path - sizeof plugin_file);
    if (length <= 0) {
        return 1;
    }
    path[length] = '\0';
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    if (!rank) {
        start_ranks(bench, path, argc, argv);
        return 0;
    }
    memcpy(strrchr(path, '/'), plugin_file, sizeof plugin_file);
    if (strcmp(rank, "0") == 0) {
        print_device_line(bench->name, "every rank", "1 thread");
        (void)fflush(stdout);
    }
    const yk_status status = run(bench, path);
    if (status != YK_OK) {
        (void)fprintf(stderr, "%s: %s\n", bench->name, yk_status_message());
    }
    return status;
}
