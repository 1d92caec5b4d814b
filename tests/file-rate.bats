#!/usr/bin/env bats
# file-rate from outside: every mode and experiment, odd files, bad input.

setup() {
	load helpers
	cd "$BATS_TEST_DIRNAME/.."
	rate=$PWD/${BUILD:-build/plain}/file-rate
	dir=$BATS_TEST_TMPDIR
	short=(-d 2ms -r 2 -q --json -)
}

# A file of $2 bytes at $1 that is no multiple of anything and has no two equal parts.
make_file() {
	head -c "$2" /dev/urandom >"$1"
}

# The lines that each row of "lines" and the words that each row of "words" found in file $1: one number, or it
# fails; the rest are options.
lines_of() {
	"$rate" lines --file "$@" -d 1ms -r 1 -q --json - --blocks 1,2,3,5,64,4096 | jq -e '[.rows[] | select(.status == "ok" and .mode != "wc -l") | .items // 0] | unique | if length == 1 then .[0] else error("\(.)") end'
}
words_of() {
	"$rate" words --file "$@" --modes words-1,words-2 -r 1 -q --json - | jq -ec '[.rows[] | select(.status == "ok") | .items // 0] | unique | if length == 1 then .[0] else error("\(.)") end'
}

@test "read: every mode reads what there is, and fits are told" {
	run "$rate" --size 3000007 --blocks 512,4K,1M "${short[@]}"
	[ "$status" = 0 ]
	jq -e '.experiment == "read" and .file_bytes == 3000007 and .schema == "toll/1"' <<<"$output"
	jq -e '[.rows[].mode] | unique | contains(["null", "raw", "whole", "whole-huge", "whole-reused", "mmap", "stdio", "io_uring", "pool", "server", "bytes8", "bytes16", "dd"])' <<<"$output"
	jq -e 'all(.rows[]; .status == "unavailable" or (.ns_per_call > 0 and .calls > 0 and (.samples_s | length) == 2))' <<<"$output"
	jq -e 'all(.rows[] | select(.mode | startswith("whole")); .bytes == 3000007 and .calls == 1)' <<<"$output"
	jq -e '.fit | map(.mode) | contains(["raw", "pool", "server"])' <<<"$output"
	jq -e '.fit[] | select(.mode == "server") | .ns_per_call > 0' <<<"$output"
	jq -e '.seed.rows | length == 7' <<<"$output"
}

@test "read: bytes that are looked at are said to be, and readers share the tail" {
	make_file "$dir/odd" 1000003
	run "$rate" --file "$dir/odd" --touch --modes raw,pread-1,pread-3,pread-16 --blocks 512,100000 -d 1s -r 1 -q --json -
	[ "$status" = 0 ]
	jq -e 'all(.rows[]; .touched and .bytes == 1000003)' <<<"$output"
	jq -e '[.rows[] | select(.mode == "pread-16" and .block == 512) | .calls] == [1954]' <<<"$output"
}

@test "the table has rows, the fit, the seed and the noise; a pipe gets no progress" {
	run "$rate" --size 1G --modes raw,stdio,whole,whole-reused --blocks 64K,1M -d 2ms -r 1
	[ "$status" = 0 ]
	grep -qE '^raw +1M +[0-9.]+ +[0-9]+ +[0-9.]+ ' <<<"$output"
	grep -qE '^2013 +512 +1\.160210 +2097152 ' <<<"$output"
	grep -qE '^stdio .* (64K|1M|never)$' <<<"$output"
	grep -qE '^whole: [0-9]+ % of its time is its buffer' <<<"$output"
	grep -q '^noise: ' <<<"$output"
	refute grep -q $'[\r\033]' <<<"$output"
}

@test "rw: four kinds for five layers, verified, with the seed beside them" {
	run "$rate" rw --size 2M --blocks 1K,64K -d 1ms -r 1
	[ "$status" = 0 ]
	grep -qE '^sequential read +[0-9]+ +100 +([0-9]+|-) +[0-9]+ +[0-9]+ +5076 +191 +5076 +191$' <<<"$output"
	grep -qE '^random write .* 128 +62 +125 +107$' <<<"$output"
	run "$rate" rw --size 2M --blocks 1K,64K "${short[@]}"
	jq -e '[.rows[] | select(.status == "ok")] | length >= 32 and all(.[]; .bytes_per_second > 0 and (if (.kind | endswith("write")) then (.fsync_s | length) == 2 else .fsync_s == null end))' <<<"$output"
	jq -e '[.fit[].kind] | unique == ["random read", "random write", "sequential read", "sequential write"]' <<<"$output"
}

@test "lines: a line ends at a newline or at the end of the file, whatever the buffer" {
	printf '' >"$dir/f"; [ "$(lines_of "$dir/f")" = 0 ]
	printf '\n' >"$dir/f"; [ "$(lines_of "$dir/f")" = 1 ]
	printf 'a\r\nb\r\n' >"$dir/f"; [ "$(lines_of "$dir/f")" = 2 ]
	printf 'a\nb' >"$dir/f"; [ "$(lines_of "$dir/f")" = 2 ]
	printf 'a\0b\n\0' >"$dir/f"; [ "$(lines_of "$dir/f" --modes raw,ahead,pool,pool-ahead,getline)" = 2 ]
	printf '\xff\xfe\n\xc3\x28\n\xe2\x80\n' >"$dir/f"; [ "$(lines_of "$dir/f" --modes raw,ahead,pool,pool-ahead,getline)" = 3 ]
	yes '' | head -n 10000 >"$dir/f"; [ "$(lines_of "$dir/f")" = 10000 ]
	seq 20000 >"$dir/f"; [ "$(lines_of "$dir/f")" = 20000 ]
}

@test "words: white space of every kind, and nothing else, ends a word" {
	printf '' >"$dir/f"; [ "$(words_of "$dir/f")" = 0 ]
	printf ' \t\n\v\f\r' >"$dir/f"; [ "$(words_of "$dir/f")" = 0 ]
	printf 'a\r\nb' >"$dir/f"; [ "$(words_of "$dir/f")" = 2 ]
	printf 'a\0b c\xff\xfe d' >"$dir/f"; [ "$(words_of "$dir/f")" = 3 ]
	printf 'a\xc2\xa0b\xe2\x80\x83c\xe3\x80\x80d \xe2\x80' >"$dir/f"
	[ "$(words_of "$dir/f")" = 2 ]
	[ "$(words_of "$dir/f" --utf8)" = 5 ]
}

@test "words: the ten most frequent, ties in byte order, the others' programs agree" {
	{ for w in b a C c Aa aa z y x w v u t; do echo "$w $w"; done; echo 'b b b c C C'; } >"$dir/f"
	run "$rate" words --file "$dir/f" -q --json -
	[ "$status" = 0 ]
	jq -ec '[.words[] | "\(.count) \(.word)"] == ["5 b", "4 C", "3 c", "2 Aa", "2 a", "2 aa", "2 t", "2 u", "2 v", "2 w"] and .total == 32 and .distinct == 13' <<<"$output"
	jq -e 'all(.rows[]; .note == "" or .note == "not installed")' <<<"$output"
	run "$rate" words --file "$dir/f" --fold -q --json -
	jq -ec '.words[:3] | map("\(.count) \(.word)") == ["7 c", "5 b", "4 aa"]' <<<"$output"
	jq -e '.rows[] | select(.mode == "mawk") | .status == "unavailable"' <<<"$output"
}

@test "words of a text that was made are those that its maker counted" {
	run "$rate" words --size 20M -r 1 --modes words-1,words-2
	[ "$status" = 0 ]
	grep -qE '^published|^2013 +2\.600' <<<"$output"
}

@test "what can be read once is read once: FIFOs with short reads" {
	slow() { for i in 1 2 3 4 5; do printf 'wo'; sleep 0.02; printf 'rd %s\nli' "$i"; sleep 0.02; done; }
	slow | "$rate" lines --file /dev/stdin --modes raw --blocks 7 -q --json "$dir/json"
	jq -e '[.rows[] | select(.status == "ok") | .items] == [6]' "$dir/json"
	run bash -c "printf 'a\nb\nc' | '$rate' lines --file /dev/stdin -q"
	[ "$status" = 2 ]
	grep -q 'only once' <<<"$output"
	slow | "$rate" words --file /dev/stdin -q --json "$dir/json"
	jq -e '.total == 11 and .words[0] == {"word": "liword", "length": 6, "count": 4}' "$dir/json"
	slow | "$rate" --file /dev/stdin --modes whole -q --json "$dir/json"
	jq -e '.rows[0].bytes == 45' "$dir/json"
	mkfifo "$dir/fifo"
	slow >"$dir/fifo" &
	"$rate" --file "$dir/fifo" --modes stdio --blocks 1K -q --json "$dir/json"
	jq -e '.rows[0].bytes == 45' "$dir/json"
}

@test "files of the kernel's, which tell no size" {
	n=$(wc -c </proc/filesystems)
	run "$rate" --file /proc/filesystems --modes raw,stdio,whole,pool,server,mmap --blocks 64 "${short[@]}"
	[ "$status" = 0 ]
	jq -e --argjson n "$n" '[.rows[] | select(.status == "ok")] | length == 5 and all(.[]; .bytes == $n)' <<<"$output"
	jq -e '.rows[] | select(.mode == "mmap") | .note == "the kernel tells no size of the file"' <<<"$output"
	[ "$(lines_of /proc/filesystems --modes raw,ahead)" = "$(wc -l </proc/filesystems)" ]
}

@test "holes are said" {
	truncate -s 10M "$dir/sparse"
	run "$rate" --file "$dir/sparse" --modes raw --blocks 1M -d 2ms -r 1
	[ "$status" = 0 ]
	grep -q 'with holes' <<<"$output"
	run "$rate" --file "$dir/sparse" --modes raw --blocks 1M "${short[@]}"
	jq -e .sparse <<<"$output"
	make_file "$dir/dense" 100000
	run "$rate" --file "$dir/dense" --modes raw --blocks 1M "${short[@]}"
	jq -e '.sparse | not' <<<"$output"
}

@test "a file that shrinks while it is read is said to, and is no death; one that grows is said to" {
	make_file "$dir/f" 50000000
	"$rate" --file "$dir/f" --modes raw,mmap,pread-2 --blocks 64K -d 20ms -r 1000 -q --json "$dir/json" 2>"$dir/err" &
	program=$!
	sleep 1.5
	truncate -s 100000 "$dir/f"
	code=0
	wait "$program" || code=$?
	[ "$code" = 1 ]
	[ "$(grep -c 'the file shrank while it was read' "$dir/err")" = 3 ]
	jq -e 'all(.rows[]; .status == "failed" and (.samples_s | length) > 0)' "$dir/json"
	make_file "$dir/f" 50000000
	"$rate" --file "$dir/f" --modes raw --blocks 64K -d 20ms -r 1000 -q --json "$dir/json" &
	program=$!
	sleep 1
	head -c 1000 /dev/zero >>"$dir/f"
	wait "$program"
	jq -e '.rows[0].note == "the file grew while it was read"' "$dir/json"
}

@test "reads of more than 0x7ffff000 bytes, and a line of a gibibyte" {
	[ "$(awk '/MemAvailable/ {print int($2 / 1048576)}' /proc/meminfo)" -ge 10 ] || skip "less than 10 GiB of memory available"
	[ "${BUILD:-build/plain}" = build/plain ] || skip "too slow with sanitizers"
	truncate -s 3G "$dir/large"
	run "$rate" --file "$dir/large" --modes whole-huge,raw --blocks 1G -r 1 -d 10s -q --json -
	[ "$status" = 0 ]
	jq -e 'all(.rows[]; .bytes == 3221225472) and (.rows[] | select(.mode == "raw") | .calls == 3)' <<<"$output"
	truncate -s 1G "$dir/large"
	run "$rate" lines --file "$dir/large" --modes raw --blocks 1M -r 1 -d 10s -q --json -
	jq -e 'all(.rows[]; .bytes == 1073741824 and .items == 1)' <<<"$output"
	run "$rate" words --file "$dir/large" --modes words-1,words-2 -r 1 -q --json -
	jq -e '.total == 1 and .distinct == 1' <<<"$output"
}

@test "O_DIRECT: the tail too, and layers that can't are rows that say so" {
	make_file "$dir/f" 1000003
	run "$rate" --file "$dir/f" --direct --modes raw,io_uring,pool,server,pread-2,stdio,mmap --blocks 4K,64K -d 1s -r 1 -q --json -
	grep -q 'O_DIRECT is refused' <<<"$output" && skip "this file system refuses O_DIRECT"
	[ "$status" = 0 ]
	jq -e 'all(.rows[]; .bytes == 1000003 or .status == "unavailable")' <<<"$output"
	jq -e '[.rows[] | select(.status == "ok") | .mode] | unique | contains(["pool", "pread-2", "raw", "server"])' <<<"$output"
	jq -e 'all(.rows[] | select(.mode == "stdio" or .mode == "mmap"); .note == "not with O_DIRECT")' <<<"$output"
}

@test "a cold cache is colder" {
	run "$rate" --size 8M --cold --modes raw --blocks 64K -d 1s -r 1 -q --json -
	[ "$status" = 0 ]
	jq -e '.rows[0].bytes == 8388608' <<<"$output"
}

@test "io_uring refused is a row that says why" {
	compile "$dir/without" -lseccomp <<'C'
#include <errno.h>
#include <seccomp.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
	(void)argc;
	if (seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(io_uring_setup), 0) || seccomp_load(filter))
		return 99;
	execv(argv[1], argv + 1);
	return 98;
}
C
	run "$dir/without" "$rate" --size 1M --modes raw,io_uring --blocks 4K -d 1ms -r 1
	[ "$status" = 0 ]
	grep -qE '^io_uring .*the kernel refuses io_uring \(Operation not permitted\): kernel.io_uring_disabled, or a seccomp filter' <<<"$output"
	run "$dir/without" "$rate" --list
	grep -q 'io_uring .*not here: the kernel refuses io_uring' <<<"$output"
}

@test "--calls: system calls of each layer, by the project's own counter" {
	watch=$PWD/${BUILD:-build/plain}/syscall-rate
	[ "$(id -u)" = 0 ] || skip "needs root"
	"$watch" -q -o /dev/null -- true 2>"$dir/why" || skip "$(cat "$dir/why")"
	run "$rate" --size 4M --modes raw,stdio,pread-2,server --blocks 512,4K --calls "${short[@]}"
	[ "$status" = 0 ]
	jq -e '[.rows[] | select(.mode == "raw") | .syscalls_per_call.read] == [1, 1]' <<<"$output"
	jq -e '[.rows[] | select(.mode == "stdio") | .syscalls_per_call.read | . * 1000 | round] == [125, 1000]' <<<"$output"
	jq -e '[.rows[] | select(.mode == "pread-2") | .syscalls_per_call.pread64] == [1, 1]' <<<"$output"
	# A request and an answer, each sent and received in two processes.
	jq -e '[.rows[] | select(.mode == "server") | .syscalls_per_call | .sendmsg >= 2 and .read >= 3] == [true, true]' <<<"$output"
	run setpriv --reuid 65534 --clear-groups --inh-caps -all "$rate" --size 1M --modes raw --blocks 4K --calls -d 1ms -r 1
	[ "$status" = 0 ]
	grep -q -- '--calls: system calls are not counted: ' <<<"$output"
}

@test "no room on the disk is said before anything is written, an error of the device when it comes" {
	run "$rate" --size 1000000G
	[ "$status" = 1 ]
	grep -qE 'has room for [0-9]+ MB, and the work file wants' <<<"$output"
	run "$rate" rw --dir /nonexistent
	[ "$status" = 1 ]
	grep -q -- '--dir says where' <<<"$output"
	run "$rate" --file /proc/self/mem --modes raw --blocks 4K
	[ "$status" = 1 ]
	grep -q '^file-rate: raw, 4096 bytes a call: Input/output error$' <<<"$output"
	if [ "$(id -u)" = 0 ]; then
		# What others take meanwhile: a disk of 3 MB, of which rw's check wants 2.
		run unshare -m sh -c "mkdir -p '$dir/small' && mount -t tmpfs -o size=3500k none '$dir/small' &&
			head -c 1m /dev/zero >'$dir/small/taken' && '$rate' rw --size 1M --dir '$dir/small' --modes raw,stdio --blocks 64K -d 1ms -r 1 -q && echo fits; df --output=avail '$dir/small'"
		grep -q '^fits$' <<<"$output"
	fi
}

@test "a limit on file sizes is an error, not a death" {
	run bash -c "ulimit -f 1000; trap '' XFSZ; '$rate' rw --size 4M --modes raw --blocks 64K -d 1ms -r 1"
	[ "$status" = 1 ]
	grep -q 'File too large' <<<"$output"
}

@test "SIGINT and SIGTERM half-way: what was measured is printed" {
	for pair in INT:130 TERM:143; do
		"$rate" --size 4M --modes raw --blocks 4K -d 20ms -r 1000 >"$dir/out" 2>&1 &
		program=$!
		sleep 1
		kill -"${pair%:*}" "$program"
		code=0
		wait "$program" || code=$?
		[ "$code" = "${pair#*:}" ]
		grep -qE '^raw +4K +[0-9]' "$dir/out"
	done
}

@test "bad usage is one line and exit 2" {
	for bad in nosuch 'read lines' '--blocks 0' '--blocks 4X' '--blocks ,' '--modes nosuch' '--file /etc/passwd --size 1M' \
		'rw --file /etc/passwd' 'words -d 1s' 'words --blocks 1K' 'rw --touch' 'lines --direct' '--fold' '-r 0' '-d x' \
		'--depth 0' '--pool x' '--cores 999' '--modes pread-0 --size 1M' 'rw --size 1M --blocks 2M' '-d -1'; do
		# shellcheck disable=SC2086 # words of an option and its value
		run "$rate" $bad
		[ "$status" = 2 ]
		[ "$(wc -l <<<"$output")" = 1 ] || [[ $output == *"Try "* ]]
	done
	run "$rate" --file /nonexistent
	[ "$status" = 1 ]
	[ "$output" = "file-rate: /nonexistent: No such file or directory" ]
	run "$rate" --file /tmp
	[ "$status" = 1 ]
	[ "$output" = "file-rate: /tmp: Is a directory" ]
}

@test "results go where they are told, all or nothing" {
	run "$rate" --size 1M --modes raw --blocks 4K -d 1ms -r 1 -o "$dir/table" --json "$dir/json"
	[ "$status" = 0 ]
	[ -z "$output" ]
	grep -q '^raw ' "$dir/table"
	jq -e '.rows | length == 1' "$dir/json"
	run "$rate" --size 1M --modes raw --blocks 4K -d 1ms -r 1 -o /dev/full
	[ "$status" = 1 ]
	grep -q 'No space left on device' <<<"$output"
	run "$rate" --modes nosuch --size 1M --json "$dir/other"
	[ ! -e "$dir/other" ]
	[ "$(find "$dir" -name 'other*' | wc -l)" = 0 ]
}

@test "--help, --version and --list" {
	run "$rate" --help
	[ "$status" = 0 ]
	grep -q '^Examples:' <<<"$output"
	run "$rate" --version
	grep -q '^file-rate [0-9]' <<<"$output"
	run "$rate" --list
	[ "$status" = 0 ]
	for word in read rw lines words raw server pread-N getline mawk; do grep -q "$word" <<<"$output"; done
}

@test "no work file is left, and none has a name" {
	mkdir "$dir/work"
	"$rate" --size 64M --dir "$dir/work" --modes raw --blocks 4K -d 50ms -r 1000 -q --json /dev/null &
	program=$!
	sleep 0.7
	[ -z "$(ls -A "$dir/work")" ]
	kill "$program"
	wait "$program" || true
	[ -z "$(ls -A "$dir/work")" ]
}
