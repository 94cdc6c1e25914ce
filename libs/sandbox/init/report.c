#define _GNU_SOURCE
#include "report.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "cgroup.h"

#define REPORT_BYTES 64u
#define TEXT_MAX 512

enum { FLAG_OOM_KNOWN = 1, FLAG_INCOMPLETE = 2 };

/* What we did to the run comes before what became of its main process: that is only the consequence. */
static enum verdict judge(const struct report *report, int status)
{
	if (report->cause != VERDICT_NONE)
		return report->cause;
	/* a tool that lost a child to the kernel and still ended well has coped with it */
	if (report->oom_known && report->oom_kills > 0 && status != 0)
		return VERDICT_OUT_OF_MEMORY;
	return WIFSIGNALED(status) ? VERDICT_SIGNALED : VERDICT_EXITED;
}

void report_exit(struct outbox *out, const struct report *report, const struct tally *tally)
{
	int status = tally->main_status;
	uint8_t body[REPORT_BYTES] = {0};
	body[0] = (uint8_t)judge(report, status);
	body[1] = (uint8_t)(WIFEXITED(status) ? WEXITSTATUS(status) : 0);
	body[2] = (uint8_t)(WIFSIGNALED(status) ? WTERMSIG(status) : 0);
	body[3] = (uint8_t)((report->oom_known ? FLAG_OOM_KNOWN : 0) | (report->incomplete ? FLAG_INCOMPLETE : 0));
	put_u32(body + 4, (uint32_t)report->oom_kills);
	put_u64(body + 8, (uint64_t)tally->cpu_us);
	put_u64(body + 16, (uint64_t)report->wall_us);
	put_u64(body + 24, (uint64_t)tally->peak_bytes);
	put_u64(body + 32, cgroup_memory_peak());
	put_u64(body + 40, report->stdout_sent);
	put_u64(body + 48, report->stderr_sent);
	put_u64(body + 56, report->stderr_dropped);
	outbox_put(out, FRAME_EXIT, body, sizeof body);
}

void report_start_failure(struct outbox *out, int error, const char *step, const char *program)
{
	uint8_t body[4 + TEXT_MAX];
	put_u32(body, (uint32_t)error);
	/* the program's name is cut to what surely fits; step and reason are short */
	int length = snprintf((char *)body + 4, TEXT_MAX, "cannot start %.300s: %s: %s", program, step, strerror(error));
	outbox_put(out, FRAME_START_FAILED, body, 4 + (size_t)(length < TEXT_MAX ? length : TEXT_MAX - 1));
}
