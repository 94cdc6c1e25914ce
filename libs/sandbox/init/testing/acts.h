#ifndef TOOLYARD_TESTING_ACTS_H
#define TOOLYARD_TESTING_ACTS_H

#include <stdlib.h>

/* What the tool can be told to do, each with the rest of its words; the answer is its exit code. */

/* attack.c */
int attack(const char *unused);
/* calls.c: the system calls that the filter is about, one line each: what it was, and YES or the name of the error. */
int try_calls(const char *unused);
/* crowd.c */
int daemons(const char *count);
int orphans(const char *count);
int processes(const char *unused);
int bomb(const char *unused);
/* litter.c */
int litter(const char *what);
int look(const char *unused);
int litter_and_look(const char *unused);

void print_line_of(const char *path, const char *key);

static inline int number(const char *text)
{
	return (int)strtol(text, NULL, 10);
}

#endif
