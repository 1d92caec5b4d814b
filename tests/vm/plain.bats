#!/usr/bin/env bats
# boot:
@test "hello" {
	run /toll/build/plain/syscall-rate --list
	echo "$output" | sed 's/^/# /' >&3
	[ "$status" = 0 ]
}
