#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Programs that others wrote read the profiles back: speedscope all three formats, pprof-format that of pprof.
# Each function's CMetric is report.json's.  The packages come from npm, into a folder that goes with the trial.
# usage: profiles.sh BUILD-DIRECTORY
# shellcheck source-path=SCRIPTDIR source=../lib/trial.sh
. "$(dirname "$0")/../lib/trial.sh"
trial_begin "$1"

packages=(speedscope@1.25.0 pprof-format@2.3.2)
if ! command -v npm >/dev/null || ! command -v node >/dev/null; then
	echo "skipped: npm or node is not installed; apt-get install npm"
	exit 77
fi
mkdir "$trial/npm"
if ! (cd "$trial/npm" && timeout 120 npm install --ignore-scripts --no-audit --no-fund "${packages[@]}") \
	>"$trial/npm.out" 2>&1; then
	echo "skipped: npm cannot fetch ${packages[*]}: $(tail -n 1 "$trial/npm.out")"
	exit 77
fi

# read_back PROFILE READER REPORT: what the reader makes of it, against the report.
read_back() {
	node "$trial_lib/imported_profiles.cjs" "$trial/npm/node_modules" "$3" "$1" "$2" 2>&1
}

# imported RUN DIRECTORY: by every reader.
imported() {
	local format file reader said
	for format in speedscope collapsed pprof; do
		file=$("$crit" export "$format" -o "$trial/$1.profiles" "$2")
		point "$1: export $format" $? "$file"
		for reader in speedscope pprof-format; do
			[ "$format" = pprof ] || [ "$reader" = speedscope ] || continue
			said=$(read_back "$file" "$reader" "$2/report.json")
			point "$1: $format by $reader" $? "$said"
		done
	done
}

export CRIT_SAMPLE_HZ=499
CRIT_DIR=$trial/steps "$crit" run -- "$apps/sampled" steps 2000 >/dev/null 2>"$trial/run.err"
imported C "$trial/steps"
for flavour in "${flavours[@]}"; do
	launch "heat-$flavour" run "$flavour" 2 heat
	wait_for 15 test -s "$dir/report.json"
	imported "MPI, $flavour" "$dir"
done

# Templates and modules: names with all that exporters and readers may stumble over.
cat >"$trial/templates.cc" <<'EOF'
#include <cstdlib>
namespace ns {
template <typename T, int N> struct Solver {
	T sum = 0;
	__attribute__((noinline)) void smooth(const T &by) {
		for (int i = 0; i < N; i++)
			sum += by / (sum + 1);
	}
	__attribute__((noinline)) Solver &operator<<(T by) {
		smooth(by);
		return *this;
	}
};
}
int main(int, char **argv) {
	ns::Solver<double, 2000> solver;
	ns::Solver<float, 1000> other;
	for (long i = std::atol(argv[1]); i; i--)
		solver << 1.0, other << 1.0f;
	return solver.sum < 0 || other.sum < 0;
}
EOF
cat >"$trial/modules.f90" <<'EOF'
module solver
contains
	subroutine smooth(total)
		real(8), intent(inout) :: total
		integer :: i
		do i = 1, 3000
			total = total + 1 / (total + 1)
		end do
	end subroutine
end module
program modules
	use solver
	real(8) :: total = 0
	integer :: i
	do i = 1, 60000
		call smooth(total)
	end do
	if (total < 0) print *, total
end program
EOF
c++ -O2 -g -o "$trial/templates" "$trial/templates.cc" &&
	gfortran -O2 -g -fno-inline -J "$trial" -o "$trial/modules" "$trial/modules.f90"
point "templates and modules are built" $? ""
for program in "templates 60000" "modules"; do
	name=${program%% *}
	scope=
	[ "$name" = modules ] || scope=Solver::
	# shellcheck disable=SC2086 # a program and its arguments
	CRIT_DIR=$trial/$name.d "$crit" run -- "$trial"/$program >/dev/null 2>"$trial/run.err"
	imported "$name" "$trial/$name.d"
	said=$("$crit" report --by=function "$trial/$name.d" | sed -n 2p)
	[[ $said == *" ${scope}smooth ($name)" ]]
	point "$name: function" $? "$said"
	said=$("$crit" annotate "$trial/$name.d" smooth | sed -n 2p)
	[[ $said == "smooth, in $trial/$name."* && $said != *"cannot be read"* ]]
	point "$name: annotate by its bare name" $? "$said"
done

# A reader that does not agree is noticed.
/usr/bin/python3 -c 'if 1:
	import json, sys
	report = json.load(open(sys.argv[1]))
	max(report["paths"], key=lambda x: x["self_cmetric_s"])["self_cmetric_s"] += 0.001
	json.dump(report, open(sys.argv[2], "w"))' "$trial/steps/report.json" "$trial/other.json"
said=$(read_back "$trial/C.profiles/cmetric.pb.gz" pprof-format "$trial/other.json")
[ $? -eq 1 ] && [[ $said == *"reported"* ]]
point "another report is told apart" $? "$(head -n 1 <<<"$said")"
trial_end
