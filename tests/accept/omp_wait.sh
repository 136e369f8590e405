#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# OpenMP threads that wait by spinning, by sleeping, or a while by each: the same shares.
# usage: omp_wait.sh BUILD-DIRECTORY
# shellcheck source-path=SCRIPTDIR source=../lib/trial.sh
. "$(dirname "$0")/../lib/trial.sh"
trial_begin "$1"
wants_cpus=1
rounds=3
export OMPI_MCA_hwloc_base_binding_policy=none
share_of_primary='(lambda t: round(max(x["cmetric_s"] for x in t if x["tid"] == x["pid"])
	/ sum(x["cmetric_s"] for x in t), 4))(role("app"))'

# waiting NAME RUNTIME FLAVOUR SETTING…: median share of the primary thread; prints and leaves it in share.
waiting() {
	local name=$1 runtime=$2 flavour=$3 i shares=()
	shift 3
	for ((i = 0; i < rounds; i++)); do
		export "${@?}"
		launch "$name-$i" preload "$flavour" 1 "hybrid-$runtime" -p -n 20 -t 2 -s static,critical
		for setting in "$@"; do unset "${setting%%=*}"; done
		check_laws "$name $i"
		shares+=("$(ask "$share_of_primary")")
	done
	share=$(median "${shares[@]}")
}

for flavour in "${flavours[@]}"; do
	for runtime in llvm gnu; do
		trial_has "hybrid-$runtime.$flavour" "$runtime's OpenMP" || continue
		waiting "default-$runtime-$flavour" "$runtime" "$flavour" CRIT_LEVEL=trace
		usual=$share
		# static: 10 ms together, 10 alone; critical: 10 ms together, then 10 alone for each: 30 of 50 ms
		within "$runtime $flavour, default" "$usual" 0.57 0.63
		settings=(OMP_WAIT_POLICY=active OMP_WAIT_POLICY=passive)
		[ "$runtime" = gnu ] || settings+=(KMP_BLOCKTIME=0 KMP_BLOCKTIME=infinite)
		for setting in "${settings[@]}"; do
			waiting "${setting//=/-}-$runtime-$flavour" "$runtime" "$flavour" "$setting"
			within "$runtime $flavour, $setting - default" \
				"$(python3 -c "print(round($share - $usual, 4))")" -0.03 0.03
		done
	done
done
trial_end
