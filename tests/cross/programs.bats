#!/usr/bin/env bats
# The programs built for another machine, in $BUILD, against those of this one; make crosstest runs this.

setup() {
	load ../helpers
	cd "$BATS_TEST_DIRNAME/../.."
	[ -n "$NATIVE" ] || skip "make crosstest runs this"
	fib=$PWD/$BUILD/fib-compare
}

# What a program prints on both streams and its exit status, with an S for the seconds that it took.
outcome() {
	local status=0
	"$@" >"$BATS_TEST_TMPDIR/out" 2>&1 || status=$?
	sed -E 's/ [0-9]+\.[0-9]{6} / S /' "$BATS_TEST_TMPDIR/out"
	echo "status $status"
}

# Both machines make the same of FILE and its arguments, which is then in $output.
alike() {
	output=$(outcome "$NATIVE" "$@")
	diff <(echo "$output") <(outcome "$fib" "$@")
}

@test "every program: the same results, reductions and errors by name and line on every engine" {
	n=0
	for file in fib/programs/*.basm tests/programs/*.basm; do
		while read -r arguments; do
			echo "$file $arguments"
			alike "$file" $arguments
			[[ $arguments != *[a-z]* ]] || continue # an atom is refused
			for engine in interp interp-plain jit mixed; do grep -q "^$engine " <<<"$output"; done
			n=$((n + 1))
		done < <(sed -nE 's/^; (stack [0-9]+ )?run (.*) ?(gives|fails) .*/\2/p' "$file")
	done
	[ "$n" -ge 70 ]
}

@test "errors by name and line" {
	alike tests/programs/edges.basm 0 576460752303423487
	[ "$(grep -c 'overflow, line 23' <<<"$output")" = 6 ]
	grep -qx 'status 1' <<<"$output"
}

@test "bad programs are refused with the same words" {
	n=0
	for file in tests/programs/bad/*.basm; do
		alike "$file"
		grep -q "^fib-compare: $file: $(sed -n 1p "${file%.basm}.why")$" <<<"$output"
		grep -qx 'status 2' <<<"$output"
		n=$((n + 1))
	done
	[ "$n" -ge 35 ]
}

@test "programs are read back alike" {
	for file in fib/programs/*.basm tests/programs/*.basm; do alike --dump bytecode "$file"; done
}

@test "fib: the right result in the same calls, on every engine of ours" {
	calls() {
		"$1" -n 20 -k 2 -r 2 --engines c-O0,c-O2-same,interp-plain,interp,jit,calls-interp,mixed,calls-jit --json - -q |
			jq -c '.engines[] | [.engine, .status, .result, .calls]'
	}
	output=$(calls "$fib")
	[ "$(grep -c '"ok",10946,21891\]$' <<<"$output")" = 8 ]
	diff <(calls "$NATIVE") - <<<"$output"
}

@test "each check can be left out, and memory be mapped twice" {
	run "$fib" -n 10 -k 1 -r 1 --ablate
	[ "$status" = 0 ]
	for check in overflow tags reductions stackcheck; do grep -qE "^  jit-$check +[+-]" <<<"$output"; done
	for mode in mprotect dual; do
		run "$fib" -n 10 -k 1 -r 1 --engines jit --wx "$mode"
		[ "$status" = 0 ]
		grep -q "W^X by $mode" <<<"$output"
	done
}

@test "--dump asm: its own instructions beside the program's" {
	run "$fib" --dump asm
	[ "$status" = 0 ]
	[[ "$output" == *'sub x0, 1, x0'*'subs '*'b.vs '*'call fib:fib/1'*'b.le '*'bl '*'ret'* ]]
	refute grep -qE ' (jo|jmp|r[a-d]x|udf) ?' <<<"$output"
	[ "$(sed -n 's/^ *\([a-z]*\) .*/\1/p' <<<"$output" | grep -c '^line$')" = 13 ]
}

@test "syscall-rate: every call is made and none more, by each driver" {
	for driver in native interp jit; do
		run "$BUILD/syscall-rate" -q --counter none --calls 12345 --driver "$driver" --json -
		[ "$status" = 0 ]
		[ "$(jq -c '[.driver, .total.made]' <<<"$output")" = "[\"$driver\",12345]" ]
	done
}

@test "file-rate: what it reads and finds is right" {
	yes 'one two two' 2>/dev/null | head -c 120000 >"$BATS_TEST_TMPDIR/text"
	run "$BUILD/file-rate" words -q -r 1 --file "$BATS_TEST_TMPDIR/text" --json -
	[ "$status" = 0 ]
	[ "$(jq -c '[.words[] | [.word, .count]]' <<<"$output")" = '[["two",20000],["one",10000]]' ]
	run "$BUILD/file-rate" read -q -r 1 -d 10ms --size 1M --blocks 4K --modes raw,stdio,mmap --json -
	[ "$status" = 0 ]
}

@test "message-rate: what is sent arrives" {
	run "$BUILD/message-rate" send -q -r 1 -d 10ms -n 1000 --json -
	[ "$status" = 0 ]
	jq -e '(.rows | length) > 0 and all(.rows[]; .sent == .received)' <<<"$output"
}
