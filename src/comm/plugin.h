/* Plugin: the name by which a comm that is loaded exports its table, see base/plugin_file.h. */
#ifndef YK_COMM_PLUGIN_H
#define YK_COMM_PLUGIN_H

#define YK_COMM_PLUGIN_TABLE "yk_comm_plugin" /* const struct yk_comm */

#endif
