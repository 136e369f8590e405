#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# crit diff: two real runs, one of twice the work; itself; and what cannot be compared.
# usage: diff.sh BUILD-DIRECTORY
# shellcheck source-path=SCRIPTDIR source=../lib/trial.sh
. "$(dirname "$0")/../lib/trial.sh"
trial_begin "$1"

# expect NAME STATUS PATTERN COMMAND…: exit status, and a pattern in what it prints.
expect() {
	local name=$1 expected=$2 pattern=$3 got
	shift 3
	"$@" >"$trial/expect.out" 2>&1
	got=$?
	[ "$got" -eq "$expected" ] && grep -q -- "$pattern" "$trial/expect.out"
	point "$name" $? "status $got, expected $expected: $(head -n 2 "$trial/expect.out" | tail -n 1)"
}

for rounds in 20 80; do
	CRIT_DIR=$trial/$rounds "$crit" run -- "$apps/mutex_equal" 2 "$rounds" >/dev/null 2>"$trial/run.err"
	point "run of $rounds rounds" $? ""
done
CRIT_DIR=$trial/other "$crit" run -- "$apps/wavefront-gnu" >/dev/null 2>"$trial/run.err"
point "run of another program" $? ""
a=$trial/20 b=$trial/80
"$crit" report --active=kernel -o "$trial/kernel" "$a" >/dev/null 2>&1
expect "two runs" 0 "run window_s" "$crit" diff "$a" "$b"
expect "begins with what changed" 0 "% slower: window .* s -> .* s" bash -c "'$crit' diff '$a' '$b' | head -n 1"
expect "nothing changed" 0 "^No difference beyond 1%" bash -c "'$crit' diff '$a' '$a' | head -n 1"
expect "the other arguments are said" 0 "does not compare: args" "$crit" diff "$a" "$b"
expect "files" 0 "run window_s" "$crit" diff "$a/report.json" "$b/report.json"
"$crit" diff --json "$a" "$b" >"$trial/diff.json"
python3 - "$trial/diff.json" "$a/report.json" "$b/report.json" <<'EOF'
import json
import sys
diff, a, b = (json.load(open(path)) for path in sys.argv[1:])
window = next(c for c in diff["changes"] if c["group"] == "run" and c["figure"] == "window_s")
assert window["a"] == a["job"]["window_s"] and window["b"] == b["job"]["window_s"], window
assert window["change"] == window["b"] - window["a"] and window["ratio"] > 1.5, window
assert diff["sentence"].endswith(".") and "slower" in diff["sentence"], diff["sentence"]
assert diff["schema"] == "crit-diff/1" and diff["a"]["exe"] == a["job"]["exe"]
EOF
point "its JSON is the difference of the reports" $? ""
"$crit" diff --json "$a" "$a" | python3 -c '
import json, sys
diff = json.load(sys.stdin)
assert diff["changes"] and not diff["does_not_compare"]
assert all(c["change"] == 0 and c["ratio"] in (1, None) for c in diff["changes"])'
point "a run and itself" $? ""
"$crit" diff --json "$a" "$b" | python3 -c '
import json, sys
diff, a, b = json.load(sys.stdin), *(json.load(open(path)) for path in sys.argv[1:])
costs = [c for c in diff["changes"] if c["group"] == "causes" and c["figure"] == "cost_s"]
for side, report in (("a", a), ("b", b)):
    told = sum(cause["cost_s"] for cause in report["causes"])
    assert abs(sum(c[side] or 0 for c in costs) - told) < 1e-9 * len(costs), (side, told, costs)
assert max(costs, key=lambda c: abs(c["change"])) == costs[0] and costs[0]["change"] > 0, costs
assert any(c["a"] and c["b"] and "mutex_equal: " in c["name"] for c in costs), costs' "$a/report.json" "$b/report.json"
point "causes are paired, and none is left out" $? "$("$crit" diff "$a" "$b" | grep -A3 '^causes' | tr -s ' \n' ' ')"
"$crit" diff --json "$a" "$a" | python3 -c '
import json, sys
hot = json.load(sys.stdin)["hot"]
assert all(x["change"] == 0 and not x["is_changed"] for x in hot)
assert not hot or {x["level"] for x in hot} == {"line", "function"}'
point "hot lines of a run and itself" $? ""
ln -s "$a" "$trial/"$'\xff'
for option in --json "--json --predicted"; do
	# shellcheck disable=SC2086 # two options
	"$crit" diff $option "$trial/"$'\xff' "$b" 2>"$trial/run.err" | python3 -c '
import json, sys
assert json.load(sys.stdin)["a"]["path"].endswith("/?")'
	point "a path that is not UTF-8: $option" $? "$(head -n 1 "$trial/run.err")"
done
expect "functions of other programs" 0 "^hot functions .* change" \
	bash -c "'$crit' diff '$b' '$trial/other' | tail -n 40"
expect "another rule" 3 "does not compare: active" "$crit" diff "$a" "$trial/kernel"
expect "one argument" 2 "two runs are compared" "$crit" diff "$a"
expect "no number" 2 "no number of rows" "$crit" diff --top=x "$a" "$b"
expect "no report" 1 "cannot open" "$crit" diff "$a" "$trial/nothing"
echo '{"schema": "other"}' >"$trial/other.json"
expect "no report of crit" 1 "its schema is other" "$crit" diff "$a" "$trial/other.json"
echo '{' >"$trial/other.json"
expect "no JSON" 1 "cannot read" "$crit" diff "$a" "$trial/other.json"
expect "full device" 1 "cannot write" bash -c "'$crit' diff '$a' '$b' >/dev/full"
trial_end
