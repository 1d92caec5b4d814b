#!/usr/bin/env bats
# fib-compare from outside: rows, proof, output, exit codes, bad input.

setup() {
	load helpers
	cd "$BATS_TEST_DIRNAME/.."
	fib=$PWD/${BUILD:-build/plain}/fib-compare
	ours=c-O0,c-O2-same,c-O2,interp-plain,interp,jit,calls-interp,mixed,calls-jit
}

row() { # NAME FILTER: of the JSON in $output
	jq -e --arg e "$1" ".engines[] | select(.engine == \$e) | $2" <<<"$output"
}

@test "every engine of ours: the right result, in as many calls as the recursion has" {
	run "$fib" -n 20 -k 2 -r 2 --engines "$ours" --json - -q
	[ "$status" = 0 ]
	jq -e '(.engines | length) == 9 and all(.engines[]; .status == "ok" and .result == 10946)' <<<"$output"
	jq -e 'all(.engines[] | select(.engine != "c-O2"); .calls == 21891)' <<<"$output"
	jq -e '.n == 20 and .times == 2 and all(.engines[]; .samples_s | length == 2)' <<<"$output"
	# what gcc -O2 makes of it calls itself less often, and the row says so
	row c-O2 '.calls > 0 and .calls < 21891'
	run "$fib" -n 20 -k 1 -r 1 --engines c-O0,c-O2
	grep -q '^c-O2 .*makes 0\.[0-9]* of the calls$' <<<"$output"
}

@test "real runtimes: the right result, or a row that says they are not installed" {
	run "$fib" -n 15 -k 1 -r 1 --engines erlang,luajit,luajit-joff,lua,node,python3 --json - -q
	[ "$status" = 0 ]
	jq -e '(.engines | length) == 6 and all(.engines[];
		(.status == "ok" and .result == 987) or (.status == "unavailable" and .reason == "not installed"))' <<<"$output"
	PATH=/nowhere run "$fib" --list
	[ "$(id -u)" = 0 ] || grep -q '^  luajit .*: not installed' <<<"$output"
}

@test "a runtime with a wrong result is an error, and the rest is printed" {
	[ "$(id -u)" = 0 ] || skip "needs root to become someone else"
	bin=$(mktemp -d /tmp/toll-fake.XXXXXX)
	cp "$fib" "$bin/fib-compare"
	printf '#!/bin/sh\necho 7\n' >"$bin/luajit"
	chmod 755 "$bin" "$bin"/*
	run env PATH="$bin:$PATH" setpriv --reuid 65534 --regid 65534 --clear-groups "$bin/fib-compare" \
		-n 10 -k 1 -r 1 --engines c-O0,luajit
	rm -rf "$bin"
	[ "$status" = 1 ]
	grep -q 'luajit: wrong result: 7, not 89' <<<"$output"
	grep -q '^c-O0 ' <<<"$output"
}

@test "executable memory refused: the row says so and the rest runs" {
	[ "$(uname -m)" = x86_64 ] || skip "the filter is installed by number, for x86-64"
	# seccomp: mmap and mprotect with PROT_EXEC give EACCES once the program's own libraries are there,
	# which is when it maps memory for a memory file or asks for execution of its own: memfd_create and
	# mprotect. prctl(PR_SET_NO_NEW_PRIVS), prctl(PR_SET_SECCOMP).
	refuse='sub op { pack("SCCL", @_) }
		my @p = (op(0x20, 0, 0, 0), op(0x15, 0, 1, 319), op(0x06, 0, 0, 0x50001),
			op(0x15, 0, 3, 10), op(0x20, 0, 0, 32), op(0x45, 0, 1, 4), op(0x06, 0, 0, 0x5000d),
			op(0x06, 0, 0, 0x7fff0000));
		my $p = join("", @p);
		my $f = pack("Sx6p", scalar(@p), $p);
		syscall(157, 38, 1, 0, 0, 0) == 0 && syscall(157, 22, 2, $f, 0, 0) == 0 or die $!;
		exec @ARGV'
	run perl -e "$refuse" "$fib" -n 10 -k 1 -r 1 --engines c-O0,interp,jit
	[ "$status" = 0 ]
	grep -q '^jit .*unavailable: no executable memory (auto)' <<<"$output"
	grep -qE '^interp +[0-9]' <<<"$output"
}

@test "W^X: the mode is printed and can be forced" {
	for mode in mprotect dual; do
		run "$fib" -n 10 -k 1 -r 1 --engines jit --wx "$mode"
		[ "$status" = 0 ]
		grep -q "W^X by $mode" <<<"$output"
	done
}

@test "--without and --ablate name what is left out" {
	run "$fib" -n 10 -k 1 -r 1 --engines jit --without tags,overflow --json - -q
	jq -e '.engines[0].engine == "jit-overflow-tags" and .engines[0].result == 89' <<<"$output"
	run "$fib" -n 10 -k 1 -r 1 --ablate
	[ "$status" = 0 ]
	for check in overflow tags reductions stackcheck; do grep -qE "^  jit-$check +[+-]" <<<"$output"; done
}

@test "--dump: bytecode that assembles to itself, machine code beside each instruction" {
	"$fib" --dump bytecode >"$BATS_TEST_TMPDIR/fib.basm"
	"$fib" --dump bytecode "$BATS_TEST_TMPDIR/fib.basm" | diff - "$BATS_TEST_TMPDIR/fib.basm"
	run "$fib" --dump asm
	[ "$status" = 0 ]
	[[ "$output" == *'sub x0, 1, x0'*'jo '*'call fib:fib/1'*'dec '*'call '* ]]
}

@test "--list has every engine and every opcode" {
	run "$fib" --list
	[ "$status" = 0 ]
	for name in c-O0 jit python3 select_val tail_call getuid/0; do grep -q "^  $name" <<<"$output"; done
	[ "$(grep -c '^OP(' fib/ops.def)" = "$(sed -n '/^opcodes/,/^built-ins/p' <<<"$output" | grep -c '^  ')" ]
}

@test "gdb names the compiled functions" {
	command -v gdb >/dev/null || skip "gdb is not installed"
	run gdb -q -batch -ex 'break gdb__unregister if code != 0' -ex run -ex 'info functions fib/1' \
		--args "$fib" fib/programs/fib.basm 10
	grep -qE '^0x[0-9a-f]+ +fib:fib/1$' <<<"$output"
}

@test "a program of one's own: every engine, and errors by line" {
	run "$fib" fib/programs/tak.basm 18 12 6
	[ "$status" = 0 ]
	[ "$(grep -cE ' 111315 .* 7$' <<<"$output")" = 6 ]
	run "$fib" tests/programs/edges.basm 0 576460752303423487
	[ "$status" = 1 ]
	[ "$(grep -c 'overflow, line 23' <<<"$output")" = 6 ]
	run "$fib" - 5 <fib/programs/sum.basm
	[ "$(grep -c ' 15$' <<<"$output")" = 6 ]
}

@test "perf sees the function by name, with most of the samples" {
	command -v perf >/dev/null || skip "perf is not installed"
	perf record -q -e cpu-clock -o "$BATS_TEST_TMPDIR/probe" true 2>/dev/null || skip "perf record does not work here"
	cd "$BATS_TEST_TMPDIR"
	perf record -q -e cpu-clock -o data "$fib" -n 38 -k 3 -r 1 --engines jit --perf-map -q --json /dev/null 2>/dev/null
	share=$(perf report -i data --stdio --sort symbol 2>/dev/null | sed -n 's/^ *\([0-9]*\)\.[0-9]*% .* fib:fib\/1.*/\1/p' | head -1)
	find /tmp -maxdepth 1 -name 'perf-[0-9]*.map' -newer probe -delete
	[ "${share:-0}" -ge 50 ]
}

@test "a perf map is never written through a link" {
	echo old >"$BATS_TEST_TMPDIR/target"
	# Links for the process numbers that come next.
	made=$(perl -e 'for my $pid ($$ .. $$ + 300) {
		my $link = "/tmp/perf-$pid.map";
		print "$link\n" if symlink($ARGV[0], $link) }' "$BATS_TEST_TMPDIR/target")
	run "$fib" -n 5 -k 1 -r 1 --engines jit --perf-map
	xargs rm -f <<<"$made"
	[ "$(cat "$BATS_TEST_TMPDIR/target")" = old ]
	[ "$status" = 1 ]
	grep -q 'jit: perf map: File exists' <<<"$output"
}

@test "SIGINT: what was measured is printed, exit 130" {
	"$fib" -n 34 -k 1 -r 1000 --engines c-O0,jit -o "$BATS_TEST_TMPDIR/table" --json "$BATS_TEST_TMPDIR/json" &
	sleep 1.5
	kill -INT $!
	code=0
	wait $! || code=$?
	[ "$code" = 130 ]
	grep -q '^jit ' "$BATS_TEST_TMPDIR/table"
	jq -e '.engines[0].samples_s | length > 1' "$BATS_TEST_TMPDIR/json"
	refute ls -d /tmp/toll-fib.* 2>/dev/null
}

@test "a full disk is an error" {
	run "$fib" -n 5 -k 1 -r 1 --engines jit -o /dev/full
	[ "$status" = 1 ]
	grep -q 'No space left on device' <<<"$output"
	run sh -c "'$fib' -n 5 -k 1 -r 1 --engines jit >/dev/full"
	[ "$status" = 1 ]
}

@test "bad input: exit 2 and one line that names it" {
	: >"$BATS_TEST_TMPDIR/empty.basm"
	head -c 4096 /dev/urandom >"$BATS_TEST_TMPDIR/binary.basm"
	truncate -s 100M "$BATS_TEST_TMPDIR/long.basm"
	head -c 100 fib/programs/fib.basm >"$BATS_TEST_TMPDIR/truncated.basm"
	for bad in '-n -1' '-n 1e9' '-n 92' '-n x' '-k 0' '-r 0' '-k 99999' '--engines nosuch' '--engines=' \
		'--engines jit,jit' '--without nosuch' '--dump nosuch' '--wx nosuch' '--cores 99' '/nosuch/file.basm' \
		'fib/programs/fib.basm' 'fib/programs/fib.basm 1 2' 'fib/programs/fib.basm x' '--json /nosuch/file' \
		"$BATS_TEST_TMPDIR/empty.basm 1" "$BATS_TEST_TMPDIR/binary.basm 1" "$BATS_TEST_TMPDIR/long.basm 1" \
		"$BATS_TEST_TMPDIR/truncated.basm 1" 'tests/programs/bad/duplicate-label.basm 1'; do
		run "$fib" $bad
		echo "$bad: $status $output"
		[ "$status" = 2 ]
		[ "${#lines[@]}" = 1 ]
		[[ "$output" == *fib-compare:* ]]
	done
}

@test "more than an hour is refused, with the time it would take" {
	run "$fib" -n 91 --engines jit
	[ "$status" = 2 ]
	grep -qE 'would take about [0-9.e+]+ hours \(1.51e\+19 calls each\): --force does it' <<<"$output"
}

@test "the seed's rows stand beneath fib(40) five times, and only there" {
	run "$fib" -n 10 --engines jit -r 1
	refute grep -q '^2009' <<<"$output"
	run jq -c '[.n, .times, (.engines | map(.real_s))]' results/seed/fib-compare.json
	[ "$output" = '[40,5,[11.14,13.99,116.81]]' ]
}
