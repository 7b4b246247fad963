/*
 * yoke: train one model on processors that differ. This header is the complete interface of the
 * library: devices, models, their costs (measured or from datasheets), the plan of a training step,
 * its prediction, reports and exports, training, and trained models. docs/library.md shows how to
 * use it.
 *
 * Handles. A handle that was created (open, read, create, find) is destroyed by the
 * yoke_*_destroy() function of its type; destroying NULL does nothing. Other functions require a
 * handle; those that return a status fail if it is NULL. A handle keeps what it needs from other
 * handles alive, so that handles may be destroyed in any order.
 *
 * Records. A function that returns a `const struct yoke_… *` returns a record that the handle owns.
 * The record and its strings are valid as long as the handle. A number that is out of range gives
 * NULL. Later versions may add members at the end of a record: do not copy arrays of records.
 * Records that the caller fills must be initialized with {0}; a member that is 0 has its default
 * value.
 *
 * Strings. A function with a `char **out` returns a zero-terminated UTF-8 string, which the caller
 * frees with yoke_free().
 *
 * Failures. A function that can fail returns a yoke_status, writes its outputs only on success, and
 * stores a message for yoke_message(). The library does not print, does not end the process, and
 * does not change its locale or signal handlers.
 *
 * Processes. The library starts a child process, and waits for it, in two cases: a search that
 * solves an integer program forks a process for the solver; a training with the option "counters"
 * runs dcgmi, if it is installed, to read the hardware counters of NVIDIA GPUs.
 *
 * Threads. Clusters, models, graphs and order problems are immutable: any number of threads may use
 * one. One thread at a time may use any other handle. Different handles are independent.
 *
 * Times are in seconds, memory is in bytes. Devices, layers and everything else are numbered from
 * 0.
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
