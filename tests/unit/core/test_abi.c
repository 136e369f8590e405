// SPDX-License-Identifier: BSD-3-Clause
// Sizes and places of what reaches a file or another process, beyond those that its headers assert;
// a change needs a new version.
#include <stddef.h>
#include <string.h>

#include "core/abi/abi_kernel.h"
#include "core/abi/abi_recording.h"
#include "core/abi/abi_shim.h"
#include "core/abi/abi_socket.h"
#include "core/abi/abi_tag.h"
#include "core/base/call.h"
#include "tests/lib/check.h"

#define SIZE(type, bytes) CHECK_UINT_EQ(sizeof(struct type), bytes)
#define AT(type, field, offset) CHECK_UINT_EQ(offsetof(struct type, field), offset)

static void check_chunks(void)
{
	CHECK_UINT_EQ(CRIT_CHUNK_MAGIC, 0x43545243u);
	CHECK_UINT_EQ(CRIT_RECORDING_VERSION, 3);
	AT(crit_chunk_head, version, 4);
	AT(crit_chunk_head, kind, 6);
	AT(crit_chunk_head, source, 8);
	AT(crit_chunk_head, length, 12);
	AT(crit_chunk_head, crc32c, 16);
	AT(crit_chunk_head, first_ns, 24);
	AT(crit_chunk_head, last_ns, 32);
	AT(crit_chunk_head, lost, 40);
	AT(crit_chunk_head, position, 48);
	AT(crit_chunk_head, chunk, 56);
	CHECK_INT_EQ(CRIT_C_FILE, 1);
	CHECK_INT_EQ(CRIT_C_SHIM, 3);
	CHECK_INT_EQ(CRIT_C_PROCESS, 7);
	CHECK_INT_EQ(CRIT_C_FOOT, 15);
}

static void check_metadata(void)
{
	SIZE(crit_rec_file, 624);
	AT(crit_rec_file, kernel_status, 12);
	AT(crit_rec_file, start_mono_ns, 16);
	AT(crit_rec_file, run_id, 32);
	AT(crit_rec_file, boot, 48);
	AT(crit_rec_file, host, 88);
	AT(crit_rec_file, run_key, 152);
	AT(crit_rec_file, perf_status, 360);
	AT(crit_rec_file, perf_paranoid, 364);
	AT(crit_rec_file, exe, 368);
	SIZE(crit_rec_process, 544);
	AT(crit_rec_process, time_ns, 24);
	AT(crit_rec_process, exe, 32);
	AT(crit_rec_process, arguments, 288);
	SIZE(crit_rec_rank, 216);
	AT(crit_rec_rank, open_ns, 16);
	AT(crit_rec_rank, world, 24);
	SIZE(crit_rec_job, 232);
	AT(crit_rec_job, time_ns, 8);
	AT(crit_rec_job, job, 16);
	SIZE(crit_rec_close, 16);
	AT(crit_rec_close, close_ns, 8);
	SIZE(crit_rec_gone, 16);
	AT(crit_rec_stream, claim_ns, 16);
	AT(crit_rec_stream, claim_pos, 24);
	AT(crit_rec_stream_end, release_ns, 8);
	AT(crit_rec_stream_end, end_pos, 16);
	AT(crit_rec_stream_end, open_call, 48);
	AT(crit_rec_stream_end, open_first_ns, 56);
	AT(crit_rec_stream_end, open_site, 88);
	SIZE(crit_rec_maps, 16);
	SIZE(crit_rec_note, 16);
	SIZE(crit_rec_window, 8);
}

static void check_kernel(void)
{
	AT(crit_kernel_head_2, size, 1);
	AT(crit_kernel_head_2, cpu, 2);
	AT(crit_kernel_head_2, flags, 6);
	AT(crit_kernel_head_2, time_ns, 8);
	AT(crit_kernel_head, state, 7);
	AT(crit_kernel_switch, prev_tid, 16);
	AT(crit_kernel_switch, prev_tag, 24);
	AT(crit_kernel_ran, tid, 16);
	AT(crit_kernel_ran, ran_ns, 24);
	AT(crit_kernel_fork, tid, 24);
	AT(crit_kernel_fork, parent_tag, 40);
	AT(crit_kernel_exit, tag, 32);
	AT(crit_kernel_sample, tag, 24);
	AT(crit_kernel_sample, ip, 32);
	AT(crit_kernel_sample, keep, 44);
	AT(crit_kernel_stack, request, 20);
	AT(crit_kernel_stack, stack_bytes, 28);
	AT(crit_kernel_stack, sp, 40);
	AT(crit_kernel_sample, active, 46);
	CHECK_INT_EQ(CRIT_K_SWITCH, 1);
	CHECK_INT_EQ(CRIT_K_ENROL, 7);
	CHECK_INT_EQ(CRIT_K_RAN, 13);
	CHECK_INT_EQ(CRIT_KF_TAG_STALE, 4);
	CHECK_INT_EQ(CRIT_KF_HAS_TAG, 128);
}

static void check_shim(void)
{
	SIZE(crit_slot, 32);
	AT(crit_slot, kind, 8);
	AT(crit_slot, call, 10);
	AT(crit_slot, region, 12);
	AT(crit_slot, site, 16);
	AT(crit_slot, arg, 24);
	SIZE(crit_slot_poll2, 32);
	AT(crit_slot_poll2, kind, 8);
	AT(crit_slot_poll2, count, 16);
	SIZE(crit_shm_head, 4096);
	AT(crit_shm_head, clock_offset_ns, 32);
	SIZE(crit_thread_buffer_head, 4096);
	AT(crit_thread_buffer_head, write_pos, 32);
	AT(crit_thread_buffer_head, counters_lost, 128);
	AT(crit_thread_buffer_head, lap_places, 160);
}

static void check_socket(void)
{
	SIZE(crit_message_head, 8);
	SIZE(crit_message_hello, 400);
	SIZE(crit_message_output, 1120);
	AT(crit_message_output, sample_budget, 1112);
	AT(crit_message_paths, bytes, 12);
	SIZE(crit_message_register, 288);
	SIZE(crit_message_registered, 1048);
	SIZE(crit_message_rank, 224);
}

static void check_tag(void)
{
	__u64 tag = crit_tag_pack(0x123456789abull, 0xfffffff, 0xfff, 0x1f, 0xff);

	CHECK_UINT_EQ(tag, 0x6789abffffffffffull);
	CHECK_UINT_EQ(crit_tag_pack(1, 0, 0, 0, 0), 1ull << 40);
	CHECK_UINT_EQ(crit_tag_pack(0, 1, 0, 0, 0), 1ull << 20);
	CHECK_UINT_EQ(crit_tag_pack(0, 0, 1, 0, 0), 1ull << 10);
	CHECK_UINT_EQ(crit_tag_pack(0, 0, 0, 1, 0), 1ull << 6);
	CHECK_UINT_EQ(crit_tag_pack(0, 0, 0, 0, 1), 1);
	CHECK_UINT_EQ(CRIT_TAG_FIELD(tag, SEQUENCE), 0x6789abu);
	CHECK_UINT_EQ(CRIT_TAG_FIELD(tag, CALL), 0x3ff);
}

/* Numbers of calls stand in recordings: none may ever change. */
static void check_calls(void)
{
	CHECK_INT_EQ(CRIT_MPI_Abort, 1);
	CHECK_INT_EQ(CRIT_MPI_Barrier, 36);
	CHECK_INT_EQ(CRIT_MPI_Iprobe, 300);
	CHECK_INT_EQ(CRIT_MPI_Test, 449);
	CHECK_INT_EQ(CRIT_MPI_Win_test, 556);
	CHECK_INT_EQ(CRIT_CLASS_MPI_WAIT, 6);
	CHECK_INT_EQ(CRIT_CLASS_OMP_IDLE, 9);
}

/* MPI_I… and what is like it begins something and comes back. */
static void check_immediate(void)
{
	static const char *const starts[] = { "MPI_I", "MPI_File_i", "MPI_Comm_idup", "MPI_R",
					      "MPI_Start" };
	static const char *const others[] = { "MPI_Init", "MPI_Intercomm_", "MPI_Recv",
					      "MPI_Reduce", "MPI_Rsend" };

	for (unsigned int call = 1; call < CRIT_CALL_OMP_FIRST; call++) {
		const char *name = crit_call_name(call);
		bool is_immediate = false;

		for (size_t i = 0; i < sizeof(starts) / sizeof(*starts); i++)
			is_immediate |= strncmp(name, starts[i], strlen(starts[i])) == 0;
		for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
			is_immediate &= strncmp(name, others[i], strlen(others[i])) != 0;
		if (is_immediate)
			CHECK_MSG(crit_call_class(call) == CRIT_CLASS_MPI ||
					  crit_call_class(call) == CRIT_CLASS_MPI_POLL,
				  "%s waits", name);
	}
}

int main(void)
{
	check_chunks();
	check_metadata();
	check_kernel();
	check_shim();
	check_socket();
	check_tag();
	check_calls();
	check_immediate();
	return check_done();
}
