# What several test files use.

# A command that must fail (bash ignores a bare "!").
refute() {
	! "$@"
}

# "name calls errors" of a table of strace -c, a name once, sorted.
rows() {
	awk '$1 ~ /^([0-9]+\.[0-9]+|-)$/ && $NF != "total" {c[$NF] += $4; e[$NF] += NF == 6 ? $5 : 0}
		END {for (name in c) print name, c[name], e[name]}' "$@" | sort
}

# Compiles the C program on standard input to $1, with the further options; skips without gcc.
compile() {
	local out=$1
	shift
	command -v gcc >/dev/null || skip "gcc is not installed"
	gcc -O1 -o "$out" -x c - "$@"
}

# Watching must work here.
need_watching() {
	[ "$(id -u)" = 0 ] || skip "needs root"
	"$rate" -q -o /dev/null -- true 2>"$BATS_TEST_TMPDIR/why" || skip "$(cat "$BATS_TEST_TMPDIR/why")"
}
