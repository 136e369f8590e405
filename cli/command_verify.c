// SPDX-License-Identifier: BSD-3-Clause
// crit verify: looks for faults in an OTF2 archive that readers overlook or trip over.
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/command.h"
#include "cli/results/finish_lock.h"
#include "cli/results/recording_set.h"
#include "cli/console/syntax.h"
#include "cli/results/archive.h"
#include "core/client/client_env.h"

static const char usage[] = "usage: crit verify DIRECTORY|ANCHOR...\n"
			    "Verifies OTF2 archives: DIRECTORY/traces.otf2, or any anchor *.otf2.\n"
			    "exit: 0 no fault, 3 faults found, 1 cannot be read, 2 usage\n";

static void print_fault(void *user, const char *text)
{
	const char *anchor = user;

	printf("%s: %s\n", anchor, text);
}

static int verify_one(const char *path, int timeout_ms)
{
	struct crit_archive_check check = { 0 };
	struct crit_err err = { { 0 } };
	char anchor[PATH_MAX];
	struct stat status;
	bool is_directory = stat(path, &status) == 0 && S_ISDIR(status.st_mode);
	int rc;

	if (is_directory)
		(void)crit_finish_lock_wait_trace(path, timeout_ms); /* what is there is verified */
	(void)snprintf(anchor, sizeof(anchor), is_directory ? "%s/traces.otf2" : "%s", path);
	rc = crit_archive_verify(anchor, print_fault, anchor, &check, &err);
	if (rc) {
		fprintf(stderr, "crit verify: %s%s\n", err.text[0] ? err.text : strerror(-rc),
			rc == -ENOENT && is_directory ? "; make it with crit export otf2" : "");
		return CRIT_EXIT_FAILED;
	}
	printf("%s: %" PRIu64 " locations, %" PRIu64 " events, %" PRIu64 " messages sent, ", anchor,
	       check.location_count, check.event_count, check.message_count);
	if (!check.fault_count) {
		printf("no fault\n");
		return CRIT_EXIT_OK;
	}
	printf("%" PRIu64 " fault%s\n", check.fault_count, check.fault_count > 1 ? "s" : "");
	return CRIT_EXIT_INCOMPLETE;
}

int crit_command_verify(int argc, char **argv)
{
	static const struct option names[] = { { "help", no_argument, NULL, 'h' }, { 0 } };
	static const struct crit_syntax syntax = {
		.command = "crit verify", .letters = "h", .names = names, .usage = usage
	};
	struct crit_client_env env;
	int code = crit_syntax_read(&syntax, argc, argv, NULL);

	if (code != CRIT_SYNTAX_GO_ON)
		return code;
	if (optind == argc)
		return crit_syntax_refuse(&syntax, "no archive given;",
					  "name a directory crit-...");
	crit_client_env_read(&env);
	code = CRIT_EXIT_OK;
	for (int i = optind; i < argc; i++) {
		int one = verify_one(argv[i], (int)env.finish_s * 1000);

		if (code == CRIT_EXIT_OK || one == CRIT_EXIT_FAILED)
			code = one;
	}
	return code;
}
