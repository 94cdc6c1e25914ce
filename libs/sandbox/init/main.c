/* PID 1 of a sandbox. PROTOCOL.md says what it promises to the worker, README.md what it promises to the tool. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "end.h"
#include "filter.h"
#include "host.h"
#include "room.h"
#include "run.h"

#ifndef TOOLYARD_INIT_KEY
#define TOOLYARD_INIT_KEY "none"
#endif

/* build.ts reads from the file itself what it was built from. */
__attribute__((used)) static const char build_key[] = "toolyard-init-key=" TOOLYARD_INIT_KEY ";";

_Noreturn static void refuse(const char *why)
{
	ssize_t ignored = write(STDERR_FILENO, why, strlen(why));
	(void)ignored;
	end(END_REFUSED);
}

/* A tool of the same uid finds nothing to hold on to: no memory, no descriptors, no signal that is heard. */
static void harden(void)
{
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0)
		end(END_KERNEL);
	signals_to_default();
	/* ignored, not blocked: a blocked signal stays pending, and the next caller's run would begin with it */
	for (int number = 1; number < NSIG; number++)
		if (number != SIGCHLD)
			signal(number, SIG_IGN);
	for (int number = STDIN_FILENO; number <= STDERR_FILENO; number++)
		if (fcntl(number, F_SETFD, FD_CLOEXEC) != 0)
			end(END_KERNEL);
	if (syscall(SYS_close_range, 3u, ~0u, 0u) != 0)
		for (int number = 3; number < 65536; number++)
			close(number);
}

int main(int argc, char **argv)
{
	static struct host host;
	static struct room room;
	/* anywhere else kill(-1) would reach processes that are not ours */
	if (getpid() != 1)
		refuse("toolyard-init: must be PID 1 of a sandbox\n");
	if (argc < 2)
		refuse("toolyard-init: no tool given\n");
	harden();
	int children = run_watch_children();
	if (children < 0)
		end(END_KERNEL);
	/* the own name makes place for the payload behind the tool's words; argv[argc] is NULL already */
	memmove(argv, argv + 1, (size_t)(argc - 1) * sizeof *argv);
	argv[argc - 1] = NULL;
	/* here and not before each exec: a tool inherits it, and no run pays for it */
	int unfiltered = filter_calls() ? 0 : errno;
	struct command command = {argv, (size_t)(argc - 1), unfiltered};

	host_open(&host);
	for (;;) {
		struct run_request request;
		host_next_run(&host, &request);
		if (request.reuse)
			room_inspect(&room, &request);
		run_tool(&host, &request, &command, children);
		host_flush(&host);
		host_forget(&host);
		if (!request.reuse)
			host_leave(&host);
		bool clean = room_restore(&room, &host.out);
		if (!clean) {
			host_flush(&host);
			end(END_NOT_CLEAN);
		}
		host_rest(&host);
	}
}
