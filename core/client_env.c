// SPDX-License-Identifier: BSD-3-Clause
// Reads the CRIT_* environment, every value bounded.
#include "core/client_env.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/abi_shim.h"

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

uint64_t crit_client_hash(const char *text)
{
	uint64_t hash = 0xcbf29ce484222325ull;

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 0x100000001b3ull;
	return hash;
}

/*
 * A number with an optional suffix K, M or G; the default when it is missing, foreign or out
 * of range.
 */
static uint64_t read_number(const char *name, uint64_t least, uint64_t most, uint64_t otherwise)
{
	const char *text = getenv(name);
	char *end = NULL;
	unsigned long long value;
	int shift = 0;

	if (!text || *text < '0' || *text > '9')
		return otherwise;
	value = strtoull(text, &end, 10);
	if (*end == 'K' || *end == 'k')
		shift = 10;
	else if (*end == 'M' || *end == 'm')
		shift = 20;
	else if (*end == 'G' || *end == 'g')
		shift = 30;
	if (end[shift != 0] != '\0' || value > UINT64_MAX >> shift)
		return otherwise;
	value <<= shift;
	return value < least || value > most ? otherwise : value;
}

static void read_text(const char *name, char *ret_text, size_t size)
{
	const char *text = getenv(name);

	if (!text || !crit_client_copy(ret_text, size, text))
		memset(ret_text, 0, size);
}

void crit_client_env_read(struct crit_client_env *ret_env)
{
	const int saved_errno = errno; /* strtoull sets it */
	const char *disable = getenv("CRIT_DISABLE");
	const char *level = getenv("CRIT_LEVEL");

	memset(ret_env, 0, sizeof(*ret_env));
	ret_env->is_disabled = disable && *disable && strcmp(disable, "0") != 0;
	ret_env->level = level && strcmp(level, "profile") == 0 ? CRIT_LEVEL_PROFILE
								: CRIT_LEVEL_TRACE;
	ret_env->finish_s = (uint32_t)read_number("CRIT_FINISH_S", 0, 3600, CRIT_FINISH_S_DEFAULT);
	ret_env->poll_gap_ns =
		(uint32_t)read_number("CRIT_POLL_GAP", 0, 1000000000, CRIT_POLL_GAP_NS_DEFAULT);
	ret_env->max_bytes =
		read_number("CRIT_MAX_BYTES", 1u << 20, UINT64_MAX >> 1, CRIT_MAX_BYTES_DEFAULT);
	read_text("CRIT_DIR", ret_env->directory, sizeof(ret_env->directory));
	read_text("CRIT_SOCKET", ret_env->socket, sizeof(ret_env->socket));
	read_text("CRIT_RUN", ret_env->run, sizeof(ret_env->run));
	errno = saved_errno;
}
