// SPDX-License-Identifier: BSD-3-Clause
// Parses the CRIT_* settings for a client, and decides whether this program is recorded.
#include "core/client/client_env.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "core/abi/abi_shim.h"
#include "core/base/call.h"
#include "core/base/setting.h"

bool crit_client_copy(char *ret_text, size_t size, const char *text)
{
	size_t length = strnlen(text, size);
	bool is_whole = length < size;

	if (!is_whole)
		length = size - 1;
	memcpy(ret_text, text, length);
	memset(ret_text + length, 0, size - length);
	return is_whole;
}

static void copy_setting(enum crit_setting_name name, char *ret_text, size_t size)
{
	(void)crit_client_copy(ret_text, size, crit_setting_text(name, NULL)); /* bounded there */
}

static bool is_on(enum crit_setting_name name)
{
	return strcmp(crit_setting_text(name, NULL), "0") != 0;
}

/* Explains the first setting that makes no sense, and counts the others. */
static void explain_ignored(char *ret_text, size_t size)
{
	char other[CRIT_IGNORED_BYTES] = "";
	unsigned int count = 0;

	*ret_text = '\0';
	for (int name = 0; name < CRIT_SETTING_COUNT; name++)
		count += crit_setting_explain((enum crit_setting_name)name,
					      count ? other : ret_text,
					      count ? sizeof(other) : size);
	if (count > 1) {
		const size_t length = strlen(ret_text);

		(void)snprintf(ret_text + length, size - length, "; %u more: see 'crit config'",
			       count - 1);
	}
}

void crit_client_env_read(struct crit_client_env *ret_env)
{
	enum crit_setting_source finish_source;

	memset(ret_env, 0, sizeof(*ret_env));
	ret_env->is_disabled = is_on(CRIT_SETTING_DISABLE);
	ret_env->is_quiet = is_on(CRIT_SETTING_QUIET);
	explain_ignored(ret_env->ignored, sizeof(ret_env->ignored));
	ret_env->level = strcmp(crit_setting_text(CRIT_SETTING_LEVEL, NULL), "profile") == 0
				 ? CRIT_LEVEL_PROFILE
				 : CRIT_LEVEL_TRACE;
	ret_env->sample_hz = is_on(CRIT_SETTING_SAMPLE)
				     ? (uint32_t)crit_setting_number(CRIT_SETTING_SAMPLE_HZ)
				     : 0;
	ret_env->sample_budget = (uint32_t)crit_setting_number(CRIT_SETTING_SAMPLE_BUDGET);
	ret_env->finish_s = (uint32_t)crit_setting_number(CRIT_SETTING_FINISH_S);
	(void)crit_setting_text(CRIT_SETTING_FINISH_S, &finish_source);
	ret_env->has_finish_s = finish_source == CRIT_FROM_ENVIRONMENT;
	ret_env->is_in_run =
		strcmp(crit_setting_text(CRIT_SETTING_QUIET, NULL), CRIT_QUIET_IN_RUN) == 0;
	ret_env->poll_gap_ns = (uint32_t)crit_setting_number(CRIT_SETTING_POLL_GAP);
	ret_env->max_bytes = crit_setting_number(CRIT_SETTING_MAX_BYTES);
	(void)crit_groups_parse(crit_setting_text(CRIT_SETTING_CALLS, NULL), &ret_env->groups_off);
	copy_setting(CRIT_SETTING_DIR, ret_env->directory, sizeof(ret_env->directory));
	copy_setting(CRIT_SETTING_SOCKET, ret_env->socket, sizeof(ret_env->socket));
	copy_setting(CRIT_SETTING_RUN, ret_env->run, sizeof(ret_env->run));
}

/* A pattern with a slash is for the whole path, one without for the name behind the last slash. */
static bool matches(const char *path, const char *pattern, size_t length)
{
	const char *slash = strrchr(path, '/');
	char text[CRIT_PATH_BYTES];

	if (length == 0 || length >= sizeof(text))
		return false;
	memcpy(text, pattern, length);
	text[length] = '\0';
	return fnmatch(text, strchr(text, '/') || !slash ? path : slash + 1, 0) == 0;
}

static bool matches_any(const char *path, const char *patterns)
{
	for (;;) {
		const size_t length = strcspn(patterns, ",");

		if (matches(path, patterns, length))
			return true;
		if (!patterns[length])
			return false;
		patterns += length + 1;
	}
}

bool crit_client_is_chosen(const char *path)
{
	const char *include = crit_setting_text(CRIT_SETTING_INCLUDE, NULL);

	return (!*include || matches_any(path, include)) &&
	       !matches_any(path, crit_setting_text(CRIT_SETTING_EXCLUDE, NULL));
}

bool crit_client_has_choice(void)
{
	return *crit_setting_text(CRIT_SETTING_INCLUDE, NULL) ||
	       *crit_setting_text(CRIT_SETTING_EXCLUDE, NULL);
}
