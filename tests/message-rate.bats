#!/usr/bin/env bats
# message-rate from outside: every message once and in order, whoever dies, bad input.

setup() {
	load helpers
	cd "$BATS_TEST_DIRNAME/.."
	rate=$PWD/${BUILD:-build/plain}/message-rate
	dir=$BATS_TEST_TMPDIR
	short=(-d 5ms -r 1 -q --json -)
}

# Every row that could be had has received what was sent, once and in order; $1: the JSON.
exact() {
	jq -e 'all(.rows[]; .status == "unavailable" or (.status == "ok" and .sent == .received and .wrong == 0 and .messages > 0 and .ns_per_message > 0))' <<<"$1"
}

@test "send: every mode hands over every message, once and in order, on two cores and on one" {
	run "$rate" "${short[@]}"
	[ "$status" = 0 ]
	exact "$output"
	jq -e '[.rows[].mode] | unique | contains(["copy", "list16", "list8", "pipe", "pipe-batch", "reference", "shm", "tcp", "tcp-batch", "tcp-sendmmsg", "unix"])' <<<"$output"
	jq -e '[.rows[].cores] | unique == ["one", "two"]' <<<"$output"
	jq -e 'all(.round_trips[] | select(.status == "ok"); .p50_ns > 0 and .p50_ns <= .p99_ns and .p99_ns <= .max_ns)' <<<"$output"
	jq -e '.seed.rows | length == 4' <<<"$output"
}

@test "messages of every size, with all bytes looked at" {
	for size in 0 1 65535 1000000; do
		run "$rate" -s "$size" -n 40 --touch "${short[@]}"
		[ "$status" = 0 ]
		exact "$output"
		jq -e --argjson s "$size" 'all(.rows[]; .bytes_each == $s and .touched)' <<<"$output"
	done
}

@test "eight senders at once, each with its receiver" {
	run "$rate" --pairs 8 --touch -n 2000 "${short[@]}"
	[ "$status" = 0 ]
	exact "$output"
	jq -e 'all(.rows[] | select(.status == "ok"); .sent % 8 == 0 and .sent > 0)' <<<"$output"
}

@test "a receiver that dies is counted and reported" {
	for mode in tcp shm pipe-writev unix tcp-sendmmsg; do
		# LeakSanitizer's helper is a child as well: it is not to be killed.
		ASAN_OPTIONS=detect_leaks=0 "$rate" --modes "$mode" --cores 2 -n 100000000 -d 700ms -r 1 >"$dir/out" 2>&1 &
		program=$!
		sleep 0.7
		# Between two samples there is no receiver, or one that has ended: again, until the program has.
		for _ in {1..500}; do
			pkill -KILL -P "$program" || true
			kill -0 "$program" 2>/dev/null || break
			sleep 0.01
		done
		code=0
		wait "$program" || code=$?
		[ "$code" = 1 ]
		grep -qE "^message-rate: $mode, .*: the receiver died after [0-9]+ of [0-9]+ messages" "$dir/out"
	done
}

@test "the table has rows, the seed's, and ratios" {
	run "$rate" --modes reference,list16,list8,tcp,tcp-batch -d 5ms -r 1
	[ "$status" = 0 ]
	grep -qE '^tcp-batch +(one|two) +[0-9]+ +[0-9.]+ ' <<<"$output"
	grep -qE '^2009 +one +1048576 +1424\.9 ' <<<"$output"
	grep -qE '^by reference as by a copied list \(16 bytes\) .* x .* x ' <<<"$output"
	grep -q '^noise: ' <<<"$output"
	refute grep -q $'[\r\033]' <<<"$output"
}

@test "--calls: a write a message, and one for many" {
	watch=$PWD/${BUILD:-build/plain}/syscall-rate
	[ "$(id -u)" = 0 ] || skip "needs root"
	"$watch" -q -o /dev/null -- true 2>"$dir/why" || skip "$(cat "$dir/why")"
	run "$rate" --modes tcp,tcp-batch --calls -d 50ms -r 1 -q --json -
	[ "$status" = 0 ]
	jq -e 'all(.rows[] | select(.mode == "tcp" and .status == "ok"); .syscalls_per_message.write | . > 0.99 and . < 1.05)' <<<"$output"
	jq -e 'all(.rows[] | select(.mode == "tcp-batch" and .status == "ok"); .syscalls_per_message.write < 0.1)' <<<"$output"
}

@test "SIGINT half-way: what was measured is printed" {
	"$rate" --modes reference -d 20ms -r 1000 >"$dir/out" 2>&1 &
	program=$!
	sleep 1
	kill -INT "$program"
	code=0
	wait "$program" || code=$?
	[ "$code" = 130 ]
	grep -qE '^reference +(one|two) +[0-9]+ +[0-9]' "$dir/out"
}

# A network of its own for what follows.
alone() {
	command -v ip >/dev/null || skip "ip is not installed"
	unshare -n ip link set lo up 2>/dev/null || skip "no private network"
	unshare -n sh -c 'ip link set lo up; exec "$@"' alone "$@"
}

@test "broadcast: every strategy reaches every client; the stalled are evicted and delay nobody" {
	run "$rate" broadcast --clients 100,300 --stalled 7 -r 3 -q --json -
	[ "$status" = 0 ]
	jq -e '[.rows[].mode] | unique | contains(["each", "epoll", "threads", "tree"])' <<<"$output"
	jq -e '[.rows[].clients] | unique == [100, 300]' <<<"$output"
	jq -e 'all(.rows[] | select(.status == "ok"); .received == .clients - 7 and .evicted == 7 and .dropped == 0)' <<<"$output"
	jq -e 'all(.rows[] | select(.status == "ok"); .min_ms > 0 and .min_ms <= .p50_ms and .p50_ms <= .p99_ms and .p99_ms <= .last_ms and (.samples_last_ms | length) == 3)' <<<"$output"
	jq -e '.seed.clients == 20000' <<<"$output"
	run "$rate" broadcast --clients 200 --modes tree -r 1
	grep -qE '^tree +200 +200 +[0-9.]+ ' <<<"$output"
	grep -qE '^  best, on a laptop +710 ms' <<<"$output"
}

@test "broadcast: a message larger than any buffer arrives whole, by every strategy" {
	run "$rate" broadcast --clients 10 -s 8M -r 1 -q --json -
	[ "$status" = 0 ]
	jq -e 'all(.rows[] | select(.status == "ok"); .received == 10)' <<<"$output"
}

@test "broadcast --calls: a send and a receive a client; io_uring makes hardly any" {
	watch=$PWD/${BUILD:-build/plain}/syscall-rate
	[ "$(id -u)" = 0 ] || skip "needs root"
	"$watch" -q -o /dev/null -- true 2>"$dir/why" || skip "$(cat "$dir/why")"
	run "$rate" broadcast --clients 500 --calls -r 1 -q --json -
	[ "$status" = 0 ]
	jq -e 'all(.rows[] | select(.status == "ok"); .syscalls_per_client | .recvfrom >= 1 and .recvfrom < 1.5)' <<<"$output"
	jq -e 'all(.rows[] | select(.mode == "each" or .mode == "threads"); .syscalls_per_client | .sendto >= 1 and .sendto < 1.5)' <<<"$output"
	jq -e 'all(.rows[] | select(.mode == "io_uring" and .status == "ok"); .syscalls_per_client | .sendto < 0.1 and .io_uring_enter < 0.1)' <<<"$output"
}

@test "broadcast: too few descriptors or ports are told before anything starts" {
	run bash -c 'ulimit -n 80 && exec "$0" broadcast --clients 5000' "$rate"
	[ "$status" = 1 ]
	grep -qE '^message-rate: tree, 5000 clients: 5000 clients in .* need [0-9]+ descriptors each; the limit is 80 ' <<<"$output"
	alone true
	run alone sh -c 'echo 40000 40001 >/proc/sys/net/ipv4/ip_local_port_range && exec "$0" broadcast --clients 2000 --cores 1' "$rate"
	[ "$status" = 1 ]
	grep -q '2000 clients a process need more ports than 250 addresses with half of net.ipv4.ip_local_port_range have: 250' <<<"$output"
	# Where one address has not enough, others have.
	run alone sh -c 'echo 40000 40019 >/proc/sys/net/ipv4/ip_local_port_range && exec "$0" broadcast --clients 300 -r 1 -q --json -' "$rate"
	[ "$status" = 0 ]
	jq -e 'all(.rows[] | select(.status == "ok"); .received == 300)' <<<"$output"
}

@test "no connection is left behind in TIME_WAIT" {
	alone true
	run alone sh -c '"$0" broadcast --clients 300 -r 2 -q && "$0" --modes tcp,tcp-batch,tcp-io_uring -d 5ms -r 2 -q && cat /proc/net/sockstat' "$rate"
	[ "$status" = 0 ]
	grep -qE '^TCP: inuse 0 orphan [0-9]+ tw 0 ' <<<"$output"
}

@test "broadcast: clients that die are missed" {
	"$rate" broadcast --clients 2000 --modes tree -r 1000 --json "$dir/json" >"$dir/out" 2>&1 &
	program=$!
	sleep 1
	for _ in {1..500}; do
		pkill -KILL -n -P "$program" && break
		sleep 0.01
	done
	code=0
	wait "$program" || code=$?
	[ "$code" = 1 ]
	grep -q '^message-rate: tree, 2000 clients: not all have received it$' "$dir/out"
	jq -e '.rows[0] | .status == "failed" and .received < 2000' "$dir/json"
}

@test "broadcast: SIGINT half-way leaves what was measured, and no process" {
	"$rate" broadcast --clients 300 -r 1000 >"$dir/out" 2>&1 &
	program=$!
	sleep 2
	kill -INT "$program"
	code=0
	wait "$program" || code=$?
	[ "$code" = 130 ]
	grep -qE '^tree +300 +300 +[0-9]' "$dir/out"
	refute pgrep -f "^$rate broadcast --clients 300 -r 1000"
}

@test "bad usage is one line and exit 2" {
	for bad in nosuch 'send send' '--modes nosuch' '-s x' '-n 0' '-d x' '-r 0' '--pairs 0' '--clients 5' 'broadcast -n 5' \
		'broadcast --modes tcp' 'broadcast --clients 5 --stalled 5' 'broadcast -s 0' '--cores 999' 'broadcast --clients ,' 'broadcast --modes tree,nosuch' '--clients 5' 'broadcast --pairs 2'; do
		# shellcheck disable=SC2086 # words of an option and its value
		run "$rate" $bad
		[ "$status" = 2 ]
		[ "$(wc -l <<<"$output")" = 1 ]
	done
}

@test "--help, --version and --list" {
	run "$rate" --help
	[ "$status" = 0 ]
	grep -q '^Examples:' <<<"$output"
	run "$rate" --version
	grep -q '^message-rate [0-9]' <<<"$output"
	run "$rate" --list
	[ "$status" = 0 ]
	for word in send broadcast reference tcp-sendmmsg tree; do grep -q "$word" <<<"$output"; done
}
