// SPDX-License-Identifier: BSD-3-Clause
// Finds a format by name, and writes its file beside the one that is there.
#include "report/profiles/profile_files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "report/profiles/profile_pprof.h"
#include "report/profiles/profile_text.h"

struct crit_profile {
	const char *name; /* of the format */
	const char *file;
	int (*write)(FILE *out, const struct crit_summary *summary);
};

static const struct crit_profile profiles[] = {
	{ "collapsed", "cmetric.collapsed", crit_collapsed_write },
	{ "speedscope", "cmetric.speedscope.json", crit_speedscope_write },
	{ "pprof", "cmetric.pb.gz", crit_pprof_write },
};

const struct crit_profile *crit_profile_find(const char *name)
{
	for (size_t i = 0; i < sizeof(profiles) / sizeof(profiles[0]); i++)
		if (strcmp(profiles[i].name, name) == 0)
			return &profiles[i];
	return NULL;
}

const char *crit_profile_file(const struct crit_profile *profile)
{
	return profile->file;
}

int crit_profile_put(const struct crit_profile *profile, FILE *out,
		     const struct crit_summary *summary)
{
	return profile->write(out, summary);
}

static int write_to(const char *path, const struct crit_profile *profile,
		    const struct crit_summary *summary)
{
	int fd, rc;
	FILE *out;

	/* Removed first: a planted link or a foreign file of that name is not written through. */
	(void)unlink(path);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd < 0)
		return -errno;
	out = fdopen(fd, "w");
	if (!out) {
		close(fd);
		return -ENOMEM;
	}
	rc = crit_profile_put(profile, out, summary);
	errno = 0;
	if (!rc && (fflush(out) || ferror(out)))
		rc = errno ? -errno : -EIO;
	if (fclose(out) && !rc)
		rc = errno ? -errno : -EIO;
	return rc;
}

static const char *reason_of(int rc)
{
	return rc == -ENODATA ? "the recordings have no samples" : strerror(-rc);
}

int crit_profile_write(const struct crit_profile *profile, const char *directory,
		       const struct crit_summary *summary, struct crit_err *err)
{
	char path[PATH_MAX], temporary[PATH_MAX + 8];
	int rc;

	if (snprintf(path, sizeof(path), "%s/%s", directory, profile->file) >= (int)sizeof(path))
		return crit_err_set(err, -ENAMETOOLONG, "cannot write into %.120s: %s", directory,
				    strerror(ENAMETOOLONG));
	(void)snprintf(temporary, sizeof(temporary), "%s.tmp", path);
	rc = write_to(temporary, profile, summary);
	if (!rc && rename(temporary, path))
		rc = -errno;
	if (!rc)
		return 0;
	(void)unlink(temporary);
	return crit_err_set(err, rc, "cannot write %.120s: %s", path, reason_of(rc));
}
