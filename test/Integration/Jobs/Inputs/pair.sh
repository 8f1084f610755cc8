#!/bin/sh
# pair.sh A B C D COMMAND...: runs COMMAND twice at once, with the variables A and B
# and with C and D.
a=$1 b=$2 c=$3 d=$4
shift 4
env "$a" "$b" "$@" &
env "$c" "$d" "$@"
status=$?
wait $! || status=$?
exit $status
