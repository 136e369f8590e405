// SPDX-License-Identifier: BSD-3-Clause
// A process whose memory maps change: by a thread, a library loaded later, a fork and an exec.
//
// Where nothing tells of them critd reads them 0.02, 0.1, 0.2, 0.4 and 0.8 s after each other: the
// library stays for 1.2 s.
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static void *rest(void *unused)
{
	(void)usleep(400000);
	return unused;
}

int main(void)
{
	pthread_t thread;
	pid_t child;
	void *library;

	if (pthread_create(&thread, NULL, rest, NULL) || pthread_join(thread, NULL))
		return 1;
	library = dlopen("libresolv.so.2", RTLD_NOW); /* the C library's, and nobody else's here */
	if (!library)
		return 2;
	(void)rest(NULL);
	child = fork();
	if (child == 0) {
		(void)rest(NULL);
		(void)execlp("sleep", "sleep", "0.4", NULL);
		_exit(3);
	}
	printf("pid %d child %d\n", (int)getpid(), (int)child);
	if (waitpid(child, NULL, 0) != child)
		return 4;
	return dlclose(library) != 0;
}
