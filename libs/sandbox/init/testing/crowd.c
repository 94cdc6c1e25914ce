/* The tool as a crowd of processes. */
#define _GNU_SOURCE
#include "acts.h"

#include <dirent.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* N daemons, double-forked, each in a session of its own, holding on to stdout. */
int daemons(const char *count)
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
int orphans(const char *count)
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

int processes(const char *unused)
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

int bomb(const char *unused)
{
	(void)unused;
	signal(SIGTERM, SIG_IGN);
	for (;;)
		if (fork() > 0 && getpid() < 0)
			return 1;
}
