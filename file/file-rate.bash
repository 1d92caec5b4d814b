# SPDX-License-Identifier: BSD-2-Clause
# Completion of file-rate for bash. Options and names are those that the program tells.
_file_rate() {
	local program=$1 word=$2 before=$3 words
	COMPREPLY=()
	if [ "$word" = = ]; then
		word=
	elif [ "$before" = = ]; then
		before=${COMP_WORDS[COMP_CWORD - 2]}
	fi
	case $before in
	--modes) words=$("$program" --list 2>/dev/null | sed -n 's/^  \([a-z][^ ]*\) .*/\1/p' | sort -u) ;;
	--blocks | --size) words='512 1K 4K 16K 64K 256K 1M' ;;
	--depth | --pool | --cores | -r | --rounds | -d | --duration) return ;;
	--dir) compopt -o dirnames; return ;;
	-o | --json | --file) compopt -o default; return ;;
	*)
		if [[ $word == -* ]]; then
			words=$("$program" --help 2>/dev/null | sed '/^Examples:/,$d' | grep -oE -- '(^|[ ,])--?[a-zA-Z?][a-z-]*' | tr -d ' ,')
		else
			words='read rw lines words'
		fi
		;;
	esac
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}
complete -F _file_rate file-rate
