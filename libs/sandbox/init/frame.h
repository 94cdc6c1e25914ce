/* The wire format of PROTOCOL.md, and nothing else: no IO, no state, no allocation. */
#ifndef TOOLYARD_FRAME_H
#define TOOLYARD_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROTOCOL_VERSION 1u
#define HEADER_BYTES 8u
#define PAYLOAD_MAX (6u * 1024 * 1024)
#define BODY_MAX (PAYLOAD_MAX + 128u * 1024)
#define CHUNK_MAX (64u * 1024)
#define STRING_MAX 4096u
#define RLIMITS_MAX 16u
#define ENTRIES_MAX 32u
#define DIRECTORIES_MAX 16u
#define SILENCE_MAX_MS 8000u

/* Host to init. */
#define FRAME_RUN 'R'
#define FRAME_KEEP_ALIVE 'K'
#define FRAME_CANCEL 'C'

/* Init to host. */
#define FRAME_HELLO 'H'
#define FRAME_STARTED 'S'
#define FRAME_START_FAILED 'F'
#define FRAME_STDOUT 'O'
#define FRAME_STDERR 'E'
#define FRAME_EXIT 'X'
#define FRAME_AGAIN 'A'
#define FRAME_NOT_CLEAN 'N'

struct frame_header {
	char kind;
	uint32_t length;
};

struct resource_limit {
	int resource;
	uint64_t limit;
};

/* Every pointer leads into the body that was parsed. */
struct run_request {
	bool payload_on_stdin;
	bool reuse;
	uint32_t deadline_ms;
	uint32_t stdout_cap;
	uint32_t stderr_cap;
	uint32_t silence_ms;
	size_t limit_count;
	struct resource_limit limits[RLIMITS_MAX];
	size_t entry_count;
	char *entries[ENTRIES_MAX];
	size_t directory_count;
	char *directories[DIRECTORIES_MAX];
	char *payload;
	size_t payload_length;
};

/* False for whatever a host may not send. */
bool parse_header(const uint8_t bytes[HEADER_BYTES], struct frame_header *header);

/* body[length] must exist and be zero: it ends the payload, which is used in place as a C string. */
bool parse_run(uint8_t *body, size_t length, struct run_request *run);

void put_u32(uint8_t *at, uint32_t value);
void put_u64(uint8_t *at, uint64_t value);

#endif
