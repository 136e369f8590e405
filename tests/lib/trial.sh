# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# What acceptance scripts share: a private directory, ways to launch a program, a table of figures.
# usage: . trial.sh; trial_begin BUILD-DIRECTORY; …; trial_end
set -u

trial_lib=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
trial_nobody=65534

trial_begin() {
	build=$(realpath "$1")
	trial=$(mktemp -d "${TMPDIR:-/tmp}/crit-trial.XXXXXX")
	failures=0
	missing=0
	points=0
	voids=0
	stolen=      # what the host took of the CPUs, in a launch that wanted them whole
	wants_cpus=  # set by scripts with known answers
	is_in_line=1 # known answers hold when ranks do not queue behind strangers
	chmod 1777 "$trial"
	trap 'trial_cleanup' EXIT
	trial_find_python
	trial_open_up
	apps=$build/tests/apps
	crit=$build/bin/crit
	shim=$build/lib/libcrit_pmpi.so
	export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
	unset "${!CRIT_@}"
	export HWLOC_COMPONENTS=-gl # else every MPI_Init looks for X displays, and asks a name server for them
	export CRIT_OTF2=0 # an archive being written would disturb the next run's figures
	export CRIT_FINISH_S=10 # else the machine's load decides what a run says at its end
	export XDG_RUNTIME_DIR=$trial/runtime
	mkdir -m 700 "$XDG_RUNTIME_DIR"
	flavours=() turns=0
	for flavour in openmpi mpich; do
		[ -x "$apps/ends.$flavour" ] && flavours+=("$flavour")
	done
}

# needs_root WHY: ends the script as skipped where it is not root's.
needs_root() {
	[ "$(id -u)" -eq 0 ] && return
	echo "skip: needs root, $1"
	exit 77
}

# Where python3 is the wrapper of a version manager, it takes longer to find the interpreter than most programs here to
# run: it is found once.
trial_find_python() {
	mkdir "$trial/bin"
	ln -s "$(python3 -c 'import sys; print(sys.executable)')" "$trial/bin/python3"
	PATH=$trial/bin:$PATH
}

# Ordinary users need a way in: what lies below a closed directory, such as root's home, is mounted elsewhere.
trial_open_up() {
	if [ "$(id -u)" -ne 0 ] || setpriv --reuid "$trial_nobody" --regid "$trial_nobody" --clear-groups \
		test -x "$trial_lib/first_in_line" -a -x "$build/bin/crit"; then
		return
	fi
	mkdir "$trial/build" "$trial/lib"
	mount -o bind,ro "$build" "$trial/build" && mount -o bind,ro "$trial_lib" "$trial/lib" || exit 1
	build=$trial/build
	trial_lib=$trial/lib
}

trial_cleanup() {
	if [ -n "${TRIAL_KEEP:-}" ]; then
		echo "kept: $trial"
	else
		findmnt -rno TARGET | grep "^$trial/" | xargs -r -n 1 umount -l
		findmnt -rno TARGET | grep -q "^$trial/" || rm -rf "$trial"
	fi
}

# Prints the balance; the script's exit status is this function's: 77 when a program was missing, or a known answer
# could not be had on CPUs that the host takes away.
trial_end() {
	printf '%d points, %d failed\n' "$points" "$failures"
	[ "$voids" -eq 0 ] || echo "skip: $voids points void: $stolen"
	[ "$points" -gt 0 ] && [ "$failures" -eq 0 ] && return $((missing + voids > 0 ? 77 : 0))
}

# trial_has PROGRAM NEED: is it built?  If not, the trial ends as a skip.
trial_has() {
	[ -x "$apps/$1" ] && return 0
	missing=$((missing + 1))
	echo "skip: $1 is not built; needs $2"
	return 1
}

# Whether the launcher starts two programs as one job: that of Open MPI 5.0.7 dies of it.
launches_two() {
	"mpirun.$1" -np 1 true : -np 1 true >/dev/null 2>&1 && return
	missing=$((missing + 1))
	echo "skip: mpirun.$1 fails to start two programs"
	return 1
}

# Open MPI starts three processes on however few CPUs, also where they are spawned; 4 reads the one, 5 the other.
three_on_any() {
	export OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
}

# point NAME STATUS FIGURES…: one line of the table.
point() {
	local name=$1 status=$2
	shift 2
	points=$((points + 1))
	if [ "$status" -eq 0 ]; then
		printf 'ok    %-52s %s\n' "$name" "$*"
	elif [ -n "$stolen" ]; then
		voids=$((voids + 1))
		printf 'void  %-52s %s\n' "$name" "$*"
	else
		failures=$((failures + 1))
		printf 'FAIL  %-52s %s\n' "$name" "$*"
	fi
}

# within NAME VALUE LOW HIGH: what is no number is not within.
within() {
	printf '%s\n' "${@:2}" | awk '
		$0 !~ /^ *[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)? *$/ { exit }
		{ number[NR] = $0 + 0 }
		END { exit !(NR == 3 && 3 in number && number[2] <= number[1] && number[1] <= number[3]) }'
	point "$1" $? "$2 in [$3, $4]"
}

median() {
	printf '%s\n' "$@" | sort -g | sed -n "$((($# + 1) / 2))p"
}

# Fills command[] with: MODE FLAVOUR RANKS PROGRAM [ARGUMENT…]
# RANKS 0: without MPI
# modes: bare; preload (as the caller); run (crit run); llvm (crit run --omp=llvm); shim (preload, as a user without
# privileges); alone (so, too, and perf events are refused: the shims are all there is)
compose() {
	local mode=$1 flavour=$2 ranks=$3 program=$4
	shift 4
	local launch=("mpirun.$flavour" -np "$ranks") preload=(-x "LD_PRELOAD=$shim")
	if [ "$ranks" = 0 ]; then
		launch=()
		preload=(env "LD_PRELOAD=$shim")
	elif [ "$flavour" = mpich ]; then
		preload=(-genv LD_PRELOAD "$shim")
	elif [ "$ranks" -gt "$(nproc)" ]; then
		launch+=(--oversubscribe)
	fi
	[[ -f $program && -x $program ]] || program=$apps/$program.$flavour
	set -- ${is_in_line:+"$trial_lib/first_in_line"} "$program" "$@"
	case $mode in
	bare) command=("${launch[@]}" "$@") ;;
	preload) command=("${launch[@]}" "${preload[@]}" "$@") ;;
	run) command=("$crit" run -- "${launch[@]}" "$@") ;;
	inside) command=("${launch[@]}" "$crit" run -- "$@") ;;
	llvm) command=("$crit" run --omp=llvm -- "${launch[@]}" "$@") ;;
	shim) as_user "$trial_nobody" "${launch[@]}" "${preload[@]}" "$@" ;;
	alone) as_user "$trial_nobody" "$apps/without_perf" "${launch[@]}" "${preload[@]}" "$@" ;;
	esac
	# a session for the launcher too: it execs, for a script's children lead no process group
	[ -z "$is_in_line" ] || command=(setsid "$trial_lib/first_in_line" "${command[@]}")
}

# Fills command[] with the arguments, to be run as an ordinary user with a home of its own.
as_user() {
	local uid=$1 home=$trial/home-$1
	shift
	if [ ! -d "$home" ]; then
		mkdir -m 700 "$home"
		chown "$uid:$uid" "$home"
	fi
	command=(setpriv --reuid "$uid" --regid "$uid" --clear-groups
		env -C "$home" "HOME=$home" "TMPDIR=$home" "XDG_RUNTIME_DIR=$home" "$@")
}

# launch NAME MODE FLAVOUR RANKS PROGRAM…: runs it to its end; sets status, dir, report.
launch() {
	local name=$1
	shift
	compose "$@"
	dir=$trial/$name
	report=$dir/report.json
	whole_cpus launch_once "$name" "$1"
}

# Makes $trial/capable, crit as installed, whose critd an ordinary user starts with capabilities.
make_capable() {
	mkdir -p "$trial/capable/bin" "$trial/capable/lib"
	cp "$build/bin/crit" "$build/bin/critd" "$trial/capable/bin/"
	cp -P "$build"/lib/libcrit_* "$trial/capable/lib/"
	setcap cap_bpf,cap_perfmon+p "$trial/capable/bin/critd"
	chmod -R a+rX "$trial/capable"
}

# launch_once NAME MODE: what compose made, at most limit_s seconds where that is set.
launch_once() {
	[[ $2 = shim || $2 = alone ]] && hurry_users &
	CRIT_DIR=$dir ${limit_s:+timeout -k 10 "$limit_s"} "${command[@]}" >"$trial/$1.out" 2>"$trial/$1.err"
	status=$?
	wait
}

# Ticks that the host took from this machine's CPUs (steal in proc(5)).
stolen_ticks() {
	awk '/^cpu / { print $9 }' /proc/stat
}

# Did the kernel hide so many switches that the report lacks something?  Some tell no program of what certain processes
# do, as of the first one, nor of whom they leave their CPU to.
hides_switches() {
	grep -qs 'switches the kernel did not report' "$dir/report.json"
}

# whole_cpus COMMAND…: what it leaves in $dir stands for a machine that has its CPUs.  Where the script wants that, a
# run of whose time a hypervisor took more than 1 %, or of which the kernel hid some, is done again, four times at most.
whole_cpus() {
	local i begin ticks percent
	for ((i = 0; i < 5; i++)); do
		[ "$i" -eq 0 ] || rm -rf "${dir:?}"
		begin=$(date +%s%N)
		ticks=$(stolen_ticks)
		"$@"
		ticks=$(($(stolen_ticks) - ticks))
		percent=$((ticks * 1000000000 / (($(date +%s%N) - begin) * $(nproc))))
		[ -n "$wants_cpus" ] || return
		[ "$percent" -ge 1 ] || hides_switches || return
	done
	[ "$percent" -lt 1 ] || stolen="the host took $percent % of the CPUs, in the last of five runs"
}

# What first_in_line does for root's programs, from outside for those of an ordinary user, but for those that step back.
hurry_users() {
	local i pid
	for ((i = 0; i < 6; i++)); do
		sleep 0.1
		for pid in $(pgrep -u "$trial_nobody" -f "^$apps"); do
			grep -qs 'nice 0$' "/proc/$pid/autogroup" && echo -15 2>/dev/null >"/proc/$pid/autogroup"
		done
	done
}

# ask EXPRESSION [FILE]: evaluates python over the report r, with share(rank) and checks() at hand.
ask() {
	python3 -S "$trial_lib/report.py" "${2:-$report}" "$1"
}

# ask_active MODE EXPRESSION: the same, after analysing the recording with another rule.
ask_active() {
	"$crit" report "--active=$1" --json "$dir" >"$trial/active.json" 2>"$trial/active.err"
	ask "$2" "$trial/active.json" # a report that lacks something is one all the same
}

# Sets turn, the flavours that a case is tried with: both in full tests, in quick ones each by turns.
take_turns() {
	turn=("${flavours[@]}")
	if [ -z "${is_full:-}" ] && [ ${#flavours[@]} -eq 2 ]; then
		# shellcheck disable=SC2034 # for the caller
		turn=("${flavours[turns++ % 2]}")
	fi
}

# what_if OPTION…: crit what-if of the run in $dir, as one change; sets gain, per cent, and ends, the seconds until the
# last thread ends; both empty, and false, where it cannot be played.
what_if() {
	gain='' ends=''
	"$crit" what-if "$@" --json "$dir" >"$trial/fixes" 2>"$trial/fixes.err"
	[ $? -ne 1 ] || return # 3: the kernel lost a record, which is not what this is about
	# shellcheck disable=SC2034 # for the caller
	read -r gain ends < <(ask '(lambda fix: "%.2f %.6f" % (100 * fix["share"], r["recorded_s"] - fix["gain_s"]))(
		r["fixes"][0])' "$trial/fixes")
}

# hottest NAME LOW HIGH FUNCTION: it is the first row of crit report --by=function, with so much of the CMetric of the
# run in $dir, in per cent, and 95 of 100 call paths are whole.
hottest() {
	local share place
	read -r _ _ share _ _ place < <("$crit" report --by=function "$dir" 2>&1 | sed -n 2p)
	[[ $place = "$4"* ]]
	point "$1: most CMetric is earned in $4" $? "$place"
	within "$1: share of that, per cent" "${share%\%}" "$2" "$3"
	within "$1: complete call paths, per cent" \
		"$(python3 -S "$trial_lib/paths.py" "$dir/report.json" complete)" 95 100
}

# below NAME LOW HIGH FUNCTION…: so much of the CMetric, in per cent, is earned where these call each other.
below() {
	local name=$1 low=$2 high=$3
	shift 3
	within "$name: below ${*: -1}, per cent" "$(python3 -S "$trial_lib/paths.py" "$dir/report.json" chain "$@")" \
		"$low" "$high"
}

# The laws of the report hold, and nothing was lost.
check_laws() {
	local error lost
	error=$(ask 'checks()') || error=none
	lost=$(ask 'lost()') || lost=unknown
	[ "$error" != none ] && [ "$lost" = 0 ] &&
		python3 -S -c "import sys; sys.exit(not $error <= 1e-9)"
	point "$1: laws, losses" $? "error $error, lost $lost$(ask '"".join("; " + x["what"] for x in r["missing"])')"
}

# has_last_report SECONDS: the run's last report is there. The first one, at a rank's end, knows only so much;
# crit report waits until nobody writes any more.
has_last_report() {
	wait_for "$1" test -s "$report" && "$crit" report "$dir" >/dev/null 2>&1
	[ -s "$report" ]
}

# wait_for SECONDS COMMAND…: until the command succeeds.
wait_for() {
	local ends=$(($(date +%s%N) + $1 * 1000000000))
	shift
	until "$@"; do
		[ "$(date +%s%N)" -lt "$ends" ] || return 1
		sleep 0.05
	done
}

# has_whole_finisher DIRECTORY: both processes of that run's finisher are there, the one that watches and its child.
has_whole_finisher() {
	[ "$(finishers_of "$1" | wc -l)" -eq 2 ]
}

# finishers_of DIRECTORY: those two, and not the processes that read files and stacks for them.
finishers_of() {
	local pid
	for pid in $(pgrep -f "^[^ ]*crit finish --directory $1 "); do
		[ "$(cat "/proc/$pid/comm" 2>/dev/null)" != crit ] || echo "$pid"
	done
}
