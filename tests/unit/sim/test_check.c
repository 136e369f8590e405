// SPDX-License-Identifier: BSD-3-Clause
// Proves that a failed check fails the program, goes on, and that a skip exits 77.
#include <sys/wait.h>
#include <unistd.h>

#include "tests/lib/check.h"

/* Runs body in a child with its messages closed; yields the exit status. */
static int run(int (*body)(void))
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		(void)fclose(stderr);
		(void)fclose(stdout);
		check_made = check_failed = 0;
		_exit(body());
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

static int all_hold(void)
{
	CHECK(true);
	CHECK_INT_EQ(-1, -1);
	CHECK_STR_EQ("a", "a");
	CHECK_NEAR(1.0, 1.05, 0.1);
	CHECK_REL(1e9, 1e9 + 1, 1e-8, 1);
	return check_done();
}

static int one_fails(void)
{
	CHECK(false);
	CHECK(true);
	return check_done();
}

static int string_differs(void)
{
	CHECK_STR_EQ("a", NULL);
	return check_done();
}

static int number_differs(void)
{
	CHECK_REL(1.0, 1.0 + 1e-6, 1e-9, 0);
	return check_done();
}

static int nan_differs(void)
{
	CHECK_NEAR(NAN, 0, 1e9);
	return check_done();
}

static int checks_nothing(void)
{
	return check_done();
}

static int skips(void)
{
	check_skip("for the test");
}

static int fails_then_skips(void)
{
	CHECK(false);
	check_skip("too late");
}

int main(void)
{
	CHECK_INT_EQ(run(all_hold), 0);
	CHECK_INT_EQ(run(one_fails), 1);
	CHECK_INT_EQ(run(string_differs), 1);
	CHECK_INT_EQ(run(number_differs), 1);
	CHECK_INT_EQ(run(nan_differs), 1);
	CHECK_INT_EQ(run(checks_nothing), 1);
	CHECK_INT_EQ(run(fails_then_skips), 1);
	/* skip leaves through exit(), so it must not reach _exit(0) */
	CHECK_INT_EQ(run(skips), CHECK_SKIP_EXIT);
	return check_done();
}
