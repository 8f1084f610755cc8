#!/bin/sh
# processes.sh WHAT PACKAGE OUT: kills part of a job that waits for ever (its proxy
# of rank 1 is paused) and looks at what is left.
#   rank      kills rank 1
#   launcher  kills the launcher
start=$(date +%s)
mk-run "$2" --nodes 2 --gpus 2 --bind M=16,N=8 --pause-proxy 1 --deadline 20 \
  > "$3" 2>&1 &
launcher=$!
ranks=
while [ "$(echo $ranks | wc -w)" -lt 4 ]; do
  ranks=$(cat /proc/$launcher/task/$launcher/children 2>/dev/null)
  [ $(($(date +%s) - start)) -gt 15 ] && echo "no ranks" && exit 1
  sleep 0.05
done
# Let them reach their waits.
sleep 1
case $1 in
rank) kill -9 $(echo $ranks | cut -d ' ' -f 2) ;;
launcher) kill -9 $launcher ;;
esac
wait $launcher
echo "status $?"
cat "$3"
# A killed process may take a moment to go.
for i in 1 2 3 4 5 6 7 8 9 10; do
  left=0
  for pid in $ranks; do
    state=$(sed 's/.*) //' /proc/$pid/stat 2>/dev/null | cut -d ' ' -f 1)
    [ -n "$state" ] && [ "$state" != Z ] && left=$((left + 1))
  done
  [ $left = 0 ] && break
  sleep 0.1
done
echo "processes left: $left"
[ $(($(date +%s) - start)) -lt 12 ] && echo "in time"
