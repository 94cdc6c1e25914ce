/* What the tool leaves behind, and what it finds of that. */
#define _GNU_SOURCE
#include "acts.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

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
int litter(const char *what)
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
int look(const char *unused)
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
int litter_and_look(const char *unused)
{
	if (litter("unreadable") != 0 || litter("shm") != 0 || litter("queue") != 0 || litter("sysv") != 0)
		return 1;
	return look(unused);
}
