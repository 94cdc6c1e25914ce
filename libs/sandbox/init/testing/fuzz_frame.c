/*
 * Feeds the parser well-formed requests that were mutated at random, from a seed: a failure repeats itself. The
 * sanitizers watch the reads; what is checked here is that an accepted request keeps its promises.
 * fuzz_frame SEED ITERATIONS
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../frame.h"

#define BODY_BYTES 20000u

static uint64_t random_state;

static uint32_t below(uint32_t limit)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (uint32_t)(random_state >> 16) % limit;
}

static size_t append(uint8_t *body, size_t length, const char *text)
{
	memcpy(body + length, text, strlen(text) + 1);
	return length + strlen(text) + 1;
}

static size_t compose(uint8_t *body)
{
	size_t length = 24;
	memset(body, 0, length);
	body[0] = PROTOCOL_VERSION;
	body[1] = (uint8_t)below(4);
	body[2] = (uint8_t)below(RLIMITS_MAX + 1);
	body[3] = (uint8_t)below(ENTRIES_MAX + 1);
	body[4] = (uint8_t)below(DIRECTORIES_MAX + 1);
	put_u32(body + 8, 1 + below(86400000));
	put_u32(body + 12, 1 + below(64u << 20));
	put_u32(body + 16, below(64u << 20));
	put_u32(body + 20, 1 + below(SILENCE_MAX_MS));
	for (unsigned i = 0; i < body[2]; i++, length += 12) {
		put_u32(body + length, below(16));
		put_u64(body + length + 4, below(1000));
	}
	for (unsigned i = 0; i < body[3]; i++)
		length = append(body, length, below(2) != 0 ? "TOOLYARD_ATTEMPT=1" : "A=");
	for (unsigned i = 0; i < body[4]; i++)
		length = append(body, length, below(2) != 0 ? "/data/volume" : "/d");
	uint32_t payload = below(300);
	memset(body + length, 'p', payload);
	return length + payload;
}

static size_t mutate(uint8_t *body, size_t length)
{
	for (uint32_t count = below(6); count > 0 && length > 0; count--) {
		size_t at = below((uint32_t)length);
		switch (below(5)) {
		case 0:
			body[at] ^= (uint8_t)(1u << below(8));
			break;
		case 1:
			body[at] = (uint8_t)below(256);
			break;
		case 2:
			body[below(24) % length] = (uint8_t)below(256);
			break;
		case 3:
			length = at;
			break;
		default:
			memmove(body + at / 2, body + at, length - at);
		}
	}
	return length;
}

static void check(bool promise, const char *what)
{
	if (promise)
		return;
	fprintf(stderr, "broken promise: %s\n", what);
	abort();
}

static bool inside(const char *string, const uint8_t *body, size_t length)
{
	const uint8_t *at = (const uint8_t *)string;
	return at >= body && at < body + length && memchr(at, 0, length - (size_t)(at - body)) != NULL;
}

static void check_accepted(const struct run_request *run, const uint8_t *body, size_t length)
{
	check(run->deadline_ms >= 1 && run->deadline_ms <= 86400000, "deadline");
	check(run->stdout_cap >= 1 && run->stdout_cap <= 64u << 20 && run->stderr_cap <= 64u << 20, "caps");
	check(run->silence_ms >= 1 && run->silence_ms <= SILENCE_MAX_MS, "silence");
	check(run->limit_count <= RLIMITS_MAX && run->entry_count <= ENTRIES_MAX, "counts");
	check(run->directory_count <= DIRECTORIES_MAX, "directories");
	for (size_t i = 0; i < run->limit_count; i++)
		check(run->limits[i].resource >= 0 && run->limits[i].resource < 16, "resource");
	for (size_t i = 0; i < run->entry_count; i++) {
		check(inside(run->entries[i], body, length), "entry inside");
		check(strchr(run->entries[i], '=') > run->entries[i], "entry has a name");
	}
	for (size_t i = 0; i < run->directory_count; i++) {
		check(inside(run->directories[i], body, length), "directory inside");
		check(run->directories[i][0] == '/' && run->directories[i][1] != '\0', "directory absolute");
		check(strstr(run->directories[i], "/../") == NULL && strstr(run->directories[i], "//") == NULL, "directory plain");
	}
	check((const uint8_t *)run->payload + run->payload_length == body + length, "payload ends the body");
	check(run->payload[run->payload_length] == '\0', "payload is ended");
	check(run->payload_on_stdin || strlen(run->payload) == run->payload_length, "argument has no zero byte");
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	random_state = strtoull(argv[1], NULL, 10) * 2654435761u + 1;
	uint64_t accepted = 0, iterations = strtoull(argv[2], NULL, 10);
	static uint8_t draft[BODY_BYTES];
	for (uint64_t i = 0; i < iterations; i++) {
		uint8_t header[HEADER_BYTES];
		struct frame_header parsed;
		for (unsigned byte = 0; byte < HEADER_BYTES; byte++)
			header[byte] = (uint8_t)(below(3) == 0 ? below(256) : 0);
		if (below(2) == 0)
			header[0] = (uint8_t)"RKC"[below(3)];
		if (parse_header(header, &parsed))
			check(parsed.length <= BODY_MAX && (parsed.kind == FRAME_RUN || parsed.length == 0), "header");
		size_t length = mutate(draft, compose(draft));
		/* exactly as large as promised, so that one byte too far is seen */
		uint8_t *body = malloc(length + 1);
		struct run_request run;
		if (body == NULL)
			return 2;
		memcpy(body, draft, length);
		body[length] = 0;
		if (parse_run(body, length, &run)) {
			accepted++;
			check_accepted(&run, body, length);
		}
		free(body);
	}
	printf("%llu\n", (unsigned long long)accepted);
	return 0;
}
