#define _GNU_SOURCE
#include "run.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "cgroup.h"
#include "end.h"
#include "report.h"

#define GRACE_US 500000
#define SCRATCH_BYTES (16 * 1024)

enum { SLOT_CHILDREN = HOST_POLLS, SLOT_STARTED, SLOT_OUT, SLOT_ERR, SLOT_IN, SLOTS };

struct run {
	struct host *host;
	const struct run_request *request;
	const struct command *command;
	struct tool tool;
	struct tally tally;
	struct report report;
	bool failed;
	int64_t began_at, kill_at;
	uint64_t oom_before;
	size_t payload_sent;
};

/* Where stderr over its cap ends. */
static uint8_t scratch[SCRATCH_BYTES];

static void step(struct run *run, int children);
static void fail(struct run *run, const struct start_failure *failure);
static void finish(struct run *run);

int run_watch_children(void)
{
	sigset_t child;
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, NULL);
	return signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
}

void run_tool(struct host *host, const struct run_request *request, const struct command *command, int children)
{
	struct run run = {.host = host, .request = request, .command = command, .kill_at = NEVER};
	struct start_failure failure;
	run.report.cause = VERDICT_NONE;
	run.began_at = now_us();
	run.report.oom_known = cgroup_oom_kills(&run.oom_before);
	if (!tool_start(&run.tool, request, command, &failure)) {
		fail(&run, &failure);
		return;
	}
	run.tally.main_pid = run.tool.pid;
	while (!run.tally.main_dead || run.tool.started >= 0 || run.tool.out >= 0 || run.tool.err >= 0)
		step(&run, children);
	explicit_bzero(scratch, run.report.stderr_dropped > 0 ? sizeof scratch : 0);
	if (!run.failed)
		report_exit(&host->out, &run.report, &run.tally);
}

/* --- the pipes --- */

static void close_end(int *descriptor)
{
	if (*descriptor >= 0)
		close(*descriptor);
	*descriptor = -1;
}

/* True when nothing more will come. Processes that are all dead write nothing: then an empty pipe is the end. */
static bool at_end(struct run *run, ssize_t count)
{
	if (count > 0)
		return false;
	if (count < 0 && (errno == EAGAIN || errno == EINTR)) {
		run->report.incomplete |= run->tally.main_dead;
		return run->tally.main_dead;
	}
	return true;
}

static void kill_for(struct run *run, enum verdict cause)
{
	if (run->report.cause == VERDICT_NONE)
		run->report.cause = cause;
	kill(-1, SIGKILL);
}

static void pump_stdout(struct run *run)
{
	uint8_t over;
	uint64_t left = run->request->stdout_cap - run->report.stdout_sent;
	size_t room = outbox_room(&run->host->out);
	if (left > 0 && room == 0)
		return;
	ssize_t count = left > 0 ? outbox_take(&run->host->out, FRAME_STDOUT, run->tool.out, left < room ? left : room)
				 : read(run->tool.out, &over, 1);
	if (count > 0 && left > 0)
		run->report.stdout_sent += (uint64_t)count;
	if (count > 0 && left == 0)
		kill_for(run, VERDICT_OUTPUT_TOO_LARGE);
	if (at_end(run, count) || (count > 0 && left == 0))
		close_end(&run->tool.out);
}

static void pump_stderr(struct run *run)
{
	uint64_t left = run->request->stderr_cap - run->report.stderr_sent;
	size_t room = outbox_room(&run->host->out);
	if (left > 0 && room == 0)
		return;
	ssize_t count = left > 0 ? outbox_take(&run->host->out, FRAME_STDERR, run->tool.err, left < room ? left : room)
				 : read(run->tool.err, scratch, sizeof scratch);
	if (count > 0)
		*(left > 0 ? &run->report.stderr_sent : &run->report.stderr_dropped) += (uint64_t)count;
	if (at_end(run, count))
		close_end(&run->tool.err);
}

static void hand_over_payload(struct run *run)
{
	const struct run_request *request = run->request;
	ssize_t count = write(run->tool.in, request->payload + run->payload_sent, request->payload_length - run->payload_sent);
	if (count > 0)
		run->payload_sent += (size_t)count;
	bool refused = count < 0 && errno != EAGAIN && errno != EINTR;
	if (refused || run->payload_sent == request->payload_length) {
		explicit_bzero(request->payload, request->payload_length);
		close_end(&run->tool.in);
	}
}

/* --- beginning and end --- */

static void fail(struct run *run, const struct start_failure *failure)
{
	run->failed = true;
	report_start_failure(&run->host->out, failure->error, failure->step, run->command->words[0]);
}

static void note_start(struct run *run)
{
	struct start_failure failure;
	if (!tool_started(&run->tool, &failure)) {
		fail(run, &failure);
		return;
	}
	outbox_put(&run->host->out, FRAME_STARTED, NULL, 0);
	if (!run->request->payload_on_stdin)
		explicit_bzero(run->request->payload, run->request->payload_length);
}

static void finish(struct run *run)
{
	uint64_t oom_now;
	kill_everything(&run->tally);
	close_end(&run->tool.in);
	run->report.wall_us = now_us() - run->began_at;
	run->report.oom_known = run->report.oom_known && cgroup_oom_kills(&oom_now);
	if (run->report.oom_known)
		run->report.oom_kills = oom_now - run->oom_before;
}

/* --- one turn of the loop --- */

static void keep_time(struct run *run)
{
	int64_t now = now_us();
	if (run->tally.main_dead)
		return;
	bool late = now - run->began_at >= (int64_t)run->request->deadline_ms * 1000;
	if (run->report.cause == VERDICT_NONE && (late || run->host->cancelled)) {
		run->report.cause = late ? VERDICT_TIMED_OUT : VERDICT_CANCELLED;
		run->kill_at = now + GRACE_US;
		kill(-1, SIGTERM);
	}
	if (now >= run->kill_at) {
		run->kill_at = NEVER;
		kill(-1, SIGKILL);
	}
}

static int64_t next_time(const struct run *run)
{
	if (run->tally.main_dead)
		return outbox_room(&run->host->out) > 0 ? now_us() : NEVER;
	if (run->report.cause == VERDICT_NONE)
		return run->began_at + (int64_t)run->request->deadline_ms * 1000;
	return run->kill_at;
}

/* A descriptor of -1 is skipped by poll: nothing is read before the start is known or while there is no room. */
static void arrange(const struct run *run, struct pollfd *polls, int children)
{
	const struct tool *tool = &run->tool;
	bool started = tool->started < 0;
	bool room = outbox_room(&run->host->out) > 0;
	bool read_out = started && (room || run->report.stdout_sent == run->request->stdout_cap);
	bool read_err = started && (room || run->report.stderr_sent == run->request->stderr_cap);
	polls[SLOT_CHILDREN] = (struct pollfd){.fd = children, .events = POLLIN};
	polls[SLOT_STARTED] = (struct pollfd){.fd = tool->started, .events = POLLIN};
	polls[SLOT_OUT] = (struct pollfd){.fd = read_out ? tool->out : -1, .events = POLLIN};
	polls[SLOT_ERR] = (struct pollfd){.fd = read_err ? tool->err : -1, .events = POLLIN};
	polls[SLOT_IN] = (struct pollfd){.fd = tool->in, .events = POLLOUT};
}

static void step(struct run *run, int children)
{
	struct pollfd polls[SLOTS];
	struct signalfd_siginfo news;
	arrange(run, polls, children);
	host_wait(run->host, polls, SLOTS, next_time(run));
	bool was_dead = run->tally.main_dead;
	if (polls[SLOT_STARTED].revents != 0)
		note_start(run);
	if (polls[SLOT_IN].revents != 0)
		hand_over_payload(run);
	if (run->tool.started < 0 && run->tool.out >= 0 && (was_dead || polls[SLOT_OUT].revents != 0))
		pump_stdout(run);
	if (run->tool.started < 0 && run->tool.err >= 0 && (was_dead || polls[SLOT_ERR].revents != 0))
		pump_stderr(run);
	if (polls[SLOT_CHILDREN].revents != 0) {
		while (read(children, &news, sizeof news) > 0)
			;
		reap(&run->tally);
		if (run->tally.main_dead && !was_dead)
			finish(run);
	}
	keep_time(run);
}
