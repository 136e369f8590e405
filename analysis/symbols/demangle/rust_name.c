// SPDX-License-Identifier: BSD-3-Clause
// What Rust writes between dollar signs, and the hash it ends with.
#include "analysis/symbols/demangle/rust_name.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define HASH "::h"
#define HASH_DIGITS 16
#define HEX "0123456789abcdef"

struct escape {
	const char *text; /* between dollar signs */
	char is;
};

/* Where the hash begins; NULL: it has none. */
static char *find_hash(char *name)
{
	const size_t length = strlen(name), hash_length = strlen(HASH) + HASH_DIGITS;
	char *hash = length > hash_length ? name + length - hash_length : NULL;

	if (!hash || strncmp(hash, HASH, strlen(HASH)) != 0 ||
	    strspn(hash + strlen(HASH), HEX) != HASH_DIGITS)
		return NULL;
	return hash;
}

/* Reads what name begins with, and yields its length and character; 0: it is no escape. */
static size_t read_escape(const char *name, char *ret_is)
{
	static const struct escape escapes[] = { { "$SP$", '@' }, { "$BP$", '*' }, { "$RF$", '&' },
						 { "$LT$", '<' }, { "$GT$", '>' }, { "$LP$", '(' },
						 { "$RP$", ')' }, { "$C$", ',' } };
	unsigned int code;
	int length = 0;

	if (name[0] != '$')
		return 0;
	for (size_t i = 0; i < sizeof(escapes) / sizeof(escapes[0]); i++) {
		const size_t escape_length = strlen(escapes[i].text);

		if (strncmp(name, escapes[i].text, escape_length) == 0) {
			*ret_is = escapes[i].is;
			return escape_length;
		}
	}
	if (sscanf(name, "$u%2x$%n", &code, &length) != 1 || !length || code < ' ' || code > '~')
		return 0;
	*ret_is = (char)code;
	return (size_t)length;
}

void crit_rust_name(char *name)
{
	char *hash = find_hash(name), *to = name;

	if (!hash)
		return;
	*hash = '\0';
	for (const char *from = name; *from; to++) {
		const bool begins = from == name || from[-1] == ':';
		size_t length;

		if (begins && strncmp(from, "_$", 2) == 0)
			from++; /* so that the component is an identifier */
		length = read_escape(from, to);
		if (!length && strncmp(from, "..", 2) == 0) {
			*to++ = ':';
			*to = ':';
			length = 2;
		} else if (!length) {
			*to = *from;
			length = 1;
		}
		from += length;
	}
	*to = '\0';
}
