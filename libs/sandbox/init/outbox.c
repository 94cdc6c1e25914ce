#define _GNU_SOURCE
#include "outbox.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "end.h"

/* Smaller reads would make a slow reader cost a system call for every few bytes. */
#define CHUNK_WORTHWHILE 4096u

bool outbox_pending(const struct outbox *box)
{
	return box->head < box->tail;
}

size_t outbox_room(const struct outbox *box)
{
	size_t used = box->tail - box->head;
	size_t kept = OUTBOX_RESERVE + HEADER_BYTES + CHUNK_WORTHWHILE;
	if (used + kept > OUTBOX_BYTES)
		return 0;
	size_t room = OUTBOX_BYTES - OUTBOX_RESERVE - HEADER_BYTES - used;
	return room < CHUNK_MAX ? room : CHUNK_MAX;
}

static uint8_t *make_space(struct outbox *box, size_t needed)
{
	if (OUTBOX_BYTES - box->tail < needed) {
		memmove(box->bytes, box->bytes + box->head, box->tail - box->head);
		box->tail -= box->head;
		box->head = 0;
	}
	if (OUTBOX_BYTES - box->tail < needed)
		end(END_KERNEL);
	return box->bytes + box->tail;
}

static void seal(struct outbox *box, char kind, size_t length)
{
	uint8_t *header = box->bytes + box->tail;
	memset(header, 0, HEADER_BYTES);
	header[0] = (uint8_t)kind;
	put_u32(header + 4, (uint32_t)length);
	box->tail += HEADER_BYTES + length;
	if (box->tail > box->high)
		box->high = box->tail;
}

ssize_t outbox_take(struct outbox *box, char kind, int from, size_t most)
{
	uint8_t *space = make_space(box, HEADER_BYTES + most);
	ssize_t count = read(from, space + HEADER_BYTES, most);
	if (count > 0)
		seal(box, kind, (size_t)count);
	return count;
}

void outbox_put(struct outbox *box, char kind, const void *body, size_t length)
{
	uint8_t *space = make_space(box, HEADER_BYTES + length);
	if (length > 0)
		memcpy(space + HEADER_BYTES, body, length);
	seal(box, kind, length);
}

void outbox_flush(struct outbox *box, int to)
{
	while (outbox_pending(box)) {
		ssize_t count = write(to, box->bytes + box->head, box->tail - box->head);
		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0 && errno == EAGAIN)
			return;
		if (count < 0)
			end(END_STDOUT_CLOSED);
		box->head += (size_t)count;
	}
	box->head = box->tail = 0;
}

void outbox_wipe(struct outbox *box)
{
	explicit_bzero(box->bytes, box->high);
	box->high = 0;
}
