#define _GNU_SOURCE
#include "acts.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define FAMILIES 64
#define IO_BEST_EFFORT_LAST (2 << 13 | 7)

enum { IO_PROCESS = 1, IO_GROUP, IO_USER };

struct scheduling {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
};

/* Upper halves that the kernel does not look at must not hide an argument from the filter. */
static const long noise = 7L << 32;

static void tell(const char *what, const char *whom, long result)
{
	printf("%s %s %s\n", what, whom, result >= 0 ? "YES" : strerrorname_np(errno));
}

static void govern(const char *whom, long pid)
{
	struct rlimit limit;
	struct sched_param zero = {0};
	struct scheduling scheduling = {.size = sizeof scheduling, .policy = SCHED_BATCH, .nice = 2};
	cpu_set_t processors;
	getrlimit(RLIMIT_CORE, &limit);
	sched_getaffinity(0, sizeof processors, &processors);
	tell("prlimit64", whom, syscall(SYS_prlimit64, pid, (long)RLIMIT_CORE, &limit, NULL));
	tell("sched_setaffinity", whom, syscall(SYS_sched_setaffinity, pid, sizeof processors, &processors));
	tell("sched_setscheduler", whom, syscall(SYS_sched_setscheduler, pid, (long)SCHED_BATCH, &zero));
	tell("sched_setparam", whom, syscall(SYS_sched_setparam, pid, &zero));
	tell("sched_setattr", whom, syscall(SYS_sched_setattr, pid, &scheduling, 0L));
	tell("setpriority", whom, syscall(SYS_setpriority, (long)PRIO_PROCESS, pid, 2L));
	tell("ioprio_set", whom, syscall(SYS_ioprio_set, (long)IO_PROCESS, pid, (long)IO_BEST_EFFORT_LAST));
}

static void govern_many(void)
{
	tell("setpriority", "own group", syscall(SYS_setpriority, (long)PRIO_PGRP, 0L, 3L));
	tell("setpriority", "first group", syscall(SYS_setpriority, (long)PRIO_PGRP, 1L | noise, 4L));
	tell("setpriority", "user", syscall(SYS_setpriority, PRIO_USER | noise, 0L, 5L));
	tell("setpriority", "this user", syscall(SYS_setpriority, (long)PRIO_USER, (long)getuid(), 5L));
	tell("ioprio_set", "own group", syscall(SYS_ioprio_set, (long)IO_GROUP, 0L, (long)IO_BEST_EFFORT_LAST));
	tell("ioprio_set", "first group", syscall(SYS_ioprio_set, (long)IO_GROUP, 1L | noise, (long)IO_BEST_EFFORT_LAST));
	tell("ioprio_set", "user", syscall(SYS_ioprio_set, IO_USER | noise, 0L, (long)IO_BEST_EFFORT_LAST));
	tell("ioprio_set", "this user", syscall(SYS_ioprio_set, (long)IO_USER, (long)getuid(), (long)IO_BEST_EFFORT_LAST));
}

static void open_sockets(void)
{
	int pair[2];
	char name[16];
	for (long family = 0; family < FAMILIES; family++) {
		snprintf(name, sizeof name, "%ld", family);
		for (long type = SOCK_STREAM; type <= SOCK_SEQPACKET; type++) {
			long descriptor = syscall(SYS_socket, family | noise, type, 0L);
			if (descriptor >= 0 || errno != EAFNOSUPPORT)
				tell("socket", name, descriptor);
			if (descriptor >= 0)
				close((int)descriptor);
			if (syscall(SYS_socketpair, family | noise, type, 0L, pair) == 0 || errno != EAFNOSUPPORT)
				tell("socketpair", name, 0);
		}
	}
}

/* The same kernel by another door. */
static void take_other_doors(void)
{
#if defined(__x86_64__)
	int status;
	tell("x32", "getpid", syscall(0x40000000L | SYS_getpid));
	fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		long number = 20;
		__asm__ volatile("int $0x80" : "+a"(number) : : "memory");
		_exit(0);
	}
	waitpid(child, &status, 0);
	printf("i386 getpid %s\n", WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS ? "SIGSYS" : "YES");
#endif
}

int try_calls(const char *unused)
{
	(void)unused;
	govern("init", 1);
	govern("masked init", 1 | noise);
	govern("self", 0);
	govern("own pid", getpid());
	govern_many();
	tell("io_uring_setup", "", syscall(SYS_io_uring_setup, 4L, NULL));
	tell("io_uring_enter", "", syscall(SYS_io_uring_enter, 0L, 0L, 0L, 0L, NULL, 0L));
	tell("io_uring_register", "", syscall(SYS_io_uring_register, 0L, 0L, NULL, 0L));
	open_sockets();
	take_other_doors();
	return 0;
}
