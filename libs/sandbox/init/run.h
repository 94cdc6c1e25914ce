/* One run of the tool, from the request to the report. */
#ifndef TOOLYARD_RUN_H
#define TOOLYARD_RUN_H

#include "host.h"
#include "tool.h"

/* Readable when a child died. */
int run_watch_children(void);

/* When it returns no process is left, and the report is in the host's outbox. */
void run_tool(struct host *host, const struct run_request *request, const struct command *command, int children);

#endif
