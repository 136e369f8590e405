// SPDX-License-Identifier: BSD-3-Clause
// Writes each file as NAME.tmp first, and renames them when all are whole.
#include "report/pages/report_files.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/pages/report_csv.h"
#include "report/pages/report_json.h"
#include "report/pages/report_text.h"
#include "core/base/cleanup.h"
#include "core/base/err.h"

#define NAME_BYTES 32
#define LAST_NAME "report.json"

/* NULL after the last: when that is there, so are the others, of the same report. */
static const char *file_name(size_t i)
{
	if (i == 0)
		return "report.txt";
	if (crit_csv_at(i - 1))
		return crit_csv_file(crit_csv_at(i - 1));
	return i == 1 || crit_csv_at(i - 2) ? LAST_NAME : NULL;
}

static int write_file(FILE *out, size_t i, const struct crit_summary *summary)
{
	if (i && !crit_csv_at(i - 1))
		return crit_write_json(out, summary);
	if (i)
		crit_csv_write(crit_csv_at(i - 1), out, summary);
	else
		crit_write_text(out, summary, &(struct crit_text_options){ 0 });
	return 0;
}

static const char *temporary_name(size_t i, char *text)
{
	(void)snprintf(text, NAME_BYTES, "%s.tmp", file_name(i));
	return text;
}

static void remove_temporary(int directory_fd)
{
	char name[NAME_BYTES];

	for (size_t i = 0; file_name(i); i++)
		(void)unlinkat(directory_fd, temporary_name(i, name), 0); /* may not be there */
}

/* Why the stream failed: what it has not written yet is tried once more, to be told. */
static int reason_of(FILE *out)
{
	errno = 0;
	clearerr(out);
	if (fputc('\n', out) != EOF)
		(void)fflush(out);
	return errno ? -errno : -EIO;
}

static int write_one(int directory_fd, size_t i, const struct crit_summary *summary)
{
	char name[NAME_BYTES];
	int rc;
	FILE *out;
	int fd;

	/* Removed first: a planted link or a foreign file of that name is not written through. */
	(void)unlinkat(directory_fd, temporary_name(i, name), 0);
	fd = openat(directory_fd, temporary_name(i, name), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
		    0666);
	if (fd < 0)
		return -errno;
	out = fdopen(fd, "w");
	if (!out) {
		close(fd);
		return -ENOMEM;
	}
	rc = write_file(out, i, summary);
	if (ferror(out) || (!rc && fflush(out)))
		rc = reason_of(out);
	errno = 0;
	if (fclose(out) && !rc)
		rc = errno ? -errno : -EIO;
	return rc;
}

int crit_report_files_write(int directory_fd, const char *directory,
			    const struct crit_summary *summary, struct crit_err *err)
{
	char name[NAME_BYTES];

	for (size_t i = 0; file_name(i); i++) {
		int rc = write_one(directory_fd, i, summary);

		if (rc) {
			remove_temporary(directory_fd);
			return crit_err_set(err, rc,
					    "cannot write %.120s/%s: %s; no result was changed",
					    directory, file_name(i), strerror(-rc));
		}
	}
	for (size_t i = 0; file_name(i); i++)
		if (renameat(directory_fd, temporary_name(i, name), directory_fd, file_name(i))) {
			int rc = -errno;

			remove_temporary(directory_fd);
			/* An old one would stand for a mixture. */
			(void)unlinkat(directory_fd, LAST_NAME, 0);
			return crit_err_set(err, rc, "cannot put %s into place in %.120s: %s",
					    file_name(i), directory, strerror(-rc));
		}
	(void)unlinkat(directory_fd, CRIT_NO_REPORT_NAME, 0); /* of an attempt that failed */
	return 0;
}

int crit_report_files_write_into(const char *directory, const struct crit_summary *summary,
				 struct crit_err *err)
{
	crit_autoclose int fd = -1;

	if (mkdir(directory, 0777) && errno != EEXIST)
		return crit_err_set(err, -errno, "cannot make %s: %s", directory, strerror(errno));
	fd = open(directory, O_DIRECTORY | O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return crit_err_set(err, -errno, "cannot open %s: %s", directory, strerror(errno));
	return crit_report_files_write(fd, directory, summary, err);
}
