#define _GNU_SOURCE
#include "sweep.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "end.h"

#define LISTING_BYTES 16384
#define NAME_BYTES 32

/* The work on one directory; `lift` gives names to what is moved up. */
struct sweeper {
	int top;
	uint32_t lift;
	uint32_t *removed;
	int64_t give_up;
};

typedef bool visit(struct sweeper *sweeper, int parent, const char *name);

static bool is_dots(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/*
 * Visits every entry until a whole pass finds none, which is the proof of emptiness. A pass without any success, a
 * listing that fails and the end of the time are no proof.
 */
static bool until_empty(struct sweeper *sweeper, int directory, visit *visit_entry)
{
	_Alignas(struct dirent64) char listing[LISTING_BYTES];
	for (;;) {
		size_t found = 0, gone = 0;
		ssize_t count;
		if (lseek(directory, 0, SEEK_SET) != 0)
			return false;
		while ((count = getdents64(directory, listing, sizeof listing)) > 0) {
			if (now_us() > sweeper->give_up)
				return false;
			for (ssize_t at = 0; at < count;) {
				const struct dirent64 *entry = (const void *)(listing + at);
				at += entry->d_reclen;
				if (is_dots(entry->d_name))
					continue;
				found++;
				gone += visit_entry(sweeper, directory, entry->d_name);
			}
		}
		if (count < 0 || (found > 0 && gone == 0))
			return false;
		if (found == 0)
			return true;
	}
}

static bool removed(struct sweeper *sweeper, int parent, const char *name, int flags)
{
	if (unlinkat(parent, name, flags) != 0)
		return false;
	++*sweeper->removed;
	return true;
}

/* Files go, directories move up beside their parent: a tree of any depth needs neither stack nor descriptors. */
static bool lift_or_remove(struct sweeper *sweeper, int parent, const char *name)
{
	char lifted[NAME_BYTES];
	if (removed(sweeper, parent, name, 0))
		return true;
	if (errno != EISDIR || fchmodat(parent, name, 0700, 0) != 0)
		return false;
	do {
		if (now_us() > sweeper->give_up)
			return false;
		snprintf(lifted, sizeof lifted, ".lifted-%u", sweeper->lift++);
		if (renameat(parent, name, sweeper->top, lifted) == 0)
			return true;
	} while (errno == EEXIST || errno == ENOTEMPTY || errno == ENOTDIR);
	return false;
}

static bool remove_entry(struct sweeper *sweeper, int parent, const char *name)
{
	/* unlinkat says EISDIR for a directory only; symbolic links and all the rest go here, never followed */
	if (removed(sweeper, parent, name, 0))
		return true;
	if (errno != EISDIR)
		return false;
	if (removed(sweeper, parent, name, AT_REMOVEDIR))
		return true;
	if (fchmodat(parent, name, 0700, 0) != 0)
		return false;
	int directory = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (directory < 0)
		return false;
	bool empty = until_empty(sweeper, directory, lift_or_remove);
	close(directory);
	return empty && removed(sweeper, parent, name, AT_REMOVEDIR);
}

bool sweep(int directory, int64_t give_up, uint32_t *removed_count)
{
	struct sweeper sweeper = {.top = directory, .removed = removed_count, .give_up = give_up};
	return until_empty(&sweeper, directory, remove_entry);
}

bool is_empty_directory(int directory)
{
	_Alignas(struct dirent64) char listing[LISTING_BYTES];
	if (lseek(directory, 0, SEEK_SET) != 0)
		return false;
	ssize_t count;
	while ((count = getdents64(directory, listing, sizeof listing)) > 0)
		for (ssize_t at = 0; at < count;) {
			const struct dirent64 *entry = (const void *)(listing + at);
			at += entry->d_reclen;
			if (!is_dots(entry->d_name))
				return false;
		}
	return count == 0;
}
