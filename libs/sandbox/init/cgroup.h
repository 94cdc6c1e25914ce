/* What the memory cgroup says about this sandbox. The files may be missing or unreadable. */
#ifndef TOOLYARD_CGROUP_H
#define TOOLYARD_CGROUP_H

#include <stdbool.h>
#include <stdint.h>

bool cgroup_oom_kills(uint64_t *count);

/* 0 when unknown. */
uint64_t cgroup_memory_peak(void);

#endif
