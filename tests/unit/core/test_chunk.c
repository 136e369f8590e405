// SPDX-License-Identifier: BSD-3-Clause
// Seals chunks and proves that any flipped bit is noticed.
#include "core/base/chunk.h"
#include "tests/lib/check.h"

static void seal_example(struct crit_chunk_head *head, unsigned char *payload, size_t length)
{
	for (size_t i = 0; i < length; i++)
		payload[i] = (unsigned char)(i * 7 + 1);
	memset(head, 0, sizeof(*head));
	head->kind = CRIT_C_NOTE;
	head->chunk = 3;
	crit_chunk_seal(head, payload, length);
}

static bool holds(const struct crit_chunk_head *head, const unsigned char *payload, size_t room)
{
	return crit_chunk_head_is_sane(head) && head->length <= room &&
	       crit_chunk_is_whole(head, payload);
}

static void check_flips(size_t length)
{
	struct crit_chunk_head head;
	unsigned char payload[64];
	unsigned char *bytes = (unsigned char *)&head;

	seal_example(&head, payload, length);
	CHECK(holds(&head, payload, sizeof(payload)));
	for (size_t bit = 0; bit < sizeof(head) * 8; bit++) {
		bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
		CHECK_MSG(!holds(&head, payload, sizeof(payload)), "head bit %zu unnoticed", bit);
		bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
	}
	for (size_t bit = 0; bit < length * 8; bit++) {
		payload[bit / 8] ^= (unsigned char)(1u << bit % 8);
		CHECK_MSG(!holds(&head, payload, sizeof(payload)), "payload bit %zu missed", bit);
		payload[bit / 8] ^= (unsigned char)(1u << bit % 8);
	}
	CHECK(holds(&head, payload, sizeof(payload)));
}

/* The checksum is plain CRC-32C, so that others can read recordings: check value E3069283. */
static void check_is_castagnoli(void)
{
	static const unsigned char digits[] = "123456789";
	struct crit_chunk_head head = { .kind = CRIT_C_NOTE };
	unsigned int crc = ~0u;
	unsigned char bytes[sizeof(head) + 9];
	const unsigned char *at = digits;
	size_t count = 9;

	for (int pass = 0; pass < 2; pass++) {
		crc = ~0u;
		for (size_t i = 0; i < count; i++) {
			crc ^= at[i];
			for (int k = 0; k < 8; k++)
				crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78u : 0);
		}
		crc = ~crc;
		if (pass == 0) {
			CHECK_UINT_EQ(crc, 0xe3069283u);
			crit_chunk_seal(&head, digits, 9);
			memcpy(bytes, &head, sizeof(head));
			memset(bytes + offsetof(struct crit_chunk_head, crc32c), 0, 4);
			memcpy(bytes + sizeof(head), digits, 9);
			at = bytes;
			count = sizeof(bytes);
		}
	}
	CHECK_UINT_EQ(crc, head.crc32c);
}

/* Older versions are read as well, newer ones are not. */
static void check_versions(void)
{
	struct crit_chunk_head head;
	unsigned char payload[8];

	seal_example(&head, payload, sizeof(payload));
	CHECK_UINT_EQ(head.version, CRIT_RECORDING_VERSION);
	for (unsigned int version = 0; version <= CRIT_RECORDING_VERSION + 1; version++) {
		head.version = (__u16)version;
		CHECK_INT_EQ(crit_chunk_head_is_sane(&head),
			     version >= CRIT_RECORDING_VERSION_LEAST &&
				     version <= CRIT_RECORDING_VERSION);
	}
}

int main(void)
{
	check_versions();
	check_flips(0);
	check_flips(1);
	check_flips(64);
	check_is_castagnoli();
	return check_done();
}
