#define _GNU_SOURCE
#include "room.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "end.h"
#include "mounts.h"
#include "objects.h"
#include "sweep.h"

#define SCRUB_MAX_US 3000000
#define MQUEUE_MAGIC 0x19800202

static const char queues[] = "/dev/mqueue";

/* The first reason is kept: the later ones are mostly its consequences. */
__attribute__((format(printf, 2, 3))) static void doubt(struct room *room, const char *format, ...)
{
	va_list words;
	if (room->reason[0] != '\0')
		return;
	va_start(words, format);
	vsnprintf(room->reason, sizeof room->reason, format, words);
	va_end(words);
}

static void look_at_inheritance(struct inheritance *now)
{
	memset(now, 0, sizeof *now);
	for (int resource = 0; resource < RLIM_NLIMITS; resource++)
		getrlimit((__rlimit_resource_t)resource, &now->limits[resource]);
	syscall(SYS_sched_getattr, 0, now->scheduling, (unsigned)sizeof now->scheduling, 0u);
	sched_getaffinity(0, sizeof now->processors, &now->processors);
	now->io_priority = syscall(SYS_ioprio_get, 1, 0);
}

static int open_directory(const char *path)
{
	int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct statfs system;
	if (directory >= 0 && strcmp(path, queues) == 0 &&
	    (fstatfs(directory, &system) != 0 || system.f_type != MQUEUE_MAGIC)) {
		close(directory);
		errno = ENOENT;
		return -1;
	}
	return directory;
}

static void inspect_directory(struct room *room, const char *path)
{
	struct room_directory *directory = &room->directories[room->count++];
	snprintf(directory->path, sizeof directory->path, "%s", path);
	directory->descriptor = open_directory(path);
	if (directory->descriptor < 0) {
		/* what is not there now must not be there afterwards */
		if (errno != ENOENT)
			doubt(room, "cannot open %.200s: %s", path, strerror(errno));
		if (strcmp(path, queues) == 0 && !message_queues_impossible())
			doubt(room, "message queues cannot be listed: %s is not mounted", path);
		return;
	}
	directory->attributes = flistxattr(directory->descriptor, NULL, 0);
	if (fstat(directory->descriptor, &directory->was) != 0 || !is_empty_directory(directory->descriptor))
		doubt(room, "%.200s was not empty before the run", path);
}

static bool is_swept_path(const void *context, const char *path)
{
	const struct room *room = context;
	for (size_t i = 0; i < room->count; i++)
		if (strcmp(room->directories[i].path, path) == 0)
			return true;
	return false;
}

void room_inspect(struct room *room, const struct run_request *request)
{
	static const char *const always[ROOM_FIXED_DIRECTORIES] = {"/tmp", "/dev/shm", queues};
	const char *path;
	room->reason[0] = '\0';
	room->count = 0;
	look_at_inheritance(&room->inheritance);
	for (size_t i = 0; i < ROOM_FIXED_DIRECTORIES; i++)
		inspect_directory(room, always[i]);
	for (size_t i = 0; i < request->directory_count; i++)
		inspect_directory(room, request->directories[i]);
	if (geteuid() == 0)
		doubt(room, "a tool that runs as root can write where nothing is swept");
	if (!writable_mounts_are_swept(is_swept_path, room, &path))
		doubt(room, "%.200s is writable and not swept", path != NULL ? path : "an unknown mount");
}

/* A directory of the tool's own can say something by its mode, its times and its attributes as well. */
static bool is_as_it_was(const struct room_directory *directory)
{
	struct stat is;
	return fstat(directory->descriptor, &is) == 0 && is.st_mode == directory->was.st_mode &&
	       is.st_uid == directory->was.st_uid && is.st_gid == directory->was.st_gid &&
	       flistxattr(directory->descriptor, NULL, 0) == directory->attributes;
}

static void restore_directory(struct room *room, const struct room_directory *directory, int64_t give_up, uint32_t *removed)
{
	if (directory->descriptor < 0) {
		int appeared = open_directory(directory->path);
		if (appeared >= 0)
			close(appeared);
		if (appeared >= 0 || errno != ENOENT)
			doubt(room, "%.200s appeared", directory->path);
		return;
	}
	/* its mode first: the owner may have taken the right to search it away */
	bool own = directory->was.st_uid == geteuid();
	if (own && fchmod(directory->descriptor, directory->was.st_mode & 07777) != 0)
		doubt(room, "the mode of %.200s cannot be put back", directory->path);
	if (!sweep(directory->descriptor, give_up, removed))
		doubt(room, "%.200s could not be emptied", directory->path);
	if ((own && futimens(directory->descriptor, NULL) != 0) || !is_as_it_was(directory))
		doubt(room, "%.200s is not as it was", directory->path);
	close(directory->descriptor);
}

bool room_restore(struct room *room, struct outbox *out)
{
	int64_t began_at = now_us();
	uint32_t removed = 0;
	uint8_t body[8];
	struct inheritance now;
	for (size_t i = 0; i < room->count; i++)
		restore_directory(room, &room->directories[i], began_at + SCRUB_MAX_US, &removed);
	if (!remove_objects(&removed))
		doubt(room, "System V objects are left");
	look_at_inheritance(&now);
	if (memcmp(&now, &room->inheritance, sizeof now) != 0)
		doubt(room, "the limits or the scheduling of the init were changed");
	if (room->reason[0] != '\0') {
		outbox_put(out, FRAME_NOT_CLEAN, room->reason, strlen(room->reason));
		return false;
	}
	put_u32(body, (uint32_t)(now_us() - began_at));
	put_u32(body + 4, removed);
	outbox_put(out, FRAME_AGAIN, body, sizeof body);
	return true;
}
