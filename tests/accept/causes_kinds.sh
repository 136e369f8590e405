#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# crit waits: what the others waited for, in programs of more kinds: locks, teams that change, functions, neighbours.
# usage: causes_kinds.sh BUILD-DIRECTORY
# shellcheck source-path=SCRIPTDIR source=../lib/causes.sh
. "$(dirname "$0")/../lib/causes.sh"
trial_begin "$1"
needs_root "for the full kernel half"
wants_cpus=1

# rank 0's thread does each step: its main thread sleeps meanwhile, the other rank is in a barrier behind that
for work in 20:5 10:10; do
	for flavour in "${flavours[@]}"; do
		name=deputies-$flavour-$work
		launch "$name" run "$flavour" 2 deputies 20 "${work%:*}" "${work#*:}"
		waits --json
		whole $? "$name"
		said=$(ask 'round(100 * sum(c["share"] for c in r["causes"] if c["rank"] == 0 and
			c["kind"] in ("code", "cpu") and c["before"] is None and c["after"] is None))' "$trial/waits")
		case $work in
		20:5) within "$name: share of what rank 0's thread does, per cent" "$said" 85 97 ;;
		*) within "$name: no thread stands out" "$said" 40 62 ;;
		esac
		said=$(ask 'round(100 * sum(c["share"] for c in r["causes"] if c["kind"] == "blocked"))' "$trial/waits")
		within "$name: share of what is blocked for nobody" "$said" 0 3
	done
done

# Threads that hand a lock on, in whatever order or in that of a loop: who has it is charged with those who wait
# meanwhile, 30 ms against 10 and 1 by the threads' own clocks.
lock_impact="(lambda tid: sum(p['impact_s'] for p in r['pairs']
	if p['from']['is_lock'] and tid in (0, p['to']['tid'])))"
declare -A kinds=([gnu]="lock tested nest critical ordered to-end" [llvm]="lock tested nest critical ordered")
for runtime in gnu llvm; do
	trial_has "lock_turns-$runtime" "OpenMP of $runtime" || continue
	for kind in ${kinds[$runtime]}; do
		name=$kind-$runtime
		record "$name" "$apps/lock_turns-$runtime" "$kind" 20 30 10 1
		cp "$trial/out" "$trial/counted"
		waits --by=thread
		whole $? "$name"
		waits --json --by=thread
		all_ns=$(awk '{ sum += $2 } END { print sum }' "$trial/counted")
		said=$(ask "round(1e11 * $lock_impact(0) / $all_ns)" "$trial/waits")
		within "$name: waited for holders, per cent of what threads count" "$said" 97 118
		while read -r tid ns; do
			said=$(ask "round(100 * $lock_impact($tid) / $lock_impact(0), 1)" "$trial/waits")
			within "$name: of that, for a holder that counts $((100 * ns / all_ns)) per cent" "$said" \
				$((100 * ns / all_ns - 4)) $((100 * ns / all_ns + 5))
		done <"$trial/counted"
		"$crit" what-if --json "$dir" >"$trial/fixes"
		"$crit" what-if "$dir" | grep -q 'order could change for .* for locks'
		is_said=$?
		if [[ $kind == ordered || $kind == to-end ]]; then
			[ "$(ask 'r["free_order"]["locks"]' "$trial/fixes"), $is_said" = "0, 1" ]
			point "$name: no handover could have had another order" $? \
				"$(ask 'r["free_order"]' "$trial/fixes")"
			continue
		fi
		said=$(ask 'r["free_order"]["locks"] > 40 and r["free_order"]["locks"] <= r["waits"]' "$trial/fixes")
		[ "$said" = True ]
		point "$name: most handovers could have had another order" $? "$(ask 'r["free_order"]' "$trial/fixes")"
		point "$name: which crit what-if says" "$is_said"
	done
done

# Teams that change: the critical path goes on in who makes a thread, which libgomp does in a barrier.
for runtime in gnu llvm; do
	trial_has "changing_teams-$runtime" "OpenMP of $runtime" || continue
	for kind in flat nested; do
		name=changing-$kind-$runtime
		record "$name" "$apps/changing_teams-$runtime" "$kind" 20 10
		waits --json
		whole $? "$name"
		said=$(ask 'round(100 / r["window_s"] * sum(c["path_s"] for c in r["causes"]
			if c["kind"] == "outside"))' "$trial/waits")
		within "$name: of the critical path, share of nobody, per cent" "$said" 0 10
	done
done

# Where rank 0 is late, and where it is while the others wait, are two functions: the verdict names the first one.
export CRIT_SAMPLE_HZ=997
for case in "assemble 30 20 30 10 30" "solve 30 30 20 30 10" "assemble 300 2 3 1 3"; do
	for flavour in "${flavours[@]}"; do
		read -r late steps times <<<"$case"
		# programs of the machine that have the CPUs come first in a verdict: then it is asked of another run
		for try in 1 2 3 4 5; do
			# shellcheck disable=SC2086
			launch "$late-$steps-$flavour-$try" run "$flavour" 2 two_phases "$steps" $times
			has_last_report 60
			said=$(ask 'r["verdict"]["sentence"]')
			[[ $said == *" had the CPUs for "* ]] || break
		done
		[[ $said =~ ank\ 0.*(excess|CMetric)\ in\ $late\ two_phases.c:[0-9]+ ]]
		point "$late is late, of $times ms, $flavour" $? "$said"
		[[ $said != *"step to step"* ]]
		point "the late rank does not change, $times ms, $flavour" $?
	done
done
unset CRIT_SAMPLE_HZ

# Two ranks, of which one is in a parallel region twice as long.
for flavour in "${flavours[@]}"; do
	trial_has "hybrid_steps-gnu.$flavour" "gnu's OpenMP" || continue
	name=regions-$flavour
	launch "$name" run "$flavour" 2 hybrid_steps-gnu -n 10 -t 1 -m 20:10
	waits --json --by=region
	whole $? "$name"
	said=$(ask '(lambda rows: round(100 * sum(c["cost_s"] for c in rows if c["before"] and
		c["before"]["call"] == "omp parallel" and c["before"]["function"] == "run_steps") /
		sum(c["cost_s"] for c in rows)))([c for c in r["causes"] if c["kind"] == "region"])' "$trial/waits")
	within "$name: share of the parallel region in what is done with a CPU, per cent" "$said" 85 100
done

# Where the late rank is blocked while the others wait, that is told, and where.
for flavour in "${flavours[@]}"; do
	launch "blocked-$flavour" run "$flavour" 2 two_phases 20 10 10 5 5 20
	waits --json
	whole $? "blocked-$flavour"
	said=$(ask 'round(100 * sum(c["share"] for c in r["causes"] if c["kind"] == "blocked" and c["rank"] == 0
		and c["before"] and c["before"]["call"] == "MPI_Barrier"))' "$trial/waits")
	within "blocked-$flavour: share of a rank that sleeps, per cent: 19 of 20" "$said" 85 100
done

# Ranks that meet their neighbours alone wait for the late one through all between.  Of equal ones nobody is late: what
# they wait for is CPUs, which those of MPICH hold while they wait.
for case in "now 20 2" "later 8 8" "now 8 8" "later 20 2"; do
	read -r turn_of first_ms others_ms <<<"$case"
	for flavour in "${flavours[@]}"; do
		name=neighbours-$flavour-$turn_of-$first_ms
		launch "$name" run "$flavour" 4 neighbours "$first_ms" "$others_ms" "$turn_of"
		waits --json
		laws $? "$name"
		said=$(ask 'round(100 * sum(c["share"] for c in r["causes"] if c["rank"] == 0))' "$trial/waits")
		case $first_ms in
		20) within "$name: share of rank 0, per cent: 20 of 26 ms" "$said" 55 100 ;;
		*)
			[ "$flavour" = mpich ] || within "$name: waiting, per cent of the ranks' time" \
				"$(ask 'round(25 * r["waiting_s"] / r["window_s"])' "$trial/waits")" 0 25
			within "$name: waiting but for CPUs, per cent of the ranks' time" \
				"$(ask 'round(25 * r["waiting_s"] / r["window_s"] * sum(c["share"] for c in r["causes"]
					if c["kind"] != "cpu"))' "$trial/waits")" 0 20
			;;
		esac
	done
done

# Who asks for a message until it is there waits for its sender, however often the asking was interrupted.
for way in mprobe iprobe testall probe improbe test; do
	for flavour in "${flavours[@]}"; do
		launch "askers-$flavour-$way" run "$flavour" 2 askers 20 2 "$way"
		waits --json
		laws $? "askers-$flavour-$way"
		said=$(ask 'round(100 * sum(c["share"] for c in r["causes"] if c["rank"] == 0))' "$trial/waits")
		within "askers-$flavour-$way: share of the sender, per cent" "$said" 85 100
	done
done
for flavour in "${flavours[@]}"; do
	launch "askers-$flavour-early" run "$flavour" 2 askers 2 20 iprobe
	waits --json
	laws $? "askers-$flavour-early"
	within "askers-$flavour-early: waiting, per cent of the window" \
		"$(ask '100 * r["waiting_s"] / r["window_s"]' "$trial/waits")" 0 10
done

# Who reads what its launcher passes on waits for nobody of the run, and the critical path goes on in it.
for flavour in "${flavours[@]}"; do
	for ((line = 0; line < 20; line++)); do
		sleep 0.02
		echo
	done | wants_cpus='' launch "asks-$flavour" run "$flavour" 2 asks
	dir=$trial/asks-$flavour
	waits --json
	whole $? "asks-$flavour"
	said=$(ask '[round(100 * sum(c[key] for c in r["causes"] if c["kind"] == "blocked" and c["rank"] == 0)
		/ r[whole]) for key, whole in (("cost_s", "waiting_s"), ("path_s", "window_s"))]' "$trial/waits")
	within "asks-$flavour: share of who reads, per cent" "$(tr -dc '0-9 ' <<<"${said%,*}")" 85 100
	within "asks-$flavour: of the critical path, per cent" "$(tr -dc '0-9 ' <<<"${said#*,}")" 70 100
done

trial_end
