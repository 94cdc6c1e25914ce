#define _GNU_SOURCE
#include "mounts.h"

#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#define LIST_BYTES (64 * 1024)
#define MOUNT_POINT 5
#define MOUNT_OPTIONS 6

static ssize_t read_list(char *text, size_t size)
{
	int file = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
	size_t length = 0;
	ssize_t count = -1;
	if (file < 0)
		return -1;
	while (length < size && (count = read(file, text + length, size - length)) > 0)
		length += (size_t)count;
	close(file);
	/* a list that fills the buffer may go on: no answer is the safe answer */
	return count == 0 && length > 0 ? (ssize_t)length : -1;
}

static bool is_read_only(const char *options)
{
	return strncmp(options, "ro", 2) == 0 && (options[2] == ',' || options[2] == '\0');
}

/* File systems that show the kernel and keep nothing, and those of the runtime where only root may create. */
static bool keeps_nothing(const char *path, const char *type)
{
	static const char *const types[] = {"proc", "sysfs", "cgroup", "cgroup2", "devpts"};
	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (strcmp(type, types[i]) == 0)
			return true;
	/* the masks that the runtime puts over files of /proc are its /dev/null: writable, and without memory */
	if (strncmp(path, "/proc/", 6) == 0)
		return true;
	return (strcmp(path, "/dev") == 0 || strcmp(path, "/sys/fs/cgroup") == 0) && access(path, W_OK) != 0;
}

/* "36 35 98:0 / /mnt rw,noatime master:1 - ext3 /dev/root rw": point and options are the 5th and 6th, type after " - ". */
static bool line_is_fine(char *line, is_swept *swept, const void *context, const char **path)
{
	char *rest = line, *word, *options = NULL, *point = NULL;
	char *tail = strstr(line, " - ");
	if (tail == NULL)
		return false;
	*tail = '\0';
	for (int field = 1; (word = strsep(&rest, " ")) != NULL; field++) {
		if (field == MOUNT_POINT)
			point = word;
		if (field == MOUNT_OPTIONS)
			options = word;
	}
	tail += strlen(" - ");
	char *type = strsep(&tail, " ");
	*path = point;
	return options != NULL && (is_read_only(options) || keeps_nothing(point, type) || swept(context, point));
}

bool writable_mounts_are_swept(is_swept *swept, const void *context, const char **path)
{
	static char text[LIST_BYTES];
	*path = NULL;
	ssize_t length = read_list(text, sizeof text - 1);
	if (length < 0)
		return false;
	text[length] = '\0';
	char *rest = text, *line;
	while ((line = strsep(&rest, "\n")) != NULL)
		if (*line != '\0' && !line_is_fine(line, swept, context, path))
			return false;
	return true;
}
