#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Every rule of the house passes on a small clean tree, and fails once its fault is planted there.
set -euo pipefail
house=$(cd "${BASH_SOURCE%/*}" && pwd)
source "$house/files.sh"
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
spdx='// SPDX-License-Identifier: BSD-3-Clause'

# clean: lay out the tree in which nothing is wrong.
clean()
{
	rm -rf "${tree:?}"/*
	mkdir -p "$tree"/{core/base,analysis,cli,report,docs,build}
	cp "$house"/../../.clang-{format,tidy} "$tree/"
	printf '%s\n' "/* ${spdx#// } */" '#ifndef A_H' '#define A_H' 'int crit_a(int a);' \
		'#endif' >"$tree/core/a.h"
	printf '%s\n' "$spdx" '#include "core/a.h"' '' 'int crit_a(int a)' '{' \
		'	return a + 1;' '}' >"$tree/core/a.c"
	printf '%s\n' '#!/usr/bin/env bash' "# ${spdx#// }" 'echo yes' >"$tree/core/a.sh"
	chmod +x "$tree/core/a.sh"
	printf '%s\n' '.Dd November 21, 2026' '.Dt A 1' '.Os' '.Sh NAME' '.Nm a' \
		'.Nd an example' >"$tree/docs/a.1"
	printf '[{"directory": "%s", "file": "%s", "command": "cc -I. -c core/a.c"}]\n' "$tree" \
		"$tree/core/a.c" >"$tree/build/compile_commands.json"
	printf 'CRIT_SETTING(A, WORD, 0, 0, "b", "b c", "an example")\n' >"$tree/core/base/settings.def"
	printf '%s\n' '.Dd November 21, 2026' '.Dt A 7' '.Os' '.Sh NAME' '.Nm a' '.Nd an example' \
		'.Sh ENVIRONMENT' '.Bl -tag -width Ds' '.It Ev CRIT_A' 'b (default) or c' '.El' \
		>"$tree/docs/libcrit_pmpi.7"
	# shellcheck disable=SC2016 # what docs name
	printf '%s\n' '# A' '' '## The way in' '| one is added | `core/a.c` | `crit_a` |' >"$tree/docs/architecture.md"
	printf 'X { global: crit_a; local: *; };\n' >"$tree/core/exports.map"
}

# library: build the tree's one library.
library()
{
	cc -shared -fPIC -I "$tree" -o "$tree/build/a.so" "$tree/core/a.c"
}

# run RULE: the rule on the tree.
run()
{
	case $1 in
	exports.sh) library && "$house/$1" "$tree/build/a.so" "$tree/core/exports.map" ;;
	tidy.sh | shell.sh) "$house/$1" "$tree" "$tree/build" product ;;
	left_over.sh) "$house/$1" "$tree/build" 1 ;;
	*) "$house/$1" "$tree" ;;
	esac >"$tree/build/said" 2>&1
}

# fails RULE WORD: now the rule must fail and say WORD; then the tree is clean again.
fails()
{
	if run "$1"; then
		house_fault "$1: passes with its fault planted ($2)"
	elif ! grep -qi -- "$2" "$tree/build/said"; then
		house_fault "$1: fails without saying '$2': $(cat "$tree/build/said")"
	fi
	clean
}

# add FILE LINE…: append lines to a file of the tree.
add()
{
	local file=$tree/$1
	shift
	printf '%s\n' "$@" >>"$file"
}

clean
for rule in arrows.py structure.py way_in.py headers.sh sizes.py words.py shell.sh spelling.sh manuals.sh format.sh \
	cppcheck.sh tidy.sh exports.sh settings.py left_over.sh; do
	run "$rule" || house_fault "$rule: fails on a clean tree: $(cat "$tree/build/said")"
done

# shellcheck disable=SC2016 # what docs name
add docs/architecture.md '| two are added | `core/a.c` | `crit_b` |'
fails way_in.py 'core/a.c has no crit_b'
# shellcheck disable=SC2016 # what docs name
add docs/architecture.md '| two are added | `core/b.c` | `crit_a` |'
fails way_in.py 'core/b.c has no crit_a'
printf '%s\n' '# A' >"$tree/docs/architecture.md"
fails way_in.py 'does not begin with'
add core/a.c '#include "analysis/b.h"'
fails arrows.py 'core may not include'
add core/base/b.h '#include "core/shim/c.h"'
fails arrows.py 'core/base may not include'
mkdir "$tree/bpf" && add bpf/b.h '#include "core/base/c.h"'
fails arrows.py 'bpf may not include'
add core/a.c '#include "a.h"'
fails arrows.py 'from the root'
mkdir "$tree/attic" && cp "$tree/core/a.c" "$tree/attic/"
fails arrows.py 'not a room'
mkdir "$tree/core/attic" && cp "$tree/core/a.c" "$tree/core/attic/"
fails arrows.py "does not say what 'core/attic'"
for from in b c d; do
	add "core/base/$from.h" "#include \"core/base/$(tr bcd cdb <<<"$from").h\""
done
run structure.py || house_fault "structure.py: three modules in a circle are allowed"
add core/base/b.h '#include "core/a.h"'
add core/a.h '#include "core/base/b.h"'
fails structure.py 'core/a: in a circle with core/base/b'
add core/base/b.h 'int crit_b(void);'
add cli/c.c '#include "core/base/b.h"' 'int crit_b(void) { return crit_a(1); }'
add core/a.c 'int crit_c(void) { return crit_b(); }'
fails structure.py 'core/a: in a circle with cli/c'
add core/a.h 'struct crit_a { int a; };'
add cli/b.c 'struct crit_a {' '	long b;' '};'
fails structure.py 'struct crit_a cli/b.c core/a.h'
cp "$tree/core/a.c" "$tree/cli/a.c"
fails structure.py 'cli/a core/a: a name has one'
for number in {1..16}; do add "cli/b$number.c" '/* empty */'; done
fails structure.py 'cli: 16 modules, at most 15'
mkdir -p "$tree/tests/unit"
for number in {1..26}; do add "tests/unit/b$number.c" '/* empty */'; done
fails structure.py 'tests/unit: 26 modules, at most 25'
copy=$tree/copy/tests/house
mkdir -p "$copy" && cp "$house"/{files,known,measure,structure}.py "$copy/"
mkdir "$tree/copy/cli" && cp "$tree/core/a.c" "$tree/copy/cli/"
echo 'name cli/a core/a' >"$copy/known.txt"
if "$copy/structure.py" "$tree/copy" >"$tree/build/said"; then
	house_fault 'structure.py: passes with a known fault that is gone'
elif ! grep -q 'no longer true, remove: name cli/a core/a' "$tree/build/said"; then
	house_fault "structure.py: does not name the known fault that is gone: $(cat "$tree/build/said")"
fi
clean
add core/a.h 'uint64_t crit_b(void);'
fails headers.sh 'compile alone'
add core/a.c 'void crit_b(void)' '{' "$(yes '	;' | head -60)" '}'
fails sizes.py 'crit_b: 63 lines'
add core/a.c "$(yes '/* */' | head -600)"
fails sizes.py 'at most 600'
add core/a.h "$(yes '/* */' | head -150)"
fails sizes.py 'at most 150'
add core/a.c "/* $(yes | head -60 | tr '\n' ' ') */"
fails sizes.py 'at most 100'
cp "$tree/core/a.c" "$tree/core/utils.c"
fails words.py 'name the noun'
sed -i 1d "$tree/core/a.c"
fails words.py 'no SPDX'
add core/a.c 'int f(char *a) { return sprintf(a, "b"); }'
fails words.py 'banned'
add core/a.c '/* TO''DO mend this */'
fails words.py 'until'
add core/a.sh 'if [ a = b ] then'
fails shell.sh 'SC1'
chmod -x "$tree/core/a.sh"
fails shell.sh 'not executable'
add core/a.c '/* rec''ieve */'
fails spelling.sh 'receive'
add docs/a.1 '.Xx nonsense'
fails manuals.sh 'unknown macro'
add core/a.c 'int  f( void );'
fails format.sh 'clang-format'
add core/a.c 'int f(void) { int a[2]; a[2] = 0; return a[2]; }'
fails cppcheck.sh 'out of bounds'
add core/a.c 'int f(int a, int b, int c, int d, int e, int g, int h)' \
	'{ return a + b + c + d + e + g + h; }'
fails tidy.sh 'parameters'
add core/a.c 'int crit_b;'
fails exports.sh 'exports crit_b'
sed -i 's/"b c"/"b d"/' "$tree/core/base/settings.def"
fails settings.py 'does not say d'
add docs/libcrit_pmpi.7 '.It Ev CRIT_B'
fails settings.py 'CRIT_B is not in'
add core/base/settings.def 'CRIT_SETTING(B, TEXT, 0, 1, "", "", "missing")'
fails settings.py 'no item for CRIT_B'
add core/a.c 'const char *f(void) { return getenv("CRIT_A"); }'
fails settings.py 'asks the environment'
printf 'X { global: crit_a; crit_c; local: *; };\n' >"$tree/core/exports.map"
fails exports.sh 'lists crit_c'
mkdir "$tree/build/bin"
cp "$(command -v sleep)" "$tree/build/bin/"
"$tree/build/bin/sleep" 30 &
fails left_over.sh 'sleep 30 is left over'
kill $!
house_verdict can_fail
