#include "backend/cpu/share.h"

void yk_cpu_share(int threads, int64_t pieces, yk_cpu_piece run, const void *work)
{
    (void)threads; /* where there is no OpenMP */
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1 && pieces > 1)
    for (int64_t piece = 0; piece < pieces; piece++) {
        run(work, piece);
    }
}
