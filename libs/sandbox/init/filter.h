/* The system calls that no tool gets, whatever the engine's own profile lets through. */
#ifndef TOOLYARD_FILTER_H
#define TOOLYARD_FILTER_H

#include <stdbool.h>

/* For the init and all that come of it, for good. False with errno set: ENOSYS where the kernel has no filters. */
bool filter_calls(void);

#endif
