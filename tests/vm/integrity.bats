#!/usr/bin/env bats
# A kernel that protects its integrity, on a processor whose mitigations are off.
# boot: lockdown=integrity mitigations=off

setup() {
	cd "$BATS_TEST_DIRNAME/../.."
	rate=$PWD/build/plain/syscall-rate
}

@test "lockdown and mitigations are facts of the host" {
	run "$rate" --host
	jq -e '.lockdown == "integrity"' <<<"$output"
	jq -e '.mitigations.spectre_v1 | test("^Vulnerable")' <<<"$output"
}

@test "BPF counts" {
	run "$rate" -q --json - -d 200ms
	[ "$status" = 0 ]
	jq -e '.lost == 0 and .total.made > 0 and .total.made == .total.counted' <<<"$output"
}

@test "watching counts" {
	run "$rate" -q --json "$BATS_TEST_TMPDIR/json" -- cat /etc/passwd
	[ "$status" = 0 ]
	jq -e 'any(.summary[]; .syscall == "execve" and .calls == 1)' "$BATS_TEST_TMPDIR/json"
}
