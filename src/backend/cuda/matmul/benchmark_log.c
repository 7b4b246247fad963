#include "backend/cuda/matmul/benchmark_log.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    LINE_SIZE = 256,
    FILE_MODE = 0644,
};

static int64_t number_of(const cublasLtMatmulAlgo_t *algorithm,
                         cublasLtMatmulAlgoConfigAttributes_t attribute)
{
    int64_t number = 0; /* attributes have two or four bytes */
    size_t written = 0;
    int32_t wide = 0;
    uint16_t narrow = 0;
    if (cublasLtMatmulAlgoConfigGetAttribute(algorithm, attribute, &wide, sizeof wide, &written) ==
        CUBLAS_STATUS_SUCCESS) {
        number = wide;
    } else if (cublasLtMatmulAlgoConfigGetAttribute(algorithm, attribute, &narrow, sizeof narrow,
                                                    &written) == CUBLAS_STATUS_SUCCESS) {
        number = narrow;
    }
    return number;
}

static void add_line(const char *path, const char *line)
{
    const int file = open(path, O_WRONLY | O_APPEND | O_CREAT, FILE_MODE);
    if (file >= 0) {
        const ssize_t written = write(file, line, strlen(line)); /* all ranks may write to it */
        (void)written;
        (void)close(file);
    }
}

void yk_matmul_benchmark_log(const struct yk_matmul_shape *shape,
                             const cublasLtMatmulAlgo_t *algorithm, float milliseconds,
                             const char *result)
{
    const char *path = getenv("YOKE_TELL_PRODUCTS");
    char line[LINE_SIZE];
    if (!path || !*path) {
        return;
    }
    (void)snprintf(
        line, sizeof line,
        "product %" PRId64 " x %" PRId64 " x %" PRId64 "%s%s: algorithm %" PRId64 ", tile %" PRId64
        ", stages %" PRId64 ", cluster %" PRId64 ", splits %" PRId64 ", %g ms: %s\n",
        (int64_t)shape->m, (int64_t)shape->n, (int64_t)shape->k,
        shape->a_transposed ? ", a transposed" : "", shape->b_transposed ? ", b transposed" : "",
        number_of(algorithm, CUBLASLT_ALGO_CONFIG_ID),
        number_of(algorithm, CUBLASLT_ALGO_CONFIG_TILE_ID),
        number_of(algorithm, CUBLASLT_ALGO_CONFIG_STAGES_ID),
        number_of(algorithm, CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID),
        number_of(algorithm, CUBLASLT_ALGO_CONFIG_SPLITK_NUM), (double)milliseconds, result);
    add_line(path, line);
}
