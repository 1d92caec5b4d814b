#!/bin/sh
# Installs what building, testing and measuring need and is missing; with --report (DEPS=no) only says it;
# with --headers prints the packages of headers under apt. With --vm or --cross, what scripts/vm.sh or scripts/cross.sh
# needs beside that; it fails, and says what is missing, where that is not installed.
# One line a need: what proves it is there (one of several), then its package under apt, dnf, pacman and zypper.
set -eu
report=${1:-}

needs_vm='
cmd:qemu-system-x86_64 qemu-system-x86 qemu-system-x86-core qemu-system-x86 qemu-x86
cmd:cpio cpio cpio cpio cpio
cmd:busybox busybox-static busybox busybox busybox-static
cmd:strace strace strace strace strace
'
needs_cross='
cmd:aarch64-linux-gnu-gcc gcc-aarch64-linux-gnu gcc-aarch64-linux-gnu aarch64-linux-gnu-gcc cross-aarch64-gcc12
cmd:qemu-aarch64-static|qemu-aarch64 qemu-user-static qemu-user-static qemu-user-static qemu-linux-user
'
needs='
cmd:gcc gcc gcc gcc gcc
cmd:clang clang clang clang clang
cmd:git git git git git
file:stdlib.h libc6-dev glibc-devel glibc glibc-devel
cmd:bpftool bpftool bpftool bpf bpftool
file:bpf/libbpf.h libbpf-dev libbpf-devel libbpf libbpf-devel
file:hwloc.h libhwloc-dev hwloc-devel hwloc hwloc-devel
file:seccomp.h libseccomp-dev libseccomp-devel libseccomp libseccomp-devel
file:jansson.h libjansson-dev jansson-devel jansson libjansson-devel
file:capstone/capstone.h libcapstone-dev capstone-devel capstone libcapstone-devel
file:liburing.h liburing-dev liburing-devel liburing liburing-devel
file:cmocka.h libcmocka-dev libcmocka-devel cmocka libcmocka-devel
cmd:bats bats bats bash-bats bats
cmd:prove perl perl-Test-Harness perl perl
cmd:jq jq jq jq jq
cmd:localedef libc-bin glibc-common glibc glibc
share:i18n/locales/de_DE locales glibc-locale-source glibc glibc-i18ndata
cmd:setpriv util-linux util-linux util-linux util-linux
'

case $report in
--vm) needs=$needs_vm ;;
--cross) needs=$needs_cross ;;
esac
if [ "$report" = --headers ]; then
	echo "$needs" | sed -n 's/^file:[^ ]* \([^ ]*\).*/\1/p'
	exit 0
fi
if command -v apt-get >/dev/null; then
	column=2 install='apt-get install -y --no-install-recommends'
elif command -v dnf >/dev/null; then
	column=3 install='dnf install -y'
elif command -v pacman >/dev/null; then
	column=4 install='pacman -S --needed --noconfirm'
elif command -v zypper >/dev/null; then
	column=5 install='zypper --non-interactive install'
else
	column=2 install=
fi

there() {
	case $1 in
	cmd:*\|*) there "${1%%|*}" || there "cmd:${1#*|}" ;;
	cmd:*) PATH=$PATH:/usr/sbin:/sbin command -v "${1#cmd:}" >/dev/null ;;
	file:*) ls "/usr/include/${1#file:}" /usr/include/*-linux-*/"${1#file:}" 2>/dev/null | grep -q . ;;
	share:*) [ -e "/usr/share/${1#share:}" ] ;;
	esac
}

missing=$(echo "$needs" | while read -r need packages; do
	[ -n "$need" ] || continue
	there "$need" || echo "$need $packages" | cut -d' ' -f"$column"
done | tr '\n' ' ')
[ -n "$missing" ] || exit 0

if [ -z "$install" ]; then
	echo "deps: missing, and no package manager known here; Debian calls them: $missing" >&2
	exit 1
fi
if [ "$report" = --report ]; then
	echo "deps: missing: $missing" >&2
	exit 0
fi
if [ "${DEPS:-}" = no ]; then
	echo "deps: missing, and DEPS=no: $missing" >&2
	exit 1
fi
if [ "$(id -u)" = 0 ]; then
	as=
elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
	as='sudo -n'
else
	echo "deps: missing; run: sudo $install $missing" >&2
	exit 1
fi
echo "deps: installing $missing" >&2
if [ "$column" = 2 ]; then
	$as apt-get update -qq >&2
	$as env DEBIAN_FRONTEND=noninteractive $install $missing >&2
else
	$as $install $missing >&2
fi
