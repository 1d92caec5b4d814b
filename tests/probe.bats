#!/usr/bin/env bats
# make probe's script, in a copy of what it needs: as root, through sudo, and without either.

setup() {
	cd "$BATS_TEST_DIRNAME/.."
	copy=$(mktemp -d /tmp/toll-probe.XXXXXX)
	mkdir "$copy/scripts"
	cp scripts/probe.sh scripts/plot.sh "$copy/scripts"
	for program in syscall-rate fib-compare file-rate message-rate; do cp "${BUILD:-build/plain}/$program" "$copy"; done
	chmod 755 "$copy"
}

teardown() {
	rm -rf "$copy"
}

# What every probe leaves; $1: the counter to expect, as a regular expression.
left() {
	local folder
	folder=$(echo "$copy"/results/*)
	[[ "$folder" =~ /[0-9]{8}T[0-9]{6}Z-[^/]+$ ]]
	jq -e .kernel "$folder/host.json"
	jq -e --arg c "$1" '.total.made > 0 and (.counter | test($c))' "$folder/syscall-rate.json"
	grep -q 'here, measured on' "$folder/summary.txt"
	grep -q 'here, measured on' <<<"$output"
	jq -e 'all(.engines[] | select(.status == "ok"); .result == 317811)' "$folder/fib-compare.json"
	grep -q '^jit ' "$folder/summary.txt"
	grep -q '^jit ' <<<"$output"
	for experiment in read rw lines words; do
		jq -e --arg e "$experiment" '.experiment == $e and any(.rows[]; .status == "ok")' "$folder/file-$experiment.json"
		if [ "$experiment" != words ] && command -v gnuplot >/dev/null; then
			grep -q 'gnuplot_plot_1' "$folder/file-$experiment.svg"
		fi
	done
	grep -q '^server .* [0-9]' "$folder/summary.txt"
	for experiment in send broadcast; do
		jq -e --arg e "$experiment" '.experiment == $e and any(.rows[]; .status == "ok")' "$folder/message-$experiment.json"
		if command -v gnuplot >/dev/null; then grep -q 'gnuplot_plot_1' "$folder/message-$experiment.svg"; fi
	done
	grep -q '^tree  *200  *200 ' "$folder/summary.txt"
}

@test "probe as root: more cores than there are is measured on what there is, and projected" {
	[ "$(id -u)" = 0 ] || skip "needs root"
	CORES=1000 DURATION=300ms run "$copy/scripts/probe.sh"
	[ "$status" = 0 ]
	grep -q '1000 cores asked for; measuring on the' <<<"$output"
	grep -q '^projected, not measured: .* on 1000 cores' <<<"$output"
	left .
}

@test "probe without privileges counts in user space, and says what it would need" {
	[ "$(id -u)" = 0 ] || skip "needs root to become someone else"
	chown 65534 "$copy"
	PATH=/usr/bin:/bin DURATION=300ms run setpriv --reuid 65534 --regid 65534 --clear-groups \
		env CORES=1 "$copy/scripts/probe.sh"
	echo "$output"
	[ "$status" = 0 ]
	grep -q 'counting in user space only (--counter none): BPF needs root' <<<"$output"
	left '^none$'
}

@test "probe through sudo counts with BPF, and the results are the user's" {
	[ "$(id -u)" = 0 ] || skip "needs root to become someone else"
	command -v sudo >/dev/null || skip "sudo is not installed"
	unshare -m true 2>/dev/null || skip "no private mount namespace"
	"$copy/syscall-rate" --list | grep -q 'bpf:raw_tp .*not here' && skip "no BPF"
	chown 65534 "$copy"
	echo 'ALL ALL=(ALL) NOPASSWD: ALL' >"$copy/sudoers"
	chmod 440 "$copy/sudoers"
	DURATION=300ms run unshare -m sh -c "mount --bind '$copy/sudoers' /etc/sudoers && exec setpriv \
		--reuid 65534 --regid 65534 --clear-groups env CORES=1 '$copy/scripts/probe.sh'"
	[ "$status" = 0 ]
	left '^bpf:'
	[ "$(stat -c %u "$copy"/results/*/* | sort -u)" = 65534 ]
}

@test "probe run by root behind sudo leaves the user's files the user's" {
	[ "$(id -u)" = 0 ] || skip "needs root"
	SUDO_UID=65534 SUDO_GID=65534 CORES=1 DURATION=300ms run "$copy/scripts/probe.sh"
	[ "$status" = 0 ]
	[ "$(find "$copy/results" -printf '%U\n' | sort -u)" = 65534 ]
}
