#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The gate runs a test again when it failed on CPUs that were taken away, and one that measures when its points failed.
# usage: gate.sh SOURCE-DIRECTORY
set -euo pipefail
gate=$1/tests/gate.sh
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export GATE_STAT=$scratch/stat CRIT_MAY_SKIP=other
faults=0

# A test that takes all of 100 ticks, so many of them stolen; its exit status is the next line of the plan.
cat >"$scratch/test" <<'END'
#!/usr/bin/env bash
trap 'exit 9' INT
echo "$1" >>"$0.runs"
runs=$(wc -l <"$0.runs")
echo "cpu 0 0 0 $((runs * (100 - $1))) 0 0 0 $((runs * $1)) 0 0" >"$GATE_STAT"
[ "${2:-}" != hang ] || sleep 100
[ "${2:-}" != interrupt ] || kill -INT $$
shift
exit "$(printf '%s\n' "$@" | sed -n "${runs}p")"
END
chmod +x "$scratch/test"

# expect STATUS RUNS STOLEN EXIT…: what the gate makes of a test that ends so.
expect() {
	local wanted=$1 runs=$2 status=0 limit=60
	shift 2
	[ "${2:-}" != hang ] || limit=1
	rm -f "$scratch/test.runs"
	echo "cpu 0 0 0 0 0 0 0 0 0 0" >"$GATE_STAT"
	"$gate" "${label:-label}" "$limit" "$scratch/test" "$@" 2>"$scratch/err" || status=$?
	if [ "$status" -ne "$wanted" ] || [ "$(wc -l <"$scratch/test.runs")" -ne "$runs" ]; then
		printf 'gate: %s: exit %d after %d runs; wanted %d after %d\n' "$*" "$status" \
			"$(wc -l <"$scratch/test.runs")" "$wanted" "$runs"
		faults=$((faults + 1))
	fi
}

expect 0 1 50 0
expect 3 1 0 3 0
expect 0 2 50 3 0
expect 0 3 1 3 77 0
expect 4 3 50 3 3 4 0
expect 1 1 0 77
expect 124 1 0 hang
expect 124 3 30 hang
expect 9 1 0 interrupt
CRIT_MAY_SKIP=label expect 77 1 0 77
expect 1 1 0 1 0 0
label=e2e
expect 0 1 0 0
expect 0 3 0 1 0 0
expect 1 2 0 1 1 0
expect 1 3 0 1 0 1
expect 3 1 0 3 0 0
expect 1 1 0 77
expect 124 1 0 hang
expect 0 2 50 1 0
exit $((faults > 0))
