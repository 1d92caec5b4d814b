#!/usr/bin/env bats
# A kernel that keeps its secrets: programs may not read its memory.
# boot: lockdown=confidentiality

setup() {
	cd "$BATS_TEST_DIRNAME/../.."
	rate=$PWD/build/plain/syscall-rate
}

@test "what needs the kernel's memory is refused, and says why" {
	run "$rate" --host
	jq -e '.lockdown == "confidentiality"' <<<"$output"
	run "$rate" -d 100ms --counter bpf:raw_tp
	[ "$status" = 1 ]
	grep -q 'kernel lockdown is "confidentiality", which refuses programs that read the kernel' <<<"$output"
	run "$rate" -d 100ms --counter perf
	[ "$status" = 1 ]
	[ "$(wc -l <<<"$output")" = 1 ]
}

@test "what needs none counts, exactly" {
	for counter in bpf bpf:tp_btf bpf:fentry; do
		run "$rate" -q --json - -d 200ms --counter "$counter"
		[ "$status" = 0 ]
		jq -e '.lost == 0 and .total.made > 0 and .total.made == .total.counted' <<<"$output"
	done
}

@test "watching counts" {
	run "$rate" -q --json "$BATS_TEST_TMPDIR/json" -- cat /etc/passwd
	[ "$status" = 0 ]
	jq -e 'any(.summary[]; .syscall == "execve" and .calls == 1)' "$BATS_TEST_TMPDIR/json"
}
