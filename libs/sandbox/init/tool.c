#define _GNU_SOURCE
#include "tool.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "end.h"

enum { READ_END, WRITE_END };

struct pipes {
	int started[2], out[2], err[2], in[2];
};

static bool open_pipes(struct pipes *pipes, bool with_stdin);
static void close_pipe(int ends[2]);
static int keep_end(int ends[2], int kept);
_Noreturn static void become_tool(struct pipes *pipes, const struct run_request *run, const struct command *command);

bool tool_start(struct tool *tool, const struct run_request *run, const struct command *command,
		struct start_failure *failure)
{
	struct pipes pipes;
	if (command->unfiltered != 0) {
		*failure = (struct start_failure){command->unfiltered, "filter of system calls"};
		return false;
	}
	bool opened = open_pipes(&pipes, run->payload_on_stdin);
	*failure = (struct start_failure){errno, "pipes and /dev/null"};
	if (opened) {
		tool->pid = fork();
		*failure = (struct start_failure){errno, "fork"};
		if (tool->pid == 0)
			become_tool(&pipes, run, command);
	}
	if (!opened || tool->pid < 0) {
		close_pipe(pipes.started);
		close_pipe(pipes.out);
		close_pipe(pipes.err);
		close_pipe(pipes.in);
		return false;
	}
	tool->started = keep_end(pipes.started, READ_END);
	tool->out = keep_end(pipes.out, READ_END);
	tool->err = keep_end(pipes.err, READ_END);
	tool->in = keep_end(pipes.in, WRITE_END);
	return true;
}

bool tool_started(struct tool *tool, struct start_failure *failure)
{
	ssize_t count = read(tool->started, failure, sizeof *failure);
	close(tool->started);
	tool->started = -1;
	return count != (ssize_t)sizeof *failure;
}

void signals_to_default(void)
{
	sigset_t none;
	for (int number = 1; number < NSIG; number++)
		signal(number, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static bool open_pipes(struct pipes *pipes, bool with_stdin)
{
	*pipes = (struct pipes){{-1, -1}, {-1, -1}, {-1, -1}, {-1, -1}};
	if (pipe2(pipes->started, O_CLOEXEC) != 0 || pipe2(pipes->out, O_CLOEXEC) != 0 ||
	    pipe2(pipes->err, O_CLOEXEC) != 0)
		return false;
	if (with_stdin)
		return pipe2(pipes->in, O_CLOEXEC) == 0;
	pipes->in[READ_END] = open("/dev/null", O_RDONLY | O_CLOEXEC);
	return pipes->in[READ_END] >= 0;
}

static void close_pipe(int ends[2])
{
	for (int i = 0; i < 2; i++)
		if (ends[i] >= 0)
			close(ends[i]);
}

/* Non-blocking on our side only: the tool's end is a description of its own and blocks as programs expect. */
static int keep_end(int ends[2], int kept)
{
	close(ends[1 - kept]);
	if (ends[kept] >= 0 && fcntl(ends[kept], F_SETFL, O_NONBLOCK) != 0)
		end(END_KERNEL);
	return ends[kept];
}

/* The parent is this process' copy: a literal has the same address in both, so the step travels as a pointer. */
_Noreturn static void give_up(const char *step)
{
	struct start_failure failure = {errno, step};
	ssize_t ignored = write(3, &failure, sizeof failure);
	(void)ignored;
	_exit(127);
}

/* When memory runs out the tool has to die before the init. Raising one's own score needs no privilege. */
static void volunteer_for_oom(void)
{
	int file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	if (file < 0)
		return;
	ssize_t ignored = write(file, "1000", 4);
	(void)ignored;
	close(file);
}

_Noreturn static void become_tool(struct pipes *pipes, const struct run_request *run, const struct command *command)
{
	setsid();
	if (dup2(pipes->in[READ_END], 0) != 0 || dup2(pipes->out[WRITE_END], 1) != 1 ||
	    dup2(pipes->err[WRITE_END], 2) != 2)
		_exit(127);
	if (pipes->started[WRITE_END] != 3 && dup3(pipes->started[WRITE_END], 3, O_CLOEXEC) != 3)
		_exit(127);
	/* where the call does not exist nothing leaks either: the init opens everything close-on-exec */
	syscall(SYS_close_range, 4u, ~0u, 0u);
	/* no other process exists at this moment; without this its own files in /proc would belong to root */
	prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
	volunteer_for_oom();
	for (size_t i = 0; i < run->limit_count; i++) {
		struct rlimit limit = {run->limits[i].limit, run->limits[i].limit};
		if (setrlimit((__rlimit_resource_t)run->limits[i].resource, &limit) != 0)
			give_up("setrlimit");
	}
	for (size_t i = 0; i < run->entry_count; i++)
		if (putenv(run->entries[i]) != 0)
			give_up("putenv");
	command->words[command->count] = run->payload_on_stdin ? NULL : run->payload;
	signals_to_default();
	execvpe(command->words[0], command->words, environ);
	give_up("exec");
}
