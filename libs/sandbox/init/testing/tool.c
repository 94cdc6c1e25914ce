/* The tool that the tests run: the first word of its last argument says how it behaves. */
#define _GNU_SOURCE
#include "acts.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

void print_line_of(const char *path, const char *key)
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
