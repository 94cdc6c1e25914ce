/* Tries the system calls that the filter is about, one line each: what it was, and YES or the name of the error. */
int try_calls(const char *unused);
