# descriptors.sh PACKAGE: runs a job under several limits of open files.
for limit in 8 9 10 11 12 13 14 16 18 20 24 200; do
  out=$(ulimit -n $limit; timeout 20 mk-run "$1" --nodes 2 --gpus 2 --bind M=16,N=8 2>&1)
  echo "$limit: status $?"
  echo "$out"
done
