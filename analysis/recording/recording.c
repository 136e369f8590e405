// SPDX-License-Identifier: BSD-3-Clause
// Indexes the chunks of a recording; skips those that are torn or corrupt, and counts them.
#include "analysis/recording/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/array.h"
#include "core/base/chunk.h"
#include "core/base/cleanup.h"
#include "core/base/err.h"
#include "core/base/regular.h"

#define CHUNK_BYTES_MAX (sizeof(struct crit_chunk_head) + CRIT_CHUNK_PAYLOAD_MAX)
#define WINDOW_BYTES (2u << 20)
#define STEP_BYTES (256u << 10) /* read at once: they are checked while a cache holds them */
#define RESYNC_FREE_BYTES (64u << 20) /* checksum work spent on false heads before giving up */
#define NEAR_BYTES 8192u
#define SMALL_BYTES 2048u /* larger pieces are read where they are wanted */

/*
 * What the index pass and registrations want of a chunk is small, and mostly lies behind what they
 * wanted last: of thousands of ranks each has a few such chunks side by side.
 */
struct crit_near_bytes {
	uint64_t begin;
	size_t length;
	unsigned char bytes[NEAR_BYTES];
};

struct scan {
	struct crit_recording *recording;
	unsigned char *window; /* file bytes [begin, begin + length) */
	uint64_t begin;
	size_t length;
	uint64_t resync_budget;
	uint64_t next_chunk; /* running number expected next */
	uint64_t corrupt_since; /* corrupt chunks stepped over since the last whole one */
	bool has_foreign_version;
	int io_error;
};

static ssize_t read_at(int fd, void *buffer, size_t size, uint64_t offset)
{
	size_t done = 0;

	while (done < size) {
		ssize_t got = pread(fd, (char *)buffer + done, size - done, (off_t)(offset + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -EIO;
		if (got == 0)
			break;
		done += (size_t)got;
	}
	return (ssize_t)done;
}

/* The file's bytes from offset on, at least need of them, or NULL when the file ends before. */
static const unsigned char *look(struct scan *scan, uint64_t offset, size_t need)
{
	const struct crit_recording *recording = scan->recording;
	uint64_t left = recording->size_bytes - offset;
	size_t kept = 0; /* of what was read before */
	size_t size;
	ssize_t got;

	if (offset > recording->size_bytes || left < need)
		return NULL;
	if (offset >= scan->begin && offset - scan->begin <= scan->length)
		kept = scan->length - (offset - scan->begin);
	if (kept >= need)
		return scan->window + (offset - scan->begin);
	memmove(scan->window, scan->window + (kept ? offset - scan->begin : 0), kept);
	size = need > STEP_BYTES ? need : STEP_BYTES;
	size = size < left ? size : left;
	got = read_at(recording->fd, scan->window + kept, size - kept, offset + kept);
	if (got < 0)
		scan->io_error = (int)got;
	scan->begin = offset;
	scan->length = got < 0 ? 0 : kept + (size_t)got;
	return scan->length < need ? NULL : scan->window;
}

enum chunk_state {
	CHUNK_WHOLE,
	CHUNK_CORRUPT,
	CHUNK_SENSELESS,
	CHUNK_CUT
};

/* What stands at offset.  The head is copied out when there is one. */
static enum chunk_state probe(struct scan *scan, uint64_t offset, struct crit_chunk_head *ret_head,
			      const unsigned char **ret_payload)
{
	const unsigned char *bytes = look(scan, offset, sizeof(*ret_head));

	if (!bytes)
		return CHUNK_CUT;
	memcpy(ret_head, bytes, sizeof(*ret_head));
	if (!crit_chunk_head_is_sane(ret_head)) {
		if (ret_head->magic == CRIT_CHUNK_MAGIC && !crit_chunk_version_is_known(ret_head))
			scan->has_foreign_version = true;
		return CHUNK_SENSELESS;
	}
	bytes = look(scan, offset, sizeof(*ret_head) + ret_head->length);
	if (!bytes)
		return CHUNK_CUT;
	*ret_payload = bytes + sizeof(*ret_head);
	return crit_chunk_is_whole(ret_head, *ret_payload) ? CHUNK_WHOLE : CHUNK_CORRUPT;
}

static uint64_t end_of(uint64_t offset, const struct crit_chunk_head *head)
{
	return offset + sizeof(*head) + crit_chunk_padded(head->length);
}

/* True when a magic word, or the end of the file, stands at offset. */
static bool is_boundary(struct scan *scan, uint64_t offset)
{
	const unsigned char *bytes = look(scan, offset, sizeof(uint32_t));
	uint32_t magic;

	if (!bytes)
		return offset == scan->recording->size_bytes;
	memcpy(&magic, bytes, sizeof(magic));
	return magic == CRIT_CHUNK_MAGIC;
}

/* The offset of the next whole chunk at or after from, or the file's size. */
static uint64_t resync(struct scan *scan, uint64_t from)
{
	uint64_t size = scan->recording->size_bytes;

	for (uint64_t offset = (from + 7) & ~7ull; offset < size; offset += 8) {
		struct crit_chunk_head head;
		const unsigned char *payload;
		const unsigned char *bytes = look(scan, offset, sizeof(uint32_t));
		uint32_t magic;
		enum chunk_state state;

		if (!bytes)
			return size;
		memcpy(&magic, bytes, sizeof(magic));
		if (magic != CRIT_CHUNK_MAGIC)
			continue;
		state = probe(scan, offset, &head, &payload);
		if (state == CHUNK_WHOLE)
			return offset;
		if (state != CHUNK_CORRUPT)
			continue;
		if (scan->resync_budget < head.length)
			return size; /* made of false heads: work is bounded, the rest is cut */
		scan->resync_budget -= head.length;
	}
	return size;
}

static void terminate(char *text, size_t size)
{
	text[size - 1] = '\0';
}

static void take_file(struct crit_recording *recording, const struct crit_chunk_head *head,
		      const unsigned char *payload)
{
	struct crit_rec_file *file = &recording->file;

	if (recording->has_file || head->length < sizeof(*file))
		return;
	memcpy(file, payload, sizeof(*file));
	terminate(file->boot, sizeof(file->boot));
	terminate(file->host, sizeof(file->host));
	terminate(file->run_key, sizeof(file->run_key));
	terminate(file->kernel_release, sizeof(file->kernel_release));
	terminate(file->critd_version, sizeof(file->critd_version));
	terminate(file->exe, sizeof(file->exe));
	recording->has_file = true;
}

static uint64_t add_saturating(uint64_t a, uint64_t b)
{
	return a + b < a ? UINT64_MAX : a + b;
}

static void count_holes(struct scan *scan, const struct crit_chunk_head *head)
{
	uint64_t hole;

	if (head->chunk >= scan->next_chunk) {
		hole = head->chunk - scan->next_chunk;
		hole -= hole < scan->corrupt_since ? hole : scan->corrupt_since;
		scan->recording->missing_chunks =
			add_saturating(scan->recording->missing_chunks, hole);
		scan->next_chunk = add_saturating(head->chunk, 1);
	}
	scan->corrupt_since = 0;
}

static bool is_known(enum crit_chunk_kind kind)
{
	return kind != CRIT_C_NONE && kind < CRIT_C_COUNT && kind != CRIT_C_COUNTER_VALUES;
}

static int take(struct scan *scan, uint64_t offset, const struct crit_chunk_head *head,
		const unsigned char *payload)
{
	struct crit_recording *recording = scan->recording;
	struct crit_chunk_ref *ref;
	int rc;

	count_holes(scan, head);
	if (!is_known(head->kind)) {
		recording->unknown_chunks++;
		return 0;
	}
	if (head->kind == CRIT_C_FILE)
		take_file(recording, head, payload);
	if (head->kind == CRIT_C_KERNEL)
		recording->kernel_lost = add_saturating(recording->kernel_lost, head->lost);
	if (head->kind == CRIT_C_SHIM)
		recording->shim_lost = add_saturating(recording->shim_lost, head->lost);
	if (!head->length)
		return 0;
	rc = crit_array_grow(&recording->refs, &recording->ref_capacity, recording->ref_count + 1,
			     sizeof(*recording->refs));
	if (rc)
		return rc;
	ref = &recording->refs[recording->ref_count++];
	*ref = (struct crit_chunk_ref){ .offset = offset + sizeof(*head),
					.position = head->position,
					.length = head->length,
					.source = head->source,
					.next = CRIT_NONE,
					.kind = head->kind,
					.version = head->version };
	return 0;
}

/* Steps over what is not whole at offset: the bytes are counted as corrupt, or as a cut tail. */
static uint64_t step_over(struct scan *scan, uint64_t offset, enum chunk_state state,
			  const struct crit_chunk_head *head)
{
	struct crit_recording *recording = scan->recording;
	uint64_t next;

	if (state == CHUNK_CORRUPT && is_boundary(scan, end_of(offset, head)))
		next = end_of(offset, head);
	else
		next = resync(scan, offset + 8);
	if (next >= recording->size_bytes && state != CHUNK_CORRUPT) {
		recording->truncated_bytes += recording->size_bytes - offset;
		return recording->size_bytes;
	}
	recording->corrupt_chunks++;
	scan->corrupt_since++;
	return next;
}

static int scan_all(struct scan *scan)
{
	uint64_t offset = 0;

	while (offset < scan->recording->size_bytes && !scan->io_error) {
		struct crit_chunk_head head;
		const unsigned char *payload = NULL;
		enum chunk_state state = probe(scan, offset, &head, &payload);

		if (state == CHUNK_WHOLE) {
			int rc = take(scan, offset, &head, payload);

			if (rc)
				return rc;
			offset = end_of(offset, &head);
		} else {
			offset = step_over(scan, offset, state, &head);
		}
	}
	return scan->io_error;
}

/* A file that does not even begin like a recording is refused by name; a damaged one is read. */
static int judge(const struct scan *scan, const char *path, struct crit_err *err)
{
	const struct crit_recording *recording = scan->recording;
	uint32_t magic = 0;

	if (recording->ref_count)
		return 0;
	if (scan->has_foreign_version)
		return crit_err_set(err, -EPROTO,
				    "cannot read %s: written in another version of the format; "
				    "this program understands versions %u to %u",
				    path, CRIT_RECORDING_VERSION_LEAST, CRIT_RECORDING_VERSION);
	if (recording->size_bytes >= sizeof(magic) &&
	    (read_at(recording->fd, &magic, sizeof(magic), 0) < 0 || magic != CRIT_CHUNK_MAGIC))
		return crit_err_set(err, -EPROTO, "cannot read %s: not a recording of crit", path);
	return crit_err_set(err, -ENODATA,
			    "cannot read %s: no whole chunk in it; the run ended before anything "
			    "was recorded, or its disk was full",
			    path);
}

/* A recording is called after its node: DIRECTORY/<host>.crit. */
static void name_by_path(struct crit_recording *recording, const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	const char *end = strstr(name, ".crit");
	size_t length = end ? (size_t)(end - name) : strlen(name);

	if (length >= sizeof(recording->file.host))
		length = sizeof(recording->file.host) - 1;
	memcpy(recording->file.host, name, length);
}

int crit_recording_stand_in(const char *path, struct crit_recording **ret_recording)
{
	struct crit_recording *recording = calloc(1, sizeof(*recording));

	if (!recording)
		return -ENOMEM;
	recording->fd = -1;
	name_by_path(recording, path);
	*ret_recording = recording;
	return 0;
}

static int open_regular(const char *path, uint64_t *ret_size, struct crit_err *err)
{
	struct stat status;
	int fd = crit_regular_open(path, 0, err);

	if (fd < 0)
		return fd;
	*ret_size = fstat(fd, &status) ? 0 : (uint64_t)status.st_size;
	return fd;
}

int crit_recording_open(const char *path, struct crit_recording **ret_recording,
			struct crit_err *err)
{
	crit_autofree unsigned char *window = malloc(WINDOW_BYTES);
	struct crit_recording *recording = calloc(1, sizeof(*recording));
	struct scan scan = { .recording = recording, .window = window };
	int rc = -ENOMEM;

	_Static_assert(WINDOW_BYTES >= CHUNK_BYTES_MAX, "a chunk fits the window");
	if (recording) {
		recording->fd = -1;
		recording->near = calloc(1, sizeof(*recording->near));
	}
	if (!window || !recording || !recording->near) {
		rc = crit_err_set(err, -ENOMEM, "cannot read %s: out of memory", path);
		goto fail;
	}
	recording->fd = open_regular(path, &recording->size_bytes, err);
	rc = recording->fd;
	if (rc < 0)
		goto fail;
	scan.resync_budget = RESYNC_FREE_BYTES + recording->size_bytes;
	rc = scan_all(&scan);
	if (rc) {
		(void)crit_err_set(err, rc, "cannot read %s: %s", path, strerror(-rc));
		goto fail;
	}
	rc = judge(&scan, path, err);
	if (rc)
		goto fail;
	if (!recording->has_file)
		name_by_path(recording, path);
	*ret_recording = recording;
	return 0;
fail:
	crit_recording_close(recording);
	return rc;
}

static ssize_t read_near(const struct crit_recording *recording, void *buffer, size_t size,
			 uint64_t offset)
{
	struct crit_near_bytes *near = recording->near;

	if (offset < near->begin || offset + size > near->begin + near->length) {
		ssize_t got = read_at(recording->fd, near->bytes, sizeof(near->bytes), offset);

		near->begin = offset;
		near->length = got < 0 ? 0 : (size_t)got;
		if (got < 0)
			return got;
		if (size > near->length)
			size = near->length;
	}
	memcpy(buffer, near->bytes + (offset - near->begin), size);
	return (ssize_t)size;
}

ssize_t crit_recording_read(const struct crit_recording *recording,
			    const struct crit_chunk_ref *ref, size_t from, void *buffer,
			    size_t size)
{
	if (from >= ref->length)
		return 0;
	if (size > ref->length - from)
		size = ref->length - from;
	if (size <= SMALL_BYTES)
		return read_near(recording, buffer, size, ref->offset + from);
	return read_at(recording->fd, buffer, size, ref->offset + from);
}

bool crit_recording_read_struct(const struct crit_recording *recording,
				const struct crit_chunk_ref *ref, void *ret_record, size_t size)
{
	return ref->length >= size &&
	       crit_recording_read(recording, ref, 0, ret_record, size) == (ssize_t)size;
}

void crit_recording_close(struct crit_recording *recording)
{
	if (!recording)
		return;
	if (recording->fd >= 0)
		close(recording->fd);
	free(recording->refs);
	free(recording->near);
	free(recording);
}
