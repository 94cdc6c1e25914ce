#define _GNU_SOURCE
#include "cgroup.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_MAX 4096

/* Version 2 first, then version 1; inside a container both are mounted at the container's own group. */
static bool read_either(const char *v2, const char *v1, char text[FILE_MAX])
{
	int file = open(v2, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		file = open(v1, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return false;
	ssize_t count = read(file, text, FILE_MAX - 1);
	close(file);
	text[count > 0 ? count : 0] = '\0';
	return count > 0;
}

bool cgroup_oom_kills(uint64_t *count)
{
	static const char key[] = "oom_kill ";
	char text[FILE_MAX];
	if (!read_either("/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory/memory.oom_control", text))
		return false;
	for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, key, sizeof key - 1) == 0) {
			*count = strtoull(line + sizeof key - 1, NULL, 10);
			return true;
		}
	}
	return false;
}

uint64_t cgroup_memory_peak(void)
{
	char text[FILE_MAX];
	if (!read_either("/sys/fs/cgroup/memory.peak", "/sys/fs/cgroup/memory/memory.max_usage_in_bytes", text))
		return 0;
	return strtoull(text, NULL, 10);
}
