/* The exit report of PROTOCOL.md. */
#ifndef TOOLYARD_REPORT_H
#define TOOLYARD_REPORT_H

#include "outbox.h"
#include "reap.h"

enum verdict {
	VERDICT_EXITED,
	VERDICT_SIGNALED,
	VERDICT_TIMED_OUT,
	VERDICT_CANCELLED,
	VERDICT_OUTPUT_TOO_LARGE,
	VERDICT_OUT_OF_MEMORY,
	VERDICT_NONE,
};

struct report {
	enum verdict cause;
	bool incomplete;
	bool oom_known;
	uint64_t oom_kills;
	int64_t wall_us;
	uint64_t stdout_sent, stderr_sent, stderr_dropped;
};

void report_exit(struct outbox *out, const struct report *report, const struct tally *tally);

void report_start_failure(struct outbox *out, int error, const char *step, const char *program);

#endif
