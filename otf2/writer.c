// SPDX-License-Identifier: BSD-3-Clause
// Opens and closes the archive and its files, and keeps its memory bounded.
#include "otf2/writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "otf2/archive/library_words.h"
#include "otf2/together.h"

#define DEFINITION_BYTES 64u /* room per location in the largest record, generously */
#define CHUNK_MAX_BYTES (16u * 1024u * 1024u)

int crit_otf2_check(struct crit_otf2_writer *writer, OTF2_ErrorCode code, const char *what)
{
	int rc = errno == ENOSPC || errno == EDQUOT ? -ENOSPC : -EIO;

	if (code == OTF2_SUCCESS)
		return 0;
	writer->is_broken = true;
	return crit_err_set(writer->err, rc, "cannot write %s of the archive in %.100s: %.80s",
			    what, writer->directory,
			    rc == -ENOSPC ? strerror(ENOSPC) : writer->words.text);
}

/* Every buffer has one chunk at a time: when it asks for a second one it must flush. */
static void *give_chunk(void *user, OTF2_FileType type, OTF2_LocationRef location, void **buffer,
			uint64_t chunk_bytes)
{
	(void)user;
	(void)type;
	(void)location;
	if (*buffer)
		return NULL;
	*buffer = malloc(chunk_bytes);
	return *buffer;
}

static void take_chunk(void *user, OTF2_FileType type, OTF2_LocationRef location, void **buffer,
		       bool is_final)
{
	(void)user;
	(void)type;
	(void)location;
	(void)is_final;
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

/* A record, like the group of all locations, must fit a chunk. */
static uint64_t definition_chunk_bytes(const struct crit_otf2_writer *writer)
{
	uint64_t wanted = DEFINITION_BYTES * (uint64_t)writer->location_count;
	uint64_t bytes = CRIT_OTF2_CHUNK_BYTES;

	while (bytes < wanted && bytes < CHUNK_MAX_BYTES)
		bytes *= 2;
	return bytes;
}

int crit_otf2_open(struct crit_otf2_writer *writer)
{
	static const OTF2_FlushCallbacks flushing = { .otf2_pre_flush = flush };
	static const OTF2_MemoryCallbacks memory = { .otf2_allocate = give_chunk,
						     .otf2_free_all = take_chunk };
	OTF2_ErrorCode code = OTF2_ERROR_MEM_ALLOC_FAILED;

	crit_otf2_listen(&writer->words);
	writer->archive = OTF2_Archive_Open(writer->directory, CRIT_OTF2_NAME, OTF2_FILEMODE_WRITE,
					    CRIT_OTF2_CHUNK_BYTES, definition_chunk_bytes(writer),
					    OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
	writer->attributes = OTF2_AttributeList_New();
	if (writer->archive && writer->attributes)
		code = OTF2_Archive_SetFlushCallbacks(writer->archive, &flushing, NULL);
	if (code == OTF2_SUCCESS)
		code = OTF2_Archive_SetMemoryCallbacks(writer->archive, &memory, NULL);
	if (code == OTF2_SUCCESS)
		code = crit_otf2_set_collectives(writer);
	if (code == OTF2_SUCCESS)
		code = OTF2_Archive_OpenEvtFiles(writer->archive);
	return crit_otf2_check(writer, code, "the beginning");
}

OTF2_EvtWriter *crit_otf2_events(struct crit_otf2_writer *writer,
				 struct crit_otf2_location *location)
{
	if (location->events || location->is_closed)
		return location->events;
	location->events = OTF2_Archive_GetEvtWriter(writer->archive, location->reference);
	if (!location->events)
		(void)crit_otf2_check(writer, OTF2_ERROR_INVALID, "a location");
	return location->events;
}

int crit_otf2_close_location(struct crit_otf2_writer *writer, struct crit_otf2_location *location)
{
	OTF2_EvtWriter *events = crit_otf2_events(writer, location);
	OTF2_ErrorCode code;

	if (location->is_closed)
		return 0;
	if (!events)
		return -EIO;
	errno = 0;
	code = OTF2_EvtWriter_GetNumberOfEvents(events, &location->event_count);
	writer->event_count += location->event_count;
	if (location->member)
		writer->openmp.lost_locks += location->member->held_count;
	location->events = NULL;
	location->is_closed = true;
	if (code == OTF2_SUCCESS)
		code = OTF2_Archive_CloseEvtWriter(writer->archive, events);
	return crit_otf2_check(writer, code, "events");
}

/* Readers ignore a single offset, so there are two, and both are 0: all is on the run clock. */
static int write_local_definitions(struct crit_otf2_writer *writer,
				   const struct crit_otf2_location *location)
{
	OTF2_DefWriter *local = OTF2_Archive_GetDefWriter(writer->archive, location->reference);
	OTF2_ErrorCode code;

	if (!local)
		return crit_otf2_check(writer, OTF2_ERROR_INVALID, "local definitions");
	code = crit_otf2_write_maps(writer, location, local);
	if (code == OTF2_SUCCESS)
		code = OTF2_DefWriter_WriteClockOffset(local, writer->run->window_begin_ns, 0, 0);
	if (code == OTF2_SUCCESS)
		code = OTF2_DefWriter_WriteClockOffset(local, writer->end_ns + 1, 0, 0);
	if (code == OTF2_SUCCESS)
		code = OTF2_Archive_CloseDefWriter(writer->archive, local);
	return crit_otf2_check(writer, code, "local definitions");
}

/* Is its file written, and here? */
static bool is_written(const struct crit_otf2_location *location)
{
	return location->is_listed && location->is_own;
}

/* A listed location without a file makes readers fail, even without an event. */
int crit_otf2_close_events(struct crit_otf2_writer *writer)
{
	size_t i;
	int rc = 0;

	for (i = 0; i < writer->location_count && !rc; i++) {
		struct crit_otf2_location *location = &writer->locations[i];

		if (location->is_over && !location->is_closed) /* no MPI_Finalize came */
			rc = crit_otf2_end_location(writer, location, location->last_ns,
						    location->last_sums);
		else if (is_written(location))
			rc = crit_otf2_close_location(writer, location);
	}
	return rc;
}

/* The anchor is of the first process, which waits for the others. */
static int close_archive(struct crit_otf2_writer *writer, int rc)
{
	OTF2_Archive *archive = writer->archive;

	if (!rc && crit_otf2_leads(writer))
		rc = crit_otf2_define(writer);
	if (!rc) {
		writer->archive = NULL;
		rc = crit_otf2_check(writer, OTF2_Archive_Close(archive), "the anchor");
	}
	return rc;
}

int crit_otf2_finish(struct crit_otf2_writer *writer)
{
	bool leads = crit_otf2_leads(writer);
	size_t i;
	int rc = crit_otf2_check(writer, OTF2_Archive_CloseEvtFiles(writer->archive), "events");

	if (!rc)
		rc = crit_otf2_check(writer, OTF2_Archive_OpenDefFiles(writer->archive),
				     "local definitions");
	for (i = 0; i < writer->location_count && !rc; i++) {
		if (is_written(&writer->locations[i]))
			rc = write_local_definitions(writer, &writer->locations[i]);
	}
	if (!rc)
		rc = crit_otf2_check(writer, OTF2_Archive_CloseDefFiles(writer->archive),
				     "local definitions");
	if (!leads)
		rc = close_archive(writer, rc);
	rc = crit_otf2_agree(writer, rc);
	return leads ? close_archive(writer, rc) : rc;
}

void crit_otf2_writer_fini(struct crit_otf2_writer *writer)
{
	size_t i;

	/* After an error of its own libotf2 frees things twice: it is left alone then. */
	if (writer->archive && !writer->is_broken) {
		for (i = 0; i < writer->location_count; i++) {
			if (writer->locations[i].events)
				(void)OTF2_Archive_CloseEvtWriter(writer->archive,
								  writer->locations[i].events);
		}
		(void)OTF2_Archive_Close(writer->archive); /* what was written is thrown away */
	}
	if (writer->attributes)
		(void)OTF2_AttributeList_Delete(writer->attributes);
	for (i = 0; i < writer->location_count; i++) {
		free(writer->locations[i].member);
		free(writer->locations[i].last_sums);
	}
	crit_otf2_openmp_fini(&writer->openmp);
	for (i = 0; i < writer->member_count; i++)
		free(writer->members[i].members);
	crit_otf2_listen_no_more();
	crit_otf2_strings_fini(&writer->strings);
	crit_otf2_strings_fini(&writer->site_texts);
	crit_index_fini(&writer->member_numbers);
	crit_map_fini(&writer->program_regions);
	crit_map_fini(&writer->sites);
	free(writer->groups);
	free(writer->locations);
	free(writer->regions);
	free(writer->site_strings);
	free(writer->members);
	free(writer->communicators);
	free(writer->peer_limits);
}
