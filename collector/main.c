// SPDX-License-Identifier: BSD-3-Clause
// critd: records scheduler events and the events of registered ranks, and does nothing else.
#include <fcntl.h>
#include <stdio.h>
#include <syslog.h>
#include <unistd.h>

#include "collector/loop/server.h"
#include "collector/options.h"
#include "collector/privileges.h"
#include "core/base/setting.h"

static void say(const char *text)
{
	if (fcntl(STDERR_FILENO, F_GETFD) >= 0)
		fprintf(stderr, "critd: %s\n", text);
	else
		syslog(LOG_WARNING | LOG_USER, "critd: %s", text);
}

int main(int argc, char **argv)
{
	struct crit_server *server = NULL;
	struct crit_options options;
	struct crit_err err = { "" };
	char why[CRIT_ERR_BYTES];
	int rc;

	if (crit_options_parse(argc, argv, &options, &err)) {
		say(err.text);
		return 2;
	}
	if (options.is_help || options.is_version) {
		(void)fputs(options.is_help ? crit_options_help : "critd " CRIT_VERSION "\n",
			    stdout);
		return 0;
	}
	if (options.sources.ring_bytes == 0 && /* no option overrules it */
	    crit_setting_explain(CRIT_SETTING_RING_BYTES, why, sizeof(why)))
		say(why);
	if (crit_privileges_raise(&err)) {
		say(err.text);
		return 1;
	}
	rc = crit_server_open(&options, say, &server, &err);
	if (!rc)
		rc = crit_server_run(server, &err);
	if (rc)
		say(err.text);
	crit_server_close(server);
	return rc ? 1 : 0;
}
