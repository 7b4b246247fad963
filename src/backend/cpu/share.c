#include "backend/cpu/share.h"

void yk_cpu_share(int threads, int64_t pieces, yk_cpu_piece run, const void *work)
{
    if (threads <= 1 || pieces <= 1) { /* OpenMP would set up its threads even for one */
        for (int64_t piece = 0; piece < pieces; piece++) {
            run(work, piece);
        }
        return;
    }
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t piece = 0; piece < pieces; piece++) {
        run(work, piece);
    }
}
