/* How the init ends. It is PID 1: with it the kernel kills every process of the sandbox. */
#ifndef TOOLYARD_END_H
#define TOOLYARD_END_H

#include <stdint.h>
#include <time.h>
#include <unistd.h>

enum end {
	END_DONE = 0,
	END_STDIN_CLOSED = 70,
	END_SILENCE = 71,
	END_MALFORMED = 72,
	END_STDOUT_CLOSED = 73,
	END_NOT_CLEAN = 74,
	END_KERNEL = 75,
	END_REFUSED = 78,
};

_Noreturn static inline void end(enum end code)
{
	_exit((int)code);
}

#define NEVER INT64_MAX

static inline int64_t now_us(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

#endif
