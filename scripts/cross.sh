#!/bin/sh
# Builds for aarch64 and proves the programs there, under qemu-user, against those built here ($NATIVE); called
# by make crosstest. Debian's arm64 packages are unpacked into a folder of their own: the system's own stay as
# they are, but for the compiler and qemu, which are installed unless DEPS=no. Without any of them it says why,
# and that is no failure.
set -eu
folder=build/aarch64
sysroot=$PWD/$folder/sysroot
apt=$PWD/$folder/apt
log=$folder/log
compiler=aarch64-linux-gnu-gcc

skip() {
	echo "crosstest: skipped: $*"
	exit 0
}

# apt-get for arm64, which knows of no installed package and keeps everything in its own folder.
apt_arm64() {
	apt-get -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o Dir::State="$apt/state" \
		-o Dir::State::status="$apt/status" -o Dir::Cache="$apt/cache" -o Debug::NoLocking=true \
		-o APT::Sandbox::User= -o Acquire::Retries=2 -o Acquire::http::Timeout=30 "$@" >>"$log" 2>&1
}

# The headers and libraries that the build needs, and theirs; made once.
make_sysroot() {
	packages=$(scripts/deps.sh --headers)
	[ "$packages" != "$(cat "$sysroot/packages" 2>/dev/null)" ] || return 0
	[ "${DEPS:-}" != no ] || skip "no arm64 packages in $folder, and DEPS=no"
	command -v apt-get >/dev/null || skip "no arm64 packages without apt"
	echo "crosstest: unpacking arm64 packages:" $packages >&2
	mkdir -p "$apt/state/lists/partial" "$apt/cache/archives/partial"
	: >"$apt/status"
	: >"$log"
	apt_arm64 update && apt_arm64 autoclean && apt_arm64 install -y --no-install-recommends --download-only $packages ||
		skip "the arm64 packages can't be had, see $log"
	rm -rf "$sysroot" "$sysroot.new"
	mkdir "$sysroot.new"
	for package in "$apt"/cache/archives/*.deb; do
		dpkg -x "$package" "$sysroot.new"
	done
	[ -e "$sysroot.new/lib" ] || ln -s usr/lib "$sysroot.new/lib" # as base-files has it since Debian 13
	# Links from the root are links from the root of the other machine.
	find "$sysroot.new" -type l -lname '/*' | while read -r link; do
		ln -sfnr "$sysroot.new$(readlink "$link")" "$link"
	done
	echo "$packages" >"$sysroot.new/packages"
	mv "$sysroot.new" "$sysroot"
}

# The programs, each as a script that runs it under qemu.
make_runners() {
	mkdir -p "$folder/run/tests"
	for program in "$@"; do
		printf '#!/bin/sh\nexec "%s" -L "%s" "%s" "$@"\n' "$qemu" "$sysroot" "$PWD/$folder/plain/$program" \
			>"$folder/run/$program"
		chmod 755 "$folder/run/$program"
	done
}

[ "$(uname -m)" != aarch64 ] || skip "this machine is aarch64: make test does it"
mkdir -p "$folder"
scripts/deps.sh --cross || skip "what deps.sh tells of is missing"
qemu=$(command -v qemu-aarch64-static || command -v qemu-aarch64)
make_sysroot
tests='tests/unit-common tests/unit-fib tests/unit-fuzz'
$MAKE --no-print-directory SAN= BUILD=$folder/plain CC="$compiler --sysroot=$sysroot" all $(printf "$folder/plain/%s " $tests)
make_runners syscall-rate fib-compare file-rate message-rate $tests
BUILD=$folder/run NATIVE=$NATIVE prove --exec '' $(printf "$folder/run/%s " $tests) tests/cross/*.bats
