// SPDX-License-Identifier: BSD-3-Clause
// Which regions there are, and how often each is entered.
#include "otf2/verify/verify_regions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "otf2/verify/faults.h"

static OTF2_CallbackCode on_string(void *user, OTF2_StringRef self, const char *text)
{
	struct crit_otf2_verifier *verifier = user;
	uint32_t index = (uint32_t)verifier->text_count;
	char *copy = strdup(text);
	int rc = copy ? 0 : -ENOMEM;

	if (!rc)
		rc = crit_array_grow(&verifier->texts, &verifier->text_capacity, index + 1u,
				     sizeof(*verifier->texts));
	if (rc) {
		free(copy);
		return crit_otf2_keep_error(verifier, rc);
	}
	verifier->texts[verifier->text_count++] = copy;
	return crit_otf2_keep_error(verifier, crit_map_set(&verifier->text_numbers, self, index));
}

/* A copy; NULL: there is none, or out of memory. */
static char *text_of(struct crit_otf2_verifier *verifier, OTF2_StringRef string)
{
	uint32_t index = crit_map_get(&verifier->text_numbers, string);
	char *copy = index == CRIT_NONE ? NULL : strdup(verifier->texts[index]);

	if (!copy && index != CRIT_NONE)
		verifier->error = -ENOMEM;
	return copy;
}

static enum crit_otf2_owner owner_of(OTF2_Paradigm paradigm, OTF2_RegionRole role)
{
	if (paradigm == OTF2_PARADIGM_MPI)
		return CRIT_OTF2_OWNER_MPI;
	if (paradigm == OTF2_PARADIGM_OPENMP)
		return CRIT_OTF2_OWNER_OPENMP;
	return paradigm == OTF2_PARADIGM_USER && role == OTF2_REGION_ROLE_CODE
		       ? CRIT_OTF2_OWNER_PHASE
		       : CRIT_OTF2_OWNER_NONE;
}

// NOLINTBEGIN(readability-function-size): the signature is the library's
static OTF2_CallbackCode on_region(void *user, OTF2_RegionRef self, OTF2_StringRef name,
				   OTF2_StringRef canonical, OTF2_StringRef description,
				   OTF2_RegionRole role, OTF2_Paradigm paradigm,
				   OTF2_RegionFlag flags, OTF2_StringRef file, uint32_t begin_line,
				   uint32_t end_line)
{
	struct crit_otf2_verifier *verifier = user;
	struct crit_otf2_entered_list *list = &verifier->entered;
	uint32_t index = (uint32_t)list->count;
	int rc = crit_array_grow(&list->rows, &verifier->entered_capacity, index + 1u,
				 sizeof(*list->rows));

	(void)canonical;
	(void)description;
	(void)flags;
	(void)end_line;
	if (rc)
		return crit_otf2_keep_error(verifier, rc);
	list->rows[list->count++] = (struct crit_otf2_entered){
		.name = text_of(verifier, name),
		.file = begin_line ? text_of(verifier, file) : NULL,
		.line = begin_line,
		.owner = owner_of(paradigm, role),
	};
	return crit_otf2_keep_error(verifier, crit_map_set(&verifier->regions, self, index));
}
// NOLINTEND(readability-function-size)

/* Numbered from 0 without a gap, callers first. */
static OTF2_CallbackCode on_context(void *user, OTF2_CallingContextRef self, OTF2_RegionRef region,
				    OTF2_SourceCodeLocationRef source,
				    OTF2_CallingContextRef parent)
{
	struct crit_otf2_verifier *verifier = user;

	(void)source;
	if (self != verifier->context_count ||
	    (parent != OTF2_UNDEFINED_CALLING_CONTEXT && parent >= self) ||
	    crit_map_get(&verifier->regions, region) == CRIT_NONE)
		crit_otf2_fault(verifier,
				"calling context %u: region %u or parent %u is not defined", self,
				region, parent);
	verifier->context_count++;
	return OTF2_CALLBACK_SUCCESS;
}

void crit_otf2_verify_set_regions(OTF2_GlobalDefReaderCallbacks *calls)
{
	(void)OTF2_GlobalDefReaderCallbacks_SetCallingContextCallback(calls, on_context);
	(void)OTF2_GlobalDefReaderCallbacks_SetStringCallback(calls, on_string);
	(void)OTF2_GlobalDefReaderCallbacks_SetRegionCallback(calls, on_region);
}

bool crit_otf2_verify_enter(struct crit_otf2_verifier *verifier, uint32_t region)
{
	uint32_t index = crit_map_get(&verifier->regions, region);

	if (index != CRIT_NONE)
		verifier->entered.rows[index].count++;
	return index != CRIT_NONE;
}

void crit_otf2_verify_fini_regions(struct crit_otf2_verifier *verifier)
{
	for (size_t i = 0; i < verifier->text_count; i++)
		free(verifier->texts[i]);
	free(verifier->texts);
	crit_map_fini(&verifier->text_numbers);
	crit_map_fini(&verifier->regions);
	crit_otf2_entered_fini(&verifier->entered);
}
