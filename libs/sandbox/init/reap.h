/* Every process of the sandbox is a descendant of the init, and ends here. */
#ifndef TOOLYARD_REAP_H
#define TOOLYARD_REAP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct tally {
	pid_t main_pid;
	bool main_dead;
	int main_status;
	int64_t cpu_us;
	int64_t peak_bytes;
};

/* Collects what is dead, without waiting. */
void reap(struct tally *tally);

/* Returns when the kernel knows no process but the init. */
void kill_everything(struct tally *tally);

#endif
