// SPDX-License-Identifier: BSD-3-Clause
/* Puts the result files into a directory: all whole under .tmp first, then renamed. */
#include "cli/results/result_files.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/results/no_report.h"
#include "report/formats/writers.h"
#include "core/base/cleanup.h"

#define NAME_BYTES 32

#define FILE_COUNT (CRIT_CSV_COUNT + 2u)

/* report.json is the last: when it is there, so are the others. */
static const char *file_name(size_t i)
{
	return i == 0 ? "report.txt" : i <= CRIT_CSV_COUNT ? crit_csvs[i - 1].file : "report.json";
}

static int write_file(FILE *out, size_t i, const struct crit_summary *summary)
{
	if (i > CRIT_CSV_COUNT)
		return crit_write_json(out, summary);
	if (i)
		crit_csvs[i - 1].write(out, summary);
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

	for (size_t i = 0; i < FILE_COUNT; i++)
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
	int status;
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
	status = write_file(out, i, summary);
	if (ferror(out) || (!status && fflush(out)))
		status = reason_of(out);
	errno = 0;
	if (fclose(out) && !status)
		status = errno ? -errno : -EIO;
	return status;
}

int crit_result_files_write(int directory_fd, const char *directory,
			    const struct crit_summary *summary, struct crit_err *err)
{
	char name[NAME_BYTES];

	for (size_t i = 0; i < FILE_COUNT; i++) {
		int status = write_one(directory_fd, i, summary);

		if (status) {
			remove_temporary(directory_fd);
			return crit_err_set(err, status,
					    "cannot write %.120s/%s: %s; no result was changed",
					    directory, file_name(i), strerror(-status));
		}
	}
	for (size_t i = 0; i < FILE_COUNT; i++)
		if (renameat(directory_fd, temporary_name(i, name), directory_fd, file_name(i))) {
			int status = -errno;

			remove_temporary(directory_fd);
			return crit_err_set(err, status, "cannot put %s into place in %.120s: %s",
					    file_name(i), directory, strerror(-status));
		}
	(void)unlinkat(directory_fd, CRIT_NO_REPORT_NAME, 0); /* of an attempt that failed */
	return 0;
}

int crit_result_files_write_into(const char *directory, const struct crit_summary *summary,
				 struct crit_err *err)
{
	crit_autoclose int fd = -1;

	if (mkdir(directory, 0777) && errno != EEXIST)
		return crit_err_set(err, -errno, "cannot make %s: %s", directory, strerror(errno));
	fd = open(directory, O_DIRECTORY | O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return crit_err_set(err, -errno, "cannot open %s: %s", directory, strerror(errno));
	return crit_result_files_write(fd, directory, summary, err);
}
