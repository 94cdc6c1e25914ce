#define _GNU_SOURCE
#include "reap.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "end.h"

#define DYING_MAX_US 2000000

static int64_t microseconds(struct timeval time)
{
	return (int64_t)time.tv_sec * 1000000 + time.tv_usec;
}

void reap(struct tally *tally)
{
	struct rusage usage;
	int status;
	pid_t pid;
	/* orphans come to us, so the sum over all that we reap is the sum over the run */
	while ((pid = wait4(-1, &status, WNOHANG | __WALL, &usage)) > 0) {
		tally->cpu_us += microseconds(usage.ru_utime) + microseconds(usage.ru_stime);
		if (usage.ru_maxrss * 1024 > tally->peak_bytes)
			tally->peak_bytes = usage.ru_maxrss * 1024;
		if (pid == tally->main_pid) {
			tally->main_dead = true;
			tally->main_status = status;
		}
	}
}

void kill_everything(struct tally *tally)
{
	const struct timespec pause = {0, 5000000};
	int64_t give_up = now_us() + DYING_MAX_US;
	sigset_t child;
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	/*
	 * One call reaches every process at once and no fork escapes it: a fork with a fatal signal pending fails. ESRCH
	 * is the proof: it comes only when nothing is left, not even a zombie or a process that somebody brought in.
	 */
	while (kill(-1, SIGKILL) == 0 || errno != ESRCH) {
		reap(tally);
		if (now_us() > give_up)
			end(END_KERNEL);
		sigtimedwait(&child, NULL, &pause);
	}
}
