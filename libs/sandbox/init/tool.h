/* The tool's main process: how it comes to be, and the pipes that lead to it. */
#ifndef TOOLYARD_TOOL_H
#define TOOLYARD_TOOL_H

#include <sys/types.h>

#include "frame.h"

/* The image's ENTRYPOINT; words[count] is the free place for the payload, words[count + 1] is NULL. */
struct command {
	char **words;
	size_t count;
	/* an errno where there is no filter of system calls: then nothing is started */
	int unfiltered;
};

/* Why the tool could not be started. */
struct start_failure {
	int error;
	const char *step;
};

/* Our ends, non-blocking; -1 when closed. */
struct tool {
	pid_t pid;
	int started;
	int out, err, in;
};

/* False with `failure` filled in when no process came to be. */
bool tool_start(struct tool *tool, const struct run_request *run, const struct command *command,
		struct start_failure *failure);

/* What became of the exec, once tool->started is readable: true when the tool runs. Closes tool->started. */
bool tool_started(struct tool *tool, struct start_failure *failure);

/* Puts the signals back as a program expects them. */
void signals_to_default(void);

#endif
