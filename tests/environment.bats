#!/usr/bin/env bats
# syscall-rate under the conditions users put it in: locale, pipes, signals, privileges, CPUs.

setup() {
	load helpers
	cd "$BATS_TEST_DIRNAME/.."
	rate=$PWD/${BUILD:-build/plain}/syscall-rate
}

root() {
	[ "$(id -u)" = 0 ] || skip "needs root"
}

@test "a comma locale changes no digit" {
	command -v localedef >/dev/null && [ -e /usr/share/i18n/locales/de_DE ] || skip "no locale sources installed"
	localedef -i de_DE -f UTF-8 "$BATS_TEST_TMPDIR/de_DE.UTF-8"
	export LOCPATH=$BATS_TEST_TMPDIR LC_ALL=de_DE.UTF-8
	[ "$(/usr/bin/printf %.1f 0,5)" = 0,5 ]  # the locale works
	run "$rate" -d 0.06s --interval 0.01s --counter none --json "$BATS_TEST_TMPDIR/json"
	[ "$status" = 0 ]
	refute grep -E '[0-9],[0-9]' <<<"${output//--*/}"
	grep -qE '^  all .*[0-9]\.[0-9]{2}$' <<<"$output"
	jq -e '.total.ns_per_call > 0 and .seed.per_second == 29613333.333333332' "$BATS_TEST_TMPDIR/json"
}

@test "SIGINT with the output piped: the pipe gets the whole table" {
	mkfifo "$BATS_TEST_TMPDIR/pipe"
	cat "$BATS_TEST_TMPDIR/pipe" >"$BATS_TEST_TMPDIR/table" &
	reader=$!
	"$rate" -d 60s --interval 100ms >"$BATS_TEST_TMPDIR/pipe" 2>/dev/null &
	sleep 1
	kill -INT $!
	code=0
	wait $! || code=$?
	wait "$reader"
	[ "$code" = 130 ]
	grep -q '^noise: ' "$BATS_TEST_TMPDIR/table"
}

@test "a reader that leaves early costs exit 1, not the JSON" {
	{ code=0; "$rate" -d 60ms --counter none --json "$BATS_TEST_TMPDIR/json" || code=$?
	  echo "$code" >"$BATS_TEST_TMPDIR/code"; } | true
	[ "$(cat "$BATS_TEST_TMPDIR/code")" = 1 ]
	jq -e '.total.made > 0' "$BATS_TEST_TMPDIR/json"
}

@test "a closed standard output is an error, and no result file takes its place" {
	run sh -c "'$rate' -d 60ms --counter none --json '$BATS_TEST_TMPDIR/json' 2>&1 >&-"
	[ "$status" = 1 ]
	jq -e '.total.made > 0' "$BATS_TEST_TMPDIR/json"
	run sh -c "'$rate' -d 60ms --counter none >&- 2>'$BATS_TEST_TMPDIR/said'"
	[ "$status" = 1 ]
	grep -q 'standard output: Bad file descriptor' "$BATS_TEST_TMPDIR/said"
}

@test "SIGINT during --calls keeps what was made" {
	"$rate" --calls 100G --counter none -q --json "$BATS_TEST_TMPDIR/json" &
	sleep 0.5
	kill -INT $!
	code=0
	wait $! || code=$?
	[ "$code" = 130 ]
	jq -e '.total.made > 0' "$BATS_TEST_TMPDIR/json"
}

@test "a failure leaves the old file and no temporary" {
	root
	mkdir "$BATS_TEST_TMPDIR/small"
	unshare -m true 2>/dev/null || skip "no private mount namespace"
	run unshare -m sh -c "mount -t tmpfs -o size=4k tmpfs '$BATS_TEST_TMPDIR/small'
		echo old >'$BATS_TEST_TMPDIR/small/json'
		'$rate' -d 60ms --counter none -q --json '$BATS_TEST_TMPDIR/small/json'
		echo \$?; ls '$BATS_TEST_TMPDIR/small'; cat '$BATS_TEST_TMPDIR/small/json'"
	[ "${lines[0]}" = "syscall-rate: $BATS_TEST_TMPDIR/small/json: No space left on device" ]
	[ "${lines[1]} ${lines[2]} ${lines[3]}" = "1 json old" ]
}

@test "other probes on the same tracepoints are told" {
	root
	reason=$("$rate" --list | sed -n 's/^  bpf:raw_tp .*not here: //p')
	[ -z "$reason" ] || skip "$reason"
	# The kernel frees what was unloaded a little later, so look until it is so.
	told() {
		for i in $(seq 50); do
			[ "$("$rate" -d 20ms --counter none --json - -q | jq .noise.other_probes)" != "$1" ] || return 0
			sleep 0.1
		done
		return 1
	}
	told 0
	"$rate" -q -d 20s --interval 20s --counter bpf:raw_tp -o /dev/null &
	other=$!
	sleep 1.5 # past its trial attachment and warm-up
	told 1
	run "$rate" -d 60ms --counter none
	kill "$other"
	wait "$other" || true
	grep -q 'warning: 1 BPF program of others' <<<"$output"
	told 0
}

@test "a seccomp filter on this process is told" {
	[ "$(uname -m)" = x86_64 ] || skip "the filter is installed by number, for x86-64"
	# prctl(PR_SET_NO_NEW_PRIVS), then prctl(PR_SET_SECCOMP) with one instruction: allow.
	run perl -e 'my $allow = pack("SCCL", 6, 0, 0, 0x7fff0000);
		my $program = pack("Sx6p", 1, $allow);
		syscall(157, 38, 1, 0, 0, 0) == 0 && syscall(157, 22, 2, $program, 0, 0) == 0 or die $!;
		exec @ARGV' "$rate" -d 60ms --counter none
	[ "$status" = 0 ]
	grep -q 'passed a seccomp filter' <<<"$output"
}

@test "capabilities that are not needed are given up" {
	root
	"$rate" -q -d 2s -o /dev/null &
	sleep 0.7
	held=$(sed -n 's/^CapEff:[[:space:]]*//p' "/proc/$!/task/$!/status")
	kill $!
	wait $! || true
	# CAP_DAC_OVERRIDE (1), CAP_SYS_ADMIN (21), CAP_PERFMON (38), CAP_BPF (39) and no other.
	(( (0x$held & ~0xc000200002) == 0 ))
}

@test "the perf counter is exact, and sees one call alone" {
	root
	unshare -m true 2>/dev/null || skip "no private mount namespace"
	run unshare -m sh -c "mount -t tracefs tracefs /sys/kernel/tracing 2>/dev/null
		'$rate' --list | grep '^  perf .*not here' && exit
		'$rate' -q --json - -d 300ms --threads 8 --counter perf"
	[[ "$output" == *'not here: '* ]] && skip "${output##*not here: }"
	jq -e '.lost == 0 and .total.made > 0 and .total.made == .total.counted and all(.cores[]; .made == .counted)
		and (.summary | length) == 1 and .summary[0].errors == null and .summary[0].seconds == null' <<<"$output"
}

@test "the fentry counter is exact where it loads" {
	reason=$("$rate" --list | sed -n 's/^  bpf:fentry .*not here: //p')
	[ -z "$reason" ] || skip "$reason"
	run "$rate" -q --json - -d 300ms --threads 8 --counter bpf:fentry
	jq -e '.lost == 0 and .total.made > 0 and (.summary | length) == 1' <<<"$output"
}

@test "the man pages have every option that --help has, and no other" {
	options() { grep -oE -- '--[a-z]+(-[a-z]+)*' | sort -u; }
	for page in syscall/syscall-rate.1 fib/fib-compare.1 file/file-rate.1 message/message-rate.1; do
		program=$(basename "$page" .1)
		diff <(tr -d '\\' <"$page" | options) <("${rate%/*}/$program" --help | options)
	done
}

# What completion of $2... (the program's words) gives, sorted, with commas; $1: the file.
completed() {
	bash -c 'source "$1"; shift
		compopt() { :; }
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
		"$(complete -p "${1##*/}" | sed "s/.*-F \\([a-z_]*\\) .*/\\1/")" "$1" "${@: -1}" "${@: -2:1}"
		printf "%s\n" "${COMPREPLY[@]}"' - "$@" | sort -u | paste -sd,
}

@test "bash completes options, and the names that the program tells" {
	[ "$(completed syscall/syscall-rate.bash "$rate" --cou)" = --count-only,--counter ]
	[ "$(completed syscall/syscall-rate.bash "$rate" --call getp)" = getpid,getppid ]
	[ "$(completed syscall/syscall-rate.bash "$rate" --call = gett)" = gettid ]
	[ "$(completed syscall/syscall-rate.bash "$rate" --counter bpf:f)" = fentry ]
	[ "$(completed syscall/syscall-rate.bash "$rate" --per =)" = core,process,thread ]
	[[ ",$(completed syscall/syscall-rate.bash "$rate" -p '')," == *,$$,* ]]
	[[ ",$(completed syscall/syscall-rate.bash "$rate" -- tru)," == *,true,* ]]
	[ "$(completed fib/fib-compare.bash "${rate%/*}/fib-compare" --engines calls)" = calls-interp,calls-jit ]
	[ "$(completed fib/fib-compare.bash "${rate%/*}/fib-compare" --wx =)" = dual,mprotect ]
	[ "$(completed fib/fib-compare.bash "${rate%/*}/fib-compare" fib/programs/fib.)" = fib/programs/fib.basm ]
	[ "$(completed file/file-rate.bash "${rate%/*}/file-rate" --modes bytes)" = bytes16,bytes8 ]
	[ "$(completed file/file-rate.bash "${rate%/*}/file-rate" --d)" = --depth,--dir,--direct,--duration ]
	[ "$(completed file/file-rate.bash "${rate%/*}/file-rate" w)" = words ]
	[ "$(completed message/message-rate.bash "${rate%/*}/message-rate" --modes list)" = list16,list8 ]
	[ "$(completed message/message-rate.bash "${rate%/*}/message-rate" --s)" = --size,--stalled ]
	[ "$(completed message/message-rate.bash "${rate%/*}/message-rate" b)" = broadcast ]
}

@test "install and uninstall read one list" {
	[ "${BUILD:-build/plain}" = build/plain ] || skip "the sanitized build is not installed"
	make -s install DESTDIR="$BATS_TEST_TMPDIR" PREFIX=/usr
	[ -x "$BATS_TEST_TMPDIR/usr/bin/syscall-rate" ]
	[ -x "$BATS_TEST_TMPDIR/usr/bin/fib-compare" ]
	[ -e "$BATS_TEST_TMPDIR/usr/share/man/man1/syscall-rate.1" ]
	[ -e "$BATS_TEST_TMPDIR/usr/share/man/man1/fib-compare.1" ]
	[ -e "$BATS_TEST_TMPDIR/usr/share/bash-completion/completions/syscall-rate" ]
	[ -e "$BATS_TEST_TMPDIR/usr/share/bash-completion/completions/fib-compare" ]
	[ -e "$BATS_TEST_TMPDIR/usr/share/man/man1/message-rate.1" ] && [ -e "$BATS_TEST_TMPDIR/usr/share/bash-completion/completions/message-rate" ]
	[ -e "$BATS_TEST_TMPDIR/usr/share/man/man1/file-rate.1" ] && [ -e "$BATS_TEST_TMPDIR/usr/share/bash-completion/completions/file-rate" ]
	make -s uninstall DESTDIR="$BATS_TEST_TMPDIR" PREFIX=/usr
	[ -z "$(find "$BATS_TEST_TMPDIR/usr" -type f)" ]
}
