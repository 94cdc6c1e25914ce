/* System V shared memory, semaphores and message queues of this IPC namespace. */
#ifndef TOOLYARD_OBJECTS_H
#define TOOLYARD_OBJECTS_H

#include <stdbool.h>
#include <stdint.h>

/* True when the kernel's own count says that none is left. */
bool remove_objects(uint32_t *removed);

/* False when POSIX message queues exist in this kernel: without /dev/mqueue nobody could list them. */
bool message_queues_impossible(void);

#endif
