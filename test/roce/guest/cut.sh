# Ranks that launch until a link is cut: started each by itself, and looked at when
# they have ended.

deadline=10 # seconds, of a wait
ranks=

start_rank() { # RANK LOCAL-RANK TRANSPORT...
  rank=$1 local=$2
  shift 2
  RANK=$rank LOCAL_RANK=$local mk-run $package "$@" $(cat ${package%.mkpkg}.args) \
    --launches 1000000 --deadline $deadline > /tmp/out$rank 2> /tmp/err$rank &
  eval pid$rank=$!
  ranks="$ranks $rank"
}

tenths() { awk '{printf "%d", $1 * 10}' /proc/uptime; }

# All are in kernels, whose CTAs are threads, and have been for a while.
all_run() {
  tries=0
  for rank in $ranks; do
    eval pid=\$pid$rank
    until [ "$(ls /proc/$pid/task 2>/dev/null | wc -l)" -gt 7 ]; do
      tries=$((tries + 1))
      [ $tries -lt 600 ] || break
      sleep 0.1
    done
  done
  sleep 3
  for rank in $ranks; do
    eval kill -0 \$pid$rank 2>/dev/null || {
      echo "FAIL: rank $rank ended before the cut"
      cat /tmp/err$rank
      return 1
    }
  done
  cut=$(tenths)
}

# Within the deadline and what an emulated machine takes to end processes. status1 ...
all_end() {
  late=0
  (sleep 45; for rank in $ranks; do eval kill -9 \$pid$rank 2>/dev/null; done) &
  for rank in $ranks; do
    eval wait \$pid$rank
    eval status$rank=$?
    took=$(($(tenths) - cut))
    echo "rank $rank: status $(eval echo \$status$rank), $took tenths of a second after the cut: $(head -c 300 /tmp/err$rank)"
    [ $took -lt $(((deadline + 10) * 10)) ] || { echo "FAIL: rank $rank ends later than the deadline"; late=1; }
  done
  return $late
}

one_cause() { # RANK EXPRESSION
  eval status=\$status$1
  lines=$(grep -v 'started by' /tmp/err$1 | grep -vc 'warning')
  [ $status = 1 ] || [ $status = 2 ] || { echo "FAIL: rank $1: status $status"; return 1; }
  [ $lines = 1 ] || { echo "FAIL: rank $1 has $lines errors"; cat /tmp/err$1; return 1; }
  grep -q "$2" /tmp/err$1 || { echo "FAIL: rank $1 does not name the cause"; return 1; }
}
