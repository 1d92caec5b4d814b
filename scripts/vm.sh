#!/bin/sh
# Tests in a virtual machine, on a kernel and CPUs that this machine has not: vm.sh [FILE.bats…], by default all of
# tests/vm. Each file is a boot of Debian's cloud kernel, with the parameters of its line "# boot: …", on eight CPUs that
# qemu emulates in software (or KVM has, where it works). All is unpacked into build/vm, nothing is installed but qemu and
# busybox, and those only where deps.sh would install. What can't be had is a reason to skip: exit 0.
# vm.sh --boot FILE.bats runs one file and prints its TAP alone; the console is left in build/vm/FILE.console.
set -eu
cd "$(dirname "$0")/.."
dir=build/vm
limit=${LIMIT:-400} # seconds a boot; on an idle machine of two CPUs the longest takes 130

skip() {
	echo "vmtest: skipped: $*" >&2
	exit 0
}

prepare() {
	[ "$(uname -m)" = x86_64 ] || skip "the virtual machine is an x86-64"
	command -v apt-get >/dev/null || skip "the kernel is a Debian package, and there is no apt-get here"
	scripts/deps.sh --vm || skip "what deps.sh tells of is missing"
	mkdir -p "$dir"
	if ! ls "$dir"/boot/vmlinuz-* >/dev/null 2>&1; then
		package=$(apt-cache depends linux-image-cloud-amd64 2>/dev/null | sed -n 's/^  Depends: \(linux-image-.*\)/\1/p' | head -1)
		[ -n "$package" ] || skip "linux-image-cloud-amd64 is not among the packages known here"
		(cd "$dir" && apt-get -o APT::Sandbox::User=root download -qq "$package" >&2) || skip "$package could not be downloaded"
		dpkg --fsys-tarfile "$dir/$package"_*.deb | tar -x -C "$dir" ./boot
		rm -f "$dir/$package"_*.deb
	fi
}

# Into the file system: the libraries that the programs named need.
add_libraries() {
	for program in "$@"; do
		ldd "$program" 2>/dev/null | grep -o '/[^ ]*' || true
	done | sort -u | while read -r library; do
		mkdir -p "$root$(dirname "$library")"
		cp -L "$library" "$root$library"
	done
}

# Into the file system: the files named, where they are here, and the libraries they need.
add() {
	for file in "$@"; do
		mkdir -p "$root$(dirname "$file")"
		cp -L "$file" "$root$file"
	done
	add_libraries "$@"
}

pack() {
	root=$dir/root
	rm -rf "$root"
	mkdir -p "$root/bin" "$root/proc" "$root/sys" "$root/dev" "$root/etc" "$root/run" "$root/usr/lib" "$root/usr/libexec" \
		"$root/toll/build/plain" "$root/toll/tests" "$root/toll/fib"
	ln -s usr/lib "$root/lib"
	mkdir -p "$root/usr/lib64" && ln -s usr/lib64 "$root/lib64"
	cp "$(command -v busybox)" "$root/bin/busybox"
	add_libraries "$root/bin/busybox"
	echo 'root:x:0:0:root:/:/bin/sh' >"$root/etc/passwd"
	add /usr/bin/env
	for program in bash bats jq strace; do
		path=$(command -v "$program") && add "$path"
	done
	ln -sf /usr/bin/bash "$root/bin/bash"
	cp -r /usr/lib/bats-core "$root/usr/lib"
	cp -r /usr/libexec/bats-core "$root/usr/libexec"
	cp tests/helpers.bash "$root/toll/tests"
	cp -r tests/vm "$root/toll/tests"
	cp fib/*.c "$root/toll/fib"
	gcc -O1 -static -o "$root/toll/int80" tests/vm/int80.c
	gcc -O1 -m32 -static -nostdlib -ffreestanding -fno-pic -fno-stack-protector -o "$root/toll/bits32" tests/vm/bits32.c
	for program in syscall-rate fib-compare file-rate message-rate; do
		cp "build/plain/$program" "$root/toll/build/plain"
		add_libraries "build/plain/$program"
	done
	cp tests/vm/init "$root/init"
	(cd "$root" && find . | cpio -o -H newc --quiet | gzip -1) >"$dir/initramfs.tmp"
	mv "$dir/initramfs.tmp" "$dir/initramfs"
}

# Boots one file's tests: TAP on standard output. Exits as bats did.
boot() {
	name=$(basename "$1" .bats)
	parameters=$(sed -n 's/^# boot: *//p' "$1")
	# The emulated CPUs take turns in one thread. With a thread each, qemu 7.2 can keep the translation of code that another
	# CPU was changing meanwhile; attaching a program changes the kernel's code, and CPUs were seen to stay for ever at a
	# breakpoint of it that memory no longer held.
	accel='-accel tcg,thread=single -cpu max'
	[ ! -w /dev/kvm ] || accel="-accel kvm $accel"
	rm -f "$dir/$name.status"
	# shellcheck disable=SC2086 # $accel and $parameters are lists
	timeout "$limit" qemu-system-x86_64 $accel -smp 8 -m 2G -nodefaults -display none -no-reboot \
		-kernel "$dir"/boot/vmlinuz-* -initrd "$dir/initramfs" \
		-append "console=ttyS0 quiet panic=-1 toll.test=$name $parameters" \
		-serial "file:$dir/$name.console" -serial stdio -serial "file:$dir/$name.status" </dev/null || true
	status=$(cat "$dir/$name.status" 2>/dev/null || true)
	[ -n "$status" ] && exit "$status"
	echo "vm: $name did not come to its end within $limit s; the console's last lines:" >&2
	tail -20 "$dir/$name.console" >&2
	exit 1
}

if [ "${1:-}" = --boot ]; then
	boot "$2"
fi
prepare >&2
pack
[ $# -gt 0 ] || set -- tests/vm/*.bats
exec prove -v --exec 'scripts/vm.sh --boot' "$@"
