#define _GNU_SOURCE
#include "acts.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static void attempt(const char *what, long result)
{
	printf("%s %s\n", what, result >= 0 ? "YES" : strerrorname_np(errno));
}

/* Everything a process of the same uid may try against the init. */
int attack(const char *unused)
{
	(void)unused;
	char memory[16];
	struct iovec here = {memory, sizeof memory}, there = {(void *)0x400000, sizeof memory};
	const char *const paths[] = {"mem", "environ", "fd/0", "fd/1", "maps", "cwd/x", "oom_score_adj", "syscall", "stack"};
	for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
		char path[64];
		snprintf(path, sizeof path, "/proc/1/%s", paths[i]);
		attempt(path, open(path, i == 3 || i == 6 ? O_WRONLY : O_RDONLY));
	}
	attempt("opendir", opendir("/proc/1/fd") == NULL ? -1 : 0);
	attempt("attach", ptrace(PTRACE_ATTACH, 1, NULL, NULL));
	attempt("seize", ptrace(PTRACE_SEIZE, 1, NULL, NULL));
	attempt("vm_readv", process_vm_readv(1, &here, 1, &there, 1, 0));
	attempt("vm_writev", process_vm_writev(1, &here, 1, &there, 1, 0));
	int pidfd = (int)syscall(SYS_pidfd_open, 1, 0);
	attempt("getfd", pidfd < 0 ? -1 : syscall(SYS_pidfd_getfd, pidfd, 1, 0));
	for (int signal_number = 1; signal_number < NSIG; signal_number++)
		for (int times = 0; times < 3; times++)
			kill(1, signal_number);
	print_line_of("/proc/1/status", "SigPnd");
	print_line_of("/proc/1/status", "ShdPnd");
	return 0;
}
