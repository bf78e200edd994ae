#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Made by `swapsim probes` for one kernel, to feed: @replays@.
@missing@
#
# As root:      sh record.sh record trace.txt COMMAND...
# then:         swapsim import trace.txt -o mytrace && swapsim info mytrace
#
# By trace-cmd: sh record.sh set
#               trace-cmd record -C @clock@ -b ${ROOM_KIB:-65536} -e swapsim $(sh record.sh events) COMMAND...
#               sh record.sh head > trace.txt; trace-cmd report >> trace.txt
#               sh record.sh clear
#
# Boot with nokaslr and no5lvl if files are written too: the page cache's own events give a page's number, the probes its
# address, and only then can one be computed from the other. ROOM_KIB is the buffer of each CPU; `swapsim import` reports losses.
set -eu
tracing=/sys/kernel/tracing
instance=$tracing/instances/swapsim
events="@events@"

fail() {
	echo "record.sh: $1" >&2
	exit 1
}

# Places inside functions are found in the kernel's own code, by this program in C.
program() {
	cat <<'END_OF_PROGRAM'
@fit@
END_OF_PROGRAM
}

add() {
	printf '%s\n' "$1" 2>/dev/null >>$tracing/kprobe_events
}

# A probe on a function's first byte runs with interrupts on, and is missed when an interrupt hits it. After the call of
# ftrace the arguments are still in their registers: five bytes on, or nine where the function begins with endbr64.
probe() {
	case $2 in
	r*:*)
		add "${2%%:*}:swapsim/$1 ${2#*:} $3" && return
		;;
	*+*)
		[ -x "$made/fit" ] || program | cc -xc -O1 -o "$made/fit" - 2>/dev/null || {
			echo "record.sh: $1 is not recorded: its place needs a C compiler, cc" >&2
			return 0
		}
		place=$(echo "p:swapsim/$1 $2" | "$made/fit") && add "$place $3" && return
		;;
	*)
		for bytes in 5 9 4; do
			add "p:swapsim/$1 $2+$bytes $3" && return
		done
		;;
	esac
	fail "the kernel refuses a probe on ${2#*:}: is it the one whose types were given?"
}

set_probes() {
	[ "$(uname -m)" = x86_64 ] || fail "the probes read registers of x86-64, this is $(uname -m)"
	[ -w $tracing/kprobe_events ] || fail "cannot write $tracing/kprobe_events: be root, mount tracefs, have CONFIG_KPROBE_EVENTS"
	made=$(mktemp -d)
@probes@
	rm -r "$made"
}

clear_probes() {
	[ ! -d $instance ] || rmdir $instance
	for event in $(grep -os '^[pr][0-9]*:swapsim/[a-z_]*' $tracing/kprobe_events || true); do
		echo "-:${event#*:}" >>$tracing/kprobe_events
	done
}

stop() {
	[ ! -d $instance ] || echo 0 >$instance/events/enable
	[ -z "$optimization" ] || echo "$optimization" >/proc/sys/debug/kprobes-optimization
	clear_probes
}

head_of_text() {
	echo "# swapsim: clock=@clock@ @head@"
}

record() {
	optimization=$(cat /proc/sys/debug/kprobes-optimization 2>/dev/null || true)
	trap stop EXIT
	trap 'exit 130' INT TERM
	[ @clock@ = mono ] || [ "$(wc -l </proc/swaps)" -le 1 ] ||
		fail "switch all swap off first, and on within COMMAND: a replay needs each slot from the first"
	set_probes
	# A probe that was turned into a jump would run with interrupts on again.
	[ -z "$optimization" ] || echo 0 >/proc/sys/debug/kprobes-optimization
	mkdir $instance
	echo 0 >$instance/tracing_on
	echo @clock@ >$instance/trace_clock
	echo "${ROOM_KIB:-65536}" >$instance/buffer_size_kb
	for event in $events; do
		echo "$event" >>$instance/set_event
	done
	echo 1 >$instance/events/swapsim/enable
	echo 1 >$instance/tracing_on
	code=0
	"$@" || code=$?
	# Shows all swap devices to the probes, also those that no task has used.
	cat /proc/swaps >/dev/null
	echo 0 >$instance/tracing_on
	head_of_text >"$text"
	cat $instance/trace >>"$text"
	missed=$(awk '/^ *(@names@) / { missed += $3 } END { print missed + 0 }' $tracing/kprobe_profile)
	echo "record.sh: $(grep -vc '^#' "$text") events in $text, $missed missed by the probes" >&2
	return $code
}

case "${1:-}" in
set) set_probes ;;
clear) clear_probes ;;
head) head_of_text ;;
events) for event in $events; do printf ' -e %s' "$event"; done ;;
record)
	[ $# -ge 3 ] || fail "usage: sh record.sh record TEXT COMMAND..."
	text=$2
	shift 2
	record "$@"
	;;
*) fail "usage: sh record.sh record TEXT COMMAND... | set | events | head | clear" ;;
esac
