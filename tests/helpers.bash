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

# The rest compares with strace -f -c: $rate by $counter, but for the calls that match the regular expression $without.

# Runs our own with its arguments, the table in $1.
ours() {
	local table=$1
	shift
	timeout 60 "$rate" --counter "$counter" -o "$table" "$@" >/dev/null 2>&1 </dev/null || true
}

# The command $@ has the same calls and errors under both, but for the calls that match $without.
same() {
	local table=$BATS_TEST_TMPDIR/table
	strace -f -c -o "$table.strace" "$@" >/dev/null 2>&1 </dev/null || true
	ours "$table" -- "$@"
	ours "$table.none" --timing none -- "$@"
	ours "$table.all" --timing all -- "$@"
	for timing in "" .none .all; do
		diff <(rows "$table.strace" | grep -vE "^($without) ") <(rows "$table$timing" | grep -vE "^($without) ")
	done
	[ "$(rows "$table" | wc -l)" -gt 5 ]
}
