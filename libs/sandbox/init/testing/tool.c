/* The tool that the tests run: the first word of its last argument says how it behaves. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "calls.h"

static int number(const char *text)
{
	return (int)strtol(text, NULL, 10);
}

static void print_line_of(const char *path, const char *key)
{
	char line[512];
	FILE *file = fopen(path, "r");
	while (file != NULL && fgets(line, sizeof line, file) != NULL)
		if (strncmp(line, key, strlen(key)) == 0)
			printf("%s", line);
	if (file != NULL)
		fclose(file);
}

/* How a program finds itself: descriptors, session, signals. */
static int state(const char *unused)
{
	(void)unused;
	char link[256];
	for (int fd = 0; fd < 256; fd++)
		if (fcntl(fd, F_GETFD) != -1)
			printf("fd %d\n", fd);
	ssize_t length = readlink("/proc/self/fd/0", link, sizeof link - 1);
	link[length < 0 ? 0 : length] = '\0';
	printf("stdin %s\nleader %d\nblocking %d\n", link, getsid(0) == getpid(), (fcntl(1, F_GETFL) & O_NONBLOCK) == 0);
	print_line_of("/proc/self/status", "Sig");
	printf("oom ");
	fflush(stdout);
	print_line_of("/proc/self/oom_score_adj", "");
	struct rlimit limit;
	getrlimit(RLIMIT_NPROC, &limit);
	printf("nproc %d\nfrom %s id %s home %s\n", (int)limit.rlim_cur, getenv("FROM_CONTAINER"),
	       getenv("TOOLYARD_INVOCATION_ID"), getenv("HOME"));
	return 0;
}

static int cat(const char *unused)
{
	(void)unused;
	static char buffer[65536];
	ssize_t count;
	while ((count = read(0, buffer, sizeof buffer)) > 0)
		for (ssize_t done = 0, step; done < count; done += step)
			if ((step = write(1, buffer + done, (size_t)(count - done))) < 0)
				return 1;
	return 0;
}

static void bye(int signal_number)
{
	(void)signal_number;
	if (write(1, "bye", 3) == 3)
		_exit(3);
}

static int wait_forever(const char *how)
{
	signal(SIGTERM, strcmp(how, "politely") == 0 ? bye : SIG_IGN);
	if (strcmp(how, "stopped") == 0)
		raise(SIGSTOP);
	if (write(1, "ready", 5) != 5)
		return 1;
	if (strcmp(how, "closed") == 0) {
		close(1);
		close(2);
	}
	for (;;)
		pause();
}

static int pour(const char *text)
{
	static char block[65536];
	memset(block, 'x', sizeof block);
	long left = number(text + 2) < 0 ? -1 : number(text + 2);
	int fd = text[0] == 'e' ? 2 : 1;
	while (left != 0) {
		size_t step = left > 0 && left < (long)sizeof block ? (size_t)left : sizeof block;
		ssize_t count = write(fd, block, step);
		if (count < 0)
			return 1;
		left -= left > 0 ? count : 0;
	}
	return write(1, "done", 4) != 4;
}

/* N daemons, double-forked, each in a session of its own, holding on to stdout. */
static int daemons(const char *count)
{
	for (int i = 0; i < number(count); i++)
		if (fork() == 0) {
			setsid();
			signal(SIGTERM, SIG_IGN);
			if (fork() == 0)
				for (;;)
					pause();
			_exit(0);
		}
	while (wait(NULL) > 0)
		;
	printf("left");
	return 0;
}

static int count_zombies(void)
{
	int found = 0;
	struct dirent *entry;
	DIR *directory = opendir("/proc");
	while ((entry = readdir(directory)) != NULL) {
		char path[300], line[256] = "";
		snprintf(path, sizeof path, "/proc/%s/stat", entry->d_name);
		FILE *file = number(entry->d_name) > 1 ? fopen(path, "r") : NULL;
		if (file == NULL)
			continue;
		if (fgets(line, sizeof line, file) != NULL && strstr(line, ") Z ") != NULL)
			found++;
		fclose(file);
	}
	closedir(directory);
	return found;
}

/* Orphans that die while the tool lives: somebody has to bury them before it ends. */
static int orphans(const char *count)
{
	for (int i = 0; i < number(count); i++)
		if (fork() == 0) {
			if (fork() == 0)
				_exit(0);
			_exit(0);
		}
	while (wait(NULL) > 0)
		;
	while (count_zombies() > 0)
		sched_yield();
	printf("buried");
	return 0;
}

static int processes(const char *unused)
{
	(void)unused;
	int found = 0;
	struct dirent *entry;
	DIR *directory = opendir("/proc");
	while ((entry = readdir(directory)) != NULL)
		found += number(entry->d_name) > 1;
	closedir(directory);
	printf("%d", found);
	return 0;
}

static int bomb(const char *unused)
{
	(void)unused;
	signal(SIGTERM, SIG_IGN);
	for (;;)
		if (fork() > 0 && getpid() < 0)
			return 1;
}

static int eat(const char *megabytes)
{
	size_t size = (size_t)number(megabytes) << 20;
	char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return 1;
	memset(memory, 1, size);
	printf("ate");
	return 0;
}

/* A child is the one that eats; the tool copes with its death. */
static int feed(const char *megabytes)
{
	int status;
	pid_t child = fork();
	if (child == 0)
		_exit(eat(megabytes));
	waitpid(child, &status, 0);
	printf("child %d", WIFSIGNALED(status) ? WTERMSIG(status) : 0);
	return 0;
}

static void attempt(const char *what, long result)
{
	printf("%s %s\n", what, result >= 0 ? "YES" : strerrorname_np(errno));
}

/* Everything a process of the same uid may try against the init. */
static int attack(const char *unused)
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

static void deep_tree(int depth)
{
	if (chdir("/tmp") != 0)
		exit(1);
	for (int i = 0; i < depth; i++)
		if (mkdir("a-directory-in-a-directory", 0700) != 0 || chdir("a-directory-in-a-directory") != 0)
			exit(1);
	if (creat("at-the-bottom", 0400) < 0)
		exit(1);
}

static void many_files(int count)
{
	char path[64];
	for (int i = 0; i < count; i++) {
		snprintf(path, sizeof path, i % 10 == 0 ? "/tmp/many-%d" : "/tmp/many-%d/x%d", i / 10 * 10, i);
		if (i % 10 == 0 ? mkdir(path, 0777) : mknod(path, S_IFREG | 0600, 0))
			exit(1);
	}
}

/* Leaves something behind; each name is one way. */
static int litter(const char *what)
{
	if (strcmp(what, "deep") == 0)
		deep_tree(20000);
	else if (strcmp(what, "many") == 0)
		many_files(30000);
	else if (strcmp(what, "unreadable") == 0)
		return mkdir("/tmp/no", 0700) || mkdir("/tmp/no/nested", 0700) || creat("/tmp/no/nested/f", 0) < 0 ||
		       chmod("/tmp/no/nested", 0) || chmod("/tmp/no", 0);
	else if (strcmp(what, "links") == 0)
		return mkdir("/tmp/d", 0700) || symlink("/data", "/tmp/d/out") || symlink("/data/kept", "/tmp/kept") ||
		       symlink("..", "/tmp/up") || mkfifo("/tmp/fifo", 0600) || link("/tmp/fifo", "/tmp/again");
	else if (strcmp(what, "names") == 0)
		return mkdir("/tmp/.lifted-0", 0700) || mkdir("/tmp/.lifted-0/x", 0) || creat("/tmp/.lifted-1", 0) < 0 ||
		       mkdir("/tmp/ \n\xff", 0700) || mkdir("/tmp/ \n\xff/.lifted-0", 0700) || mkdir("/tmp/ \n\xff/.lifted-0/y", 0) ||
		       symlink("/", "/tmp/.lifted-2");
	else if (strcmp(what, "shm") == 0)
		return creat("/dev/shm/segment", 0) < 0;
	else if (strcmp(what, "sysv") == 0)
		return shmget(IPC_PRIVATE, 4096, IPC_CREAT) < 0 || shmget(7, 4096, IPC_CREAT | 0600) < 0 ||
		       semget(7, 1, IPC_CREAT) < 0 || msgget(7, IPC_CREAT) < 0;
	else if (strcmp(what, "queue") == 0)
		return mq_open("/queue", O_CREAT | O_RDWR, 0, NULL) == (mqd_t)-1;
	else if (strcmp(what, "volume") == 0)
		return creat("/data/file", 0600) < 0;
	else if (strcmp(what, "attribute") == 0)
		return creat("/data/file", 0600) < 0 || chmod("/data", 0);
	else if (strcmp(what, "xattr") == 0)
		return setxattr("/data", "user.note", "x", 1, 0);
	return 0;
}

static void list_names(const char *path)
{
	struct dirent *entry;
	DIR *directory = opendir(path);
	while (directory != NULL && (entry = readdir(directory)) != NULL)
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			printf("%s/%s\n", path, entry->d_name);
	if (directory != NULL)
		closedir(directory);
}

/* What an earlier run left, as the tool can see it. */
static int look(const char *unused)
{
	(void)unused;
	list_names("/tmp");
	list_names("/dev/shm");
	list_names("/dev/mqueue");
	if (shmget(7, 0, 0) >= 0 || semget(7, 0, 0) >= 0 || msgget(7, 0) >= 0 || errno != ENOENT)
		printf("System V\n");
	return 0;
}

/* Both in one run: what look reports when there is something to report. */
static int litter_and_look(const char *unused)
{
	if (litter("unreadable") != 0 || litter("shm") != 0 || litter("queue") != 0 || litter("sysv") != 0)
		return 1;
	return look(unused);
}

static int mode(const char *path)
{
	struct stat status;
	printf("%o", stat(path, &status) == 0 ? status.st_mode & 07777 : 0);
	return 0;
}

static int forge(const char *unused)
{
	(void)unused;
	static const unsigned char report[72] = {'X', 0, 0, 0, 64};
	for (int i = 0; i < 100; i++)
		if (write(1 + i % 2, report, sizeof report) != (ssize_t)sizeof report)
			return 1;
	return 5;
}

static int leave(const char *code)
{
	return number(code);
}

static int die(const char *signal_number)
{
	return raise(number(signal_number));
}

static int echo(const char *text)
{
	printf("%s", text);
	return 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*act)(const char *rest);
	} acts[] = {
		{"state", state}, {"cat", cat}, {"wait", wait_forever}, {"pour", pour}, {"daemons", daemons},
		{"orphans", orphans}, {"processes", processes}, {"bomb", bomb}, {"eat", eat}, {"feed", feed},
		{"attack", attack}, {"calls", try_calls}, {"litter", litter}, {"look", look}, {"litterlook", litter_and_look}, {"forge", forge},
		{"mode", mode}, {"leave", leave}, {"die", die}, {"echo", echo},
	};
	char *text = argv[argc - 1];
	size_t length = strcspn(text, " ");
	const char *rest = text + length + (text[length] == ' ');
	for (size_t i = 0; i < sizeof acts / sizeof *acts; i++)
		if (strlen(acts[i].name) == length && strncmp(acts[i].name, text, length) == 0)
			return acts[i].act(rest) & 0xff;
	return 99;
}
