/*
 * What one caller could leave behind for the next: files, IPC objects, and the init's own limits and scheduling, which
 * a process of the same uid may change and every later run would inherit. Looked at before the run, put back after
 * it, and looked at again: what cannot be proven clean is not used again.
 */
#ifndef TOOLYARD_ROOM_H
#define TOOLYARD_ROOM_H

#include <sched.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "outbox.h"

#define ROOM_FIXED_DIRECTORIES 3u
#define ROOM_DIRECTORIES_MAX (ROOM_FIXED_DIRECTORIES + DIRECTORIES_MAX)
#define REASON_MAX 256

/* What others of the same uid may do to the init through prlimit, sched_setattr, sched_setaffinity, ioprio_set. */
struct inheritance {
	struct rlimit limits[RLIM_NLIMITS];
	uint8_t scheduling[64];
	cpu_set_t processors;
	long io_priority;
};

struct room_directory {
	int descriptor;
	struct stat was;
	ssize_t attributes;
	char path[STRING_MAX];
};

struct room {
	char reason[REASON_MAX]; /* empty while nothing speaks against reuse */
	size_t count;
	struct room_directory directories[ROOM_DIRECTORIES_MAX];
	struct inheritance inheritance;
};

/* Before the tool starts: opens the directories, so that nothing can be put in their place. */
void room_inspect(struct room *room, const struct run_request *request);

/* After the last process is dead. Places the answer, again ready or not clean, in the outbox. */
bool room_restore(struct room *room, struct outbox *out);

#endif
