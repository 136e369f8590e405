#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The whole chain on two ranks of each MPI: verdict, call, site and its line, tables, another rule.
# usage: chain.sh BUILD-DIRECTORY
# shellcheck source-path=SCRIPTDIR source=../lib/trial.sh
. "$(dirname "$0")/../lib/trial.sh"
trial_begin "$1"

for flavour in "${flavours[@]}"; do
	for mode in run preload shim alone; do
		name=$mode-$flavour
		launch "$name" "$mode" "$flavour" 2 barrier_imbalance -n 20 -m 30:10
		[ "$status" -eq 0 ] && has_last_report 10
		point "$name: program and report" $? "status $status"
		check_laws "$name"
		within "$name: share(0)" "$(ask 'share(0)')" 0.65 0.95
		[ "$(ask '[x["rank"] for x in r["verdict"]["named"]]')" = "[0]" ]
		point "$name: verdict" $? "$(sed -n 4p "$dir/report.txt")"
		[ "$(ask 'max(r["mpi_calls"], key=lambda x: x["wait_s"])["name"]')" = MPI_Barrier ]
		point "$name: the call that waits" $? ""
		[ "$(ask '[(x["name"], x["processes"], x["visits"]) for x in r["mpi_call_sites"]][0]')" = \
			"('MPI_Barrier', 2, 40)" ]
		point "$name: one site for both ranks" $? "$(ask 'r["mpi_call_sites"][0]["function"]')"
		case $mode in
		shim) [ "$(ask 'r["job"]["mode"]')" = approximate ] ;;
		alone) [ "$(ask 'r["job"]["mode"]')" = "shims only" ] ;;
		*) [ "$(ask 'r["job"]["mode"]')" = full ] ;;
		esac
		point "$name: mode is named" $? "$(sed -n 2p "$dir/report.txt")"
		[ "$(wc -l <"$dir/ranks.csv")" -eq 3 ]
		point "$name: ranks.csv" $? ""
		within "$name: CPU-time factors multiply" \
			"$(ask 'abs(r["efficiency"]["cpu"]["parallel_ratio"] -
			r["efficiency"]["cpu"]["load_balance_ratio"] *
			r["efficiency"]["cpu"]["oversubscription_ratio"] *
			r["efficiency"]["cpu"]["io_ratio"] *
			r["efficiency"]["cpu"]["communication_ratio"])')" 0 1e-12
	done
	"$crit" report --active=kernel "$dir" >"$trial/kernel.out" 2>"$trial/kernel.err"
	[ $? -eq 1 ] && [ "$(wc -l <"$trial/kernel.err")" -eq 1 ]
	point "alone-$flavour: kernel rule is refused" $? "$(cat "$trial/kernel.err")"

	# crit run registers the process before exec; the program's shim registers it once more
	dir=$trial/single-$flavour
	"$crit" run -o "$dir" -- "$apps/barrier_imbalance.$flavour" -n 5 -m 10 2>"$trial/single.err"
	point "single-$flavour: exit status" $? ""
	report=$dir/report.json
	[ "$(ask '(r["job"]["mode"], r["job"]["ranks"], [x["visits"] for x in r["mpi_calls"]
		if x["name"] == "MPI_Barrier"])')" = "('full', 1, [6])" ]
	point "single-$flavour: a program of one rank has its calls" $? "$(sed -n 1p "$dir/report.txt")"

	# several launches in one run: each Finalize has its own answer, none waits in vain
	dir=$trial/twice-$flavour
	CRIT_FINISH_S=60 timeout 50 "$crit" run -o "$dir" -- sh -c "for i in 1 2; do
		mpirun.$flavour -np 2 $apps/barrier_imbalance.$flavour -n 5 -m 30:10; done" 2>"$trial/twice.err"
	point "twice-$flavour: exit status" $? ""
	report=$dir/report.json
	[ "$(ask 'sorted((x["world"], x["rank"]) for x in r["ranks"])')" = "[(0, 0), (0, 1), (1, 0), (1, 1)]" ]
	point "twice-$flavour: two worlds of two ranks" $? "$(sed -n 1p "$dir/report.txt")"

	launch "exchange-$flavour" run "$flavour" 2 exchange_only
	[ "$(ask '"ommunication" in r["verdict"]["sentence"], r["verdict"]["named"]')" = "(True, [])" ]
	point "exchange-$flavour: verdict names communication" $? "$(sed -n 4p "$dir/report.txt")"
done
trial_end
