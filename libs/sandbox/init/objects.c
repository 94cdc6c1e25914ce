#define _GNU_SOURCE
#include "objects.h"

#include <errno.h>
#include <mqueue.h>
#include <stddef.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>

/* semctl wants its caller to declare this. */
union semun {
	int value;
	struct semid_ds *set;
	unsigned short *values;
	struct seminfo *info;
};

/*
 * The kernel keeps the objects in a table by index. INFO gives the highest index in use and the count; STAT_ANY turns
 * an index into an identifier, also for an object that its mode hides from its own owner.
 */
struct family {
	int (*info)(int *count);
	int (*identify)(int index);
	int (*remove)(int identifier);
};

static int shm_count(int *count)
{
	struct shm_info info;
	int highest = shmctl(0, SHM_INFO, (struct shmid_ds *)(void *)&info);
	*count = highest < 0 ? -1 : info.used_ids;
	return highest;
}

static int shm_identify(int index)
{
	struct shmid_ds segment;
	return shmctl(index, SHM_STAT_ANY, &segment);
}

static int shm_remove(int identifier)
{
	return shmctl(identifier, IPC_RMID, NULL);
}

static int sem_count(int *count)
{
	struct seminfo info;
	int highest = semctl(0, 0, SEM_INFO, (union semun){.info = &info});
	/* SEM_INFO puts the number of sets here */
	*count = highest < 0 ? -1 : info.semusz;
	return highest;
}

static int sem_identify(int index)
{
	struct semid_ds set;
	return semctl(index, 0, SEM_STAT_ANY, (union semun){.set = &set});
}

static int sem_remove(int identifier)
{
	return semctl(identifier, 0, IPC_RMID);
}

static int msg_count(int *count)
{
	struct msginfo info;
	int highest = msgctl(0, MSG_INFO, (struct msqid_ds *)(void *)&info);
	/* MSG_INFO puts the number of queues here */
	*count = highest < 0 ? -1 : info.msgpool;
	return highest;
}

static int msg_identify(int index)
{
	struct msqid_ds queue;
	return msgctl(index, MSG_STAT_ANY, &queue);
}

static int msg_remove(int identifier)
{
	return msgctl(identifier, IPC_RMID, NULL);
}

static bool remove_family(const struct family *family, uint32_t *removed)
{
	int count;
	int highest = family->info(&count);
	if (highest < 0)
		return errno == ENOSYS; /* a kernel without them keeps none */
	if (count == 0)
		return true;
	for (int index = 0; index <= highest; index++) {
		int identifier = family->identify(index);
		if (identifier >= 0 && family->remove(identifier) == 0)
			++*removed;
	}
	return family->info(&count) >= 0 && count == 0;
}

bool remove_objects(uint32_t *removed)
{
	static const struct family families[] = {
		{shm_count, shm_identify, shm_remove},
		{sem_count, sem_identify, sem_remove},
		{msg_count, msg_identify, msg_remove},
	};
	bool clean = true;
	for (size_t i = 0; i < sizeof families / sizeof *families; i++)
		clean = remove_family(&families[i], removed) && clean;
	return clean;
}

bool message_queues_impossible(void)
{
	/* a name that no one has: an answer other than ENOSYS comes from a working implementation */
	return mq_open("/toolyard-init-probe", O_RDONLY) == (mqd_t)-1 && errno == ENOSYS;
}
