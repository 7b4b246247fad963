/* Datasheets: the devices and links that can be named in a cluster, as tables and as JSON. */
#ifndef YK_JOB_MACHINE_DATASHEETS_H
#define YK_JOB_MACHINE_DATASHEETS_H

#include "base/status.h"
#include "base/text.h"

yk_status yk_devices_write_datasheets_text(struct yk_text *out) YK_MUST_USE;
yk_status yk_devices_write_datasheets_json(struct yk_text *out) YK_MUST_USE;

#endif
