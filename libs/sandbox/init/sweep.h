/* Empties a directory. Only while no other process lives: then what is looked up is what is acted upon. */
#ifndef TOOLYARD_SWEEP_H
#define TOOLYARD_SWEEP_H

#include <stdbool.h>
#include <stdint.h>

/* True when it is proven empty. `give_up` is a time of now_us. */
bool sweep(int directory, int64_t give_up, uint32_t *removed);

bool is_empty_directory(int directory);

#endif
