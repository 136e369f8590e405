#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# crit waits: what the others waited for, in chains of threads and of ranks of known work.
# usage: causes.sh BUILD-DIRECTORY [full]
# shellcheck source-path=SCRIPTDIR source=../lib/causes.sh
. "$(dirname "$0")/../lib/causes.sh"
trial_begin "$1"
needs_root "for the full kernel half"
wants_cpus=1
is_full=${2:-}

# Four threads in turn, and the one that waits for their ends: each millisecond of the one that works costs four.
record stages "$apps/stages" 20 4 20 2
waits --by=thread
whole $? stages
within "stages: share of the first thread, per cent: 20 of 26 ms" "$(first_share)" 68 85
within "stages: of its cost, share of those who wait for it alone" \
	"$(awk "BEGIN { print $(cause 1 3) / $(cause 1 1) }")" 0.42 0.58
waits
whole $? "stages by place"
waits --by=name
whole $? "stages by name"
within "stages: share of all threads of the name, per cent" "$(first_share)" 95 100
waits
grep -q '20  thread .* for thread' "$trial/waits"
point "stages: each round is a wait of the next one" $? "$(sed -n '/^Who/,$p' "$trial/waits")"

for work in 20:2 10:10; do
	take_turns
	for flavour in "${turn[@]}"; do
		name=handover-$flavour-$work
		launch "$name" run "$flavour" 2 handover 20 "${work%:*}" "${work#*:}"
		waits --by=rank
		whole $? "$name"
		case $work in
		20:2) within "$name: share of rank 0, per cent: 20 of 22 ms" "$(cause 1 2)" 84 96 ;;
		*) within "$name: nobody stands out" "$(cause 1 2)" 45 62 ;;
		esac
		waits --json
		said=$(ask '[(knot["kind"], [who["rank"] for who in knot["members"]]) for knot in r["knots"]]' \
			"$trial/waits")
		case $work in
		20:2) [ "$said" = "[('knot', [0])]" ] ;;
		*) [ "$said" = "[('component', [0, 1])]" ] ;;
		esac
		point "$name: who waits least is the knot, equals are none" $? "$said"
		for rank in 0 1; do
			said=$(ask "round(1e3 * sum(c['delay_s'] or 0 for c in r['causes'] if c['rank'] == $rank))" \
				"$trial/waits")
			own_ms=$(cut -d: -f$((rank + 1)) <<<"$work")
			within "$name: delay of rank $rank, in ms: half of its 20 times $own_ms" "$said" \
				$((9 * own_ms)) $((11 * own_ms + 10))
		done
	done
done

take_turns
for flavour in "${turn[@]}"; do
	launch "crowded-$flavour" run "$flavour" 4 two_phases 20 25 5 5 5
	waits --json
	said=$(ask 'round(100 * sum(c["share"] for c in r["causes"]
		if c["rank"] == 0 and c["kind"] in ("code", "cpu")))' "$trial/waits")
	within "crowded-$flavour: 4 ranks, share of rank 0's work and its want of a CPU" "$said" 75 100
	said=$(ask 'sorted({c["kind"] for c in r["causes"] if c["rank"] == 0 and c["cost_s"] > 0} &
		{"code", "cpu"})' "$trial/waits")
	[ "$said" = "['code', 'cpu']" ]
	point "crowded-$flavour: a want of a CPU is told apart" $? "$said"
	said=$(ask '(r["late_acts"][0]["actor"]["rank"], r["late_acts"][0]["waiters"])' "$trial/waits")
	[ "$said" = "(0, 3)" ]
	point "crowded-$flavour: the act waited for most is rank 0's, by three" $? "$said"
done

take_turns
for flavour in "${turn[@]}"; do
	launch "place-$flavour" run "$flavour" 2 handover 20 20 2
	waits
	grep -m 1 '%' "$trial/waits" | grep -q \
		'rank 0: between MPI_Recv receive handover.c:[0-9]* and MPI_Send send handover.c:[0-9]*$'
	point "place-$flavour: the cause is where rank 0 works" $? "$(grep -m 1 '%' "$trial/waits")"
	waits --json
	said=$(ask '(r["schema"], r["causes"][0]["rank"], r["causes"][0]["before"]["call"],
		r["causes"][0]["after"]["function"], r["circles"],
		abs(sum(c["cost_s"] for c in r["causes"]) - r["waiting_s"]) < 1e-9,
		abs(sum(c["path_s"] for c in r["causes"]) - r["window_s"]) < 1e-9,
		{(p["from"]["rank"], p["to"]["rank"]) for p in r["pairs"]} == {(0, 1), (1, 0)})' "$trial/waits")
	[ "$said" = "('crit-waits/1', 0, 'MPI_Recv', 'send', 0, True, True, True)" ]
	point "place-$flavour: the same as JSON, its sums are the laws'" $? "$said"
	said=$(ask '(lambda acts, waited: (len(acts), {(a["actor"]["rank"], a["actor"]["kind"],
		a["actor"]["after"]["call"], a["waiter"]["rank"], a["waiter"]["kind"],
		a["waiter"]["before"]["function"], a["waiters"]) for a in acts},
		abs(sum(a["longest_s"] for a in acts) - waited["waited_s"]) < 0.005,
		380 < 1000 * waited["self_s"] < 440))(
		[a for a in r["late_acts"] if a["longest_s"] > 0.01],
		*(p for p in r["pairs"] if p["from"]["rank"] == 1))' "$trial/waits")
	[ "$said" = "(20, {(0, 'code', 'MPI_Send', 1, 'call', 'receive', 1)}, True, True)" ]
	point "place-$flavour: each send was waited for, while its sender ran 20 ms" $? "$said"
	said=$(python3 -S -c 'import json, sys
report, waits = (json.load(open(path)) for path in sys.argv[1:])
print([report[ours] == waits[theirs] for ours, theirs in
	(("late_acts", "late_acts"), ("knots", "knots"), ("wait_edges", "pairs"))])' \
		"$dir/report.json" "$trial/waits" 2>&1)
	[ "$said" = "[True, True, True]" ]
	point "place-$flavour: acts, knots and pairs of the report are the same" $? "$said"
	waits --dot
	tr -d '\n\t' <"$trial/waits" |
		grep -qE '^digraph.*"rank 0" \[xlabel="[0-9.]+ .*"rank 1" -> "rank 0" \[label="[0-9.]+ s".*20 waits.*}$'
	point "place-$flavour: the pairs as a graph" $? "$(grep -m 1 -e '->' "$trial/waits")"
	waits --graphml
	said=$(python3 -S -c 'import sys, xml.etree.ElementTree as tree
graph = tree.parse(sys.argv[1]).getroot().find("{*}graph")
data = lambda of, key: next((d.text for d in of.findall("{*}data") if d.get("key") == key), None)
names = {node.get("id"): data(node, "label") for node in graph.findall("{*}node")}
print([data(node, "label") for node in graph.findall("{*}node") if data(node, "knot")],
	sorted((names[e.get("source")], names[e.get("target")], data(e, "waits")) for e in graph.findall("{*}edge")))' \
		"$trial/waits" 2>&1)
	[ "$said" = "['rank 0'] [('rank 0', 'rank 1', '20'), ('rank 1', 'rank 0', '20')]" ]
	point "place-$flavour: the same as GraphML, the knot too" $? "$said"
	waits --by=site
	grep -m 1 '%' "$trial/waits" | grep -q 'all: between MPI_Recv receive'
	point "place-$flavour: of all ranks" $? "$(grep -m 1 '%' "$trial/waits")"
done

# A thread that waits for a task, or for those of a group, waits for the one that ends the last of them: 20 times 15 ms;
# so it does if it runs a task itself that could not begin before.
for runtime in gnu llvm; do
	trial_has "task_turns-$runtime" "OpenMP of $runtime" || continue
	for kind in wait group depend; do
		name=task$kind-$runtime
		record "$name" "$apps/task_turns-$runtime" "$kind" 20 15
		read -r waiter worker <"$trial/out"
		waits --by=thread
		whole $? "$name"
		waits --json --by=thread
		said=$(ask "round(1000 * sum(p['self_s'] for p in r['pairs']
			if p['from']['tid'] == $waiter and p['to']['tid'] == $worker))" "$trial/waits")
		within "$name: one waits while the other runs, in ms" "$said" 285 330
		said=$(ask "round(100 * sum(c['share'] for c in r['causes'] if c['tid'] == $worker))" "$trial/waits")
		within "$name: share of the other one's work, per cent" "$said" 85 100
	done
done

# Cost is where the late rank is while the others wait, delay what made it late; equal work is no delay.
for case in "Barrier Sendrecv 20 25 10 25" "Sendrecv Barrier 25 20 25 10" "none none 20 20 20 20"; do
	take_turns
	for flavour in "${turn[@]}"; do
		read -r before after times <<<"$case"
		name=delay-$before-$flavour
		# shellcheck disable=SC2086
		launch "$name" run "$flavour" 2 two_phases 30 $times 0 1
		waits --json
		whole $? "$name"
		said=$(ask "[round(1e3 * sum(c['delay_s'] for c in r['causes'] if c['kind'] == 'code' and c['rank'] == 0
			and c['before'] and c['after'] and c['before']['call'] == 'MPI_$before'
			and c['after']['call'] == 'MPI_$after')),
			round(1e3 * sum(c['delay_s'] or 0 for c in r['causes'] if c['kind'] == 'code')),
			round(1e3 * sum(c['path_imbalance_s'] or 0 for c in r['causes'] if c['kind'] == 'code'))]" \
			"$trial/waits")
		read -r late all path <<<"${said//[^0-9 ]/}"
		if [ "$before" = none ]; then
			within "$name: delay of equal ranks, in ms" "$all" 0 30
		else
			within "$name: delay of what rank 0 does longer, in ms: 30 times 5" "$late" 135 165
			within "$name: delay of all code, in ms" "$all" "$late" 180
			within "$name: imbalance of the critical path, in ms" "$path" 135 190
		fi
	done
done

# The user's phases, without a call between them: rank 0 is in the second one while the other waits, and late from the
# first one, 20 ms against 10.
take_turns
for flavour in "${turn[@]}"; do
	name=phases-$flavour
	launch "$name" run "$flavour" 2 two_phases 30 20 25 10 25 0 phases
	waits --json --by=region
	whole $? "$name"
	said=$(ask 'sorted({c["before"]["function"] if c["before"] else "" for c in r["causes"]
		if c["kind"] == "region" and c["rank"] == 0})' "$trial/waits")
	[ "$said" = "['', 'assemble', 'solve']" ]
	point "$name: rank 0 is in two phases, and outside" $? "$said"
	said=$(ask 'round(100 * sum(c["share"] for c in r["causes"] if c["kind"] == "region" and c["rank"] == 0 and
		c["before"] and c["before"]["function"] == "solve"))' "$trial/waits")
	within "$name: share of the second phase, per cent" "$said" 85 100
	said=$(ask 'round(1e3 * sum(c["delay_s"] for c in r["causes"] if c["kind"] == "region" and c["rank"] == 0 and
		c["before"] and c["before"]["function"] == "assemble"))' "$trial/waits")
	within "$name: delay of the first one, in ms: 30 times 5" "$said" 135 165
	said=$(ask '(lambda pairs: round(100 * sum(p["waited_s"] for p in pairs if p["from"]["rank"] == 1 and
		p["from"]["region"] is None and p["to"]["rank"] == 0 and p["to"]["region"] and
		p["to"]["region"]["function"] == "solve") / sum(p["waited_s"] for p in pairs)))(r["pairs"])' \
		"$trial/waits")
	within "$name: waits of rank 1 outside all for rank 0 in the second phase, per cent" "$said" 85 100
	said=$(ask '[(m["rank"], m["region"]["function"]) for k in r["knots"] if k["kind"] == "knot"
		for m in k["members"]]' "$trial/waits")
	[ "$said" = "[(0, 'solve')]" ]
	point "$name: which is the knot" $? "$said"
	waits --by=region --dot
	grep -q '"rank 1 outside all regions" -> "rank 0 in phase solve"' "$trial/waits"
	point "$name: as a graph" $? "$(grep -m 1 -e '->' "$trial/waits")"
	waits --by=region
	grep -q 'rank 1 outside all regions for rank 0 in phase solve$' "$trial/waits"
	point "$name: pairs in words" $? "$(grep -m 1 ' for ' "$trial/waits")"
	grep -q 'rank 0: in phase solve$' "$trial/waits" && grep -q 'rank 0: in phase assemble$' "$trial/waits"
	point "$name: in words" $? "$(grep -m 1 '%' "$trial/waits")"
	waits
	grep -q 'rank 0: from begin to end of phase assemble$' "$trial/waits" &&
		grep -q 'rank 0: between the end of phase solve and MPI_Barrier' "$trial/waits"
	point "$name: phases bound code" $? "$(grep -m 1 '%' "$trial/waits")"
done

record sleep sleep 0.3
waits
whole $? sleep
within "sleep: share of nobody, per cent" "$(cause 1 2)" 99 100
grep -m 1 '%' "$trial/waits" | grep -q 'nobody of the run: .* that ends a block in clock_nanosleep'
point "sleep: a timer is nobody of the run" $? "$(grep -m 1 '%' "$trial/waits")"

# shellcheck disable=SC2016 # for the shell that it is handed to
record stopped sh -c 'sleep 0.2 & kill -STOP $!; sleep 0.5; kill -CONT $!; wait'
report=$dir/report.json
said=$(ask 'sum(w["blocked_s"] for w in r["wait_paths"] if w["call"] == "a stop by signal or debugger")')
within "stopped: seconds of a stop of 0.5, which are none of the sleep it interrupts" "$said" 0.45 1
said=$(ask 'sum(w["blocked_s"] for w in r["wait_paths"] if "nanosleep" in w["call"])')
within "stopped: seconds of two sleeps" "$said" 0.45 0.85
waits
grep -q 'in a block in a stop by signal or debugger, for thread .* (sh)' "$trial/waits"
point "stopped: crit waits tells it" $? "$(grep -m 1 'stop by signal' "$trial/waits")"

mkdir "$trial/memory"
mount -t tmpfs -o size=16m tmpfs "$trial/memory"
cp "$dir"/*.crit "$trial/memory"
TMPDIR=$trial/memory "$crit" report "$trial/memory" >"$trial/out" 2>&1 &&
	grep -q 'missing: what waits cost: .*set TMPDIR' "$trial/out"
point "without a disk the report is whole but for what waits cost" $? "$(grep 'what waits cost' "$trial/out")"
umount "$trial/memory"
said=$(ulimit -f 1 && "$crit" report "$dir" 2>&1) && grep -q 'missing: what waits cost: ' <<<"$said"
point "nor does a limit of file sizes end it" $? "$(grep 'what waits cost' <<<"$said")"

export CRIT_LEVEL=profile
record profile "$apps/stages" 2 2 1 1
unset CRIT_LEVEL
waits
[ $? -eq 1 ] && grep -q 'CRIT_LEVEL=trace' "$trial/waits.err"
point "level profile has no waits, which one line says" $? "$(cat "$trial/waits.err")"
waits --by=nonsense
[ $? -eq 2 ] && [ "$(wc -l <"$trial/waits.err")" -eq 1 ]
point "a wrong --by is refused in one line" $? "$(cat "$trial/waits.err")"
mkdir "$trial/empty"
dir=$trial/empty waits
[ $? -eq 1 ] && [ "$(wc -l <"$trial/waits.err")" -eq 1 ]
point "a directory without recordings is refused in one line" $? "$(cat "$trial/waits.err")"
trial_end
