/* What of the file system can be written to. */
#ifndef TOOLYARD_MOUNTS_H
#define TOOLYARD_MOUNTS_H

#include <stdbool.h>

/* Asked for every writable mount: whether it is swept after the run. */
typedef bool is_swept(const void *context, const char *path);

/*
 * True when nothing written could stay outside of what is swept. Otherwise `path` is the mount that speaks against it,
 * or NULL when the list could not be read. It stays valid until the next call.
 */
bool writable_mounts_are_swept(is_swept *swept, const void *context, const char **path);

#endif
