/*
 * The link to the worker: frames in, frames out, and the watch over its silence. Every wait of the init goes through
 * host_wait, so a closed stdin, a malformed frame and a silent host end the sandbox wherever it happens to be.
 */
#ifndef TOOLYARD_HOST_H
#define TOOLYARD_HOST_H

#include <poll.h>

#include "outbox.h"

#define HOST_POLLS 2u

struct host {
	struct outbox out;
	uint8_t header[HEADER_BYTES];
	size_t header_have;
	uint8_t *body;
	size_t body_length, body_have;
	bool busy, cancelled, over;
	int64_t heard_at, silence_us;
};

/* `host` is zero already: clearing it would make pages resident that most sandboxes never need. */
void host_open(struct host *host);

/* Waits for a run request. From here until host_rest the host is watched. */
void host_next_run(struct host *host, struct run_request *run);

/* Waits until something happens or `wake_at` (microseconds, NEVER). The first HOST_POLLS places are the host's own. */
void host_wait(struct host *host, struct pollfd *polls, nfds_t count, int64_t wake_at);

/* Waits until the host has taken everything. */
void host_flush(struct host *host);

/* Wipes the request and everything that was sent. */
void host_forget(struct host *host);

/* Nothing is going on any more: silence is allowed. */
void host_rest(struct host *host);

/* Ends the init when the host has closed its stdin, or says nothing: an end at once would keep an engine busy, and the
   caller waiting for its answer. */
_Noreturn void host_leave(struct host *host);

#endif
