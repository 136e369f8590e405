#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Prints how many lines of each parser its fuzz targets reach: with their seeds, the inputs kept, the mutations of
# make check, and a corpus, where there is one.  usage: coverage.sh BUILD-DIRECTORY [CORPORA]
# BUILD-DIRECTORY is of preset coverage; CORPORA holds a directory per target, as fuzz.sh leaves them.
# Exit 1 when one is below 60 %.
set -euo pipefail
build=$(realpath "$1")
corpora=${2:-}
root=$(realpath "${BASH_SOURCE%/*}/../..")
least=60
place=$build/coverage
rm -rf "$place"
mkdir -p "$place"

# What reads bytes of others: messages and shared memory of clients, recordings, what peers send, archives, programs.
parsers=(analysis/account/{teams,regions}.c
	analysis/clock/{clocks,clock_shifts,transits}.c
	analysis/cluster/{peers,reduce,rounds,slice,span_exchange}.c
	analysis/model/{processes,survey,survey_streams,register,hosts}.c
	analysis/mpi/{order,messages,message_trace,requests,communicators,collectives}.c
	analysis/recording/{recording,shim_feed,kernel_feed}.c
	analysis/replay/merge.c
	analysis/symbols/{address_space,elf_file,debug_file,debug_info,function_index,function_name,symbols}.c
	cli/command_gather.c cli/results/nodes.c
	collector/loop/{protocol,clients,connections,lifecycle,inspection,message_in}.c
	collector/member/{client_process,shm}.c
	collector/record/output_check.c
	otf2/verify/{claims,comm_members,event_time,faults,tally,verify_archive,verify_definitions}.c
	otf2/verify/verify_{events,messages,regions,tasks,threads}.c)

objects=()
for smoke in "$build"/tests/fuzz-*-smoke; do
	name=${smoke##*/fuzz-}
	name=${name%-smoke}
	kept=$root/tests/data/fuzz/$name
	objects+=(-object "$smoke")
	LLVM_PROFILE_FILE=$place/$name-%p.profraw "$smoke" --kept "$kept" 500 2 &>"$place/$name.log" </dev/null
	if [[ -d $corpora/$name ]]; then
		LLVM_PROFILE_FILE=$place/$name-%p.profraw "$smoke" --run "$corpora/$name" \
			&>>"$place/$name.log" </dev/null
	fi
done
llvm-profdata merge -o "$place/all.profdata" "$place"/*.profraw
llvm-cov export -summary-only -instr-profile "$place/all.profdata" "${objects[@]}" >"$place/all.json"
python3 - "$place/all.json" "$root" "$least" "${parsers[@]}" <<'END'
import json, os, sys

path, root, least, parsers = sys.argv[1], sys.argv[2], float(sys.argv[3]), sys.argv[4:]
files = {os.path.relpath(os.path.normpath(entry["filename"]), root): entry["summary"]["lines"]
	 for entry in json.load(open(path))["data"][0]["files"]}
low = 0
print(f"{'file':36} {'lines':>6} {'reached':>8}")
for parser in parsers:
	lines = files.get(parser, {"count": 0, "percent": 0.0})
	is_low = lines["percent"] < least
	low += is_low
	print(f"{parser:36} {lines['count']:6} {lines['percent']:6.1f} %{'  too few' if is_low else ''}")
sys.exit(low > 0)
END
