#define _GNU_SOURCE
#include "host.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "end.h"

static void receive(struct host *host);
static bool in_frame(const struct host *host);

void host_open(struct host *host)
{
	host->silence_us = SILENCE_MAX_MS * 1000;
	/* a worker that reads slowly may delay its own output, never the deadline of its tool */
	if (fcntl(STDOUT_FILENO, F_SETFL, fcntl(STDOUT_FILENO, F_GETFL) | O_NONBLOCK) != 0)
		end(END_KERNEL);
	uint8_t hello[8];
	put_u32(hello, PROTOCOL_VERSION);
	put_u32(hello + 4, PAYLOAD_MAX);
	outbox_put(&host->out, FRAME_HELLO, hello, sizeof hello);
}

void host_next_run(struct host *host, struct run_request *run)
{
	struct pollfd polls[HOST_POLLS];
	while (host->body == NULL || host->body_have < host->body_length)
		host_wait(host, polls, HOST_POLLS, NEVER);
	if (!parse_run(host->body, host->body_length, run))
		end(END_MALFORMED);
	host->busy = true;
	host->cancelled = false;
	host->silence_us = (int64_t)run->silence_ms * 1000;
}

void host_wait(struct host *host, struct pollfd *polls, nfds_t count, int64_t wake_at)
{
	bool watched = host->busy || in_frame(host);
	if (watched && host->heard_at + host->silence_us < wake_at)
		wake_at = host->heard_at + host->silence_us;
	int timeout = -1;
	if (wake_at != NEVER) {
		int64_t left_ms = (wake_at - now_us() + 999) / 1000;
		timeout = left_ms < 0 ? 0 : left_ms > 3600000 ? 3600000 : (int)left_ms;
	}
	polls[0] = (struct pollfd){.fd = STDIN_FILENO, .events = POLLIN};
	polls[1] = (struct pollfd){.fd = STDOUT_FILENO, .events = outbox_pending(&host->out) ? POLLOUT : 0};
	if (poll(polls, count, timeout) < 0 && errno != EINTR)
		end(END_KERNEL);
	if (polls[0].revents != 0)
		receive(host);
	/* only after reading: an init that was frozen itself must not take that for the host's silence */
	if (watched && now_us() - host->heard_at >= host->silence_us)
		end(host->over ? END_DONE : END_SILENCE);
	if ((polls[1].revents & (POLLERR | POLLHUP | POLLNVAL)) != 0)
		end(END_STDOUT_CLOSED);
	outbox_flush(&host->out, STDOUT_FILENO);
}

void host_flush(struct host *host)
{
	struct pollfd polls[HOST_POLLS];
	outbox_flush(&host->out, STDOUT_FILENO);
	while (outbox_pending(&host->out))
		host_wait(host, polls, HOST_POLLS, NEVER);
}

void host_forget(struct host *host)
{
	explicit_bzero(host->body, host->body_length);
	munmap(host->body, host->body_length + 1);
	host->body = NULL;
	outbox_wipe(&host->out);
}

void host_rest(struct host *host)
{
	host->busy = false;
	host->silence_us = SILENCE_MAX_MS * 1000;
}

void host_leave(struct host *host)
{
	struct pollfd polls[HOST_POLLS];
	/* still busy: a further request would be malformed */
	host->over = true;
	for (;;)
		host_wait(host, polls, HOST_POLLS, NEVER);
}

static bool in_frame(const struct host *host)
{
	return host->header_have > 0 || (host->body != NULL && host->body_have < host->body_length);
}

static ssize_t receive_into(struct host *host, uint8_t *at, size_t most)
{
	ssize_t count = read(STDIN_FILENO, at, most);
	if (count < 0 && (errno == EINTR || errno == EAGAIN))
		return 0;
	if (count <= 0)
		end(!host->over && (host->busy || in_frame(host)) ? END_STDIN_CLOSED : END_DONE);
	host->heard_at = now_us();
	return count;
}

static void begin_frame(struct host *host)
{
	struct frame_header header;
	if (!parse_header(host->header, &header))
		end(END_MALFORMED);
	host->header_have = 0;
	if (header.kind == FRAME_CANCEL)
		host->cancelled = true;
	if (header.kind != FRAME_RUN)
		return;
	if (host->busy)
		end(END_MALFORMED);
	/* one byte more, left zero, ends the payload as a string; pages of its own go back to the kernel at once */
	void *body = mmap(NULL, header.length + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (body == MAP_FAILED)
		end(END_KERNEL);
	host->body = body;
	host->body_length = header.length;
	host->body_have = 0;
}

static void receive(struct host *host)
{
	if (host->body != NULL && host->body_have < host->body_length) {
		host->body_have += (size_t)receive_into(host, host->body + host->body_have, host->body_length - host->body_have);
		return;
	}
	host->header_have += (size_t)receive_into(host, host->header + host->header_have, HEADER_BYTES - host->header_have);
	if (host->header_have == HEADER_BYTES)
		begin_frame(host);
}
