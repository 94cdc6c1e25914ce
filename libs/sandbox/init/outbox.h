/* What is on its way to the host. Bounded: who cannot place a chunk stops reading the tool. */
#ifndef TOOLYARD_OUTBOX_H
#define TOOLYARD_OUTBOX_H

#include <stdbool.h>
#include <sys/types.h>

#include "frame.h"

/* Frames of the init's own always fit: they are few and short, and this much is kept free for them. */
#define OUTBOX_RESERVE 1024u
#define OUTBOX_BYTES (2 * (CHUNK_MAX + HEADER_BYTES) + OUTBOX_RESERVE)

struct outbox {
	size_t head, tail, high;
	uint8_t bytes[OUTBOX_BYTES];
};

bool outbox_pending(const struct outbox *box);

/* The largest chunk that may be placed now; 0 when it is not worth reading. */
size_t outbox_room(const struct outbox *box);

/* Reads at most `most` bytes straight into a frame; returns what read() returned. `most` must not exceed the room. */
ssize_t outbox_take(struct outbox *box, char kind, int from, size_t most);

void outbox_put(struct outbox *box, char kind, const void *body, size_t length);

/* Writes what the descriptor accepts without blocking. */
void outbox_flush(struct outbox *box, int to);

/* Leaves nothing of the last caller in memory. Only when nothing is pending. */
void outbox_wipe(struct outbox *box);

#endif
