// SPDX-License-Identifier: BSD-3-Clause
// The archive of libotf2: its buffers have one chunk each, and are flushed when it is full.
#include "otf2/archive/archive_files.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "otf2/archive/library_words.h"
#include "otf2/archive/peer_callbacks.h"

#define ARCHIVE_NAME "traces"
#define CHUNK_BYTES (256u * 1024u) /* the least OTF2 takes */
#define CHUNK_MAX_BYTES (16u * 1024u * 1024u)
#define MANY_CHUNKS 256u /* held at once, 64 MiB */
/*
 * Locations of a handle.  libotf2 searches writers and locations of a handle in lists, and has one
 * size for the chunks of its definitions and clears each, so that the record of all locations would
 * cost that many bytes once per location.  Handles that are none of the first process write no
 * anchor, and have small chunks: definitions are read as one piece.
 */
#define BATCH 512u
#define DEFINITION_BYTES 10u /* for each location in the largest record, as OTF2 asks */
#define HEAD_BYTES 1024u /* of that record, what it says besides; and of the chunk */

struct crit_otf2_files {
	const char *directory;
	const struct crit_transport *transport;
	struct crit_err *err;
	struct crit_err words; /* what the library said last */
	OTF2_Archive *archive; /* NULL: not open */
	OTF2_Archive **batches; /* the same archive by locations; NULL: not open */
	size_t batch_count;
	size_t chunk_count; /* that the library holds */
	bool is_broken; /* the library failed */
};

struct crit_otf2_files *crit_otf2_files_create(const char *directory,
					       const struct crit_transport *transport,
					       struct crit_err *err)
{
	struct crit_otf2_files *files = calloc(1, sizeof(*files));

	if (files)
		*files = (struct crit_otf2_files){ .directory = directory,
						   .transport = transport,
						   .err = err };
	return files;
}

int crit_otf2_fail(struct crit_otf2_files *files, const char *what)
{
	int rc = errno == ENOSPC || errno == EDQUOT ? -ENOSPC : -EIO;

	files->is_broken = true;
	return crit_err_set(files->err, rc, "cannot write %s of the archive in %.100s: %.80s", what,
			    files->directory, rc == -ENOSPC ? strerror(ENOSPC) : files->words.text);
}

/* Every buffer has one chunk at a time: when it asks for a second one it must flush. */
static void *give_chunk(void *user, OTF2_FileType type, OTF2_LocationRef location, void **buffer,
			uint64_t chunk_bytes)
{
	struct crit_otf2_files *files = user;

	(void)type;
	(void)location;
	if (*buffer)
		return NULL;
	*buffer = malloc(chunk_bytes);
	files->chunk_count += *buffer != NULL;
	return *buffer;
}

/*
 * libotf2 clears a whole chunk once it is written to its file, also that of a writer which ends.
 * When very many threads end at once their chunks would all be in memory that little was written
 * to: between others that are in use, free() cannot give it back.
 */
static void give_back_pages(char *chunk)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t begin = ((uintptr_t)chunk + page - 1) & -page;
	uintptr_t end = ((uintptr_t)chunk + CHUNK_BYTES) & -page;

	(void)madvise((void *)begin, end - begin, MADV_DONTNEED); /* else it takes more memory */
}

static void take_chunk(void *user, OTF2_FileType type, OTF2_LocationRef location, void **buffer,
		       bool is_final)
{
	struct crit_otf2_files *files = user;

	(void)type;
	(void)location;
	(void)is_final;
	if (!*buffer)
		return;
	if (files->chunk_count-- > MANY_CHUNKS)
		give_back_pages(*buffer);
	free(*buffer);
	*buffer = NULL;
}

static OTF2_FlushType flush(void *user, OTF2_FileType type, OTF2_LocationRef location, void *caller,
			    bool is_final)
{
	(void)user;
	(void)type;
	(void)location;
	(void)caller;
	(void)is_final;
	return OTF2_FLUSH;
}

/*
 * A record, like the group of all locations, must fit a chunk.  No more than that: libotf2 clears
 * one for each location whose definitions it reads.
 */
static uint64_t definition_chunk_bytes(size_t location_count)
{
	uint64_t wanted = DEFINITION_BYTES * (uint64_t)location_count + HEAD_BYTES;
	uint64_t bytes = CHUNK_BYTES;

	while (bytes < wanted && bytes < CHUNK_MAX_BYTES)
		bytes *= 2;
	return bytes;
}

static OTF2_ErrorCode open_archive(struct crit_otf2_files *files, uint64_t definition_bytes,
				   const struct crit_transport *transport,
				   OTF2_Archive **ret_archive)
{
	static const OTF2_FlushCallbacks flushing = { .otf2_pre_flush = flush };
	static const OTF2_MemoryCallbacks memory = { .otf2_allocate = give_chunk,
						     .otf2_free_all = take_chunk };
	OTF2_ErrorCode code = OTF2_ERROR_MEM_ALLOC_FAILED;

	*ret_archive = OTF2_Archive_Open(files->directory, ARCHIVE_NAME, OTF2_FILEMODE_WRITE,
					 CHUNK_BYTES, definition_bytes, OTF2_SUBSTRATE_POSIX,
					 OTF2_COMPRESSION_NONE);
	if (*ret_archive)
		code = OTF2_Archive_SetFlushCallbacks(*ret_archive, &flushing, NULL);
	if (code == OTF2_SUCCESS)
		code = OTF2_Archive_SetMemoryCallbacks(*ret_archive, &memory, files);
	if (code == OTF2_SUCCESS)
		code = crit_otf2_set_collectives(*ret_archive, transport);
	return code;
}

int crit_otf2_files_open(struct crit_otf2_files *files, size_t location_count)
{
	OTF2_ErrorCode code;

	crit_otf2_listen(&files->words);
	files->batch_count = location_count / BATCH + 1;
	files->batches = calloc(files->batch_count, sizeof(OTF2_Archive *));
	if (!files->batches)
		return -ENOMEM;
	code = open_archive(files, definition_chunk_bytes(location_count), files->transport,
			    &files->archive);
	return crit_otf2_check(files, code, "the beginning");
}

OTF2_Archive *crit_otf2_files_batch(struct crit_otf2_files *files, uint32_t row)
{
	static const struct crit_transport beside = { .rank = 1, .count = 2 };
	OTF2_Archive **place = &files->batches[row / BATCH], *batch = *place;
	OTF2_ErrorCode code;

	if (batch)
		return batch;
	code = open_archive(files, CHUNK_BYTES, &beside, &batch);
	*place = batch;
	if (code == OTF2_SUCCESS)
		code = OTF2_Archive_OpenEvtFiles(batch);
	if (code == OTF2_SUCCESS)
		code = OTF2_Archive_OpenDefFiles(batch);
	return crit_otf2_check(files, code, "a location") ? NULL : batch;
}

OTF2_EvtWriter *crit_otf2_files_events(struct crit_otf2_files *files, uint32_t row,
				       uint64_t location)
{
	OTF2_Archive *batch = crit_otf2_files_batch(files, row);
	OTF2_EvtWriter *events = batch ? OTF2_Archive_GetEvtWriter(batch, location) : NULL;

	if (!events)
		(void)crit_otf2_check(files, OTF2_ERROR_INVALID, "a location");
	return events;
}

int crit_otf2_files_close_events(struct crit_otf2_files *files, uint32_t row,
				 OTF2_EvtWriter *events, uint64_t *ret_event_count)
{
	OTF2_ErrorCode code;

	errno = 0;
	code = OTF2_EvtWriter_GetNumberOfEvents(events, ret_event_count);
	if (code == OTF2_SUCCESS)
		code = OTF2_Archive_CloseEvtWriter(files->batches[row / BATCH], events);
	return crit_otf2_check(files, code, "events");
}

/* After an error of its own libotf2 frees things twice: it is left alone then. */
void crit_otf2_files_drop_events(struct crit_otf2_files *files, uint32_t row,
				 OTF2_EvtWriter *events)
{
	if (!files->is_broken && files->batches[row / BATCH])
		(void)OTF2_Archive_CloseEvtWriter(files->batches[row / BATCH], events);
}

static void name_definitions(const struct crit_otf2_files *files, uint64_t location,
			     char path[NAME_MAX + PATH_MAX])
{
	(void)snprintf(path, NAME_MAX + PATH_MAX, "%s/" ARCHIVE_NAME "/%llu.def", files->directory,
		       (unsigned long long)location);
}

bool crit_otf2_files_share_definitions(const struct crit_otf2_files *files, uint64_t location,
				       uint64_t other)
{
	char path[NAME_MAX + PATH_MAX], other_path[NAME_MAX + PATH_MAX];

	name_definitions(files, location, path);
	name_definitions(files, other, other_path);
	return !link(other_path, path);
}

int crit_otf2_files_close_batches(struct crit_otf2_files *files)
{
	OTF2_ErrorCode code = OTF2_SUCCESS;

	for (size_t i = 0; i < files->batch_count && code == OTF2_SUCCESS; i++) {
		OTF2_Archive *batch = files->batches[i];

		if (!batch)
			continue;
		files->batches[i] = NULL;
		code = OTF2_Archive_CloseEvtFiles(batch);
		if (code == OTF2_SUCCESS)
			code = OTF2_Archive_CloseDefFiles(batch);
		if (code == OTF2_SUCCESS)
			code = OTF2_Archive_Close(batch);
	}
	return crit_otf2_check(files, code, "locations");
}

OTF2_Archive *crit_otf2_files_archive(struct crit_otf2_files *files)
{
	return files->archive;
}

int crit_otf2_files_close(struct crit_otf2_files *files)
{
	OTF2_Archive *archive = files->archive;

	files->archive = NULL;
	return crit_otf2_check(files, OTF2_Archive_Close(archive), "the anchor");
}

/* What was written is thrown away. */
void crit_otf2_files_destroy(struct crit_otf2_files *files)
{
	if (!files)
		return;
	for (size_t i = 0; files->batches && i < files->batch_count; i++) {
		if (files->batches[i] && !files->is_broken)
			(void)OTF2_Archive_Close(files->batches[i]);
	}
	if (files->archive && !files->is_broken)
		(void)OTF2_Archive_Close(files->archive);
	crit_otf2_listen_no_more();
	free(files->batches);
	free(files);
}
