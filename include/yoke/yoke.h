/*
 * yoke: trains one model on processors that differ. This header is the complete interface of the
 * library: devices, models, their costs (measured or from datasheets), the plan of a training step
 * and its prediction, reports and exports, training, and trained models. docs/library.md shows how
 * to use the library.
 *
 * Handles. A handle that a function created (open, read, create, find) is destroyed with the
 * yoke_*_destroy() function of its type; destroying NULL does nothing. Other functions require a
 * handle that is not NULL; those that return a status fail if the handle is NULL. A handle keeps
 * alive everything that it needs from other handles, so handles may be destroyed in any order.
 *
 * Records. A function that returns a `const struct yoke_… *` returns a record that the handle owns.
 * The record and its strings are valid until the handle is destroyed. The function returns NULL if
 * an index is out of range. Later versions may add members at the end of a record, so do not copy
 * arrays of records. Records that the caller fills must be initialized with {0}; a member that is 0
 * has its default value.
 *
 * Strings. A function with a `char **out` returns a zero-terminated UTF-8 string, which the caller
 * frees with yoke_free().
 *
 * Failures. A function that can fail returns a yoke_status and writes its outputs only on success.
 * After a failure, yoke_message() returns a message. The library does not print, does not end the
 * process, and does not change the locale or the signal handlers of the process.
 *
 * Processes. The library starts a child process, and waits for it, in two cases: a search that
 * solves an integer program forks a process for the solver; a training run with the option
 * "counters" runs dcgmi, if dcgmi is installed, to read the hardware counters of NVIDIA GPUs.
 *
 * Threads. Clusters, models, graphs and order problems are immutable: any number of threads may use
 * the same handle. Any thread may raise a stop flag (yoke/search.h). A handle of any other type may
 * be used by only one thread at a time. Different handles are independent.
 *
 * Times are in seconds, memory sizes are in bytes. Devices, layers and everything else are numbered
 * from 0.
 */
#ifndef YOKE_YOKE_H
#define YOKE_YOKE_H

#include <yoke/cluster.h>
#include <yoke/costs.h>
#include <yoke/generate.h>
#include <yoke/graph.h>
#include <yoke/model.h>
#include <yoke/order.h>
#include <yoke/placements.h>
#include <yoke/plan.h>
#include <yoke/profile.h>
#include <yoke/report.h>
#include <yoke/request.h>
#include <yoke/schedule.h>
#include <yoke/search.h>
#include <yoke/status.h>
#include <yoke/tradeoff.h>
#include <yoke/train.h>

#endif
