#define _GNU_SOURCE
#include "filter.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#if defined(__x86_64__)
#define OWN_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OWN_ARCH AUDIT_ARCH_AARCH64
#else
#error "the filter knows the system calls of x86_64 and aarch64 only"
#endif

/* The bit that makes a call one of x32, a second set of numbers under the name of x86_64. */
#define X32_BIT 0x40000000u
#define INIT_PID 1
#define IOPRIO_WHO_USER 3

/* The kernel takes an int from an argument's lower half, which comes first here, and so must we: the rest is noise. */
#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define RETURN(what) BPF_STMT(BPF_RET | BPF_K, (what))
#define ALLOW RETURN(SECCOMP_RET_ALLOW)
#define REFUSE(error) RETURN(SECCOMP_RET_ERRNO | (error))
/* Both count the instructions that are passed over. */
#define IS(value, passed_if_not) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 0, (passed_if_not))
#define PASS_IF(value, passed) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), (passed), 0)
#define PASS_UNDER(value, passed) BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, (value), 0, (passed))

static struct sock_filter program[] = {
	LOAD(arch),
	PASS_IF(OWN_ARCH, 1),
	RETURN(SECCOMP_RET_KILL_PROCESS),
	LOAD(nr),
#if defined(__x86_64__)
	PASS_UNDER(X32_BIT, 1),
	REFUSE(ENOSYS),
#endif

	/* a ring makes calls that no filter sees; programs that know it know how to do without */
	PASS_IF(SYS_io_uring_setup, 2),
	PASS_IF(SYS_io_uring_enter, 1),
	IS(SYS_io_uring_register, 1),
	REFUSE(ENOSYS),

	/* other families reach around the network's namespace, to the host (vsock) or into rarely used modules */
	PASS_IF(SYS_socket, 1),
	IS(SYS_socketpair, 7),
	LOAD(args[0]),
	PASS_IF(AF_UNIX, 4),
	PASS_IF(AF_INET, 3),
	PASS_IF(AF_INET6, 2),
	PASS_IF(AF_NETLINK, 1),
	REFUSE(EAFNOSUPPORT),
	ALLOW,

	/* the init has the tool's uid: that alone would let a tool limit it, and take the processor from it */
	PASS_IF(SYS_prlimit64, 4),
	PASS_IF(SYS_sched_setparam, 3),
	PASS_IF(SYS_sched_setscheduler, 2),
	PASS_IF(SYS_sched_setattr, 1),
	IS(SYS_sched_setaffinity, 4),
	LOAD(args[0]),
	IS(INIT_PID, 1),
	REFUSE(EPERM),
	ALLOW,

	/* by its process or its group, or among all of the uid, whichever way that is spelled */
	IS(SYS_setpriority, 6),
	LOAD(args[0]),
	PASS_IF(PRIO_USER, 2),
	LOAD(args[1]),
	IS(INIT_PID, 1),
	REFUSE(EPERM),
	ALLOW,

	IS(SYS_ioprio_set, 6),
	LOAD(args[0]),
	PASS_IF(IOPRIO_WHO_USER, 2),
	LOAD(args[1]),
	IS(INIT_PID, 1),
	REFUSE(EPERM),
	ALLOW,

	ALLOW,
};

bool filter_calls(void)
{
	const struct sock_fprog whole = {sizeof program / sizeof *program, program};
	/* what lets a process without privileges install a filter, and what keeps exec from giving it any */
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &whole) == 0)
		return true;
	/* the program is right, so that a refusal of it means that the kernel knows none */
	if (errno == EINVAL)
		errno = ENOSYS;
	return false;
}
