#include "frame.h"

#include <string.h>

#define RUN_FIXED_BYTES 24u
#define RLIMIT_BYTES 12u
#define RESOURCES 16u
#define DEADLINE_MAX_MS 86400000u
#define CAP_MAX (64u * 1024 * 1024)

enum { FLAG_PAYLOAD_ON_STDIN = 1, FLAG_REUSE = 2 };

struct cursor {
	uint8_t *at;
	size_t left;
};

static uint32_t get_u32(const uint8_t *at)
{
	return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static uint64_t get_u64(const uint8_t *at)
{
	return get_u32(at) | (uint64_t)get_u32(at + 4) << 32;
}

void put_u32(uint8_t *at, uint32_t value)
{
	for (unsigned byte = 0; byte < 4; byte++)
		at[byte] = (uint8_t)(value >> (8 * byte));
}

void put_u64(uint8_t *at, uint64_t value)
{
	put_u32(at, (uint32_t)value);
	put_u32(at + 4, (uint32_t)(value >> 32));
}

bool parse_header(const uint8_t bytes[HEADER_BYTES], struct frame_header *header)
{
	if (bytes[1] != 0 || bytes[2] != 0 || bytes[3] != 0)
		return false;
	header->kind = (char)bytes[0];
	header->length = get_u32(bytes + 4);
	switch (header->kind) {
	case FRAME_RUN:
		return header->length >= RUN_FIXED_BYTES && header->length <= BODY_MAX;
	case FRAME_KEEP_ALIVE:
	case FRAME_CANCEL:
		return header->length == 0;
	default:
		return false;
	}
}

static bool take_limit(struct cursor *cursor, struct resource_limit *limit)
{
	if (cursor->left < RLIMIT_BYTES)
		return false;
	uint32_t resource = get_u32(cursor->at);
	if (resource >= RESOURCES)
		return false;
	limit->resource = (int)resource;
	limit->limit = get_u64(cursor->at + 4);
	cursor->at += RLIMIT_BYTES;
	cursor->left -= RLIMIT_BYTES;
	return true;
}

/* A string stays where it is: its own zero byte makes it a C string. */
static bool take_string(struct cursor *cursor, char **string)
{
	size_t reach = cursor->left < STRING_MAX ? cursor->left : STRING_MAX;
	uint8_t *end = reach == 0 ? NULL : memchr(cursor->at, 0, reach);
	if (end == NULL)
		return false;
	*string = (char *)cursor->at;
	size_t taken = (size_t)(end - cursor->at) + 1;
	cursor->at += taken;
	cursor->left -= taken;
	return true;
}

static bool is_entry(const char *text)
{
	const char *equals = strchr(text, '=');
	return equals != NULL && equals != text;
}

/* Absolute, and in one spelling only, since it is compared with the kernel's list of mounts. */
static bool is_directory_path(const char *path)
{
	if (path[0] != '/')
		return false;
	while (*path == '/') {
		path++;
		size_t part = strcspn(path, "/");
		if (part == 0 || (part == 1 && path[0] == '.') || (part == 2 && path[0] == '.' && path[1] == '.'))
			return false;
		path += part;
	}
	return true;
}

static bool parse_fixed(const uint8_t *body, struct run_request *run)
{
	uint8_t flags = body[1];
	if (body[0] != PROTOCOL_VERSION || (flags & ~(FLAG_PAYLOAD_ON_STDIN | FLAG_REUSE)) != 0)
		return false;
	if (body[5] != 0 || body[6] != 0 || body[7] != 0)
		return false;
	run->payload_on_stdin = (flags & FLAG_PAYLOAD_ON_STDIN) != 0;
	run->reuse = (flags & FLAG_REUSE) != 0;
	run->limit_count = body[2];
	run->entry_count = body[3];
	run->directory_count = body[4];
	run->deadline_ms = get_u32(body + 8);
	run->stdout_cap = get_u32(body + 12);
	run->stderr_cap = get_u32(body + 16);
	run->silence_ms = get_u32(body + 20);
	return run->limit_count <= RLIMITS_MAX && run->entry_count <= ENTRIES_MAX &&
	       run->directory_count <= DIRECTORIES_MAX && run->deadline_ms >= 1 &&
	       run->deadline_ms <= DEADLINE_MAX_MS && run->stdout_cap >= 1 && run->stdout_cap <= CAP_MAX &&
	       run->stderr_cap <= CAP_MAX && run->silence_ms >= 1 && run->silence_ms <= SILENCE_MAX_MS;
}

bool parse_run(uint8_t *body, size_t length, struct run_request *run)
{
	memset(run, 0, sizeof *run);
	if (length < RUN_FIXED_BYTES || length > BODY_MAX || !parse_fixed(body, run))
		return false;
	struct cursor cursor = {body + RUN_FIXED_BYTES, length - RUN_FIXED_BYTES};
	for (size_t i = 0; i < run->limit_count; i++)
		if (!take_limit(&cursor, &run->limits[i]))
			return false;
	for (size_t i = 0; i < run->entry_count; i++)
		if (!take_string(&cursor, &run->entries[i]) || !is_entry(run->entries[i]))
			return false;
	for (size_t i = 0; i < run->directory_count; i++)
		if (!take_string(&cursor, &run->directories[i]) || !is_directory_path(run->directories[i]))
			return false;
	run->payload = (char *)cursor.at;
	run->payload_length = cursor.left;
	if (run->payload_length > PAYLOAD_MAX)
		return false;
	/* an argument would silently end at its first zero byte */
	return run->payload_on_stdin || memchr(run->payload, 0, run->payload_length) == NULL;
}
